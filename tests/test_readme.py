"""What the README shows runs as shown."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_examples_run_and_print_what_they_say() -> None:
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) == 3
    printed: list[object] = []
    names["print"] = printed.append
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own text
    claims = [float(value) for value in re.findall(r"# (0\.\d\d)", "".join(blocks))]
    np.testing.assert_allclose(np.array([printed[0], printed[1], printed[-1]], dtype=float), claims, atol=0.006)


def test_the_commands_are_targets_of_make() -> None:
    makefile = (Path(__file__).parents[1] / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
