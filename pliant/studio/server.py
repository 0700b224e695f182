"""The server: the page over HTTP, views and commands over a WebSocket, on one port."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from http import HTTPStatus
from typing import Any, cast

from pydantic import ValidationError
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.http11 import Request, Response

from pliant.contact.obstacles import KINDS
from pliant.errors import PliantError
from pliant.io.packet import frame_packet, stage_packet
from pliant.io.player import page
from pliant.io.policy import policy, scripts_of
from pliant.materials import library
from pliant.studio import messages
from pliant.studio.desk import View
from pliant.studio.edits import Begin, Upload
from pliant.studio.limits import (
    FULL,
    LARGEST_MESSAGE,
    LARGEST_PART,
    MOST_VIEWERS,
    NONSENSE,
    NONSENSE_AT_ONCE,
    NONSENSICAL,
    OPENING,
    PARTING,
    QUEUE,
    REQUESTS,
    REQUESTS_AT_ONCE,
    Allowance,
)
from pliant.studio.loop import Loop
from pliant.studio.request import Asked, answer, refusal
from pliant.studio.viewer import Viewer
from pliant.studio.wire import Door, Wire

LOCAL = ("127.0.0.1", "localhost", "[::1]")
OFFERS = {kind: made.offer._asdict() for kind, made in KINDS.items() if made.offer}  # obstacles to add
MATERIALS = {name: record.young for name, record in library.items()}  # Young's moduli [Pa]
CLIENTS_FAULTS = (WebSocketException, ConnectionError, EOFError, TimeoutError)


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
        self.framed = False  # whether pages of this machine, such as notebooks, may show it in a frame
        self.viewers: dict[Wire, Viewer] = {}
        self.holder: Wire | None = None
        self.view: View | None = None
        self._cache: dict[str, bytes] = {}
        self._main: asyncio.AbstractEventLoop | None = None
        self._server: Server | None = None
        self._door, self._requests = Door(), Allowance(REQUESTS, REQUESTS_AT_ONCE)
        self._exporting = asyncio.Lock()
        self._parts: dict[Wire, bytearray] = {}  # that are being sent

    async def open(self) -> None:
        """Begin to listen; `port` is known then."""
        self._main = asyncio.get_running_loop()
        self._watch()
        self._server = await serve(
            self._serve,
            self.host,
            self.port,
            process_request=self._answer,
            compression=None,
            open_timeout=OPENING,
            max_size=LARGEST_MESSAGE,
            max_queue=None,  # a wire holds itself back
            create_connection=cast(Any, partial(Wire, door=self._door)),
            logger=_logger(),
            server_header=None,
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening, and part from all viewers."""
        if self._server is None:
            return
        self._server.close()
        try:
            async with asyncio.timeout(PARTING):
                await self._server.wait_closed()
        except TimeoutError:  # one of them does not answer
            self._door.clear()
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
        self._watch()

    def _watch(self) -> None:
        """Tell the loop whether someone is looking."""
        self.loop.watched = any(viewer.looks for viewer in self.viewers.values())

    def _encode(self, view: View, what: str) -> bytes:
        """The packet of a view: "stage", or a frame with the field `what`; the same bytes for all viewers."""
        if view is not self.view or what not in self._cache:
            if what == "stage":
                more = {"robots": self._names(view), "hand": view.hand, "alterable": view.alterable}
                more["offers"] = OFFERS if view.alterable else {}
                more |= {**view.workshop, "materials": MATERIALS}
                made = stage_packet(view.stage, more)
            else:
                field = (what, view.fields[what]) if what in view.fields else None
                made = frame_packet(view.frame, view.stage, {"desk": view.state}, field)
            if view is not self.view:
                return made
            self._cache[what] = made
        return self._cache[what]

    def _names(self, view: View) -> dict[str, str]:
        """Robots to choose from, with what they are; one's own among them."""
        own = view.workshop["draft"]
        return {own["name"]: "your own robot", **self.robots} if own else self.robots

    async def _serve(self, connection: ServerConnection) -> None:
        wire = cast(Wire, connection)
        if len(self.viewers) >= MOST_VIEWERS:
            await wire.drop(FULL)
            return
        viewer = self._welcome(wire)
        try:
            async with asyncio.TaskGroup() as tasks:
                sender = tasks.create_task(viewer.run())
                await self._listen(wire, viewer)
                sender.cancel()
        except* ConnectionClosed:
            pass
        finally:
            self._part(wire)

    def _welcome(self, wire: Wire) -> Viewer:
        viewer = self.viewers[wire] = Viewer(wire.give, self._encode)
        if self.holder is None:
            self.holder = wire
        self._announce()
        if self.view is not None:
            viewer.show(self.view)
        self._watch()
        return viewer

    def _part(self, wire: Wire) -> None:
        del self.viewers[wire]
        if self.holder is wire:
            self.holder = next(iter(self.viewers), None)
        self._parts.pop(wire, None)
        self._watch()
        self._gather_fields()
        self._announce()

    async def _listen(self, wire: Wire, viewer: Viewer) -> None:
        """Hear a viewer until it leaves, or has said too much that is no message."""
        nonsense = Allowance(NONSENSE, NONSENSE_AT_ONCE)
        async for text in wire:
            try:
                message = messages.parse(text)
            except ValidationError:
                viewer.tell(type="refused", why="not a message of the studio")
                if nonsense.take():
                    return await wire.drop(NONSENSICAL)
            else:
                message.hear(self, wire)

    # What messages ask for, see `pliant.studio.messages`

    def acknowledge(self, wire: Wire, serial: int) -> None:
        """A frame has arrived."""
        self.viewers[wire].acknowledge(serial)
        self._watch()

    def look(self, wire: Wire, field: str) -> None:
        """A viewer wants the skin coloured by a quantity, "" for none."""
        self.viewers[wire].field = field
        self._gather_fields()

    def hand_over(self, wire: Wire, take: bool) -> None:
        """A viewer takes or gives back control."""
        if take:
            self.holder = wire
        elif self.holder is wire:
            self.holder = None
        self._announce()

    def receive(self, wire: Wire, piece: Upload) -> None:
        """A piece of a part, from the viewer in control; the last one begins a robot."""
        part = self._parts.setdefault(wire, bytearray()) if piece.at else bytearray()
        why = ""
        if wire is not self.holder:
            why = "another viewer is in control"
        elif piece.total > LARGEST_PART:
            why = f"a part may have {LARGEST_PART / 1e6:g} MB; this one has {piece.total / 1e6:.3g} MB"
        elif len(part) != piece.at or len(part) + len(piece.content) > piece.total:
            why = "the part did not arrive whole: try again"
        if why:
            self._parts.pop(wire, None)
            return self.viewers[wire].tell(type="refused", why=why)
        self._parts[wire] = part
        part += piece.content
        if len(part) == piece.total:
            del self._parts[wire]
            self.loop.put(Begin(piece.name, piece.kind, bytes(part), piece.unit, piece.size))

    def command(self, wire: Wire, message: messages.Message) -> None:
        """A command for the simulation, from a viewer that should be in control."""
        if wire is self.holder:
            self.loop.put(message)
        else:
            self.viewers[wire].tell(type="refused", why="another viewer is in control")

    def _gather_fields(self) -> None:
        """Tell the loop which fields are wanted."""
        wanted = frozenset(v.field for v in self.viewers.values() if v.field)
        if wanted != self.loop.fields:
            self.loop.fields = wanted
            self.loop.refresh()

    def _announce(self) -> None:
        for wire, viewer in self.viewers.items():
            held = "you" if wire is self.holder else "other" if self.holder else "nobody"
            viewer.tell(type="control", held=held, viewers=len(self.viewers))

    # HTTP

    async def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The page, a recording, or None to go on to the WebSocket; each in its turn."""
        wait = self._requests.take(within=QUEUE)
        if wait > QUEUE:
            return refusal(HTTPStatus.SERVICE_UNAVAILABLE, "Too many requests.")
        if wait:
            await asyncio.sleep(wait)
        asked = Asked.of(request)
        if asked is None:
            return refusal(HTTPStatus.BAD_REQUEST, "Not understood.")
        if not asked.welcome((f"{name}:{self.port}" for name in (*LOCAL, self.host)), self.token):
            return refusal(HTTPStatus.FORBIDDEN, "Not allowed.")
        if asked.path == "/ws":
            return None
        if asked.path == "/":
            return answer(HTTPStatus.OK, page().encode(), "text/html; charset=utf-8", _rules(self.framed))
        if asked.recording and self._download:
            return await self._recording(self._download, *asked.recording)
        return refusal(HTTPStatus.NOT_FOUND, "Not found.")

    async def _recording(
        self, download: Callable[[int, str], tuple[bytes, str]], number: int, kind: str
    ) -> Response:
        """A recording as a file; one at a time is made."""
        try:
            async with self._exporting:
                body, mime = await asyncio.to_thread(download, number, kind)
        except (PliantError, OSError) as error:  # none, or cut off by a full disk, or taken away
            return refusal(HTTPStatus.NOT_FOUND, str(error))
        rules = _rules() if kind == "html" else ""
        return answer(HTTPStatus.OK, body, mime, rules, name=f"recording-{number}.{kind}")


@cache
def _rules(framed: bool = False) -> str:
    """The content security policy of the page, and of players, which have the same scripts."""
    return policy(scripts_of(page()), served=True, framed=framed)


def _ours(record: logging.LogRecord) -> bool:
    """Whether a record is about an error of ours: a client that breaks off, or says nonsense, is none."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, CLIENTS_FAULTS)


def _logger() -> logging.Logger:
    """Where the server's errors go."""
    logger = logging.getLogger("pliant.studio")
    logger.addFilter(_ours)
    return logger
