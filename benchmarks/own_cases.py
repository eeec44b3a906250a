"""Pairs of tables as a user has them: of the data sets as they are, and altered so that adapting or estimating is hard.

Data sets that share rows or a source of pictures are one group: what is set on some groups is reported on others.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from adrem.columns import FileTable, read_file
from adrem.datasets import load, load_digits_shift

LABEL = "label"
HOSPITALS = ("cleveland", "hungarian", "switzerland", "va")
HEART = [
    "age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal",
    "num",
]  # fmt: skip
BATCHES = (2, 3, 4, 5, 6, 8, 9)
DOMAINS = ("books", "dvd", "electronics", "kitchen")
REVIEW = re.compile(r"<review>(.*?)</review>", re.DOTALL)
PARTS = {"product": "product_name", "date": "date", "title": "title", "review": "review_text"}
# Three pairs of each larger data set: names of domains as in its folder.
IMAGES = {
    "office-31-resnet50": ("A-W", "W-A", "D-A"),
    "office-caltech-resnet50": ("A-C", "C-W", "D-A"),
    "office-caltech-surf": ("A-C", "C-D", "W-A"),
}
WORD_COUNTS = ("B-E", "D-K", "K-B")
SIMULATED = ("covariate", "target", "concept", "subspace")
# Small tables of scikit-learn, cut in two at the median of a column.
CUT = {"breast cancer": 1, "wine": 10, "iris": 1}
KEPT = 0.15
SMALL = 40
AS_IT_IS = "as it is"
# Pairs that are measured with every seed, of the data sets that have more than three costly ones.
REPEATED = {"gas": BATCHES[:3], "reviews": DOMAINS[1:]}


@dataclass(frozen=True)
class Case:
    """Two tables to adapt between, and what is known of them.

    `group` are data sets that count as one, `kind` is table, text or image, `form` how the pair was altered.
    """

    group: str
    kind: str
    name: str
    source: FileTable
    target: FileTable
    form: str = AS_IT_IS
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.form


def table(name: str, frame: pl.DataFrame) -> FileTable:
    return FileTable(name, "", frame=frame)


def numbers(name: str, rows: Any, labels: NDArray[Any]) -> FileTable:
    return FileTable(name, "", rows=rows, labels=labels)


def heart_frames(home: Path) -> dict[str, FileTable]:
    """Hospitals, with the marks of missing values that the files have."""
    frames = {}
    for name in HOSPITALS:
        path = home / "heart-disease" / f"processed.{name}.data"
        frame = pl.read_csv(path, has_header=False, new_columns=HEART, infer_schema=False)
        is_ill = (frame["num"].cast(pl.Float64) > 0).replace_strict({True: "ill", False: "well"})
        frames[name] = table(name, frame.drop("num").with_columns(is_ill.alias(LABEL)))
    return frames


def heart(home: Path) -> Iterator[Case]:
    frames = heart_frames(home)
    for source, target in permutations(HOSPITALS, 2):
        yield Case("heart", "table", f"heart: {source} > {target}", frames[source], frames[target])
    case = Case("heart", "table", "heart: cleveland > hungarian", frames["cleveland"], frames["hungarian"])
    yield replace(case, form="codes left in", options={"missing": ["none"]})
    to_va = Case("heart", "table", "heart: cleveland > va", frames["cleveland"], frames["va"])
    yield useless(to_va)
    yield small(to_va)
    yield leaking(to_va)


def gas(home: Path) -> Iterator[Case]:
    """The first batch of the sensors to later ones."""
    files = {k: read_file(str(home / "gas-sensor-drift" / f"batch{k}.dat.gz")) for k in (1, *BATCHES)}
    cases = [Case("gas", "table", f"gas: 1 > {k}", files[1], files[k]) for k in BATCHES]
    yield from cases
    yield skewed(cases[0])


def review_frame(home: Path, domain: str) -> pl.DataFrame:
    rows = []
    for label in ("positive", "negative"):
        text = gzip.decompress((home / "amazon-text" / domain / f"{label}.review.gz").read_bytes()).decode("latin-1")
        for review in REVIEW.findall(text):
            found = {name: re.search(rf"<{tag}>(.*?)</{tag}>", review, re.DOTALL) for name, tag in PARTS.items()}
            rows.append({name: part.group(1).strip() if part else "" for name, part in found.items()} | {LABEL: label})
    return pl.DataFrame(rows)


def reviews(home: Path) -> Iterator[Case]:
    """Raw reviews, all pairs; with other columns; and counts of 400 words."""
    whole = {name: review_frame(home, name) for name in DOMAINS}
    texts = {name: table(name, frame.select("review", LABEL)) for name, frame in whole.items()}
    for source, target in permutations(DOMAINS, 2):
        yield Case("amazon", "text", f"reviews: {source} > {target}", texts[source], texts[target])
    books, kitchen = (table(name, whole[name]) for name in ("books", "kitchen"))
    yield Case("amazon", "text", "reviews: books > kitchen", books, kitchen, "with title, product and date")
    for source, target in (("books", "kitchen"), ("electronics", "dvd")):
        pair = Case("amazon", "text", f"reviews: {source} > {target}", texts[source], texts[target])
        yield from (skewed(pair), noisy(pair))
    yield useless(Case("amazon", "text", "reviews: dvd > books", texts["dvd"], texts["books"]))
    yield small(Case("amazon", "text", "reviews: dvd > books", texts["dvd"], texts["books"]))
    yield from pairs_of("amazon", "text", "amazon-400", WORD_COUNTS)


def pairs_of(group: str, kind: str, data: str, pairs: tuple[str, ...]) -> Iterator[Case]:
    """Pairs of a data set of rows of numbers."""
    found = load(data)
    for name in pairs:
        pair = found.pair(name)
        yield Case(
            group, kind, f"{data}: {name}", numbers("source", pair.X_source, pair.y_source),
            numbers("target", pair.X_target, pair.y_target),
        )  # fmt: skip


def images(home: Path) -> Iterator[Case]:
    """Office-31 and Office-Caltech."""
    del home
    for data, pairs in IMAGES.items():
        cases = list(pairs_of("office", "image", data, pairs))
        yield from cases
        yield skewed(cases[0])
        if data.endswith("surf"):
            yield useless(cases[1])


def both_ways(group: str, frame: pl.DataFrame, is_first: Any, names: tuple[str, str]) -> Iterator[Case]:
    parts = [table(own, frame.filter(kept)) for own, kept in zip(names, (is_first, ~is_first), strict=True)]
    yield Case(group, "table", f"{group}: {names[0]} > {names[1]}", parts[0], parts[1])
    yield Case(group, "table", f"{group}: {names[1]} > {names[0]}", parts[1], parts[0])


def mushrooms(home: Path) -> Iterator[Case]:
    path = home / "mushrooms" / "agaricus-lepiota.data"
    frame = pl.read_csv(path, infer_schema=False)
    frame.columns = [LABEL, *(f"c{k}" for k in range(1, frame.width))]
    cases = list(both_ways("mushrooms", frame.drop("c10"), frame["c10"] == "e", ("enlarging", "tapering")))
    yield from cases
    yield from (skewed(cases[0]), noisy(cases[0]))


def phishing(home: Path) -> Iterator[Case]:
    text = (home / "phishing" / "TrainingDataset.arff").read_text("latin-1")
    rows = [line.split(",") for line in text.split("\n") if "," in line and "@" not in line]
    frame = pl.DataFrame(rows, schema=[*(f"c{k}" for k in range(len(rows[0]) - 1)), LABEL], orient="row")
    cases = list(both_ways("phishing", frame.drop("c0"), frame["c0"] == "-1", ("ip address", "none")))
    yield from cases
    yield skewed(cases[0])


def digits(home: Path) -> Iterator[Case]:
    del home
    pair = load_digits_shift()
    names = [f"pixel{k}" for k in range(64)]
    frames = [
        pl.DataFrame(X, schema=names).with_columns(pl.Series(LABEL, y)) for X, y in ((pair[0], pair[1]), pair[2:4])
    ]
    case = Case("digits", "table", "digits: clean > camera", table("clean", frames[0]), table("camera", frames[1]))
    yield case
    yield from (skewed(case), useless(case), noisy(case), swapped(case), leaking(case))


def simulated(home: Path) -> Iterator[Case]:
    """The simulated shifts of SKADA-Bench, two draws of each."""
    del home
    for kind in SIMULATED:
        yield from pairs_of("simulated", "table", f"simulated-{kind}", ("S0-T0", "S1-T1"))


def cut(home: Path) -> Iterator[Case]:
    """Small tables of scikit-learn, cut at the median of a column, which is left out."""
    from sklearn import datasets

    del home
    for name, column in CUT.items():
        data = getattr(datasets, f"load_{name.replace(' ', '_')}")()
        is_low = data.data[:, column] < np.median(data.data[:, column])
        rows = np.delete(data.data, column, axis=1)
        frame = pl.DataFrame(rows, schema=[f"c{k}" for k in range(rows.shape[1])], orient="row")
        frame = frame.with_columns(pl.Series(LABEL, data.target_names[data.target].tolist()))
        cases = list(both_ways(name, frame, pl.Series(is_low), ("low", "high")))
        yield from cases
        if name == "breast cancer":
            yield from (useless(cases[0]), swapped(cases[1]))


def labels_of(own: FileTable) -> NDArray[Any]:
    if own.frame is None:
        if own.labels is None:
            raise ValueError(f"{own.name} has no labels.")
        return own.labels
    return own.frame[LABEL].to_numpy()


def relabelled(own: FileTable, labels: NDArray[Any]) -> FileTable:
    if own.frame is None:
        return replace(own, labels=labels)
    return replace(own, frame=own.frame.with_columns(pl.Series(LABEL, labels.tolist())))


def part_of(own: FileTable, kept: NDArray[np.bool_]) -> FileTable:
    if own.rows is not None:
        return replace(own, rows=own.rows[kept], labels=labels_of(own)[kept])
    if own.frame is None:
        raise ValueError(f"{own.name} is empty.")
    return replace(own, frame=own.frame.filter(pl.Series(kept)))


def skewed(case: Case) -> Case:
    """The pair without most target rows of the first half of the classes."""
    labels = labels_of(case.target)
    classes = np.unique(labels)
    rare = np.isin(labels, classes[: len(classes) // 2])
    kept = ~rare | (np.random.default_rng(1).random(len(rare)) < KEPT)
    return replace(case, target=part_of(case.target, kept), form="skewed target")


def small(case: Case) -> Case:
    """The pair with few target rows."""
    kept = np.zeros(case.target.n_rows, bool)
    kept[np.random.default_rng(1).permutation(len(kept))[:SMALL]] = True
    return replace(case, target=part_of(case.target, kept), form=f"{SMALL} target rows")


def useless(case: Case) -> Case:
    """The pair with source labels in random order."""
    labels = np.random.default_rng(1).permutation(labels_of(case.source))
    return replace(case, source=relabelled(case.source, labels), form="useless source")


def noisy(case: Case) -> Case:
    """The pair with 30 % of the source labels replaced by random ones."""
    rng = np.random.default_rng(1)
    labels = labels_of(case.source)
    others = rng.permutation(labels)
    return replace(
        case, source=relabelled(case.source, np.where(rng.random(len(labels)) < 0.3, others, labels)),
        form="noisy source",
    )  # fmt: skip


def swapped(case: Case) -> Case:
    """The pair with the names of two classes exchanged in the target."""
    labels = labels_of(case.target)
    first, second = np.unique(labels)[:2].tolist()
    names = [second if own == first else first if own == second else own for own in labels.tolist()]
    return replace(case, target=relabelled(case.target, np.array(names)), form="swapped classes")


def leaking(case: Case) -> Case:
    """The pair with a column that gives the labels of the source away, and is random in the target; it is asked for."""
    frames = []
    rng = np.random.default_rng(1)
    for own, is_random in ((case.source, False), (case.target, True)):
        positions = np.unique(labels_of(case.source), return_inverse=True)[1]
        values = rng.choice(positions, own.n_rows) if is_random else positions
        if own.frame is None:
            raise ValueError("Only tables with columns can have one more.")
        frames.append(replace(own, frame=own.frame.with_columns(pl.Series("code", values.astype(float)))))
    options = {"numeric": ["code"]}
    return replace(case, source=frames[0], target=frames[1], form="leaking column", options=options)


MAKERS: dict[str, Callable[[Path], Iterator[Case]]] = {
    "heart": heart,
    "gas": gas,
    "reviews": reviews,
    "images": images,
    "mushrooms": mushrooms,
    "phishing": phishing,
    "digits": digits,
    "simulated": simulated,
    "cut": cut,
}


def is_repeated(case: Case) -> bool:
    """Return whether a pair is measured with every seed: pairs as they are, at most three of a large data set."""
    data, _, domains = case.name.partition(": ")
    chosen = [f"{'books' if data == 'reviews' else 1} > {target}" for target in REPEATED.get(data, ())]
    return case.form == AS_IT_IS and (domains in chosen or not chosen)


def cases(home: Path, only: list[str]) -> Iterator[Case]:
    """Yield the pairs of the wanted data sets."""
    for name, make in MAKERS.items():
        if not only or name in only:
            yield from make(home)
