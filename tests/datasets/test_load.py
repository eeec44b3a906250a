from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from small_data import BINARY_SETS, FILE_SETS, N_ROWS, files_of, make_files, make_home, review_archive

from adrem import AdREM
from adrem.datasets import load
from adrem.datasets.registry import DATA_SETS, REGISTRY
from adrem.exceptions import DamagedDataError, DataNotFoundError

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("name", FILE_SETS)
def test_published_file_formats_are_read(name: str, tmp_path: Path) -> None:
    data = load(name, make_home(tmp_path, (name,)), verify=False)
    assert [domain.name for domain in data.domains.values()] == list(REGISTRY[name].domains.values())
    for domain in data.domains.values():
        assert domain.y is not None
        assert domain.X.shape[0] == len(domain.y) == N_ROWS
        assert domain.X.dtype.kind == "f"
        assert set(np.unique(domain.y)) <= set(data.classes)
    assert set(data.provenance.files) == set(files_of(name))


def test_reviews_share_columns_and_keep_terms(tmp_path: Path) -> None:
    data = load("amazon-reviews", make_home(tmp_path, ("amazon-reviews",)), verify=False)
    names = data.feature_names
    assert names is not None
    assert {"a:b", "é", "not_good", "the"} <= set(names)
    books = data["books"]
    assert sp.issparse(books.X)
    assert books.y is not None
    assert data.classes.tolist() == ["negative", "positive"]
    assert books.X[:, [names.index("books")]].toarray().ravel().tolist() == [2.0] * N_ROWS
    bad = books.X[:, [names.index("bad")]].toarray().ravel() > 0
    assert set(books.y[bad]) == {"negative"}


def test_labels_are_class_names(tmp_path: Path) -> None:
    data = load("office-31-resnet50", make_home(tmp_path, ("office-31-resnet50",)), verify=False)
    assert data.classes.tolist() == ["apple", "bike", "cup"]
    assert data["A"].X.dtype == np.float32


def test_files_are_read_from_mirror_archive(tmp_path: Path) -> None:
    expected = load("amazon-400", make_home(tmp_path / "files", ("amazon-400",)), verify=False)
    folder = tmp_path / "archive" / "amazon-400"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "amazon_review.zip", "w") as archive:
        for file, content in make_files("amazon-400").items():
            archive.writestr(f"some/where/{file}", content)
    assert load("amazon-400", tmp_path / "archive", verify=False).checksum == expected.checksum


def test_generated_data_sets_need_no_files(tmp_path: Path) -> None:
    for name in ("digits-shift", "rotated-arcs"):
        data = load(name, tmp_path)
        assert data.pairs == ["S-T", "T-S"]
        assert data.checksum == load(name).checksum


def test_data_home_is_resolved_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_home(tmp_path / "environment", ("amazon-400",))
    make_home(tmp_path / "cache" / "data", ("office-caltech-surf",))
    monkeypatch.setenv("ADREM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ADREM_DATA", str(tmp_path / "environment"))
    assert len(load("amazon-400", verify=False)) == 4
    monkeypatch.delenv("ADREM_DATA")
    assert len(load("office-caltech-surf", verify=False)) == 4
    with pytest.raises(DataNotFoundError):
        load("amazon-400", verify=False)
    assert len(load("amazon-400", str(tmp_path / "environment"), verify=False)) == 4


@pytest.mark.parametrize("name", FILE_SETS)
def test_missing_files_are_named_with_path(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError) as caught:
        load(name, tmp_path)
    for file in files_of(name):
        assert str(tmp_path / name / file) in str(caught.value)


def test_unknown_names_list_the_known_names() -> None:
    with pytest.raises(ValueError, match=r"no data set 'amazon'; the known ones are amazon-reviews, amazon-400"):
        load("amazon")


@pytest.mark.parametrize("name", [name for name in FILE_SETS if name != "office-31-decaf"])
def test_unpublished_content_raises_error_by_default(name: str, tmp_path: Path) -> None:
    make_home(tmp_path, (name,))
    with pytest.raises(DamagedDataError, match=rf"not the published one: it has rows .*verify {name}"):
        load(name, tmp_path)


@pytest.fixture(scope="module")
def whole() -> dict[str, dict[str, bytes]]:
    return {name: make_files(name) for name in FILE_SETS}


