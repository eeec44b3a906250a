"""Faults: killed and stopped processes, broken pipes, full and read-only disks."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from torture.faults_disks import full_disks, read_only_disks
from torture.faults_kills import (
    PARTS,
    Undisturbed,
    draw,
    interrupt,
    kill,
    run_undisturbed,
    side_by_side,
    terminate,
)
from torture.faults_pipes import broken_pipes
from torture.faults_scenes import Scene, Server, make_adapt, make_bench, make_fetch, slow_server
from torture.outcomes import Row
from torture.scale import usual_or

CHAPTER = "faults"
KILLS, MANY_KILLS = 50, 200
INTERRUPTS, TERMINATIONS = 5, 2
COLD = 25  # every so many kills of adapt there is nothing compiled yet


@dataclass
class Stage:
    """What is struck, how it goes undisturbed, and where compiled code lies."""

    adapt: Scene
    bench: Scene
    fetch: Scene
    server: Server
    numba: Path
    usual: dict[str, Undisturbed]
    cold: Undisturbed


def run(*, full: bool) -> list[Row]:
    """Kills, disks, pipes and Ctrl-C."""
    with set_up() as stage:
        kills = MANY_KILLS if full else usual_or(KILLS, 3)
        return [
            *(kill_row(stage, scene, kills) for scene in (stage.adapt, stage.bench, stage.fetch)),
            *(terminate_row(stage, scene) for scene in (stage.adapt, stage.bench, stage.fetch)),
            interrupt_row(stage, stage.adapt, "1 job"),
            interrupt_row(stage, stage.adapt.with_jobs(2), "2 jobs"),
            interrupt_row(stage, stage.bench, "1 job"),
            interrupt_row(stage, stage.bench.with_jobs(2), "2 jobs"),
            full_disks(stage.adapt, stage.bench, stage.fetch, stage.usual, stage.numba),
            read_only_disks(stage.adapt, stage.bench, stage.fetch, stage.usual, stage.numba),
            broken_pipes(stage.adapt, stage.bench, stage.numba),
        ]


@contextmanager
def set_up() -> Iterator[Stage]:
    """The scenes, each run once before anything is done to it."""
    with TemporaryDirectory() as name, slow_server() as server:
        numba = Path(name) / "numba"
        numba.mkdir()
        adapt = make_adapt(numba)
        with TemporaryDirectory() as empty:
            cold = run_undisturbed(adapt, Path(empty))
        scenes = (adapt, make_bench(numba), make_fetch(server))
        usual = {scene.name: run_undisturbed(scene, numba) for scene in scenes}
        yield Stage(*scenes, server, numba, usual, cold)


def kill_row(stage: Stage, scene: Scene, kills: int) -> Row:
    """Kill -9 of a scene, and the run after it."""
    resumed = stage.server.resumed
    usual = stage.usual[scene.name]

    def one(case: int) -> str:
        if scene is stage.adapt and case % COLD == COLD - 1:
            with TemporaryDirectory() as empty:
                return kill(scene, usual, draw(scene, stage.cold, case, signal.SIGKILL, ("work",)), case, Path(empty))
        return kill(scene, usual, draw(scene, usual, case, signal.SIGKILL, PARTS), case, stage.numba)

    outcomes = side_by_side(one, range(kills))
    lost = sum("lost: " in outcome or "half-written: " in outcome for _, outcome in outcomes)
    note = f"{lost} with data lost; a third at any moment, a third in the work, a third in the writing; "
    note += "half replace old outputs"
    if scene is stage.fetch:
        note += f"; {stage.server.resumed - resumed} downloads were continued"
    return Row.of(CHAPTER, f"kill -9 of {scene.name}", outcomes, note)


def terminate_row(stage: Stage, scene: Scene) -> Row:
    """SIGTERM to a scene."""
    usual = stage.usual[scene.name]

    def one(case: int) -> str:
        stroke = draw(scene, usual, case, signal.SIGTERM, PARTS)
        return terminate(scene, usual, stroke, case, stage.numba)

    return Row.of(CHAPTER, f"SIGTERM to {scene.name}", side_by_side(one, range(usual_or(TERMINATIONS, 1))))


def interrupt_row(stage: Stage, scene: Scene, jobs: str) -> Row:
    """Ctrl-C in a scene."""
    usual = run_undisturbed(scene, stage.numba, loaded=False)  # as a person would start it

    def one(case: int) -> str:
        stroke = draw(scene, usual, case, signal.SIGINT, PARTS)
        return interrupt(scene, usual, stroke, case, stage.numba)

    return Row.of(CHAPTER, f"Ctrl-C in {scene.name}, {jobs}", side_by_side(one, range(usual_or(INTERRUPTS, 1))))
