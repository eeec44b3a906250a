from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from adrem import AdREM
from adrem.datasets import DataSet, load_folder
from adrem.exceptions import DamagedDataError, DataNotFoundError
from adrem.preprocessing import JointStdScaler

rng = np.random.RandomState(0)
Y = np.arange(30) % 3
TABLES = {name: rng.standard_normal((30, 4)) + 3 * np.eye(3, 4)[Y] for name in ("old", "new")}
Write = Callable[[Path, Any], None]


def frame(X: Any) -> pl.DataFrame:
    return pl.DataFrame({f"f{j}": X[:, j] for j in range(X.shape[1])} | {"label": Y})


def write_csr(path: Path, X: Any) -> None:
    parts = sp.csr_array(X)
    np.savez(path, data=parts.data, indices=parts.indices, indptr=parts.indptr, shape=parts.shape, y=Y)


WRITERS: dict[str, Write] = {
    "csv": lambda path, X: frame(X).write_csv(path),
    "parquet": lambda path, X: frame(X).write_parquet(path),
    "npz": lambda path, X: np.savez(path, x=X, y=Y),
    "mat": lambda path, X: scipy.io.savemat(path, {"fts": X, "labels": Y[:, None]}),
    "svmlight": lambda path, X: dump_svmlight_file(X, Y, str(path), zero_based=True),
    "csr.npz": write_csr,
}


def write(folder: Path, form: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, X in TABLES.items():
        WRITERS[form](folder / f"{name}.{form.rpartition('.')[2]}", X)
    return folder


def check(data: DataSet) -> None:
    assert list(data) == ["new", "old"]
    for name, X in TABLES.items():
        rows = data[name].X
        np.testing.assert_allclose(rows.toarray() if sp.issparse(rows) else rows, X, rtol=1e-12)
        np.testing.assert_array_equal(data[name].y, Y)


@pytest.mark.parametrize("form", WRITERS)
def test_all_file_forms_give_equal_data_sets(form: str, tmp_path: Path) -> None:
    data = load_folder(write(tmp_path / "mine", form))
    check(data)
    assert data.name == "mine"
    assert len(data.provenance.files) == 2


def test_mixed_forms_load_and_other_files_are_ignored(tmp_path: Path) -> None:
    WRITERS["npz"](tmp_path / "old.npz", TABLES["old"])
    WRITERS["mat"](tmp_path / "new.mat", TABLES["new"])
    (tmp_path / "README.md").write_text("hello")
    check(load_folder(tmp_path))


def test_columns_are_matched_by_name(tmp_path: Path) -> None:
    frame(TABLES["old"]).write_csv(tmp_path / "old.csv")
    frame(TABLES["new"]).select("f3", "label", "f0", "f2", "f1").write_csv(tmp_path / "new.csv")
    data = load_folder(tmp_path)
    assert data.feature_names == ["f3", "f0", "f2", "f1"]
    np.testing.assert_allclose(data["old"].X, TABLES["old"][:, [3, 0, 2, 1]])


def test_sparse_files_get_the_same_width(tmp_path: Path) -> None:
    narrow = TABLES["new"].copy()
    narrow[:, 3] = 0.0
    dump_svmlight_file(sp.csr_array(TABLES["old"]), Y, str(tmp_path / "old.svm"), zero_based=True)
    dump_svmlight_file(sp.csr_array(narrow), Y, str(tmp_path / "new.svm"), zero_based=True)
    data = load_folder(tmp_path)
    assert data["new"].X.shape == data["old"].X.shape == (30, 4)


def test_unlabelled_domain_serves_as_target(tmp_path: Path) -> None:
    frame(TABLES["old"]).write_csv(tmp_path / "old.csv")
    frame(TABLES["new"]).drop("label").write_csv(tmp_path / "new.csv")
    data = load_folder(tmp_path, preprocessing=JointStdScaler())
    pair = data.pair("old", "new")
    model = AdREM(C=1.0, random_state=0).fit(pair.X_source, pair.y_source, X_target=pair.X_target)
    assert np.mean(model.transduction_ == Y) > 0.8


def test_string_labels_and_label_name_are_supported(tmp_path: Path) -> None:
    words = pl.Series("kind", np.array(["cat", "dog", "emu"])[Y])
    for name, X in TABLES.items():
        frame(X).drop("label").with_columns(words).write_csv(tmp_path / f"{name}.csv")
    data = load_folder(tmp_path, label="kind")
    assert data.classes.tolist() == ["cat", "dog", "emu"]
    AdREM(C=1.0, n_estimators=1).fit(data["old"].X, data["old"].y, X_target=data["new"].X)


def test_empty_folder_raises_error(tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError, match=r"has 0 file\(s\) with the suffixes .csv"):
        load_folder(tmp_path)


def test_duplicate_domain_names_raise_error(tmp_path: Path) -> None:
    write(tmp_path, "npz")
    WRITERS["mat"](tmp_path / "old.mat", TABLES["old"])
    with pytest.raises(ValueError, match="several files named 'old'"):
        load_folder(tmp_path)


def test_non_numeric_features_are_named(tmp_path: Path) -> None:
    write(tmp_path, "csv")
    frame(TABLES["old"]).with_columns(pl.lit("red").alias("colour")).write_csv(tmp_path / "old.csv")
    with pytest.raises(ValueError, match=r"old\.csv: columns \['colour'\] do not hold numbers"):
        load_folder(tmp_path)


def test_different_column_names_are_named(tmp_path: Path) -> None:
    write(tmp_path, "csv")
    frame(TABLES["old"]).rename({"f1": "g1"}).write_csv(tmp_path / "old.csv")
    with pytest.raises(
        DamagedDataError, match=r"old has other columns than new: missing \['f1'\], not in new \['g1'\]"
    ):
        load_folder(tmp_path)


def test_different_column_counts_raise_error(tmp_path: Path) -> None:
    write(tmp_path, "npz")
    np.savez(tmp_path / "old.npz", x=np.eye(30), y=Y)
    with pytest.raises(DamagedDataError, match="old has 30 columns, new has 4"):
        load_folder(tmp_path)


@pytest.mark.parametrize("form", ["parquet", "npz", "mat", "csr.npz"])  # a cut in a text file can't be detected
def test_truncated_file_is_named(form: str, tmp_path: Path) -> None:
    write(tmp_path, form)
    path = tmp_path / f"old.{form.rpartition('.')[2]}"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 + 1])
    with pytest.raises(DamagedDataError, match=path.name):
        load_folder(tmp_path)


