"""Pipes whose reader stops, and streams that are closed or full.

A broken pipe ends a command without a traceback: with exit code 1, as Python's documentation recommends, or with 0 if
everything was written before. A closed standard output is no error if only a table or a summary goes there.
"""

from __future__ import annotations

import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from torture.faults_kills import side_by_side
from torture.faults_process import Ended, command_of, run_to_end
from torture.faults_scenes import Scene, environment, make_reviews
from torture.outcomes import REFUSED, SURVIVED, Row

SHOW = ["bench", "show", "office-31", "--features", "decaf", "--data-home", "data", "--cache", "results"]
LIST = ["datasets", "list", "--data-home", "data"]
TO_STDOUT = ["adapt", "books.csv", "many.csv", "--label", "verdict", "-o", "-"]
TO_FILE = ["adapt", "books.csv", "knives.csv", "--label", "verdict", "-o", "labels.csv"]
LONG = 4000  # rows whose labels are more than a pipe holds
QUIET = ("Traceback", "Exception", "Error", "Errno")


@dataclass(frozen=True)
class PipeCase:
    """Words of a command, what the shell does with its streams, and what is to become of it."""

    words: list[str]
    shell: str
    codes: tuple[int, ...]
    outcome: str = SURVIVED

    def __str__(self) -> str:
        return f"adrem {shlex.join(self.words)} {self.shell}"


CASES = [
    *(PipeCase(words, "| head -1", (0, 1)) for words in (TO_STDOUT, SHOW, LIST)),
    PipeCase([*TO_FILE, "--json"], "| head -c 1", (0, 1)),
    *(PipeCase(words, "| true", (1,)) for words in (TO_STDOUT, SHOW, LIST, [*TO_FILE, "--json"])),
    *(PipeCase(words, ">&-", (0,)) for words in (SHOW, LIST, TO_FILE)),
    PipeCase(TO_FILE, "<&- >&- 2>&-", (0,)),
    PipeCase(TO_STDOUT, ">&-", (1,), REFUSED),
    *(PipeCase(words, "> /dev/full", (1,), REFUSED) for words in (TO_STDOUT, SHOW, LIST)),
]


def broken_pipes(adapt: Scene, bench: Scene, numba: Path) -> Row:
    """Run commands whose output has no reader."""
    shell = shutil.which("bash")
    if shell is None:
        return Row.of("faults", "broken pipes and closed streams", [], "not tried: there is no bash")
    many = make_reviews("knife", LONG, 2)

    def one(number: int) -> str:
        case = CASES[number]
        with TemporaryDirectory() as name:
            folder = Path(name)
            for scene in (adapt, bench):
                scene.prepare(folder, earlier=scene is bench)
            (folder / "many.csv").write_bytes(many)
            script = f'"$@" {case.shell}; exit ${{PIPESTATUS[0]}}'
            command = [shell, "-c", script, "adrem", *command_of(case.words)]
            problem = _wrong(case, folder, run_to_end(command, folder, environment(folder, numba)))
        return f"{case}: {problem}" if problem else case.outcome

    note = "no traceback; exit code 1 if the pipe broke, 0 if everything was written before"
    return Row.of("faults", "broken pipes and closed streams", side_by_side(one, range(len(CASES))), note)


def _wrong(case: PipeCase, folder: Path, ended: Ended) -> str:
    """What is wrong with how it ended."""
    if ended.code not in case.codes:
        return f"exit code {ended.code}: {ended.err}"
    if case.outcome == REFUSED:
        one_line = len(ended.complaints) == 1 and "Traceback" not in ended.err and "Exception" not in ended.err
        return "" if one_line else f"it says {ended.err!r}"
    if ended.complaints or any(word in ended.err for word in QUIET):
        return f"it says {ended.err!r}"
    if "labels.csv" in case.words and len((folder / "labels.csv").read_text().splitlines()) != 51:
        return "the labels are not all there"
    return ""
