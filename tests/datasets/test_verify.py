from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from small_data import accept_any_content, make_files, make_home

from adrem.datasets import load, verify
from adrem.datasets.registry import REGISTRY, File

pytestmark = pytest.mark.thorough

NAME = "amazon-400"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of small files whose checksums are in the registry."""
    make_home(tmp_path, (NAME,))
    accept_any_content(monkeypatch, NAME)
    data = load(NAME, tmp_path)
    files = tuple(File(name, (sha,)) for name, sha in data.provenance.files.items())
    monkeypatch.setitem(REGISTRY, NAME, replace(REGISTRY[NAME], files=files, checksum=data.checksum))
    return tmp_path


def test_verify_accepts_published_files(home: Path) -> None:
    status, findings = verify(NAME, home)
    assert status == "ok"
    assert len(findings) == 5
    assert all(finding.endswith("as published") for finding in findings)


def test_verify_accepts_equal_content_in_different_bytes(home: Path) -> None:
    path = home / NAME / "books_400.mat"
    content = bytearray(path.read_bytes())
    content[20] ^= 1  # in the text header of a MATLAB file, which holds the creation date
    path.write_bytes(bytes(content))
    status, findings = verify(NAME, home)
    assert status == "ok"
    assert "books_400.mat: the checksum differs" in findings[0]


def test_verify_names_the_file_with_other_content(home: Path) -> None:
    (home / NAME / "books_400.mat").write_bytes(make_files(NAME)["dvd_400.mat"])
    status, findings = verify(NAME, home)
    assert status == "damaged"
    assert [f.rpartition(": ")[2] for f in findings[:2]] == ["the checksum differs", "as published"]
    assert "its content has the checksum" in findings[-1]


def test_verify_reports_truncated_file_as_damaged(home: Path) -> None:
    path = home / NAME / "books_400.mat"
    path.write_bytes(path.read_bytes()[:300])
    status, findings = verify(NAME, home)
    assert status == "damaged"
    assert "books_400.mat can't be read" in findings[-1]


def test_verify_reports_missing_unknown_and_generated_data(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verify("office-caltech-surf", home).status == "missing"
    assert verify("digits-shift", home).status == "ok"
    accept_any_content(monkeypatch, NAME)
    status, findings = verify(NAME, home)
    assert status == "unknown"
    assert load(NAME, home).checksum in findings[-1]
