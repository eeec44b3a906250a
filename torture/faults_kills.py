"""Signals at random moments: SIGKILL, SIGTERM and Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any, Literal

from torture.faults_process import Ended, Running, run_to_end, started
from torture.faults_scenes import Scene, environment, files_in, is_hidden
from torture.outcomes import SURVIVED, Outcome

SIDE_BY_SIDE = 2
# Where a moment is drawn from: the whole run, what comes after its first sign of work, or the time in which it writes.
Part = Literal["any", "work", "writing"]
PARTS: tuple[Part, ...] = ("any", "work", "writing")
EARLY = 0.5  # seconds in which Python may still be starting, and has not called adrem
BY_CTRL_C = (130, -signal.SIGINT)  # a shell shows 130 for both


@dataclass
class Undisturbed:
    """A run to its end: how long its parts take, what it says, and what it gives."""

    seconds: dict[Part, float]
    ended: Ended
    outputs: dict[str, Any]


@dataclass
class Stroke:
    """A signal, and when: so many seconds into a part of a run."""

    number: signal.Signals
    part: Part
    delay: float

    def __str__(self) -> str:
        after = {"any": "its start", "work": "it began to work", "writing": "it began to write"}[self.part]
        return f"{self.number.name} {1000 * self.delay:.0f} ms after {after}"

    def fall(self, running: Running, folder: Path, before: list[str]) -> None:
        """Wait for the moment, and send the signal; a process that is faster has escaped."""
        signs: dict[Part, Callable[[], bool]] = {
            "any": lambda: True,
            "work": lambda: running.has_spoken or _files(folder) != before,
            "writing": lambda: _files(folder) != before,
        }
        if running.wait_for(signs[self.part]):
            sleep(self.delay)
            with suppress(ProcessLookupError):
                running.send(self.number)


def _files(folder: Path) -> list[str]:
    """The files of a folder, which may vanish while one looks."""
    try:
        return files_in(folder)
    except FileNotFoundError:
        return []


def run_undisturbed(scene: Scene, numba: Path, *, earlier: bool = False, loaded: bool = True) -> Undisturbed:
    """Run a scene, watched for when it begins to work, and when it first and last writes."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        scene.prepare(folder, earlier=earlier)
        seen = _files(folder)
        with started(scene.command, folder, environment(folder, numba), loaded=loaded) as running:
            running.wait_for(lambda: running.has_spoken or _files(folder) != seen)
            worked = monotonic()
            running.wait_for(lambda: _files(folder) != seen)
            first = last = monotonic()
            while not running.ended:
                now = _files(folder)
                last, seen = (last, seen) if now == seen else (monotonic(), now)
                sleep(0.001)
            end = monotonic()
            ended = running.end()
        if ended.code:
            raise RuntimeError(f"{scene.name} fails undisturbed: {ended.err}")
        seconds: dict[Part, float] = {"any": end - running.began, "work": end - worked, "writing": last - first}
        return Undisturbed(seconds, ended, scene.outputs(folder))


def draw(scene: Scene, undisturbed: Undisturbed, case: int, number: signal.Signals, parts: tuple[Part, ...]) -> Stroke:
    """The same stroke for the same case in every run."""
    part = parts[case % len(parts)]
    fraction = Random(f"{scene.name} {number.name} {case}").random()  # noqa: S311 - a draw, no secret
    return Stroke(number, part, fraction * undisturbed.seconds[part])


def kill(scene: Scene, undisturbed: Undisturbed, stroke: Stroke, case: int, numba: Path) -> str:
    """Kill a run and look at what is left; run it again, and look at what there is then."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        before, _ = _strike(scene, stroke, folder, case, numba)
        problem = _left(scene, folder, before, undisturbed.outputs)
        if problem:
            return f"{stroke}: {problem}"
        again = run_to_end(scene.command, folder, environment(folder, numba), loaded=True)
        problem = _again(scene, folder, {**before, **undisturbed.outputs}, undisturbed.ended, again)
        return f"{stroke}, and once more: {problem}" if problem else SURVIVED


def terminate(scene: Scene, undisturbed: Undisturbed, stroke: Stroke, case: int, numba: Path) -> str:
    """End a run the polite way: it ends by that, and nothing is half-written."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        before, ended = _strike(scene, stroke, folder, case, numba)
        problem = _left(scene, folder, before, undisturbed.outputs)
        if not problem and (ended.code not in (0, -signal.SIGTERM) or "Traceback" in ended.err):
            problem = f"exit code {ended.code}: {ended.err}"
        return f"{stroke}: {problem}" if problem else SURVIVED


