"""Connections to the studio: read in small pieces and no faster than allowed, and dropped with a reason.

`Door` lets them in.
"""

from __future__ import annotations

import asyncio
from typing import Any

from websockets.asyncio.server import Server, ServerConnection
from websockets.protocol import State
from websockets.server import ServerProtocol

from pliant.studio.limits import (
    DEAF,
    FLOODING,
    MESSAGES,
    MESSAGES_AT_ONCE,
    MOST_STRANGERS,
    PARTING,
    PATIENCE,
    PIECE,
    STALLED,
    Allowance,
    Reason,
)


class Door:
    """Who is connected.

    If there are too many who are not viewers, the one has to go who has said the longest nothing, or no end.
    """

    def __init__(self) -> None:
        self.inside: dict[Wire, None] = {}  # in the order in which they came

    def enter(self, wire: Wire) -> None:
        """A new connection."""
        self.inside[wire] = None
        strangers = [
            w for w in self.inside if w.protocol.state is not State.OPEN and not w.transport.is_closing()
        ]
        if len(strangers) > MOST_STRANGERS:
            next(w for w in strangers if w.request is None).transport.abort()

    def leave(self, wire: Wire) -> None:
        """A connection has ended."""
        self.inside.pop(wire, None)

    def clear(self) -> None:
        """All must go at once."""
        for wire in self.inside:
            wire.transport.abort()


class Wire(ServerConnection, asyncio.BufferedProtocol):
    """A connection that stops reading while its allowance is spent.

    Whoever hears it must not wait: nothing else holds it back.

    It is a `BufferedProtocol` since that decides how much is read at once; a usual one gets, and has to
    parse, up to 256 kB.
    """

    def __init__(self, protocol: ServerProtocol, server: Server, *, door: Door, **options: Any) -> None:
        super().__init__(protocol, server, **options)
        self._door, self._allowance = door, Allowance(MESSAGES, MESSAGES_AT_ONCE)
        self._piece, self._heard = memoryview(bytearray(PIECE)), 0
        self._parting: asyncio.Task[None] | None = None

    # Sending

    async def give(self, data: str | bytes) -> None:
        """Send; who does not take it is dropped."""
        try:
            async with asyncio.timeout(DEAF):
                await self.send(data)
        except TimeoutError:
            await self.drop(STALLED)

    async def drop(self, why: Reason) -> None:
        """Close with a reason; who does not answer in time is cut off."""
        try:
            async with asyncio.timeout(PARTING):
                await self.close(why.code, why.words)
        except TimeoutError:
            self.transport.abort()

    # Reading: called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._door.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._door.leave(self)
        super().connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._piece

    def buffer_updated(self, nbytes: int) -> None:
        self._heard = 0
        self.data_received(bytes(self._piece[:nbytes]))
        wait = self._allowance.take(max(self._heard, 1))
        if not wait:
            return
        self.transport.pause_reading()
        if self._allowance.overdrawn < PATIENCE:
            self.loop.call_later(wait, self.transport.resume_reading)
        else:
            self._parting = self.loop.create_task(self.drop(FLOODING))

    def process_event(self, event: Any) -> None:
        self._heard += 1  # of messages, their parts, and pings, which are answered
        super().process_event(event)
