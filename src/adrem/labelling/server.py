"""The server of the page: for this machine alone."""

from __future__ import annotations

import socket
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route

from adrem.exceptions import AdremError, InvalidDataError, OutputError
from adrem.labelling.desk import Desk
from adrem.labelling.guard import Guard
from adrem.labelling.labelled_file import LABELLED, write_labelled

LOOPBACK = "127.0.0.1"
PAGE = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}


def make_app(desk: Desk, folder: Path, *, token: str, port: int, once: str | None = None) -> Guard:
    """Return the application: the page, its answers, and the files to export, which are written to a folder.

    The first request for ``/once/`` is sent on to the page.
    """

    def answer(sent: dict[str, Any]) -> dict[str, Any]:
        return desk.answer(sent.get("kind"), sent.get("row"), sent.get("label"))

    routes = [
        Route("/", _page("index.html", "text/html")),
        *(Route(f"/{name}", _page(name, kind)) for name, kind in PAGE.items()),
        Route("/state", _json(lambda sent: desk.state(sent.get("row")), "row")),
        Route("/answer", _json(answer), methods=["POST"]),
        Route("/undo", _json(lambda _: desk.undo()), methods=["POST"]),
        Route("/adapt", _json(lambda sent: desk.adapt(sent.get("row"))), methods=["POST"]),
        Route("/picture/{row:int}", _picture(desk)),
        Route("/export/{name}", _export(desk, folder)),
    ]
    hosts = frozenset({f"{LOOPBACK}:{port}", f"localhost:{port}"})
    return Guard(Starlette(routes=[Mount(f"/{token}", routes=routes)]), token=token, hosts=hosts, once=once)


def make_server(app: Any, when_ready: Callable[[], None]) -> uvicorn.Server:
    """Return a server, whose ``run`` answers requests until Ctrl-C."""

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            when_ready()

    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, lifespan="off", ws="none", http="h11"
    )
    return Server(config)


def listen(port: int) -> socket.socket:
    """Return a socket on this machine alone; port 0 stands for any free one."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
    except OSError as error:
        listening.close()
        raise OutputError(f"Port {port} can't be used: {error.strerror}. Choose another one.") from error
    return listening


def _page(name: str, kind: str) -> Callable[[Request], Response]:
    content = files("adrem.labelling").joinpath("page", name).read_bytes()

    def answer(_: Request) -> Response:
        return Response(content, media_type=kind)

    return answer


def _json(work: Callable[[dict[str, Any]], dict[str, Any]], *numbers: str) -> Any:
    """Return an endpoint that passes on what was sent: a JSON object, or numbers in the address."""

    async def answer(request: Request) -> Response:
        try:
            if request.method == "POST":
                sent = await request.json()
            else:
                sent = {name: int(request.query_params[name]) for name in numbers if name in request.query_params}
            if not isinstance(sent, dict):
                raise InvalidDataError("A request is a JSON object.")
            return JSONResponse(await run_in_threadpool(work, sent))
        except OSError as error:
            return JSONResponse({"error": f"Not saved: {error}"}, 507)
        except ValueError as error:
            return JSONResponse({"error": str(error)}, 400)

    return answer


def _picture(desk: Desk) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        row = int(request.path_params["row"])
        if not desk.project.has_pictures or row >= desk.project.n_rows:
            return Response(status_code=404)
        return Response(desk.project.picture(row), media_type="image/webp")

    return answer


def _export(desk: Desk, folder: Path) -> Callable[[Request], Response]:
    """Return an endpoint that writes a file to the folder, and sends it."""

    def answer(request: Request) -> Response:
        name = str(request.path_params["name"])
        adapted, labels = desk.adapted()
        try:
            if name == LABELLED:
                write_labelled(desk, labels, folder / name)
            elif name in desk.project.exports:
                desk.project.exports[name](adapted, labels, folder / name)
            else:
                return Response(status_code=404)
        except OSError as error:
            return Response(str(error), 507, media_type="text/plain")
        except (AdremError, ValueError) as error:
            return Response(str(error), 400, media_type="text/plain")
        return FileResponse(folder / name, filename=name, content_disposition_type="attachment")

    return answer
