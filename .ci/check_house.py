"""What keeps the source readable: small functions, small files, no private name of another package.

python .ci/check_house.py
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from radon.complexity import cc_visit

ROOT = Path(__file__).parents[1]
MAX_COMPLEXITY = 12
MAX_LINES = 400
Owners = dict[str, set[str]]  # the packages that define each private name


def main() -> None:
    """Print every fault, and exit with 1 if there is one."""
    files = sorted((ROOT / "src").rglob("*.py"))
    owners = private_names(files)
    faults = [f"{path.relative_to(ROOT)}{fault}" for path in files for fault in faults_of(path, owners)]
    print("\n".join(faults) or f"{len(files)} files are small, simple and use no private name of another package.")
    sys.exit(bool(faults))


def faults_of(path: Path, owners: Owners) -> Iterator[str]:
    """Yield the faults of a file."""
    text = path.read_text("utf-8")
    n_lines = text.count("\n")
    if n_lines > MAX_LINES:
        yield f": {n_lines} lines, {MAX_LINES} are allowed"
    for block in cc_visit(text):
        if block.letter != "C" and block.complexity > MAX_COMPLEXITY:
            yield f":{block.lineno}: {block.name} has complexity {block.complexity}, {MAX_COMPLEXITY} is allowed"
    package = package_with(path)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom | ast.Import):
            yield from private_imports(node, package)
        if isinstance(node, ast.Attribute) and not is_own(node.value):
            theirs = owners.get(node.attr, {package})
            if package not in theirs:
                yield f":{node.lineno}: uses {ast.unparse(node)}, which is private to {', '.join(sorted(theirs))}"


def private_names(files: list[Path]) -> Owners:
    """Return the packages that define each private function, class and attribute."""
    owners: Owners = defaultdict(set)
    for path in files:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) else ""
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
                name = node.attr
            if is_private(name):
                owners[name].add(package_with(path))
    return owners


def is_own(node: ast.expr) -> bool:
    """Return whether an expression is the object or the class itself: a subclass may use what it inherits."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def private_imports(node: ast.ImportFrom | ast.Import, package: str) -> Iterator[str]:
    """Yield imports of private names of another package; ruff refuses relative imports."""
    prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    for parts in ((prefix + alias.name).split(".") for alias in node.names):
        if parts[0] == "adrem" and any(map(is_private, parts)) and package_of(tuple(parts)) != package:
            yield f":{node.lineno}: imports {'.'.join(parts)}"


def is_private(name: str) -> bool:
    """Return whether a name is private: it begins with one underscore."""
    return name.startswith("_") and not name.startswith("__")


def package_with(path: Path) -> str:
    """Return the package of a file."""
    return package_of(path.relative_to(ROOT / "src").with_suffix("").parts)


def package_of(parts: tuple[str, ...]) -> str:
    """Return the package of a module, such as `machines`."""
    return parts[1] if len(parts) > 1 else parts[0]


if __name__ == "__main__":
    main()
