"""The guard's process: holds a device, obeys lines of JSON from stdin, and retreats when they cease; see `guard`."""

from __future__ import annotations

import json
import os
import select
import signal
from typing import Any

from pliant.errors import PliantError
from pliant.hardware.channel import Channel


def _channel(said: dict[str, Any]) -> Channel:
    """A channel again, after JSON, which knows no tuples and, here, infinity as Python writes it."""
    said = {key: tuple(value) if isinstance(value, list) else value for key, value in said.items()}
    return Channel(**said)


class _Post:
    """The guard's side: one device, requests from stdin."""

    def __init__(self) -> None:
        self.device: Any = None
        self.silence, self.armed = 1.0, False
        self._buffer = b""

    def serve(self) -> None:
        while True:
            ready, _, _ = select.select([0], [], [], self.silence if self.armed else None)
            if not ready:  # silence
                self.retreat()
                continue
            data = os.read(0, 65536)
            if not data:  # our master is gone
                break
            *lines, self._buffer = (self._buffer + data).split(b"\n")
            for line in lines:
                if not self.answer(self.obey(json.loads(line))):
                    break
        self.retreat()
        if self.device is not None:
            self.device.close()

    def retreat(self) -> None:
        """The safe state, once."""
        if self.device is not None and self.armed:
            self.device.safe()
        self.armed = False

    def obey(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            if "open" in request:
                self._open(request["open"])
            elif "counts" in request:
                known = self.device.counts() if hasattr(self.device, "counts") else {}
                return {"counts": {str(i): n for i, n in known.items()}}
            elif "safe" in request:
                self.armed = True
                self.retreat()
            elif not self.armed:
                return {"error": "The guard has gone to the safe state: commands were too far apart."}
            else:
                self.device.send({int(i): n for i, n in request["send"].items()})
        except PliantError as error:
            return {"error": str(error)}
        return {}

    def _open(self, said: dict[str, Any]) -> None:
        from pliant.hardware.drivers import driver

        channels = [_channel(c) for c in said["channels"]]
        self.silence = said["silence"]
        self.device = driver(said["driver"], channels, **said["options"])
        self.device.open()
        self.armed = True

    def answer(self, answer: dict[str, Any]) -> bool:
        """Whether someone still listens."""
        try:
            os.write(1, json.dumps(answer).encode() + b"\n")
        except OSError:
            return False
        return True


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    _Post().serve()
