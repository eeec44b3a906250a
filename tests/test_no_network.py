"""Only `adrem datasets fetch` and `adrem models fetch` use the network: no import, fit or report does."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

# Audit events report every attempt, also those that bypass the module socket or whose errors are suppressed.
WATCHED = """
import sys
ASKING = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"}
attempts = []

def refuse(event, arguments):
    if event in ASKING:
        attempts.append(f"{event} {arguments[1:]}")
        raise OSError("no network in this test")

sys.addaudithook(refuse)
"""
USE = """
import pkgutil, importlib, adrem
for module in pkgutil.walk_packages(adrem.__path__, "adrem."):
    # PyTorch and Spark are optional, and Spark connects to its own machine.
    if not {"__main__", "deep", "spark", "torch"} & set(module.name.split(".")):
        importlib.import_module(module.name)

from problems import make_blobs_shift
data = make_blobs_shift()
for model in (adrem.AdREM(random_state=0), adrem.Committee(n_estimators=2, n_iter=2, random_state=0)):
    model.fit(data.X_source, data.y_source, X_target=data.X_target).predict(data.X_target)
    adrem.report(model, data.X_source, data.y_source, data.X_target).save("page.html")
    adrem.save(model, "model.adrem")
    adrem.load("model.adrem").predict(data.X_target)

import polars as pl
columns = [f"f{j}" for j in range(data.X_source.shape[1])]
source = pl.DataFrame(data.X_source, schema=columns).with_columns(label=pl.Series(data.y_source))
source.write_csv("source.csv")
pl.DataFrame(data.X_target, schema=columns).write_csv("target.csv")
from adrem.cli import main
sys.argv = "adrem adapt source.csv target.csv --label label -o labels.csv --report table.html --save m.adrem".split()
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
assert not attempts, attempts
print("quiet")
"""
ASK = """
import urllib.request
try:
    urllib.request.urlopen("http://192.0.2.1/", timeout=5)
    print("reached")
except OSError as error:
    print(error)
"""


def _no_network_prefix() -> list[str]:
    """The command prefix that runs a process without network, if the system supports it."""
    words = ["unshare", "--net", "--map-root-user"]
    if shutil.which("unshare") is None or subprocess.run([*words, "true"], check=False, capture_output=True).returncode:
        # Containers often forbid it. A run with the network would pass even if the code used the network.
        pytest.skip("`unshare --net` is missing or not permitted, and only it takes the network from a process")
    return words


def _run(code: str, folder: Path, within: list[str]) -> str:
    paths = f"sys.path += {[str(Path(__file__).parent)]!r}\n"
    command = [*within, sys.executable, "-W", "error", "-c", f"import sys\n{paths}{code}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_package_makes_no_network_calls(tmp_path: Path) -> None:
    assert _run(WATCHED + USE, tmp_path, []).endswith("quiet\n")
    assert (tmp_path / "labels.csv").exists()


def test_package_works_without_network(tmp_path: Path) -> None:
    assert _run("attempts = []" + USE, tmp_path, _no_network_prefix()).endswith("quiet\n")


def test_watcher_detects_network_calls(tmp_path: Path) -> None:
    assert "no network in this test" in _run(WATCHED + ASK + "assert attempts", tmp_path, [])


def test_isolated_process_reaches_no_network(tmp_path: Path) -> None:
    assert "unreachable" in _run(ASK, tmp_path, _no_network_prefix())