def test_missing_values_are_rejected(tmp_path: Path) -> None:
    write(tmp_path, "csv")
    (tmp_path / "old.csv").write_text("f0,f1,f2,f3,label\n1,2,3,4,0\n1,,3,4,1\n")
    with pytest.raises(DamagedDataError, match=r"old\.csv: columns \['f1'\] have missing values"):
        load_folder(tmp_path)


@pytest.mark.parametrize("lines", [("0:1 2:5", "2:2"), ("1:1 3:5", "3:2")])
def test_svmlight_files_share_the_index_base(lines: tuple[str, str], tmp_path: Path) -> None:
    """The second file has no entry in the first column, so that alone it does not show whether indices start at 0."""
    for name, line in zip(("new", "old"), lines, strict=True):
        (tmp_path / f"{name}.svm").write_text(f"0 {line}\n1 {line}\n")
    data = load_folder(tmp_path)
    np.testing.assert_array_equal(data["new"].X.toarray(), [[1, 0, 5]] * 2)
    np.testing.assert_array_equal(data["old"].X.toarray(), [[0, 0, 2]] * 2)


def test_sparse_archives_must_have_equal_width(tmp_path: Path) -> None:
    write(tmp_path, "csr.npz")
    write_csr(tmp_path / "old.npz", np.pad(TABLES["old"], ((0, 0), (0, 3))))
    with pytest.raises(DamagedDataError, match="old has 7 columns, new has 4"):
        load_folder(tmp_path)


def test_non_csr_matrix_is_rejected(tmp_path: Path) -> None:
    write(tmp_path, "csr.npz")
    sp.save_npz(tmp_path / "old.npz", sp.csc_matrix(np.triu(np.ones((4, 4)))))
    with pytest.raises(DamagedDataError, match=r"old\.npz holds a sparse matrix that is not CSR"):
        load_folder(tmp_path)


def test_domain_names_may_contain_hyphens(tmp_path: Path) -> None:
    for name, X in TABLES.items():
        WRITERS["npz"](tmp_path / f"{name}-shop.npz", X)
    data = load_folder(tmp_path)
    pair = data.pair(data.pairs[0])
    np.testing.assert_array_equal(pair.X_source, TABLES["new"])
    np.testing.assert_array_equal(data.pair("old-shop>new-shop").X_target, TABLES["new"])


def test_late_float_in_integer_column_is_read(tmp_path: Path) -> None:
    rows = "".join(f"0,{k % 2}\n" for k in range(150))
    for name in TABLES:
        (tmp_path / f"{name}.csv").write_text(f"f,label\n{rows}0.5,1\n")
    assert load_folder(tmp_path)["old"].X[-1, 0] == 0.5


@pytest.mark.parametrize("label", ["", "word"])
def test_rows_without_label_raise_error(label: str, tmp_path: Path) -> None:
    write(tmp_path, "csv")
    other = label or "1"
    (tmp_path / "old.csv").write_text(f"f0,f1,f2,f3,label\n1,2,3,4,{other}\n1,2,3,4,\n")
    with pytest.raises(DamagedDataError, match=r"old\.csv has rows without a label"):
        load_folder(tmp_path)


def test_matlab_cell_array_labels_become_strings(tmp_path: Path) -> None:
    words = np.array(["cat", "dog", "emu"])[Y]
    for name, X in TABLES.items():
        scipy.io.savemat(tmp_path / f"{name}.mat", {"x": X, "y": words.astype(object)})
    data = load_folder(tmp_path)
    np.testing.assert_array_equal(data["old"].y, words)


def test_missing_folder_and_empty_file_raise_errors(tmp_path: Path) -> None:
    with pytest.raises(DataNotFoundError, match="There is no folder"):
        load_folder(tmp_path / "nowhere")
    write(tmp_path, "svmlight")
    (tmp_path / "old.svmlight").write_text("")
    with pytest.raises(DamagedDataError, match=r"old\.svmlight"):
        load_folder(tmp_path)


def test_missing_polars_raises_install_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "csv")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"polars: pip install 'adrem\[cli\]'"):
        load_folder(tmp_path)


def test_unknown_label_column_raises_error(tmp_path: Path) -> None:
    write(tmp_path, "csv")
    with pytest.raises(ValueError, match=r"No file in .* has a column 'lable'"):
        load_folder(tmp_path, label="lable")
