"""adrem demo: a run on bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adrem.cli.outputs import Force
from adrem.cli.pages import check_pages, parameters
from adrem.cli.shared import say, stage, tell
from adrem.cli.writing import check_output

PAGE = Path("adrem-demo.html")
GENERATOR = b'<meta name="generator" content="adrem '


def demo(
    page: Annotated[Path, typer.Option("--output", "-o", help="File for the report, HTML.")] = PAGE,
    force: Force = False,
) -> None:
    """Adapt between two bundled domains, and write a report.

    \b
    adrem demo
    """  # noqa: D301 - the backspace keeps the lines apart in the help
    check_output(page, "--output", force or _is_report(page))
    check_pages()
    import numpy as np

    from adrem import AdREM
    from adrem.datasets import load_digits_shift
    from adrem.diagnostics.diagnosis import examine
    from adrem.reports import About, make_page

    X_source, y_source, X_target, y_target = load_digits_shift()
    say(f"Source: {len(y_source)} labelled digits. Target: {len(y_target)} digits through a poor camera.")
    model = AdREM(random_state=0, verbose=1).fit(X_source, y_source, X_target=X_target)
    with stage("Judging the labels"):
        names = [f"pixel {k // 8 + 1},{k % 8 + 1}" for k in range(X_source.shape[1])]
        examined = examine(model, X_source, y_source, X_target, names)
        diagnosis = examined.diagnosis()
    before, after = model.classes_[examined.before], model.classes_[examined.after]
    tell(f"{'digit':>8} {'source only':>12} {'adapted':>9}")
    for digit in [*range(10), "all"]:
        rows = np.full(len(y_target), True) if digit == "all" else y_target == digit
        shares = [100 * float(np.mean((labels == y_target)[rows])) for labels in (before, after)]
        tell(f"{digit:>8} {shares[0]:10.1f} % {shares[1]:7.1f} %")
    about = About(
        title="Digits through another camera",
        source_name="clean digits",
        target_name="digits through a poor camera",
        command="adrem demo",
        facts={"seed": 0, "C": f"{model.C_:g}", "parameters": parameters(model)},
        scores=examined.score(y_target),
        baseline=examined.baseline.chosen_,
    )
    labels = {"source": y_source.tolist(), "target": after.tolist()}
    make_page(diagnosis, labels, about).save(page)
    tell(f"\nVerdict, without the true labels: {diagnosis.verdict.sentence}")
    tell(f"Page: {page.resolve()}")


def _is_report(page: Path) -> bool:
    if not page.is_file():
        return False
    with page.open("rb") as file:
        return GENERATOR in file.read(2000)
