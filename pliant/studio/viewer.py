"""A viewer: one connected page. The newest view wins; at most six that it has not seen are on their way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from pliant.stage import Stage
from pliant.studio.desk import View
from pliant.studio.limits import UNSEEN


class Viewer:
    """Sends views to a connection from a task of its own, so that a stalled page delays nobody."""

    def __init__(self, send: Callable[[str | bytes], Any], encode: Callable[[View, str], bytes]) -> None:
        self._send, self._encode = send, encode
        self.field = ""
        self.serial = 0  # of the last frame sent
        self.seen = 0  # of the last one acknowledged
        self._sent: View | None = None
        self._stage: Stage | None = None
        self._shapes: dict[str, Any] = {}
        self._next: View | None = None
        self._notes: dict[str, dict[str, Any]] = {}  # by type
        self._wake = asyncio.Event()

    @property
    def unseen(self) -> int:
        """Frames on their way."""
        return self.serial - self.seen

    @property
    def looks(self) -> bool:
        """Whether it takes frames; a tab in the background, or one that is busy, does not."""
        return self.unseen < UNSEEN

    def show(self, view: View) -> None:
        """The newest view; an older one that waits is forgotten."""
        self._next = view
        self._wake.set()

    def tell(self, *, type: str, **note: Any) -> None:
        """A short text message; it takes the place of one of its type that waits."""
        self._notes[type] = {"type": type, **note}
        self._wake.set()

    def acknowledge(self, serial: int) -> None:
        """A frame has arrived."""
        if self.seen < serial <= self.serial:
            self.seen = serial
            self._wake.set()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            notes, self._notes = self._notes, {}
            for note in notes.values():
                await self._send(json.dumps(note))
            view = self._next
            if view is not None and view is not self._sent and self.looks:
                await self._deliver(view)

    async def _deliver(self, view: View) -> None:
        if view.stage is not self._stage:
            self._stage, self._shapes = view.stage, {}
            await self._send(self._encode(view, "stage"))
        shapes = view.frame.obstacles
        changed = {name: shape for name, shape in shapes.items() if self._shapes.get(name) is not shape}
        if changed or len(shapes) != len(self._shapes):
            self._shapes = dict(shapes)
            await self._send(json.dumps({"type": "obstacles", "names": list(shapes), "changed": changed}))
        self._sent, self.serial = view, self.serial + 1
        await self._send(self._encode(view, self.field))
