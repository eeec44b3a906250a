from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from commands import Command
from small_data import accept_any_content, make_home

from adrem.datasets.registry import REGISTRY, Address, File


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    accept_any_content(monkeypatch, "amazon-400")
    return make_home(tmp_path, ("amazon-400",))


def test_list_shows_which_data_sets_are_present(adrem: Command, home: Path) -> None:
    code, out, err = adrem("datasets", "list", "--data-home", home)
    there = {line.split()[0]: line.split()[-1] for line in out.splitlines()[1:]}
    assert code == 0
    assert set(there) == set(REGISTRY)
    assert there["amazon-400"] == "yes"
    assert there["amazon-reviews"] == "no"
    assert there["digits-shift"] == "adrem"
    assert str(home) in err
    assert max(map(len, out.splitlines())) <= 80


def test_info_shows_file_paths_and_untried_addresses(adrem: Command, home: Path) -> None:
    code, out, _ = adrem("datasets", "info", "amazon-400", "--data-home", home)
    assert code == 0
    assert f"{home / 'amazon-400' / 'books_400.mat'}\n" in out
    assert "amazon_review.zip  (missing)" in out
    assert "(not tried)" in out
    assert "Gong" in out


@pytest.mark.parametrize("command", ["info", "fetch", "verify"])
def test_unknown_names_are_usage_errors(command: str, adrem: Command) -> None:
    code, _, err = adrem("datasets", command, "amazone")
    assert code == 2
    assert "amazon-reviews, amazon-400" in err.replace("\n", " ")


def test_verify_reports_readable_missing_and_damaged(adrem: Command, home: Path) -> None:
    code, out, _ = adrem("datasets", "verify", "--data-home", home)
    assert code == 0
    assert "amazon-400               readable, no checksum known" in out
    assert "amazon-reviews           missing" in out
    code, out, _ = adrem("datasets", "verify", "amazon-reviews", "--data-home", home)
    assert code == 1
    assert str(home / "amazon-reviews" / "processed_acl.tar.gz") in out
    (home / "amazon-400" / "dvd_400.mat").write_bytes(b"cut")
    code, out, _ = adrem("datasets", "verify", "--data-home", home)
    assert code == 1
    assert "amazon-400               DAMAGED" in out
    assert "dvd_400.mat can't be read" in out


def test_failed_fetch_names_the_file_to_place(adrem: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = File("processed_acl.tar.gz", addresses=(Address("http://127.0.0.1:9/nobody"),))
    monkeypatch.setitem(REGISTRY, "amazon-reviews", replace(REGISTRY["amazon-reviews"], files=(file,)))
    code, out, err = adrem("datasets", "fetch", "amazon-reviews", "--data-home", tmp_path)
    assert (code, out) == (1, "")
    assert "no connection" in err
    assert str(tmp_path / "amazon-reviews" / "processed_acl.tar.gz") in err


def test_fetch_skips_present_data_sets(adrem: Command, home: Path) -> None:
    code, _, err = adrem("datasets", "fetch", "amazon-400", "digits-shift", "--data-home", home)
    assert code == 0
    assert err == f"amazon-400: in {home / 'amazon-400'}\ndigits-shift: comes with adrem\n"