@given(name=st.sampled_from(BINARY_SETS), share=st.floats(0.0, 0.999))
def test_truncated_file_raises_damaged_data_error(
    name: str, share: float, whole: dict[str, dict[str, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cut") / name
    for position, (file, content) in enumerate(whole[name].items()):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(content[: int(share * len(content))] if position == 0 else content)
    with pytest.raises(DamagedDataError, match=files_of(name)[0]):
        load(name, folder.parent, verify=False)


@given(name=st.sampled_from(FILE_SETS), place=st.floats(0.0, 0.999), flip=st.integers(1, 255))
def test_altered_file_raises_only_damaged_data_error(
    name: str, place: float, flip: int, whole: dict[str, dict[str, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("altered") / name
    for position, (file, content) in enumerate(whole[name].items()):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        changed = bytearray(content)
        if position == 0:
            changed[int(place * len(content))] ^= flip
        (folder / file).write_bytes(bytes(changed))
    try:
        load(name, folder.parent, verify=False)
    except DamagedDataError as error:
        assert files_of(name)[0] in str(error) or "do not fit together" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"other": np.eye(3)}, "holds other; rows are expected under one of the names fts, x"),
        ({"fts": np.eye(3), "labels": np.arange(2)}, "3 rows and 2 labels"),
        ({"fts": np.full((2, 2), np.nan), "labels": np.arange(2)}, "NaN or infinity"),
        ({"fts": np.array(["a", "b"], dtype=object), "labels": np.arange(2)}, "must be a table of numbers"),
        ({"fts": np.eye(3)}, "do not fit together: no labels for books"),
        ({"fts": np.eye(5), "labels": np.arange(5)}, "do not fit together: different numbers of columns"),
    ],
)
def test_unexpected_arrays_raise_descriptive_error(arrays: dict[str, Any], message: str, tmp_path: Path) -> None:
    make_home(tmp_path, ("amazon-400",))
    scipy.io.savemat(tmp_path / "amazon-400" / "books_400.mat", arrays)
    with pytest.raises(DamagedDataError, match=message):
        load("amazon-400", tmp_path, verify=False)


def test_matlab_7_3_file_raises_conversion_hint(tmp_path: Path) -> None:
    make_home(tmp_path, ("amazon-400",))
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    (tmp_path / "amazon-400" / "books_400.mat").write_bytes(header + bytes(600))
    with pytest.raises(DamagedDataError, match=r"MATLAB 7\.3 file.*-v7"):
        load("amazon-400", tmp_path, verify=False)


@pytest.mark.parametrize("line", ["no review at all\n", "the:one #label#:positive\n", "the:1 good:2\n"])
def test_malformed_review_line_is_quoted(line: str, tmp_path: Path) -> None:
    folder = tmp_path / "amazon-reviews"
    folder.mkdir()
    archive = review_archive(np.random.RandomState(0), extra=line)
    (folder / "processed_acl.tar.gz").write_bytes(archive)
    with pytest.raises(DamagedDataError, match=f"not a review.*{line.strip()}"):
        load("amazon-reviews", tmp_path, verify=False)


def test_label_positions_outside_classes_are_rejected(tmp_path: Path) -> None:
    make_home(tmp_path, ("office-31-resnet50",))
    np.savez(tmp_path / "office-31-resnet50" / "dslr.npz", x=np.eye(3), y=[0, 1, 7], classes=["a", "b"])
    with pytest.raises(DamagedDataError, match=r"dslr\.npz: `y` must hold positions in the list"):
        load("office-31-resnet50", tmp_path, verify=False)


def test_archive_with_pickled_objects_is_rejected(tmp_path: Path) -> None:
    make_home(tmp_path, ("office-31-resnet50",))
    np.savez(tmp_path / "office-31-resnet50" / "dslr.npz", x=np.array([{}], dtype=object), y=[0])
    with pytest.raises(DamagedDataError, match=r"dslr\.npz: `x` holds Python objects"):
        load("office-31-resnet50", tmp_path, verify=False)


def test_registry_entries_have_citation_and_scaling() -> None:
    as_they_are = {"mushrooms", "phishing"}  # columns of 0 and 1, and of -1, 0 and 1
    for entry in DATA_SETS:
        assert entry.citation
        assert entry.make is not None or (entry.files and entry.read is not None)
        assert bool(entry.scaling) == (entry.make is None and entry.name not in as_they_are)
        assert all(len(sha) == 64 for file in entry.files for sha in file.sha256)


def test_pair_is_scaled_and_learnable(tmp_path: Path) -> None:
    data = load("office-caltech-surf", make_home(tmp_path, ("office-caltech-surf",)), verify=False)
    pair = data.pair("A-W")
    np.testing.assert_allclose(pair.X_source.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(pair.X_target.std(axis=0), 1.0)
    model = AdREM(C=1.0, n_estimators=3, random_state=0).fit(pair.X_source, pair.y_source, X_target=pair.X_target)
    assert np.mean(model.transduction_ == pair.y_target) > 0.5
