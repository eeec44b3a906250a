"""Measure what `adrem adapt` hands out for files of one's own, its verdict, and its estimate of the accuracy.

    ADREM_DATA=folder python benchmarks/own_files.py [--only heart gas] [--seeds 3] [--jobs 2]
        [--out docs/results/own_files.csv]
    python benchmarks/own_files.py --page docs/diagnosis.md docs/estimate.md  # their tables, by own_tables.py

A row is a pair of own_cases.py and a seed: the accuracy of the classifier of the source, of the adapted labels and of
those that are handed out, the evidence and the verdict, and the estimated accuracy of the labels that are handed out.
Rows that are in the file are not measured again, unless they lack columns of this version. Of a data set with more
pairs, three are measured with every seed, and the others with the first one.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from csv_files import read_csv, write_csv
from joblib import Parallel, delayed
from own_cases import LABEL, Case, cases, is_repeated
from own_scores import ESTIMATES, EVIDENCE, estimates_of, evidence_of
from own_tables import is_whole, write_pages

from adrem import Committee
from adrem.columns import make_pair
from adrem.columns.labelling import adapt_pair
from adrem.diagnostics import BeforeAfter
from adrem.diagnostics.accuracy import estimate_from, held_out_chances
from adrem.diagnostics.diagnosis import Examination
from adrem.exceptions import InvalidDataError

FIELDS = (
    "group", "kind", "pair", "form", "seed", "rows", "chosen", "baseline", "adapted", "handed_out", "verdict",
    "changed", "neighbours_source", "neighbours_adapted", "neighbours_z", "one_sided", "largest_source",
    "largest_adapted", "skill", "least_skill", "opposed", "vanished", "recovered", "estimate", "low", "high", "unknown",
    "distance", *EVIDENCE, *ESTIMATES, "seconds",
)  # fmt: skip
TEXTS = ("group", "kind", "pair", "form", "chosen", "verdict")
OUT = Path(__file__).parents[1] / "docs" / "results" / "own_files.csv"

Row = dict[str, Any]


def measure(case: Case, seed: int) -> Row:
    """Adapt as the command line does with its defaults, but for the seed."""
    start = time.process_time()
    labelled: dict[str, Any] = {} if case.source.frame is None else {"label": LABEL, "target_label": LABEL}
    pair = make_pair(case.source, case.target, **labelled, **case.options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        examined = adapt_pair(pair, Committee(random_state=seed), {})[1]
        estimated = _estimates(examined, seed)
    return {
        "group": case.group,
        "kind": case.kind,
        "pair": case.name,
        "form": case.form,
        "seed": seed,
        **_results(examined, pair.truth),
        **_evidence_row(examined),
        "distance": examined.distance_before,
        **evidence_of(examined, seed),
        **estimated,
        "seconds": round(time.process_time() - start, 1),
    }


def _results(examined: Examination, truth: Any) -> Row:
    scores = examined.score(truth)
    if scores is None:
        raise ValueError("The target has no labels to score by.")
    is_source = examined.verdict.choice == "source"
    return {
        "rows": len(examined.after),
        "chosen": examined.baseline.chosen_,
        "baseline": scores.accuracy.source,
        "adapted": scores.accuracy.adapted,
        "handed_out": scores.accuracy.source if is_source else scores.accuracy.adapted,
        "verdict": examined.verdict.choice,
    }


def _estimates(examined: Examination, seed: int) -> Row:
    """Return the estimates of the accuracy, none if a class has too few rows: as the command line does."""
    try:
        chances = held_out_chances(examined, seed)
    except InvalidDataError:
        return {"low": 0.0, "high": 1.0, "unknown": 1, **dict.fromkeys(("estimate", *ESTIMATES), float("nan"))}
    estimate = estimate_from(chances, examined, examined.chosen)
    return {
        "estimate": estimate.accuracy,
        "low": estimate.low,
        "high": estimate.high,
        "unknown": int(not estimate.is_known),
        **estimates_of(examined, chances, seed),
    }


def _evidence_row(examined: Examination) -> Row:
    evidence = examined.evidence
    near = evidence.neighbours or BeforeAfter(float("nan"), float("nan"))
    return {
        "changed": examined.n_changed / len(examined.after),
        "neighbours_source": near.source,
        "neighbours_adapted": near.adapted,
        "neighbours_z": evidence.neighbours_z,
        "one_sided": evidence.one_sided,
        "largest_source": evidence.largest_share.source,
        "largest_adapted": evidence.largest_share.adapted,
        "skill": evidence.skill,
        "least_skill": evidence.least_skill,
        "opposed": evidence.opposed,
        "vanished": len(examined.vanished),
        "recovered": len(examined.recovered),
    }


def read_rows(path: Path) -> list[Row]:
    if not path.exists():
        return []
    return [{name: own if name in TEXTS else float(own) for name, own in row.items()} for row in read_csv(path)]


def _key(row: Row) -> tuple[str, str, int]:
    return row["pair"], row["form"], int(row["seed"])


def wanted(home: Path, only: list[str], n_seeds: int, done: set[tuple[str, str, int]]) -> Iterator[tuple[Case, int]]:
    """Yield the pairs and seeds that are still to be measured."""
    for case in cases(home, only):
        for seed in range(n_seeds if is_repeated(case) else 1):
            if (*case.key, seed) not in done:
                yield case, seed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="data sets to measure")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--page", type=Path, nargs="*", default=[], help="pages whose tables to replace")
    arguments = parser.parse_args()
    rows = read_rows(arguments.out)
    if arguments.page:
        write_pages(rows, arguments.page)
        return
    found = {_key(row): row for row in rows}
    done = {_key(row) for row in rows if is_whole(row)}
    missing = wanted(Path(os.environ["ADREM_DATA"]), arguments.only, arguments.seeds, done)
    runner = Parallel(n_jobs=arguments.jobs, pre_dispatch=arguments.jobs, return_as="generator_unordered")
    for row in runner(delayed(measure)(*own) for own in missing):
        found[_key(row)] = row
        write_csv(arguments.out, FIELDS, found.values())
        print(row["pair"], row["form"], f"{row['baseline']:.3f} {row['adapted']:.3f} {row['verdict']}", flush=True)


if __name__ == "__main__":
    main()
