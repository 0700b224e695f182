"""The server: the page over HTTP, views and commands over a WebSocket, on one port."""

from __future__ import annotations

import asyncio
import hmac
import http
from collections.abc import Callable, Mapping
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from pliant.io.player import page
from pliant.studio import messages
from pliant.studio.desk import View
from pliant.studio.loop import Loop
from pliant.studio.packet import frame_packet, stage_packet
from pliant.studio.policy import policy
from pliant.studio.viewer import Viewer

LOCAL = ("127.0.0.1", "localhost", "[::1]")
LARGEST_MESSAGE = 4096  # bytes
MOST_VIEWERS = 32
FULL = 4000  # close code: too many viewers


class Studio:
    """Serves a loop to viewers, one of whom is in control. Runs in the event loop that called `open`."""

    def __init__(
        self,
        loop: Loop,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str = "",
        robots: Mapping[str, str] | None = None,
        download: Callable[[int, str], tuple[bytes, str]] | None = None,
    ) -> None:
        self.loop, self.host, self.port, self.token = loop, host, port, token
        self.robots, self._download = dict(robots or {}), download
        self.viewers: dict[ServerConnection, Viewer] = {}
        self.holder: ServerConnection | None = None
        self.view: View | None = None
        self._cache: dict[str, bytes] = {}
        self._main: asyncio.AbstractEventLoop | None = None
        self._server: Server | None = None

    async def open(self) -> None:
        """Begin to listen; `port` is known then."""
        self._main = asyncio.get_running_loop()
        self._server = await serve(
            self._serve,
            self.host,
            self.port,
            process_request=self._answer,
            compression=None,
            max_size=LARGEST_MESSAGE,
            max_queue=32,
            server_header=None,
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening, and part from all viewers."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    @property
    def url(self) -> str:
        """The link to open."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def show(self, view: View) -> None:
        """A new view, from any thread."""
        if self._main is not None:
            with suppress(RuntimeError):  # closed meanwhile
                self._main.call_soon_threadsafe(self._spread, view)

    # Viewers

    def _spread(self, view: View) -> None:
        self.view, self._cache = view, {}
        for viewer in self.viewers.values():
            viewer.show(view)

    def _encode(self, view: View, what: str) -> bytes:
        """The packet of a view: "stage", or a frame with the field `what`; the same bytes for all viewers."""
        if view is not self.view or what not in self._cache:
            if what == "stage":
                made = stage_packet(view.stage, {"robots": self.robots, "hand": view.hand})
            else:
                field = (what, view.fields[what]) if what in view.fields else None
                made = frame_packet(view.frame, view.stage, {"desk": view.state}, field)
            if view is not self.view:
                return made
            self._cache[what] = made
        return self._cache[what]

    async def _serve(self, connection: ServerConnection) -> None:
        if len(self.viewers) >= MOST_VIEWERS:
            await connection.close(FULL, "too many viewers")
            return
        viewer = Viewer(connection.send, self._encode)
        self.viewers[connection] = viewer
        if self.holder is None:
            self.holder = connection
        self._announce()
        if self.view is not None:
            viewer.show(self.view)
        sender = asyncio.create_task(self._run(viewer))
        try:
            async for text in connection:
                self._hear(connection, viewer, text)
        except ConnectionClosed:
            pass
        finally:
            sender.cancel()
            del self.viewers[connection]
            if self.holder is connection:
                self.holder = next(iter(self.viewers), None)
            self._look()
            self._announce()

    @staticmethod
    async def _run(viewer: Viewer) -> None:
        with suppress(ConnectionClosed):
            await viewer.run()

    def _hear(self, connection: ServerConnection, viewer: Viewer, text: str | bytes) -> None:
        try:
            message = messages.parse(text)
        except (ValidationError, UnicodeDecodeError):
            viewer.tell(type="refused", why="not a message of the studio")
            return
        match message:
            case messages.Ack():
                viewer.acknowledge(message.serial)
            case messages.Look():
                viewer.field = message.field
                self._look()
            case messages.Control():
                self._hand_over(connection, message.take)
            case _ if connection is self.holder:
                self.loop.put(message)
            case _:
                viewer.tell(type="refused", why="another viewer is in control")

    def _look(self) -> None:
        """Tell the loop which fields are wanted."""
        wanted = frozenset(v.field for v in self.viewers.values() if v.field)
        if wanted != self.loop.fields:
            self.loop.fields = wanted
            self.loop.refresh()

    def _hand_over(self, connection: ServerConnection, take: bool) -> None:
        if take:
            self.holder = connection
        elif self.holder is connection:
            self.holder = None
        self._announce()

    def _announce(self) -> None:
        for connection, viewer in self.viewers.items():
            held = "you" if connection is self.holder else "other" if self.holder else "nobody"
            viewer.tell(type="control", held=held, viewers=len(self.viewers))

    # HTTP

    async def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The page, a recording, or None to go on to the WebSocket."""
        target = urlsplit(request.path)
        if not self._welcome(request, parse_qs(target.query)):
            return _response(http.HTTPStatus.FORBIDDEN, b"Not allowed.\n", "text/plain")
        if target.path == "/ws":
            return None
        if target.path == "/":
            text = page()
            return _response(http.HTTPStatus.OK, text.encode(), "text/html; charset=utf-8", policy(text))
        if (asked := _recording(target.path)) and self._download:
            try:
                body, kind = await asyncio.to_thread(self._download, *asked)
            except LookupError:
                return _response(http.HTTPStatus.NOT_FOUND, b"No such recording.\n", "text/plain")
            rules = policy(body.decode()) if asked[1] == "html" else ""
            return _response(http.HTTPStatus.OK, body, kind, rules, name=f"recording-{asked[0]}.{asked[1]}")
        return _response(http.HTTPStatus.NOT_FOUND, b"Not found.\n", "text/plain")

    def _welcome(self, request: Request, query: dict[str, list[str]]) -> bool:
        """Host and Origin are ours (no other page of the browser can connect), and the token, if any, is right."""
        ours = {f"{name}:{self.port}" for name in (*LOCAL, self.host)}
        if not self.token and request.headers.get("Host") not in ours:
            return False
        origin, host = request.headers.get("Origin"), request.headers.get("Host")
        if origin is not None and origin not in {f"http://{name}" for name in (*ours, host)}:
            return False
        if urlsplit(request.path).path == "/ws" and origin is None:
            return False
        given = query.get("token", [""])[0]
        return not self.token or hmac.compare_digest(given.encode(), self.token.encode())


def _recording(path: str) -> tuple[int, str] | None:
    """ "/recording/3.csv" → (3, "csv")."""
    place, _, kind = path.rpartition(".")
    number = place.removeprefix("/recording/")
    known = kind in ("mcap", "html", "csv") and number.isascii() and number.isdigit() and len(number) < 6
    return (int(number), kind) if known and place != number else None


def _response(
    status: http.HTTPStatus, body: bytes, kind: str, rules: str = "", *, name: str = ""
) -> Response:
    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Connection": "close",
        }
    )
    if rules:
        headers["Content-Security-Policy"] = rules
    if name:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return Response(status.value, status.phrase, headers, body)
