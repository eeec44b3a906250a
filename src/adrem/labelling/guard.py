"""Which requests the server answers: those of its own page, on this machine, and no others."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 64 * 1024  # of a request
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Guard:
    """Refuses requests with another host, from another page, without the token, or that are too large.

    The host is checked because another site may give its name the address of this machine; the origin, because
    another site may send requests here. The path ``/once/`` leads to the page, for its first request alone: a browser
    is started with it, and other users can see with what a program is started.
    """

    def __init__(self, app: ASGIApp, *, token: str, hosts: frozenset[str], once: str | None = None) -> None:
        self._app = app
        self._token = token
        self._hosts = hosts
        self._once = once

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        await self._app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        """Return what is answered in place of the page."""
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1"), value.decode("latin-1"))
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self._hosts:
            return PlainTextResponse("This server answers to its own address only.", 421)
        changes = scope["method"] not in ("GET", "HEAD")
        if (changes or origin is not None) and origin != f"http://{host}":
            return PlainTextResponse("This request does not come from the page of this server.", 403)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return PlainTextResponse("This request does not come from the page of this server.", 403)
        return self._elsewhere(scope["path"]) or _too_large(headers, changes=changes)

    def _elsewhere(self, path: str) -> Response | None:
        """Return what is answered to a path that is not of the page."""
        token = path.split("/")[1] if path.count("/") > 1 else ""
        if self._once is not None and secrets.compare_digest(path.encode(), f"/{self._once}/".encode()):
            self._once = None
            return RedirectResponse(f"/{self._token}/", 303)
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            return PlainTextResponse("Open the address that adrem label printed.", 404)
        return None


def _too_large(headers: dict[str, str], *, changes: bool) -> Response | None:
    length = headers.get("content-length", "0" if not changes else "")
    # A transfer encoding counts before the length, so that the length would say nothing.
    if "transfer-encoding" in headers or not length.isdecimal() or int(length) > MOST_BYTES:
        return PlainTextResponse("This request is too large, or has no known length.", 413)
    return None


def _with_headers(send: Send) -> Send:
    """Return a function that adds the headers of every answer."""
    more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

    async def send_with(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return send_with
