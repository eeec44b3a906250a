"""What keeps the source readable: small functions, small files, no private name of another package.

python .ci/check_house.py
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from radon.complexity import cc_visit

ROOT = Path(__file__).parents[1]
MAX_COMPLEXITY = 12
MAX_LINES = 400


def main() -> None:
    """Print every fault, and exit with 1 if there is one."""
    files = sorted((ROOT / "src").rglob("*.py"))
    faults = [f"{path.relative_to(ROOT)}{fault}" for path in files for fault in faults_of(path)]
    print("\n".join(faults) or f"{len(files)} files are small, simple and use no private name of another package.")
    sys.exit(bool(faults))


def faults_of(path: Path) -> Iterator[str]:
    """Yield the faults of a file."""
    text = path.read_text("utf-8")
    n_lines = text.count("\n")
    if n_lines > MAX_LINES:
        yield f": {n_lines} lines, {MAX_LINES} are allowed"
    for block in cc_visit(text):
        if block.letter != "C" and block.complexity > MAX_COMPLEXITY:
            yield f":{block.lineno}: {block.name} has complexity {block.complexity}, {MAX_COMPLEXITY} is allowed"
    package = package_of(path.relative_to(ROOT / "src").with_suffix("").parts)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom | ast.Import):
            yield from private_imports(node, package)


def private_imports(node: ast.ImportFrom | ast.Import, package: str) -> Iterator[str]:
    """Yield imports of private names of another package; ruff refuses relative imports."""
    prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    for parts in ((prefix + alias.name).split(".") for alias in node.names):
        is_private = any(part.startswith("_") and not part.startswith("__") for part in parts)
        if parts[0] == "adrem" and is_private and package_of(tuple(parts)) != package:
            yield f":{node.lineno}: imports {'.'.join(parts)}"


def package_of(parts: tuple[str, ...]) -> str:
    """Return the package of a module, such as `machines`."""
    return parts[1] if len(parts) > 1 else parts[0]


if __name__ == "__main__":
    main()
