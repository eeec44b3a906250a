"""A server that speaks what the hub's client asks for: the files of one repository, and their content in ranges."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = 1000  # bytes from which a file is kept beside git, with a SHA-256


@dataclass
class Hub:
    """A repository, what was asked for, and faults of the server."""

    repository: str
    files: dict[str, bytes]
    breaks: list[int] = field(default_factory=list)  # after how many bytes the next answers break off
    altered: bytes = b""  # sent in place of the content
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    endpoint: str = ""

    def described(self) -> dict[str, Any]:
        """Return what the hub tells about the repository."""
        return {"id": self.repository, "sha": COMMIT, "siblings": [self._file(name) for name in self.files]}

    def _file(self, name: str) -> dict[str, Any]:
        content = self.files[name]
        told: dict[str, Any] = {"rfilename": name, "size": len(content), "blobId": git_id(content)}
        if len(content) >= LARGE:
            told["lfs"] = {"size": len(content), "sha256": sha256(content), "pointerSize": 130}
        return told


def git_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def do_HEAD(self) -> None:
        self._answer(with_content=False)

    def do_GET(self) -> None:
        self._answer(with_content=True)

    def log_message(self, *_: Any) -> None:
        """Stay quiet."""

    def _answer(self, *, with_content: bool) -> None:
        path, hub = self.path.partition("?")[0], self.hub
        hub.asked.append((self.command, path, self.headers.get("Range", "")))
        if path.startswith(f"/api/models/{hub.repository}"):
            self._send(200, json.dumps(hub.described()).encode(), {"Content-Type": "application/json"}, with_content)
            return
        prefix = f"/{hub.repository}/resolve/{COMMIT}/"
        name = path.removeprefix(prefix)
        if not path.startswith(prefix) or name not in hub.files:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"}, with_content)
            return
        content = hub.altered or hub.files[name]
        first = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")[0])
        told = {"ETag": f'"{sha256(hub.files[name])}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        if first:
            told["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
        self._send(206 if first else 200, content[first:], told, with_content, large=len(content) >= LARGE)

    def _send(self, code: int, content: bytes, told: dict[str, str], with_content: bool, large: bool = False) -> None:
        self.send_response(code)
        for name, value in {**told, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if with_content:
            most = self.hub.breaks.pop(0) if large and self.hub.breaks else len(content)
            self.wfile.write(content[:most])


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """Serve a repository on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
