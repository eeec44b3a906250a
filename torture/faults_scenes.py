"""The commands that faults are tried on: adrem adapt, bench run and datasets fetch, with small generated data."""

from __future__ import annotations

import io
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any

import numpy as np
import scipy.io

from torture.faults_launcher import NAME
from torture.faults_process import command_of, run_to_end

FILES = ("amazon_fc7.mat", "dslr_fc7.mat", "webcam_fc7.mat")
WORDS = {"good": ["fine", "great", "lovely", "superb"], "bad": ["awful", "poor", "broken", "sad"]}
PIECE, PAUSE = 1 << 16, 0.05  # what the slow server sends at a time, and the seconds in between


def make_reviews(domain: str, n: int, seed: int) -> bytes:
    """A table with a text, a number and a label in every row."""
    rng = np.random.default_rng(seed)
    lines = ["review,price,verdict"]
    for k in range(n):
        label = "good" if k % 2 == 0 else "bad"
        words = " ".join(rng.choice(WORDS[label], 3).tolist())
        lines.append(f"the {domain} is {words},{rng.uniform(1, 9):.3f},{label}")
    return "\n".join(lines).encode() + b"\n"


def make_features(n_rows: int, n_features: int, seed: int) -> bytes:
    """A file of features in the form in which Office-31 is published."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_rows) % 3
    X = rng.integers(0, 200, (n_rows, n_features)) + 50 * np.eye(3, n_features)[labels]
    file = io.BytesIO()
    scipy.io.savemat(file, {"fts": X.astype(np.uint8), "labels": labels[:, None].astype(np.uint8) + 1})
    return file.getvalue()


@dataclass
class Scene:
    """A command, the folder it works in, and what stands under its final names there."""

    name: str
    words: list[str]
    earlier: dict[str, bytes] = field(default_factory=dict)  # files of an earlier, different run
    given: dict[str, bytes] = field(default_factory=dict)  # files that it reads
    url: str | None = None

    @property
    def command(self) -> list[str]:
        return command_of(self.words, self.url)

    def with_jobs(self, jobs: int) -> Scene:
        """The same with so many at a time; of an option given twice the last counts."""
        return replace(self, words=[*self.words, "--jobs", str(jobs)])

    def prepare(self, folder: Path, *, earlier: bool) -> None:
        for name, content in {**self.given, **(self.earlier if earlier else {})}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)

    def run(self, folder: Path, numba: Path) -> None:
        """Run it once where nothing disturbs it."""
        ended = run_to_end(self.command, folder, environment(folder, numba))
        if ended.code:
            raise RuntimeError(f"{self.name} fails undisturbed: {ended.err}")

    def outputs(self, folder: Path) -> dict[str, Any]:
        """What stands under final names: everything that is neither given, nor hidden, nor of a cache."""
        return {
            name: (folder / name).read_bytes()
            for name in files_in(folder)
            if name not in self.given and not is_hidden(name) and not name.startswith("cache/")
        }

    def strange(self, folder: Path, expected: set[str]) -> list[str]:
        """Files that are neither given nor expected."""
        known = expected | set(self.given)
        return [name for name in files_in(folder) if name not in known and not is_of_the_cache(name)]


class BenchScene(Scene):
    """The benchmark, whose outputs are the rows of its store, compared without their times."""

    STORE = "results/results.sqlite"

    def outputs(self, folder: Path) -> dict[str, Any]:
        """The cells that are stored; looked at in a copy, so that the next run finds the file as it was left."""
        if not (folder / self.STORE).exists():
            return {}
        with TemporaryDirectory() as name:
            copied = shutil.copytree(folder / "results", Path(name) / "results")
            with closing(sqlite3.connect(copied / "results.sqlite")) as connection:
                whole = connection.execute("PRAGMA integrity_check").fetchone()
                tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
                query = "SELECT task, features, pair, repetition, method, identity, result FROM cells"
                rows = connection.execute(query).fetchall() if tables else []
        if whole != ("ok",):
            return {self.STORE: whole}
        return {" ".join(map(str, row[:5])): row[5:] for row in rows}

    def strange(self, folder: Path, expected: set[str]) -> list[str]:
        del expected  # they are rows and no files
        return super().strange(folder, {self.STORE, f"{self.STORE}-journal"})


def environment(folder: Path, numba: Path) -> dict[str, str]:
    """Caches of one's own."""
    return {"ADREM_CACHE": str(folder / "cache"), "NUMBA_CACHE_DIR": str(numba)}


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))


def is_of_the_cache(name: str) -> bool:
    """Whether it stands whole in the cache, where it may."""
    return name.startswith("cache/") and name.endswith(".npz") and not is_hidden(name)


def make_adapt(numba: Path) -> Scene:
    """Two small tables in; labels, a model and a page out."""
    outputs = ["-o", "labels.csv", "--save", "model.adrem", "--report", "page.html", "--force"]
    words = ["adapt", "books.csv", "knives.csv", "--label", "verdict", *outputs]
    given = {"books.csv": make_reviews("book", 60, 0), "knives.csv": make_reviews("knife", 50, 1)}
    scene = Scene("adapt", words, given=given)
    other = Scene("an earlier adapt", [*words, "--seed", "5", "--members", "3", "--keep", "price"], given=given)
    return _with_earlier(scene, other, numba)


def make_bench(numba: Path) -> Scene:
    """A part of a table on small features in the published form."""
    choice = ["--methods", "source-svm,adrem-svm", "--repeats", "2"]
    words = ["bench", "run", "office-31", "--features", "decaf", "--data-home", "data", "--cache", "results"]
    words += ["--jobs", "1", "--format", "csv"]
    given = {f"data/{NAME}/{file}": make_features(40, 12, seed) for seed, file in enumerate(FILES)}
    scene = BenchScene("bench run", [*words, "--pairs", "A-D,D-W", *choice], given=given)
    other = BenchScene("an earlier bench", [*words, "--pairs", "W-A", "--methods", "source-lr"], given=given)
    return _with_earlier(scene, other, numba)


def _with_earlier(scene: Scene, other: Scene, numba: Path) -> Scene:
    """The scene, with what another command leaves in its folder."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        other.prepare(folder, earlier=False)
        other.run(folder, numba)
        left = [file for file in files_in(folder) if file not in scene.given and not file.startswith("cache/")]
        scene.earlier = {file: (folder / file).read_bytes() for file in left}
    return scene


@dataclass
class Server:
    """A server on this machine that sends three files slowly, from where it is asked."""

    url: str
    contents: dict[str, bytes]
    resumed: int = 0


@contextmanager
def slow_server() -> Iterator[Server]:
    """A server that runs for as long as it is needed."""
    served = Server("", {file: make_features(300, 1000, seed) for seed, file in enumerate(FILES)})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = served.contents[self.path.lstrip("/")]
            begin = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").removesuffix("-"))
            if begin >= len(content):
                self.send_error(416)
                return
            served.resumed += begin > 0
            self.send_response(206 if begin else 200)
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(content) - begin))
            self.end_headers()
            with suppress(OSError):  # who asked was killed
                for start in range(begin, len(content), PIECE):
                    self.wfile.write(content[start : start + PIECE])
                    sleep(PAUSE)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def make_fetch(server: Server) -> Scene:
    """Three files from a slow server; earlier one of them came, and a file of another data set."""
    words = ["datasets", "fetch", NAME, "--data-home", "home"]
    earlier = {f"home/{NAME}/{FILES[1]}": server.contents[FILES[1]], "home/amazon-400/dvd_400.mat": b"another's"}
    return Scene("datasets fetch", words, earlier=earlier, url=server.url)
