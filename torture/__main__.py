"""Run the chapters and print their table; the exit code is 1 if anything failed."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from time import perf_counter

from torture.outcomes import Row, as_csv, as_lines, as_page, merged, read_csv, split_page
from torture.scale import set_quick

# Chapters that use two cores run one after the other. Then two groups of chapters that use one core run in parallel.
BUSY = ("inputs", "fuzz", "files", "models", "numerics", "faults", "peers")
SIDES = (("load",), ("same", "memory"))
CHAPTERS = ("inputs", "fuzz", "files", "models", "numerics", "same", "faults", "load", "memory", "peers")
QUICK = ("inputs", "fuzz", "files", "models", "faults")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("chapters", nargs="*", metavar="chapter", help=f"some of {', '.join(CHAPTERS)}; all by default")
    parser.add_argument("--full", action="store_true", help="the long runs too")
    parser.add_argument("--quick", action="store_true", help="a part of inputs, files, models, fuzzing and faults")
    parser.add_argument("-o", "--output", type=Path, help="where the table goes as csv")
    parser.add_argument("--page", type=Path, help="a page whose tables between its two marks are replaced")
    options = parser.parse_args()
    strange = set(options.chapters) - set(CHAPTERS)
    if strange:
        parser.error(f"there is no chapter {', '.join(sorted(strange))}")
    if options.quick:
        set_quick()
    wanted = options.chapters or (QUICK if options.quick else CHAPTERS)
    found: dict[str, list[Row]] = {}

    def run(names: tuple[str, ...]) -> None:
        for name in names:
            if name in wanted:
                found[name] = run_chapter(name, options.full)

    run(BUSY)
    with ThreadPoolExecutor(len(SIDES)) as pool:
        list(pool.map(run, SIDES))
    rows = [row for name in CHAPTERS for row in found.get(name, [])]
    if options.output is not None:
        if options.chapters and options.output.exists():  # the other chapters stay as they are
            rows = merged(read_csv(options.output.read_text("utf-8")), rows)
        options.output.write_text(as_csv(rows), "utf-8")
    if options.page is not None:
        before, _, after = split_page(options.page.read_text("utf-8"))
        options.page.write_text(f"{before}{as_page(rows)}{after}", "utf-8")
    return int(any(row.failed for row in rows if row.is_about_us))


def run_chapter(name: str, full: bool) -> list[Row]:
    begin = perf_counter()
    rows: list[Row] = import_module(f"torture.{name}").run(full=full)
    print("\n".join(as_lines(rows)), flush=True)
    print(f"{name}: {perf_counter() - begin:.0f} seconds", file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    sys.exit(main())
