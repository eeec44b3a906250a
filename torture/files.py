"""Bad files: truncated, altered and misleading files of every format, given to every loader and the command line."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import resource
import sqlite3
import sys
import tarfile
import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.io
import scipy.sparse as sp
from numpy.random import RandomState
from sklearn.datasets import dump_svmlight_file

from torture.models import cut, flipped
from torture.outcomes import ANSWERED, REFUSED, Row
from torture.worker import run_cases

MOST_MEMORY = 1_500_000_000
SEPARATOR = " | "
N_ROWS = 40


def _frame() -> pl.DataFrame:
    rng = RandomState(0)
    words = np.array(["good", "bad", "fine", "poor", "book", "plot", "very", "not"])
    label = np.arange(N_ROWS) % 2
    text = [" ".join(words[np.append(rng.randint(4, 8, 3), k)]) for k in label]
    return pl.DataFrame({"label": label, "length": rng.standard_normal(N_ROWS) + label, "text": text})


def _written(write: Callable[[io.BytesIO], Any]) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def _numbers() -> tuple[Any, Any]:
    y = np.arange(N_ROWS) % 2
    return np.abs(RandomState(0).standard_normal((N_ROWS, 5)) + y[:, None]), y


def _svmlight(file: io.BytesIO) -> None:
    dump_svmlight_file(*_numbers(), file, zero_based=False)


def _mat(sparse: bool, compressed: bool) -> bytes:
    X, y = _numbers()
    rows = sp.csc_matrix(X) if sparse else X
    return _written(lambda f: scipy.io.savemat(f, {"fts": rows, "labels": y[:, None]}, do_compression=compressed))


def _reviews(file: io.BytesIO) -> None:
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for domain in ("books", "dvd", "electronics", "kitchen"):
            for label, word in (("negative", "bad"), ("positive", "good")):
                content = f"the:2 {word}:1 {domain}:2 #label#:{label}\n".encode() * 12
                member = tarfile.TarInfo(f"processed_acl/{domain}/{label}.review")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))


def _csv() -> bytes:
    return _frame().write_csv().encode()


def _npz(**arrays: Any) -> bytes:
    return _written(lambda f: np.savez_compressed(f, **arrays))


def _csr_npz() -> bytes:
    X, y = _numbers()
    m = sp.csr_array(X)
    return _npz(data=m.data, indices=m.indices, indptr=m.indptr, shape=m.shape, y=y)


GOOD: dict[str, Callable[[], bytes]] = {
    "csv": _csv,
    "tsv": lambda: _frame().write_csv(separator="\t").encode(),
    "jsonl": lambda: _frame().write_ndjson().encode(),
    "parquet": lambda: _written(_frame().write_parquet),
    "npz": lambda: _npz(x=_numbers()[0], y=_numbers()[1]),
    "CSR npz": _csr_npz,
    "svmlight": lambda: _written(_svmlight),
    "csv.gz": lambda: gzip.compress(_csv(), mtime=0),
    "csv.bz2": lambda: bz2.compress(_csv()),
    "csv.xz": lambda: lzma.compress(_csv()),
    "mat": lambda: _mat(False, True),
    "plain mat": lambda: _mat(False, False),
    "sparse mat": lambda: _mat(True, True),
    "plain sparse mat": lambda: _mat(True, False),
    "tar.gz": lambda: _written(_reviews),
    "sqlite": lambda: _store(),
    "toml": lambda: b'label = "label"\nmethod = "adrem"\nmembers = 1\niterations = 2\nC = "1.0"\ndrop = ["length"]\n',
}


def _store() -> bytes:
    from adrem.benchmark.store import Cell, Store

    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        for repetition in range(20):
            store.put(Cell("task", "features", "A-B", repetition, "adrem", "data", "{}"), {"accuracy": 0.5}, 1.0)
        return store.path.read_bytes()


def _read_file(content: bytes, folder: Path, form: str) -> None:
    from adrem.columns import read_file

    path = folder / f"table.{form.rsplit(maxsplit=1)[-1]}"
    path.write_bytes(content)
    if not read_file(str(path)).n_rows:
        raise AssertionError("gave a table without rows")


def _make_pair(content: bytes, folder: Path, form: str) -> None:
    """The rows of a source and a target, with the file as both."""
    from adrem.columns import make_pair, read_file

    path = folder / f"table.{form}"
    path.write_bytes(content)
    pair = make_pair(read_file(str(path)), read_file(str(path)), label="label")
    rows = pair.X_source.data if sp.issparse(pair.X_source) else pair.X_source
    if not np.all(np.isfinite(rows)):
        raise AssertionError("gave rows that are not finite")


def _load_folder(content: bytes, folder: Path, form: str) -> None:
    from adrem.datasets import load_folder

    ending = form.rsplit(maxsplit=1)[-1]
    if ending in ("csv", "parquet"):
        frame = _frame().drop("text")
        content = content if content != GOOD[form]() else _written(getattr(frame, f"write_{ending}"))
    (folder / f"one.{ending}").write_bytes(content)
    (folder / f"two.{ending}").write_bytes(content)
    data = load_folder(folder)
    for domain in data.domains.values():
        values = domain.X.data if sp.issparse(domain.X) else domain.X
        if not np.all(np.isfinite(values)):
            raise AssertionError("gave rows that are not finite")


def _load_reviews(content: bytes, folder: Path, _: str) -> None:
    from adrem.datasets import load

    (folder / "amazon-reviews").mkdir()
    (folder / "amazon-reviews" / "processed_acl.tar.gz").write_bytes(content)
    load("amazon-reviews", folder, verify=False)


def _open_store(content: bytes, folder: Path, _: str) -> None:
    from adrem.benchmark.store import Cell, Store

    (folder / "results.sqlite").write_bytes(content)
    Store(folder).get([Cell("task", "features", "A-B", k, "adrem", "data", "{}") for k in range(20)])


def _adapt(content: bytes, folder: Path, form: str) -> None:
    """The command line, with the file as the target, or as its options."""
    (folder / "source.csv").write_bytes(_csv())
    given = ["--config", str(folder / "run.toml"), "-o", str(folder / "labels.csv")]
    if form == "toml":
        (folder / "run.toml").write_bytes(content)
        (folder / "target.csv").write_bytes(_csv())
        command(["adapt", str(folder / "source.csv"), str(folder / "target.csv"), *given])
        return
    (folder / "run.toml").write_bytes(GOOD["toml"]().replace(b'drop = ["length"]', b""))
    path = folder / f"target.{form.rsplit(maxsplit=1)[-1]}"
    path.write_bytes(content)
    command(["adapt", str(folder / "source.csv"), str(path), *given])


def command(words: list[str]) -> None:
    """Run the command line in this process; an exit code other than 0 becomes an error with what was said."""
    from adrem.cli import main

    sys.argv = ["adrem", *words]
    out, err = io.StringIO(), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    said = err.getvalue().strip()
    if "Traceback" in said or "adrem: unexpected" in said:
        raise AssertionError(said.splitlines()[-1])
    if any(letter not in "\n\t\r" and unicodedata.category(letter) == "Cc" for letter in said + out.getvalue()):
        raise AssertionError("printed what a terminal obeys")
    if code not in (0, 1, 2):
        raise AssertionError(f"exit code {code}")
    if code and not said:
        raise AssertionError("failed without a word")
    if code:
        raise ValueError(said)


LOADERS: dict[str, tuple[Callable[[bytes, Path, str], None], tuple[str, ...]]] = {
    "read_file": (
        _read_file,
        ("csv", "tsv", "jsonl", "parquet", "npz", "CSR npz", "svmlight", "csv.gz", "csv.bz2", "csv.xz"),
    ),
    "make_pair": (_make_pair, ("csv", "jsonl", "parquet")),
    "load_folder": (
        _load_folder,
        ("csv", "parquet", "npz", "CSR npz", "svmlight", "mat", "plain mat", "sparse mat", "plain sparse mat"),
    ),
    "load": (_load_reviews, ("tar.gz",)),
    "the cache of results": (_open_store, ("sqlite",)),
    "adrem adapt": (_adapt, ("csv", "jsonl", "parquet", "toml")),
}


def _zeros(compress: Callable[[bytes], bytes]) -> bytes:
    """Sixteen gigabytes in a file of some megabytes at most: packed files may follow each other in one."""
    return compress(bytes(1 << 26)) * 256


# Made to mislead; each to the loader that reads such files.
MISLEADING: dict[str, tuple[str, str, Callable[[], bytes]]] = {
    "gzip of 16 GB of zeros": ("read_file", "csv.gz", lambda: _zeros(gzip.compress)),
    "xz of 16 GB of zeros": ("read_file", "csv.xz", lambda: _zeros(lzma.compress)),
    "bzip2 of 16 GB of zeros": ("read_file", "csv.bz2", lambda: _zeros(bz2.compress)),
    "column 10^17 of an svmlight file": ("load_folder", "svmlight", lambda: b"1 99999999999999999:1\n0 1:1\n"),
    "negative column of an svmlight file": ("load_folder", "svmlight", lambda: b"1 -5:1\n0 1:1\n"),
    "NaN in an svmlight file": ("load_folder", "svmlight", lambda: b"1 1:nan\n0 1:1\n"),
    "an npz of objects": ("read_file", "npz", lambda: _objects()),
    "an npz of lies": ("read_file", "CSR npz", lambda: _lies()),
    "a header alone": ("read_file", "csv", lambda: b"a,b,label\n"),
    "a quote that never ends": ("read_file", "csv", lambda: b'a,label\n"' + b"x,1\n" * 1000),
    "a line of ten million letters": ("read_file", "csv", lambda: b"a,label\n" + b"x" * 10**7 + b",1\n"),
    "a hundred thousand columns": ("read_file", "csv", lambda: _wide()),
    "brackets a hundred thousand deep": ("read_file", "jsonl", lambda: b'{"a": ' + b"[" * 10**5 + b"\n"),
    "a number of a million digits": ("read_file", "jsonl", lambda: b'{"a": ' + b"9" * 10**6 + b"}\n"),
    "half of a surrogate": ("read_file", "jsonl", lambda: b'{"a": "\\ud800"}\n'),
    "zero bytes": ("read_file", "csv", lambda: bytes(1000)),
    "UTF-16": ("read_file", "csv", lambda: _csv().decode().encode("utf-16")),
    "latin-1": ("read_file", "csv", lambda: "Straße,label\n1,2\n".encode("latin-1")),
    "no line at all": ("read_file", "csv", lambda: b""),
    "an image": ("read_file", "csv", lambda: b"\x89PNG\r\n\x1a\n" + RandomState(0).bytes(500)),
    "a model file as a table": ("read_file", "npz", lambda: _npz(header=np.zeros(3, np.uint8), coef_=np.zeros((1, 1)))),
    "tar members that climb": ("load", "tar.gz", lambda: _climbing()),
    "a parquet file of a long string, two thousand times": ("read_file", "parquet", lambda: _repeated()),
    "a parquet file of odd types": ("adrem adapt", "parquet", lambda: _odd_types()),
    "twenty thousand columns": ("make_pair", "csv", lambda: _many_columns(pl.DataFrame.write_csv)),
    "twenty thousand keys": ("make_pair", "jsonl", lambda: _many_columns(pl.DataFrame.write_ndjson)),
    "a key in each of two thousand lines": (
        "read_file",
        "jsonl",
        lambda: b"\n".join(b'{"k%d":1}' % k for k in range(2000)),
    ),
    "column 10^8 of an svmlight file": ("read_file", "svmlight", lambda: b"1 100000000:1\n0 1:1\n" * 20),
    "labels of bytes": ("read_file", "npz", lambda: _npz(x=_numbers()[0], y=_numbers()[1].astype("S9"))),
    "labels of nothing": ("read_file", "npz", lambda: _npz(x=_numbers()[0], y=np.zeros(N_ROWS, "V4"))),
    "labels of parts": ("read_file", "npz", lambda: _npz(x=_numbers()[0], y=np.zeros(N_ROWS, "i4,i4"))),
    "codes for the terminal": (
        "adrem adapt",
        "csv",
        lambda: _csv().replace(b"length", b"\x1b[2Jlength\x9b").decode("latin-1").encode(),
    ),
    "formulas": ("adrem adapt", "csv", lambda: _csv().replace(b"good", b"=cmd|'/c calc'!A1")),
    "columns to keep that have the names of labels": (
        "adrem adapt",
        "toml",
        lambda: GOOD["toml"]() + b'keep = ["label", "length"]\nid = "text"\n',
    ),
    "a name of 300 letters for the labels": (
        "adrem adapt",
        "toml",
        lambda: GOOD["toml"]() + b'save = "' + b"x" * 300 + b'"\n',
    ),
    "a hundred thousand jobs": ("adrem adapt", "toml", lambda: GOOD["toml"]() + b"jobs = 100000\n"),
    "a database with a view": ("the cache of results", "sqlite", lambda: _store_after("CREATE VIEW v AS SELECT 1")),
    "a database with one more column": (
        "the cache of results",
        "sqlite",
        lambda: _store_after("ALTER TABLE cells ADD COLUMN more TEXT"),
    ),
    "a database with a row of nothing": (
        "the cache of results",
        "sqlite",
        lambda: _store_after("UPDATE cells SET result = NULL WHERE repetition = 1"),
    ),
    "a database of another program": ("the cache of results", "sqlite", lambda: _other_database()),
    "a configuration of anything": ("adrem adapt", "toml", lambda: b'label = "x"\n__class__ = "os.system"\n'),
    "a configuration of tables": ("adrem adapt", "toml", lambda: b"[label]\nx = 1\n"),
}


def _objects() -> bytes:
    return _written(lambda f: np.savez(f, x=np.array([{"a": 1}], dtype=object)))


def _lies() -> bytes:
    m = sp.csr_array(_numbers()[0])
    return _npz(data=m.data, indices=m.indices + 10**6, indptr=m.indptr, shape=m.shape)


def _wide() -> bytes:
    names = ",".join(f"c{k}" for k in range(100_000))
    return f"{names}\n{','.join('1' for _ in range(100_000))}\n".encode()


def _repeated() -> bytes:
    """Two gigabytes in a file of some kilobytes."""
    text = pl.repeat("x" * 10**6, 2000, eager=True)
    return _written(pl.DataFrame({"a": text, "label": [0, 1] * 1000}).write_parquet)


def _odd_types() -> bytes:
    label = np.arange(N_ROWS) % 2
    odd = {
        "category": pl.Series(["a", "b"])[label].cast(pl.Categorical),
        "choice": pl.Series(["a", "b"])[label].cast(pl.Enum(["a", "b"])),
        "decimal": pl.Series(label).cast(pl.Decimal(10, 2)),
        "day": pl.Series(label).cast(pl.Date),
        "while": pl.Series(label).cast(pl.Duration),
    }
    return _written(_frame().with_columns(**odd).write_parquet)


def _many_columns(write: Callable[[pl.DataFrame], str]) -> bytes:
    """A table whose cost would show if it grew with the square of the columns."""
    label = np.arange(N_ROWS) % 2
    table = RandomState(0).standard_normal((N_ROWS, 20_000)).round(3)
    names = [f"c{k}" for k in range(table.shape[1])]
    return write(_frame().with_columns(pl.DataFrame(table, names)).with_columns(label=pl.Series(label))).encode()


def _store_after(statement: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        path.write_bytes(_store())
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
            connection.commit()
        return path.read_bytes()


def _climbing() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name in ("../../evil/positive.review", "/etc/books/negative.review"):
            member = tarfile.TarInfo(name)
            member.size = 3
            archive.addfile(member, io.BytesIO(b"x:1"))
    return file.getvalue()


def _other_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "other.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE cells (other TEXT)")
            connection.commit()
        return path.read_bytes()


def all_cases(*, full: bool) -> dict[str, list[str]]:
    """Names of cases by loader: the loader, the form of the file, and what is done to it."""
    n_cuts, n_seeds = (200, 2000) if full else (25, 60)
    cases: dict[str, list[str]] = {}
    for loader, (_, forms) in LOADERS.items():
        slow = any("mat" in form for form in forms) or loader == "adrem adapt"
        ways = [*(f"cut {k}" for k in range(n_cuts)), *(f"seed {k}" for k in range(n_seeds // (2 if slow else 1)))]
        cases[loader] = [SEPARATOR.join((loader, form, way)) for form in forms for way in ("whole", *ways)]
    cases["made to mislead"] = [SEPARATOR.join(("mislead", "", name)) for name in MISLEADING]
    return cases


def serving(_: str) -> Callable[[str], str]:
    return outcome_of


def outcome_of(case: str) -> str:
    loader, form, what = case.split(SEPARATOR)
    if loader == "mislead":
        loader, form, make = MISLEADING[what]
        content = make()
    else:
        content = GOOD[form]()
        way, _, k = what.partition(" ")
        if way != "whole":
            change = cut((int(k) + 0.5) / (200 if int(k) >= 25 else 25)) if way == "cut" else flipped(int(k))
            content = change(content, Path())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _limit_memory()
    with tempfile.TemporaryDirectory() as folder:
        outcome = _outcome(lambda: LOADERS[loader][0](content, Path(folder), form))
    taken = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    return f"took {taken / 1e6:.0f} MB" if taken > MOST_MEMORY and outcome == ANSWERED else outcome


def _limit_memory() -> None:
    """So much more than the process has now: a small machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MOST_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def _outcome(read: Callable[[], None]) -> str:
    try:
        read()
    except (ValueError, OSError, MemoryError) as error:
        return REFUSED if len(str(error)) > 20 else f"refused without a reason: {type(error).__name__} {error}"
    except AssertionError as error:
        return str(error)
    except BaseException as error:  # readers may raise what is no Exception
        return f"raised {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    return ANSWERED


def run(*, full: bool) -> list[Row]:
    table = []
    for loader, cases in all_cases(full=full).items():
        outcomes = run_cases("torture.files", "all", cases)
        whole = [(case, outcome) for case, outcome in outcomes if case.endswith("whole") and outcome != ANSWERED]
        outcomes += [(case, f"a good file was {outcome}") for case, outcome in whole]
        what = "files made to mislead" if loader == "made to mislead" else f"damaged files to {loader}"
        table.append(Row.of("bad files", what, outcomes))
    return table
