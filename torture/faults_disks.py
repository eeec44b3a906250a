"""Full and read-only disks: small file systems that are mounted for the test."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from torture.faults_kills import Undisturbed, side_by_side
from torture.faults_process import Ended, command_of, run_to_end
from torture.faults_scenes import Scene, environment, files_in, is_hidden
from torture.outcomes import ANSWERED, REFUSED, Row

SIZE = 1 << 20
BALLAST = ".ballast"
STDOUT = "stdout.csv"
CACHES = {"cache": "ADREM_CACHE", "numba": "NUMBA_CACHE_DIR"}


@dataclass(frozen=True)
class DiskCase:
    """A scene of which a part lies on the small disk: outputs by their name, or a cache."""

    scene: Scene
    part: str
    room: int = 0  # bytes that the disk still takes
    to_stdout: bool = False

    @property
    def outcome(self) -> str:
        """A command can only do without a cache."""
        return ANSWERED if self.part in CACHES else REFUSED

    def __str__(self) -> str:
        return f"{self.scene.name} with {self.part} there, room for {self.room} bytes"


def full_disks(adapt: Scene, bench: Scene, fetch: Scene, usual: dict[str, Undisturbed], numba: Path) -> Row:
    """Every output and cache on a disk without room, or with too little."""
    cases = [
        *(DiskCase(adapt, part, room) for part in ("labels.csv", "model.adrem", "page.html") for room in (0, 4096)),
        DiskCase(adapt, STDOUT, to_stdout=True),
        DiskCase(adapt, "numba"),
        DiskCase(adapt, "numba", 40_000),
        DiskCase(bench, "results"),
        DiskCase(bench, "cache"),
        DiskCase(fetch, "home"),
        DiskCase(fetch, "home", 100_000),
    ]
    # A table of labels takes less than a page, which is the least that a disk takes.
    cases = [case for case in cases if (case.part, case.room) != ("labels.csv", 4096)]
    return _row("a full disk", cases, usual, numba, read_only=False)


def read_only_disks(adapt: Scene, bench: Scene, fetch: Scene, usual: dict[str, Undisturbed], numba: Path) -> Row:
    """Every output and cache on a disk that can't be written."""
    cases = [DiskCase(adapt, part) for part in ("labels.csv", "model.adrem", "page.html", "numba")]
    cases += [DiskCase(bench, "results"), DiskCase(bench, "cache"), DiskCase(fetch, "home")]
    return _row("a read-only disk", cases, usual, numba, read_only=True)


def _row(what: str, cases: list[DiskCase], usual: dict[str, Undisturbed], numba: Path, *, read_only: bool) -> Row:
    if not can_mount():
        return Row.of("faults", what, [], "not tried: mounting a small disk needs root")

    def one(number: int) -> str:
        case = cases[number]
        outcome = try_case(case, usual[case.scene.name], numba, read_only=read_only)
        return outcome if outcome == case.outcome else f"{case}: {outcome}"

    note = "outputs, downloads and results are refused with a one-line error; caches are skipped"
    return Row.of("faults", what, side_by_side(one, range(len(cases))), note)


def try_case(case: DiskCase, usual: Undisturbed, numba: Path, *, read_only: bool) -> str:
    """Run a scene with a part of it on the small disk; what became of it."""
    with TemporaryDirectory() as name, small_disk() as disk:
        folder = Path(name)
        case.scene.prepare(folder, earlier=True)
        if (folder / case.part).exists():
            shutil.move(folder / case.part, disk / case.part)
        if case.to_stdout:
            (disk / STDOUT).touch()
        before = case.scene.outputs(disk)
        if read_only:
            _mount(disk, "remount,ro")
        else:
            fill(disk, case.room)
        ended = run_to_end(*_command(case, folder, disk, numba), loaded=not case.to_stdout)
        if case.scene.outputs(disk) != before and case.part not in CACHES:
            return "what stood there is damaged"
        left = [name for name in files_in(disk) if is_hidden(name) and name != BALLAST and ".incoming" not in name]
        if left:
            return f"left behind: {', '.join(left)}"
        return _answered(case, folder, usual, ended) if case.outcome == ANSWERED else _refused(ended)


def _command(case: DiskCase, folder: Path, disk: Path, numba: Path) -> tuple[list[str], Path, dict[str, str]]:
    words = [str(disk / case.part) if word == case.part else word for word in case.scene.words]
    command = command_of(words, case.scene.url)
    if case.to_stdout:
        piped = command_of(["-" if word == "labels.csv" else word for word in case.scene.words], case.scene.url)
        command = ["/bin/sh", "-c", '"$@" > "$0"', str(disk / STDOUT), *piped]
    caches = environment(folder, numba)
    if case.part in CACHES:
        caches[CACHES[case.part]] = str(disk / case.part)
    return command, folder, caches


def _answered(case: DiskCase, folder: Path, usual: Undisturbed, ended: Ended) -> str:
    """All is as ever where only a cache could not be written."""
    if ended.code or ended.complaints:
        return f"exit code {ended.code}: {ended.err}"
    found = case.scene.outputs(folder)
    other = [name for name, value in usual.outputs.items() if found.get(name) != value]
    return f"other results: {', '.join(other)}" if other else ANSWERED


def _refused(ended: Ended) -> str:
    """One line says what could not be written, and it is the last."""
    if ended.code != 1 or "Traceback" in ended.err:
        return f"exit code {ended.code}: {ended.err}"
    if len(ended.complaints) != 1 or ended.err.splitlines()[-1:] != ended.complaints:
        return f"it says {ended.err!r}"
    return REFUSED


@contextmanager
def small_disk() -> Iterator[Path]:
    """A disk of a megabyte."""
    with TemporaryDirectory() as name:
        _mount(Path(name), f"size={SIZE}")
        try:
            yield Path(name)
        finally:
            subprocess.run([_tool("umount"), "--lazy", name], check=True, capture_output=True)


def fill(disk: Path, room: int) -> None:
    """Leave no more room than so many bytes."""
    with (disk / BALLAST).open("wb", buffering=0) as file:
        with suppress(OSError):
            while file.write(b"\0" * 4096):
                pass
        size = file.tell()
        if room:
            os.truncate(disk / BALLAST, size - room)


def can_mount() -> bool:
    """Whether this process may mount a disk."""
    try:
        with small_disk():
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def _mount(place: Path, options: str) -> None:
    command = [_tool("mount"), "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    subprocess.run(command, check=True, capture_output=True)


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(name)
    return found
