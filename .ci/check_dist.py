"""What the wheel holds, and whether it works where the checkout is not: `check_dist.py FOLDER -m pytest ...`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


def check_contents(wheel: Path) -> None:
    """All of src/adrem, page, tables and marker of types too, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.split("/")[0].endswith(".dist-info")}
    ours = {path for path in (SOURCE / "adrem").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    wanted = {path.relative_to(SOURCE).as_posix() for path in ours}
    if held != wanted:
        sys.exit(f"{wheel.name} lacks {sorted(wanted - held)} and should not hold {sorted(held - wanted)}.")


def run_tests(wheel: Path, sdist: Path, words: list[str], folder: Path) -> int:
    """Run the sdist's tests against the wheel in an environment of its own; the exit code is theirs."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    shutil.rmtree(unpacked / "src")
    python = folder / "env" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"{wheel.resolve()}[test]"], check=True)
    return subprocess.run([python, *words], cwd=unpacked, check=False).returncode


def main() -> int:
    """Check the one wheel and the one sdist of a folder."""
    place = Path(sys.argv[1])
    (wheel,), (sdist,) = place.glob("*.whl"), place.glob("*.tar.gz")
    check_contents(wheel)
    with tempfile.TemporaryDirectory() as folder:
        return run_tests(wheel, sdist, sys.argv[2:], Path(folder))


if __name__ == "__main__":
    sys.exit(main())
