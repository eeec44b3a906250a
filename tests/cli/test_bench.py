from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Command
from rich.console import Console
from small_data import accept_any_content, make_home

from adrem.benchmark import Draw, cells, protocols
from adrem.benchmark.methods import METHODS
from adrem.benchmark.store import Cell
from adrem.cli.bars import run_bar

pytestmark = pytest.mark.thorough

TABLE = "amazon-standard"


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Options for a small data set in place of amazon-400, with smaller draws and a separate cache."""
    accept_any_content(monkeypatch, "amazon-400")
    small = tuple(
        replace(p, draw=Draw(n_source=20, n_target=10)) if p.draw.n_source else p for p in protocols.PROTOCOLS
    )
    monkeypatch.setattr(protocols, "PROTOCOLS", small)
    cells.load_cached.cache_clear()
    home = make_home(tmp_path / "data", ("amazon-400",))
    return ["--data-home", str(home), "--cache", str(tmp_path / "results")]


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_run_show_and_rerun_print_equal_results(adrem: Command, words: list[str]) -> None:
    chosen = ["--methods", "source-svm,adrem-svm", "--repeats", "2", "--format", "csv", *words]
    code, out, err = adrem("bench", "run", TABLE, "--jobs", "1", "--features", "400", *chosen)
    assert code == 0
    assert "16 cells, 0 of them finished before" in err
    rows = read(out)
    assert out.startswith("table,features,method,pair,repeats,accuracy,std,published,published_source,failure\n")
    assert {row["pair"] for row in rows} == {"K-D", "D-B", "B-E", "E-K", "avg"}
    assert {row["repeats"] for row in rows} == {"2"}
    source = {row["pair"]: row for row in rows if row["method"] == "source-svm"}
    assert source["avg"]["published"] == "76.7"
    mean = sum(float(source[pair]["accuracy"]) for pair in source if pair != "avg") / 4
    assert float(source["avg"]["accuracy"]) == pytest.approx(mean, abs=1e-3)
    assert adrem("bench", "show", TABLE, "--features", "400", *chosen) == (0, out, "")
    again = adrem("bench", "run", TABLE, "--jobs", "1", "--features", "400", *chosen)
    assert again.out == out
    assert "16 of them finished before" in again.err


def test_run_accepts_pairs_and_methods(adrem: Command, words: list[str]) -> None:
    chosen = ["--pairs", "K-D,B>E", "--methods", "source-lr", "--repeats", "1", "--features", "400", *words]
    _, out, _ = adrem("bench", "run", TABLE, "--jobs", "1", *chosen)
    assert "   K-D    B-E\n" in out
    assert "No average: not all pairs are finished." in out
    code, out, err = adrem("bench", "show", TABLE, "--features", "400", "--repeats", "1", *words)
    assert code == 0
    assert "14 of 16 cells are not finished; `adrem bench run` runs them." in err


def test_missing_data_are_skipped_with_reason(adrem: Command, words: list[str]) -> None:
    code, out, err = adrem(
        "bench", "run", TABLE, "--jobs", "1", "--pairs", "K-D", "--methods", "source-svm", "--repeats", "1", *words
    )
    assert code == 0
    assert "Skipped amazon-standard/all: the files of amazon-reviews are missing" in err
    assert "amazon-standard/400" in out
    assert "amazon-standard/all" not in out
    code, out, err = adrem("bench", "run", "office-31", *words)
    assert (code, out) == (1, "")
    assert "Skipped office-31/resnet50" in err


def test_show_works_without_data(adrem: Command, words: list[str], tmp_path: Path) -> None:
    chosen = ["--features", "400", "--methods", "source-svm", "--repeats", "1", "--format", "csv"]
    _, out, _ = adrem("bench", "run", TABLE, "--jobs", "1", *chosen, *words)
    cells.load_cached.cache_clear()
    elsewhere = ["--data-home", str(tmp_path / "nowhere"), *words[2:]]
    assert adrem("bench", "show", TABLE, *chosen, *elsewhere) == (0, out, "")


@pytest.mark.parametrize(
    ("options", "known"),
    [
        (["office-32"], "office-31"),
        ([TABLE, "--features", "surf"], "'400', 'all'"),
        ([TABLE, "--pairs", "A-W"], "K-D, D-B, B-E, E-K"),
        ([TABLE, "--methods", "magic"], "source-svm, source-lr"),
        ([TABLE, "--format", "pdf"], "table, md, csv, latex, html"),
        ([TABLE, "--repeats", "0"], "Invalid value for '--repeats'"),
    ],
)
def test_usage_errors_list_known_names(options: list[str], known: str, adrem: Command, words: list[str]) -> None:
    code, out, err = adrem("bench", "run", *options, *words)
    assert (code, out) == (2, "")
    assert known in " ".join(err.replace("│", " ").split())
    assert not Path(words[-1]).exists()


def test_damaged_result_cache_is_named(adrem: Command, words: list[str]) -> None:
    folder = Path(words[-1])
    folder.mkdir()
    (folder / "results.sqlite").write_text("not a data base, but long enough to look like one" * 100)
    code, _, err = adrem("bench", "show", TABLE, *words)
    assert code == 1
    assert str(folder / "results.sqlite") in err


def test_list_and_toy_figure_commands_work(adrem: Command, words: list[str], tmp_path: Path) -> None:
    code, out, _ = adrem("bench", "list")
    assert code == 0
    for name in (*protocols.TABLES, "toy-rotated", "ensemble-size", "adrem-lr"):
        assert f"\n{name}" in out
    code, out, _ = adrem("bench", "figure", "toy-rotated", "-o", tmp_path / "figures", *words)
    assert code == 0
    assert [Path(line).name for line in out.split()] == ["toy-rotated.png", "toy-rotated.svg"]
    assert all(Path(line).stat().st_size > 1000 for line in out.split())


def test_figure_without_data_is_skipped_with_reason(adrem: Command, words: list[str]) -> None:
    code, out, err = adrem("bench", "figure", "iterations", *words)
    assert (code, out) == (1, "")
    assert "Skipped amazon-reviews: the files of amazon-reviews are missing" in err
    assert adrem("bench", "figure", "pie", *words).code == 2


def test_figure_rejects_output_path_of_a_file(adrem: Command, words: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    code, _, err = adrem("bench", "figure", "toy-rotated", "-o", tmp_path / "file", *words)
    assert code == 1
    assert "is not a folder: the figures need one" in err
    assert not Path(words[-1]).exists()


def test_failed_cell_is_reported_and_others_shown(
    adrem: Command, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise KeyError("lost")

    monkeypatch.setitem(METHODS, "source-lr", replace(METHODS["source-lr"], make=METHODS["source-lr"].make))
    object.__setattr__(METHODS["source-lr"], "label", lambda *_: fail(0))
    chosen = ["--methods", "source-svm,source-lr", "--features", "400", "--repeats", "1", "--pairs", "K-D", *words]
    code, out, err = adrem("bench", "run", TABLE, "--jobs", "1", *chosen)
    assert code == 1
    assert "Failed: amazon-standard/400 K-D source-lr, repetition 0: KeyError: 'lost'" in err
    assert "source-svm" in out


@pytest.mark.parametrize("option", ["--methods", "--pairs"])
def test_empty_selection_is_a_usage_error(option: str, adrem: Command, words: list[str]) -> None:
    assert adrem("bench", "run", TABLE, option, ",", *words).code == 2


def test_progress_bar_shows_cells_and_remaining_time() -> None:
    cells = [Cell("t", "f", pair, 0, "method", "d", "i") for pair in ("A-B", "B-A", "A-C")]
    written = io.StringIO()
    with run_bar(cells, 1, Console(file=written, force_terminal=True, width=100)) as observer:
        observer.begin(cells[0])
        observer.end(cells[0], 90.0)
        observer.begin(cells[1])
        observer.end(cells[1], None)
        observer.begin(cells[2])
    shown = written.getvalue()
    assert "A-C method" in shown
    assert "left 1:30" in shown
    assert "2/3" in shown


def test_damaged_data_are_skipped_with_exit_code_1(adrem: Command, words: list[str]) -> None:
    home = Path(words[1])
    make_home(home, ("amazon-reviews",))
    (home / "amazon-reviews" / "processed_acl.tar.gz").write_bytes(b"cut")
    chosen = ["--methods", "source-svm", "--repeats", "1", "--pairs", "K-D", "--jobs", "1"]
    code, out, err = adrem("bench", "run", TABLE, *chosen, *words)
    assert code == 1
    assert "Skipped amazon-standard/all: amazon-reviews: processed_acl.tar.gz can't be read" in err
    assert "source-svm" in out
    code, _, err = adrem("bench", "run", TABLE, *chosen, *words[2:], "--data-home", home / "nowhere")
    assert code == 1
    assert f"There is no folder {home / 'nowhere'}" in err
