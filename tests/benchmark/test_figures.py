"""Tests of benchmark figures: drawing writes valid files, or none after an error."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from adrem.benchmark import curves
from adrem.benchmark.figures import (
    FIGURES,
    Figure,
    as_csv,
    check_drawing,
    draw,
    ensemble_series,
    find_figure,
    iteration_series,
)
from adrem.benchmark.published import published_curve
from adrem.benchmark.store import Cell, Result


def assert_opens(paths: list[Path], folder: Path, name: str, *more: str) -> None:
    """Check that exactly these files exist and that each has the format of its suffix."""
    assert paths == [folder / f"{name}.{form}" for form in ("png", "svg", *more)]
    assert sorted(folder.iterdir()) == sorted(paths)
    png, svg = (path.read_bytes() for path in paths[:2])
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert png.rstrip().endswith(b"IEND\xaeB`\x82")
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 - our own text


def cell(figure: str, data: str, pair: str, repetition: int) -> Cell:
    return Cell(figure, data, pair, repetition, "adrem-svm", "d", "i")


def ensemble_results(*panels: str) -> dict[Cell, Result]:
    """Results of two pairs per panel; accuracies differ by 4 and grow with the ensemble size."""
    growth = np.log(curves.SIZES)
    return {
        cell("ensemble-size", data, pair, 0): Result(
            {"mean": (base + growth).tolist(), "std": (spread / np.array(curves.SIZES)).tolist()}, 1.0, ""
        )
        for data in panels
        for pair, base, spread in (("B-D", 80.0, 1.0), ("D-B", 84.0, 2.0))
    }


def iteration_results(*panels: str) -> dict[Cell, Result]:
    return {
        cell("iterations", data, pair, number): Result({"mean": base + number / 10, "std": spread}, 1.0, "")
        for data in panels
        for pair, base, spread in (("B-D", 70.0, 1.0), ("D-B", 74.0, 2.0))
        for number in (100, 5, 1)
    }


@pytest.mark.parametrize("name", ["toy-rotated", "toy-balance"])
def test_draw_writes_toy_figures(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert_opens(draw(find_figure(name), {}, folder), folder, name)


@pytest.mark.parametrize("panels", [("amazon-reviews", "office-caltech-resnet50"), ("office-caltech-resnet50",)])
@pytest.mark.parametrize(("name", "make"), [("ensemble-size", ensemble_results), ("iterations", iteration_results)])
def test_draw_writes_sensitivity_figures(name: str, make: Any, panels: tuple[str, ...], tmp_path: Path) -> None:
    assert_opens(draw(find_figure(name), make(*panels), tmp_path), tmp_path, name, "csv")


@pytest.mark.parametrize(("name", "make"), [("ensemble-size", ensemble_results), ("iterations", iteration_results)])
def test_panels_plot_our_and_published_curves(name: str, make: Any) -> None:
    from matplotlib.figure import Figure as Picture

    picture = Picture()
    results = make("amazon-reviews", "office-caltech-resnet50")
    find_figure(name).paint(picture, results)
    series = {"ensemble-size": ensemble_series, "iterations": iteration_series}[name]
    assert [axes.get_title() for axes in picture.axes] == list(curves.PANELS)
    for axes, data in zip(picture.axes, curves.PANELS, strict=True):
        lines: dict[str, Any] = {str(line.get_label()): line for line in axes.get_lines()}
        x, mean, _ = series(results, data)
        assert list(lines["ours"].get_xdata()) == x
        assert list(lines["ours"].get_ydata()) == mean
        paper = published_curve(name, data)
        assert list(lines["paper"].get_ydata()) == [point.accuracy for point in paper]
        assert list(lines["paper"].get_xdata()) == [point.x for point in paper]


@pytest.mark.parametrize(("name", "make"), [("ensemble-size", ensemble_results), ("iterations", iteration_results)])
def test_csv_contains_all_curve_points(name: str, make: Any) -> None:
    results = make("amazon-reviews", "office-caltech-resnet50")
    text = as_csv(name, {"ensemble-size": ensemble_series, "iterations": iteration_series}[name], results)
    assert text.partition("\n")[0] == "figure,data,x,accuracy,std,published"
    rows = list(csv.DictReader(io.StringIO(text)))
    series = {"ensemble-size": ensemble_series, "iterations": iteration_series}[name]
    points = [(data, *point) for data in curves.PANELS for point in zip(*series(results, data), strict=True)]
    assert len(points) > 5
    for row, (data, x, mean, std) in zip(rows, points, strict=True):
        (paper,) = [point for point in published_curve(name, data) if point.x == x]
        assert (row["figure"], row["data"], int(row["x"])) == (name, data, x)
        numbers = [float(row[column]) for column in ("accuracy", "std", "published")]
        assert numbers == pytest.approx([mean, std, paper.accuracy], abs=6e-4)


def test_csv_leaves_missing_published_value_empty() -> None:
    results = {cell("iterations", "amazon-reviews", "B-D", 3): Result({"mean": 70.0, "std": 1.0}, 1.0, "")}
    text = as_csv("iterations", iteration_series, results)
    assert text.splitlines()[1:] == ["iterations,amazon-reviews,3,70.000,1.000,"]


def test_ensemble_series_averages_over_pairs() -> None:
    results = ensemble_results("amazon-reviews") | {
        cell("ensemble-size", "office-caltech-resnet50", "A-C", 0): Result(
            {"mean": [0.0] * len(curves.SIZES), "std": [0.0] * len(curves.SIZES)}, 1.0, ""
        )
    }
    x, mean, std = ensemble_series(results, "amazon-reviews")
    assert x == list(curves.SIZES)
    assert mean == pytest.approx([82.0 + np.log(size) for size in x])
    assert std == pytest.approx([1.5 / size for size in x])


def test_iteration_series_averages_over_pairs_in_order() -> None:
    results = iteration_results("amazon-reviews") | {
        cell("iterations", "office-caltech-resnet50", "A-C", 1): Result({"mean": 0.0, "std": 0.0}, 1.0, "")
    }
    x, mean, std = iteration_series(results, "amazon-reviews")
    assert x == [1, 5, 100]
    assert mean == pytest.approx([72.1, 72.5, 82.0])
    assert std == [1.5, 1.5, 1.5]


def test_paint_error_leaves_no_files(tmp_path: Path) -> None:
    def paint(picture: Any, _: Any) -> None:
        picture.subplots()
        raise RuntimeError("out of paint")

    with pytest.raises(RuntimeError, match="out of paint"):
        draw(Figure("broken", "", paint), {}, tmp_path / "folder")
    assert list(tmp_path.iterdir()) == []


def test_save_error_leaves_no_files(tmp_path: Path) -> None:
    """An invalid formula that matplotlib parses only when it saves the picture."""
    broken = Figure("broken", "", lambda picture, _: picture.text(0.5, 0.5, r"$\frac{$"))
    with pytest.raises(ValueError, match=r"\\frac"):
        draw(broken, {}, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_save_error_keeps_the_old_picture(tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"of before")
    broken = Figure("broken", "", lambda picture, _: picture.text(0.5, 0.5, r"$\frac{$"))
    with pytest.raises(ValueError, match=r"\\frac"):
        draw(broken, {}, tmp_path)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"of before"]


def test_figures_are_found_by_name() -> None:
    assert list(FIGURES) == ["toy-rotated", "toy-balance", "ensemble-size", "iterations"]
    assert all(find_figure(name).name == name for name in FIGURES)
    with pytest.raises(ValueError, match=r"no figure 'toy'; known are toy-rotated, toy-balance, ensemble-size, iter"):
        find_figure("toy")


def test_result_figures_define_cells_and_work() -> None:
    ensembles, iterations = find_figure("ensemble-size"), find_figure("iterations")
    assert (ensembles.cells, ensembles.work) == (curves.ensemble_cells, curves.run_ensemble_cell)
    assert (iterations.cells, iterations.work) == (curves.iteration_cells, curves.run_iteration_cell)
    assert find_figure("toy-rotated").cells is find_figure("toy-balance").cells is None


def test_missing_matplotlib_raises_install_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_drawing(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "adrem\[bench\]"'):
        check_drawing(tmp_path)
