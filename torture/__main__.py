"""Run the chapters and print their table; the exit code is 1 if anything failed."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter

from torture.outcomes import Row, as_csv, as_lines

CHAPTERS = ("inputs", "fuzz", "files", "models", "numerics", "same", "faults", "load", "memory", "peers")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("chapters", nargs="*", metavar="chapter", help=f"some of {', '.join(CHAPTERS)}; all by default")
    parser.add_argument("--full", action="store_true", help="the long runs too")
    parser.add_argument("-o", "--output", type=Path, help="where the table goes as csv")
    options = parser.parse_args()
    strange = set(options.chapters) - set(CHAPTERS)
    if strange:
        parser.error(f"there is no chapter {', '.join(sorted(strange))}")
    rows: list[Row] = []
    for name in options.chapters or CHAPTERS:
        begin = perf_counter()
        chapter: list[Row] = import_module(f"torture.{name}").run(full=options.full)
        rows += chapter
        print("\n".join(as_lines(chapter)), flush=True)
        print(f"{name}: {perf_counter() - begin:.0f} seconds", file=sys.stderr, flush=True)
    if options.output is not None:
        options.output.write_text(as_csv(rows))
    return int(any(row.failed for row in rows if row.is_about_us))


if __name__ == "__main__":
    sys.exit(main())
