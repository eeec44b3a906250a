"""Tests of the readers of tables of the UCI repository and of raw reviews, and of the simulated shifts."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from small_data import N_ROWS, make_files, make_home

from adrem.datasets import DataSet, load, verify
from adrem.exceptions import DamagedDataError, DataNotFoundError

pytestmark = pytest.mark.thorough


def make(name: str, home: Path) -> DataSet:
    return load(name, make_home(home, (name,)), verify=False)


def column(data: DataSet, domain: str, name: str) -> list[float]:
    assert data.feature_names is not None
    values: list[float] = data[domain].X[:, data.feature_names.index(name)].tolist()
    return values


def test_mushrooms_have_a_column_for_each_code(tmp_path: Path) -> None:
    data = make("mushrooms", tmp_path)
    assert data.n_features == 21 * 3 + 2
    assert column(data, "enlarging", "stalk-shape_e") == [1.0] * N_ROWS
    assert column(data, "tapering", "stalk-shape_e") == [0.0] * N_ROWS
    for domain in "ET":
        assert_array_equal(data[domain].X.sum(axis=1), 22.0)
        assert_array_equal(data[domain].y, 1.0 - np.array(column(data, domain, "odor_a")))


def test_header_of_mushrooms_is_skipped(tmp_path: Path) -> None:
    expected = make("mushrooms", tmp_path / "plain")
    (tmp_path / "mushrooms").mkdir()
    content = make_files("mushrooms")["agaricus-lepiota.data"]
    header = ",".join(["edibility", *(f"column {k}" for k in range(22))]).encode() + b"\n"
    (tmp_path / "mushrooms" / "agaricus-lepiota.data").write_bytes(header + content)
    assert load("mushrooms", tmp_path, verify=False).checksum == expected.checksum


def test_phishing_is_split_by_its_first_column(tmp_path: Path) -> None:
    data = make("phishing", tmp_path)
    assert set(data["ip-address"].X[:, 0]) == {1.0}
    assert set(data["no-ip-address"].X[:, 0]) == {-1.0}
    for domain in data.domains.values():
        assert_array_equal(domain.y, domain.X[:, 7] > 0)


def test_missing_values_of_heart_disease_are_medians_or_no_code(tmp_path: Path) -> None:
    data = make("heart-disease", tmp_path)
    assert data.n_features == 9 + 4 + 3 + 3 + 3
    assert data.classes.tolist() == [0, 1]
    known = np.concatenate([column(data, hospital, "chol")[3:] for hospital in "CHSV"])
    for hospital in "CHSV":
        assert column(data, hospital, "chol")[:3] == [np.median(known)] * 3
        thal = np.sum([column(data, hospital, f"thal_{code}") for code in (3, 6, 7)], axis=0)
        assert thal.tolist() == [0.0] * 2 + [1.0] * (N_ROWS - 2)
    text = make_files("heart-disease")["processed.va.data"].decode()
    labels = [line.rpartition(",")[2] != "0" for line in text.split()]
    assert_array_equal(data["va"].y, labels)


def test_gas_sensors_are_dense(tmp_path: Path) -> None:
    data = make("gas-sensor-drift", tmp_path)
    assert data.n_features == 128
    assert data.classes.tolist() == [1, 2, 3, 4, 5, 6]
    first = gzip.decompress(make_files("gas-sensor-drift")["batch1.dat.gz"]).split(b"\n")[0].decode().split()
    assert data["1"].X[0].tolist() == [float(entry.partition(":")[2]) for entry in first[1:]]


def test_words_of_raw_reviews_are_counted(tmp_path: Path) -> None:
    data = make("amazon-text", tmp_path)
    names = data.feature_names
    assert names is not None
    assert set(names) == {"the", "book", "bad", "poor", "not", "good", "fine", "very", "été"}  # not of the titles
    books = data["books"]
    assert books.y is not None
    bad = books.X[:, [names.index(word) for word in ("bad", "poor", "not")]].sum(axis=1)
    assert_array_equal(books.y == "negative", bad == 1)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("mushrooms", b"e,", b"x,", "column 1: 'x' is not one of e, p"),
        ("mushrooms", b",t,", b",u,", "column 11: 'u' is not one of e, t"),
        ("mushrooms", b"a,", b"", "lines of 23 cells are expected"),
        ("phishing", b",0,", b",2,", "'2' is not one of -1, 0, 1"),
        ("phishing", b"@data\n1,", b"@data\n\xff,", "can't be read as a table of text"),
        ("heart-disease", b"?", b"one", "can't be read as a table of numbers"),
        ("heart-disease", b"\n", b",?\n", "lines of 14 cells are expected"),
    ],
)
def test_unexpected_cells_raise_descriptive_error(
    name: str, old: bytes, new: bytes, message: str, tmp_path: Path
) -> None:
    make_home(tmp_path, (name,))
    path = tmp_path / name / next(iter(make_files(name)))
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(DamagedDataError, match=message) as caught:
        load(name, tmp_path, verify=False)
    assert path.name in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gas-sensor-drift", b"1 1:2.0 2:3.0\n", "has 2 columns, but it should have 128"),
        ("gas-sensor-drift", b"1 1000:2.0\n", "has 1000 columns"),
        ("amazon-text", b"<review>no text</review>", "has no reviews between <review_text> tags"),
        ("amazon-text", b"", "has no reviews between <review_text> tags"),
    ],
)
def test_unexpected_content_raises_descriptive_error(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    make_home(tmp_path, (name,))
    path = tmp_path / name / next(iter(make_files(name)))
    path.write_bytes(gzip.compress(content))
    with pytest.raises(DamagedDataError, match=message):
        load(name, tmp_path, verify=False)


@pytest.mark.parametrize(("kind", "rows"), [("covariate", 800), ("target", 800), ("concept", 800), ("subspace", 1200)])
def test_simulated_shifts_are_those_of_skada(kind: str, rows: int) -> None:
    with sklearn.config_context():  # importing skada turns on metadata routing for the whole process
        pytest.importorskip("skada")
    name = f"simulated-{kind}"
    data = load(name)
    assert [domain.X.shape for domain in data.domains.values()] == [(rows, 2)] * 10
    assert data.classes.tolist() == [0, 1]
    assert data.checksum == load(name).checksum
    assert len({domain.X[0, 0] for domain in data.domains.values()}) == 10
    assert verify(name).findings == ["drawn by skada"]


def test_simulated_shifts_name_the_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skada.datasets", None)
    with pytest.raises(DataNotFoundError, match=r'drawn by skada: pip install "adrem\[bench\]"'):
        load("simulated-target")