def interrupt(scene: Scene, undisturbed: Undisturbed, stroke: Stroke, case: int, numba: Path) -> str:
    """Press Ctrl-C: a line at most, the code of Ctrl-C, and nothing half-written."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        before, ended = _strike(scene, stroke, folder, case, numba, loaded=False)
        problem = _left(scene, folder, before, undisturbed.outputs)
        if not problem and not _too_early(stroke, ended):
            problem = _said(ended, undisturbed.ended)
        return f"{stroke}: {problem}" if problem else SURVIVED


def _strike(
    scene: Scene, stroke: Stroke, folder: Path, case: int, numba: Path, *, loaded: bool = True
) -> tuple[dict[str, Any], Ended]:
    """Run a scene until it is struck: what stood in the folder before, and how it ended."""
    scene.prepare(folder, earlier=case % 2 == 1)
    before = scene.outputs(folder)
    with started(scene.command, folder, environment(folder, numba), loaded=loaded) as running:
        stroke.fall(running, folder, files_in(folder))
        return before, running.end()


def _left(scene: Scene, folder: Path, before: dict[str, Any], new: dict[str, Any]) -> str:
    """What is wrong with what a stroke left: under a final name stands nothing, the old or the new, all of it."""
    after = scene.outputs(folder)
    lost = [name for name in before if name not in after]
    if lost:
        return f"lost: {', '.join(lost)}"
    wrong = [name for name in after if after[name] not in (before.get(name), new.get(name))]
    if wrong:
        return f"half-written: {', '.join(wrong)}"
    open_about = [name for name in scene.strange(folder, {*before, *new}) if not is_hidden(name)]
    return f"lies about: {', '.join(open_about)}" if open_about else ""


def _again(scene: Scene, folder: Path, expected: dict[str, Any], undisturbed: Ended, again: Ended) -> str:
    """What is wrong with a run after a kill: it succeeds, with the same results, and cleans up."""
    if again.code:
        return f"exit code {again.code}: {again.err}"
    if again.out != undisturbed.out:
        return f"it prints {again.out!r}"
    found = scene.outputs(folder)
    other = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    if other:
        return f"other results: {', '.join(other)}"
    left = scene.strange(folder, set(expected))
    return f"left behind: {', '.join(left)}" if left else ""


def _said(ended: Ended, undisturbed: Ended) -> str:
    """What is wrong with the words and the code after Ctrl-C."""
    usual = set(undisturbed.err.splitlines())
    more = [line for line in ended.err.splitlines() if line not in usual]
    if ended.code == 0:
        return ""
    if ended.code not in BY_CTRL_C:
        return f"exit code {ended.code}: {ended.err}"
    if len(more) > 1 or any("Stopped." not in line for line in more):
        return f"it says {ended.err!r}"
    return ""


def _too_early(stroke: Stroke, ended: Ended) -> bool:
    """Whether Python had not yet called adrem, so that nothing could be caught."""
    return stroke.part == "any" and stroke.delay < EARLY and "Traceback" in ended.err and "in main" not in ended.err


def side_by_side(case: Callable[[int], str], cases: Iterable[int]) -> list[tuple[str, str]]:
    """Outcomes of cases, two at a time."""

    def timed(number: int) -> Outcome:
        begin = monotonic()
        outcome = case(number)
        return Outcome(outcome, monotonic() - begin)

    numbers = list(cases)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        return [(str(number), outcome) for number, outcome in zip(numbers, pool.map(timed, numbers), strict=True)]
