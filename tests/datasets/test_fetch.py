from __future__ import annotations

import contextlib
import hashlib
import io
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from small_data import accept_any_content, make_files

from adrem.datasets import fetch, load
from adrem.datasets import fetching as _fetch
from adrem.datasets.registry import REGISTRY, Address, File
from adrem.exceptions import DownloadError

NAME = "amazon-reviews"
FILE = "processed_acl.tar.gz"
WHOLE = make_files(NAME)[FILE]
HALF = len(WHOLE) // 64 * 32


class Server:
    """A local server that handles each request with the next function of `ways`, and repeats the last one."""

    def __init__(self) -> None:
        self.ways: list[Callable[[BaseHTTPRequestHandler], None]] = []
        self.ranges: list[str | None] = []
        self.over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.ranges.append(self.headers.get("Range"))
                way = outer.ways.pop(0) if len(outer.ways) > 1 else outer.ways[0]
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    way(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/{FILE}"

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def whole(request: BaseHTTPRequestHandler, content: bytes = WHOLE) -> None:
    """Send the whole file, or the rest from the requested position."""
    begin = int((request.headers.get("Range") or "bytes=0-").removeprefix("bytes=").removesuffix("-"))
    if begin >= len(content):
        request.send_error(416)
        return
    request.send_response(206 if begin else 200)
    if begin:
        request.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
    request.send_header("Content-Length", str(len(content) - begin))
    request.end_headers()
    request.wfile.write(content[begin:])


def whole_ignoring_range(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Content-Length", str(len(WHOLE)))
    request.end_headers()
    request.wfile.write(WHOLE)


def cut_off(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Content-Length", str(len(WHOLE)))
    request.end_headers()
    request.wfile.write(WHOLE[:HALF])


def endless(request: BaseHTTPRequestHandler) -> None:
    """Say that more will come than any file has."""
    request.send_response(200)
    request.send_header("Content-Length", str(2**33))
    request.end_headers()
    request.wfile.write(WHOLE)


def redirecting_away(request: BaseHTTPRequestHandler) -> None:
    request.send_response(302)
    request.send_header("Location", "ftp://example.org/file")
    request.end_headers()


def redirecting_for_ever(request: BaseHTTPRequestHandler) -> None:
    request.send_response(302)
    request.send_header("Location", request.path)
    request.end_headers()


def not_found(request: BaseHTTPRequestHandler) -> None:
    request.send_error(404)


def wrong_bytes(request: BaseHTTPRequestHandler) -> None:
    whole(request, b"<html>Please log in</html>")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    running = Server()
    accept_any_content(monkeypatch, NAME)
    point_at(monkeypatch, running.url)
    monkeypatch.setattr(_fetch, "CHUNK", 32)  # small relative to the small file
    yield running
    running.close()


def point_at(patch: pytest.MonkeyPatch, *urls: str, sha256: str | None = None) -> None:
    file = File(FILE, addresses=tuple(Address(url, sha256) for url in urls))
    patch.setitem(REGISTRY, NAME, replace(REGISTRY[NAME], files=(file,)))


def stalling(server: Server) -> Callable[[BaseHTTPRequestHandler], None]:
    def way(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(WHOLE)))
        request.end_headers()
        request.wfile.write(WHOLE[:HALF])
        request.wfile.flush()
        server.over.wait(20)

    return way


def left_in(home: Path) -> dict[str, int]:
    return {str(p.relative_to(home)): p.stat().st_size for p in home.rglob("*") if p.is_file()}


def test_fetch_stores_a_complete_file(server: Server, tmp_path: Path) -> None:
    server.ways = [whole]
    seen: list[tuple[str, int, int | None]] = []
    folder = fetch(NAME, tmp_path, report=lambda *event: seen.append(event))
    assert left_in(tmp_path) == {f"{NAME}/{FILE}": len(WHOLE)}
    assert folder == tmp_path / NAME
    assert seen[-1] == (FILE, len(WHOLE), len(WHOLE))
    assert load(NAME, tmp_path).provenance.files == {FILE: hashlib.sha256(WHOLE).hexdigest()}
    fetch(NAME, tmp_path)
    assert len(server.ranges) == 1


def test_fetch_resumes_a_partial_download(server: Server, tmp_path: Path) -> None:
    server.ways = [cut_off, whole]
    with pytest.raises(DownloadError, match="Run it again to resume the download"):
        fetch(NAME, tmp_path)
    assert left_in(tmp_path) == {f".incoming/{NAME}/{FILE}.part": HALF}
    fetch(NAME, tmp_path)
    assert server.ranges == [None, f"bytes={HALF}-"]
    assert left_in(tmp_path) == {f"{NAME}/{FILE}": len(WHOLE)}


def test_fetch_restarts_if_server_ignores_range(server: Server, tmp_path: Path) -> None:
    server.ways = [cut_off, whole_ignoring_range]
    with pytest.raises(DownloadError):
        fetch(NAME, tmp_path)
    fetch(NAME, tmp_path)
    assert left_in(tmp_path) == {f"{NAME}/{FILE}": len(WHOLE)}


def test_fetch_restarts_if_partial_file_is_too_long(server: Server, tmp_path: Path) -> None:
    part = tmp_path / ".incoming" / NAME / f"{FILE}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(WHOLE + b"more")
    server.ways = [whole]
    fetch(NAME, tmp_path)
    assert (tmp_path / NAME / FILE).read_bytes() == WHOLE


@pytest.mark.parametrize(
    ("way", "message"),
    [
        (not_found, "the server answers 404"),
        (cut_off, "cut off"),
        (endless, "the server sends more than 4.3 GB"),
        (redirecting_away, "redirects to an address that is not used: No connection adapters .*ftp://"),
        (redirecting_for_ever, "the server redirects again and again"),
        (wrong_bytes, "are not amazon-reviews.*can't be read"),
    ],
)
def test_download_error_names_cause_and_file(
    way: Callable[[BaseHTTPRequestHandler], None], message: str, server: Server, tmp_path: Path
) -> None:
    server.ways = [way]
    with pytest.raises(DownloadError, match=message) as caught:
        fetch(NAME, tmp_path)
    assert str(tmp_path / NAME / FILE) in str(caught.value)
    assert not (tmp_path / NAME / FILE).exists()


def test_wrong_content_is_deleted(server: Server, tmp_path: Path) -> None:
    server.ways = [wrong_bytes]
    with pytest.raises(DownloadError):
        fetch(NAME, tmp_path)
    assert left_in(tmp_path) == {}
    server.ways = [whole]
    fetch(NAME, tmp_path)
    assert left_in(tmp_path) == {f"{NAME}/{FILE}": len(WHOLE)}


def test_fetch_checks_the_published_checksum(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(monkeypatch, server.url, sha256="0" * 64)
    server.ways = [whole]
    with pytest.raises(DownloadError, match="does not have the published checksum"):
        fetch(NAME, tmp_path)
    assert left_in(tmp_path) == {}
    point_at(monkeypatch, server.url, sha256=hashlib.sha256(WHOLE).hexdigest())
    fetch(NAME, tmp_path)
    assert left_in(tmp_path) == {f"{NAME}/{FILE}": len(WHOLE)}


def test_stalled_download_times_out_and_resumes(server: Server, tmp_path: Path) -> None:
    server.ways = [stalling(server), whole]
    with pytest.raises(DownloadError, match=r"timed out|in time"):
        fetch(NAME, tmp_path, timeout=0.3)
    assert left_in(tmp_path) == {f".incoming/{NAME}/{FILE}.part": HALF}
    fetch(NAME, tmp_path)
    assert server.ranges[-1] == f"bytes={HALF}-"


def test_fetch_tries_the_next_address(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(monkeypatch, "http://127.0.0.1:9/nobody", server.url)
    server.ways = [whole]
    fetch(NAME, tmp_path)
    assert left_in(tmp_path) == {f"{NAME}/{FILE}": len(WHOLE)}


def test_connection_error_lists_all_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point_at(monkeypatch, "http://127.0.0.1:9/one", "http://127.0.0.1:9/two")
    with pytest.raises(DownloadError, match=r"(?s)9/one: no connection.*9/two: no connection"):
        fetch(NAME, tmp_path)


def test_fetch_extracts_all_files_of_archive(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for file, content in make_files("amazon-400").items():
            archive.writestr(f"amazon_review/{file}", content)
    accept_any_content(monkeypatch, "amazon-400")
    carrier = File("amazon_review.zip", addresses=(Address(server.url),))
    monkeypatch.setitem(REGISTRY, "amazon-400", replace(REGISTRY["amazon-400"], archives=(carrier,)))
    server.ways = [lambda request: whole(request, buffer.getvalue())]
    fetch("amazon-400", tmp_path)
    assert len(load("amazon-400", tmp_path)) == 4


def test_fetch_without_address_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        DownloadError, match=r"(?s)no download address is known.*office-31-resnet50/amazon\.npz.*ResNet-50"
    ):
        fetch("office-31-resnet50", tmp_path)


def test_unwritable_data_folder_raises_download_error(server: Server, tmp_path: Path) -> None:
    server.ways = [whole]
    (tmp_path / NAME).write_text("a file where the folder should be")
    with pytest.raises(DownloadError, match="can't be written"):
        fetch(NAME, tmp_path)


def test_unwritable_incoming_folder_raises_one_line_error(server: Server, tmp_path: Path) -> None:
    server.ways = [whole]
    (tmp_path / ".incoming").write_text("a file where the folder should be")
    with pytest.raises(DownloadError, match=r"can't be written: .*\. Pass another data_home\.$") as caught:
        fetch(NAME, tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_raises_one_line_error(server: Server, tmp_path: Path) -> None:
    server.ways = [whole]
    part = tmp_path / ".incoming" / NAME / f"{FILE}.part"
    part.parent.mkdir(parents=True)
    part.symlink_to("/dev/full")
    with pytest.raises(
        DownloadError, match=r"No space left on device\. Free some space, or pass another data_home\.$"
    ) as caught:
        fetch(NAME, tmp_path)
    assert "\n" not in str(caught.value)
    assert len(server.ranges) == 1


def test_fetch_removes_leftovers_of_killed_downloads(server: Server, tmp_path: Path) -> None:
    server.ways = [whole]
    for name in (NAME, "another"):
        (tmp_path / ".incoming" / name).mkdir(parents=True)
        (tmp_path / ".incoming" / name / "tmp_left").write_bytes(b"half")
    fetch(NAME, tmp_path)
    assert left_in(tmp_path) == {f"{NAME}/{FILE}": len(WHOLE), ".incoming/another/tmp_left": 4}
    assert not (tmp_path / ".incoming" / NAME).exists()


def test_generated_data_sets_need_no_download(tmp_path: Path) -> None:
    fetch("digits-shift", tmp_path)
    assert left_in(tmp_path) == {}


def busy(request: BaseHTTPRequestHandler) -> None:
    request.send_error(503)


def called_compressed(request: BaseHTTPRequestHandler) -> None:
    """Declare a .tar.gz as Content-Encoding: gzip, as some servers do; it must not be unpacked."""
    request.send_response(200)
    request.send_header("Content-Encoding", "x-gzip")
    request.send_header("Content-Length", str(len(WHOLE)))
    request.end_headers()
    request.wfile.write(WHOLE)


def test_busy_server_keeps_the_partial_file(server: Server, tmp_path: Path) -> None:
    server.ways = [cut_off, busy, whole]
    for _ in range(2):
        with pytest.raises(DownloadError):
            fetch(NAME, tmp_path)
    fetch(NAME, tmp_path)
    assert server.ranges == [None, f"bytes={HALF}-", f"bytes={HALF}-"]


def test_content_encoding_gzip_keeps_archive_bytes(server: Server, tmp_path: Path) -> None:
    server.ways = [called_compressed]
    fetch(NAME, tmp_path)
    assert (tmp_path / NAME / FILE).read_bytes() == WHOLE


def test_damaged_existing_file_is_not_overwritten(server: Server, tmp_path: Path) -> None:
    server.ways = [whole]
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / FILE).write_bytes(WHOLE[:HALF])
    with pytest.raises(DownloadError, match=r"move the files in .* away first"):
        fetch(NAME, tmp_path)
    assert (tmp_path / NAME / FILE).read_bytes() == WHOLE[:HALF]
    assert server.ranges == []


def test_incomplete_archive_error_names_the_data_folder(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("books_400.mat", make_files("amazon-400")["books_400.mat"])
    carrier = File("amazon_review.zip", addresses=(Address(server.url),))
    monkeypatch.setitem(REGISTRY, "amazon-400", replace(REGISTRY["amazon-400"], archives=(carrier,)))
    server.ways = [lambda request: whole(request, buffer.getvalue())]
    with pytest.raises(DownloadError, match="some files are missing") as caught:
        fetch("amazon-400", tmp_path)
    assert ".incoming" not in str(caught.value)
    assert str(tmp_path / "amazon-400" / "dvd_400.mat") in str(caught.value)


def test_download_of_unknown_length_is_given_up(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_length(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        request.wfile.write(WHOLE)

    monkeypatch.setattr(_fetch, "MOST_BYTES", len(WHOLE) - 1)
    server.ways = [without_length]
    with pytest.raises(DownloadError, match="the server sends more than"):
        fetch(NAME, tmp_path)
    assert left_in(tmp_path) == {}
