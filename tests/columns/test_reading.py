from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from adrem.columns import read_file
from adrem.exceptions import DamagedDataError

FRAME = pl.DataFrame({"text": ['a, "b"', "ç\nd", None], "n": [1.5, None, -2.0], "k": [1, 2, 3]})
WRITTEN = FRAME.cast(pl.String)  # the values as a text file stores them


def written(form: str) -> bytes:
    buffer = io.BytesIO()
    if form in ("csv", "tsv"):
        FRAME.write_csv(buffer, separator="," if form == "csv" else "\t")
    elif form == "jsonl":
        FRAME.write_ndjson(buffer)
    else:
        FRAME.write_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("packed", ["", ".gz", ".bz2", ".xz"])
def test_read_file_supports_forms_and_compression(form: str, packed: str, tmp_path: Path) -> None:
    pack: Any = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[packed]
    path = tmp_path / f"table.{form}{packed}"
    path.write_bytes(pack(written(form)))
    table = read_file(str(path))
    assert table.frame is not None
    assert table.frame.equals(WRITTEN if form in ("csv", "tsv") else FRAME)
    assert (table.n_rows, len(table.checksum)) == (3, 64)


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_standard_input_format_is_detected(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(written(form)))))
    frame = read_file("-").frame
    assert frame is not None
    assert frame.equals(WRITTEN if form in ("csv", "tsv") else FRAME)


@pytest.mark.parametrize("first", ["sep=;\n", "\ufeffsep=;\r\n", '"sep=;"\n'])
def test_line_that_tells_the_separator_is_no_header(first: str, tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text(f"{first}a,b;n\n1;2\n", newline="")
    table = read_file(str(tmp_path / "sheet.csv"))
    assert table.frame is not None
    assert (table.frame.to_dicts(), table.separator) == ([{"a,b": "1", "n": "2"}], ";")


def test_durations_are_read_as_seconds(tmp_path: Path) -> None:
    waits = pl.Series("waited", [90_500, None, -1000], dtype=pl.Duration("ms"))
    pl.DataFrame([waits]).write_parquet(tmp_path / "waits.parquet")
    frame = read_file(str(tmp_path / "waits.parquet")).frame
    assert frame is not None
    assert frame["waited"].to_list() == [90.5, None, -1.0]


def test_read_file_supports_npz_and_svmlight(tmp_path: Path) -> None:
    X, y = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), np.array([1, -1])
    np.savez(tmp_path / "dense.npz", x=X, y=y)
    sp.save_npz(tmp_path / "sparse.npz", sp.csr_matrix(X))
    dump_svmlight_file(X, y, str(tmp_path / "rows.svmlight"), zero_based=True)
    for name in ("dense.npz", "rows.svmlight"):
        table = read_file(str(tmp_path / name))
        assert table.rows is not None
        assert table.labels is not None
        np.testing.assert_array_equal(table.rows if name == "dense.npz" else table.rows.toarray(), X)
        np.testing.assert_array_equal(table.labels, y)
    assert read_file(str(tmp_path / "sparse.npz")).labels is None
    (tmp_path / "rows").write_bytes((tmp_path / "rows.svmlight").read_bytes())
    assert read_file(str(tmp_path / "rows")).n_rows == 2


def test_semicolon_csv_keeps_written_values(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a;b;c\n007;NA;x\n2,5;3;\n")
    frame = read_file(str(path)).frame
    assert frame is not None
    assert frame.columns == ["a", "b", "c"]
    assert frame.rows() == [("007", "NA", "x"), ("2,5", "3", None)]


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("a.csv", b"", ValueError, r"a\.csv is empty"),
        ("a.json", b'[{"x": 1}]', ValueError, "is one JSON list: put each row on its own line"),
        ("a.csv", b"x,y\n", ValueError, "has a header but no rows"),
        ("a.csv", b"x,y\n\x00\x01\x02", DamagedDataError, "is not text: give it the suffix of its format"),
        (
            "a.csv",
            "x\nçé\n".encode("latin1"),
            DamagedDataError,
            r"is not UTF-8 \(byte 2\): save it as .CSV UTF-8.*iconv -f latin1",
        ),
        ("a.csv", b"x,y\n1,2\n3,4,5\n", DamagedDataError, "can't be read as a table of text"),
        ("a.parquet", b"PAR1 and no more", DamagedDataError, "can't be read as a parquet file"),
        ("a.jsonl", b'{"x": 1}\n{"x": ', DamagedDataError, "can't be read as JSON lines"),
        ("a.npz", b"PK", DamagedDataError, "can't be read as a numpy archive"),
        ("a.svmlight", b"1 a:b\n", DamagedDataError, "can't be read as an svmlight file"),
        ("a.csv.gz", b"\x1f\x8bcut", DamagedDataError, "can't be read as a gzip file"),
    ],
)
def test_unreadable_file_raises_one_line_error(
    name: str, content: bytes, error: Any, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=message) as caught:
        read_file(str(tmp_path / name))
    assert "\n" not in str(caught.value)


def test_missing_file_or_folder_raises_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"There is no file .*nothing\.csv"):
        read_file(str(tmp_path / "nothing.csv"))
    with pytest.raises(ValueError, match="is a folder: name a file in it"):
        read_file(str(tmp_path))
