"""The guard's process: has a device, obeys lines of JSON from stdin, retreats when they cease."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from contextlib import suppress
from time import monotonic
from typing import Any

from pliant.errors import PliantError
from pliant.hardware.channel import Channel
from pliant.hardware.device import DeviceError


def _channel(said: dict[str, Any]) -> Channel:
    """A channel again, after JSON, which knows no tuples and, here, infinity as Python writes it."""
    said = {key: tuple(value) if isinstance(value, list) else value for key, value in said.items()}
    return Channel(**said)


class Post:
    """The guard's side: one device, requests from a file descriptor, answers with their numbers to another.

    state: "open" → "armed", by "arm" or the first command; from then on another must come within `silence`
    [s] → "safe". Whatever ends it, the device goes to its safe state first.
    """

    def __init__(self, requests: int = 0, answers: int = 1) -> None:
        self._requests, self._answers = requests, answers
        self.device: Any = None
        self.silence, self.state, self.due = 1.0, "closed", 0.0
        self._buffer = b""

    def serve(self) -> None:
        """Until the master is gone."""
        try:
            while self._hear():
                pass
        finally:
            self.retreat()
            if self.device is not None:
                self.device.close()

    def _hear(self) -> bool:
        """The next requests, or silence. Whether the master still lives."""
        left = max(self.due - monotonic(), 0.0) if self.state == "armed" else None
        ready, _, _ = select.select([self._requests], [], [], left)
        if not ready:
            self.retreat()
            return True
        data = os.read(self._requests, 65536)
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            request = json.loads(line)
            answer = json.dumps({"number": request.get("number"), **self.obey(request)})
            try:
                os.write(self._answers, answer.encode() + b"\n")
            except OSError:
                return False
        return bool(data)

    def retreat(self) -> None:
        """The safe state, unless it is there."""
        if self.state in ("open", "armed"):
            self.state = "safe"
            with suppress(Exception):
                self.device.safe()

    def obey(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a request brings about; an error in words."""
        try:
            return self._do(request)
        except PliantError as error:
            return {"error": str(error)}
        except Exception as error:  # a driver that fails otherwise must not take the guard along
            return {"error": f"{type(error).__name__}: {error}"}

    def _do(self, request: dict[str, Any]) -> dict[str, Any]:
        if "open" in request:
            self._open(request["open"])
        elif "counts" in request:
            known = self.device.counts() if hasattr(self.device, "counts") else {}
            return {"counts": {str(i): n for i, n in known.items()}}
        elif "safe" in request:
            self.state = "open" if self.state == "safe" else self.state  # asked for, it is sent again
            self.retreat()
        elif self.state == "safe":
            return {"error": "The guard has gone to the safe state: commands were too far apart."}
        else:
            self._command(request)
        return {}

    def _command(self, request: dict[str, Any]) -> None:
        if "arm" in request:
            getattr(self.device, "arm", lambda: None)()
        else:
            self.device.send(self._checked({int(i): n for i, n in request["send"].items()}))
        self.state, self.due = "armed", monotonic() + self.silence

    def _checked(self, counts: dict[int, int]) -> dict[int, int]:
        """Counts within the soft limits; a device that does not know them has the guard as a second look."""
        for channel in self.device.channels:
            low, high = channel.bounds
            if not low <= counts.get(channel.id, low) <= high:
                got = f"{counts[channel.id]} counts, beyond its limits {low} … {high}"
                raise DeviceError(f"{channel.row!r} was sent {got}.")
        return counts

    def _open(self, said: dict[str, Any]) -> None:
        from pliant.hardware.drivers import driver

        self.silence = said["silence"]
        self.device = driver(said["driver"], [_channel(c) for c in said["channels"]], **said["options"])
        self.state = "open"
        self.device.open()


def _ended(number: int, frame: object) -> None:
    sys.exit(128 + number)  # through `finally`: safe first


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGQUIT):
        signal.signal(ignored, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _ended)  # of whoever ends all Pythons
    Post().serve()
