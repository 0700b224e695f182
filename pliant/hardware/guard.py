"""A guard: a process of its own that has the device, and makes it safe when we fall silent or die.

For devices without a watchdog, and for safe states that are more than holding still. The loop talks to it
through pipes, a line of JSON each way. When the pipe ends, because the process was killed, or no command
comes for `silence` seconds, the guard sends the safe state.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from time import monotonic
from typing import Any

from pliant.errors import InputError
from pliant.hardware.device import DeviceError, checked_channels

ANSWER_TIMEOUT = 5.0  # [s] that the guard may take to answer: the driver within has timeouts of its own
KEPT_ANSWERS = 8  # answers that nobody has fetched yet; what was given up comes late, and is never fetched
START_TIMEOUT = 60.0  # [s] to start Python and the driver


class Guarded:
    """An actuator in a guard's hands.

        Guarded("pressure", channels, silence=0.2, wire="/dev/ttyUSB0")

    `driver` is a name of `pliant.hardware.DRIVERS`; options are those of the driver, and must be plain
    values. silence [s]: how long the guard waits for a command before it sends the safe state.
    """

    def __init__(
        self, driver: str, channels: Any, *, silence: float = 0.2, name: str = "", **options: Any
    ) -> None:
        self.name = name or f"guarded {driver}"
        self.channels = checked_channels(self.name, channels)
        if not silence > 0:
            raise InputError(f"silence of {self.name!r}", expected="a positive time [s]", got=silence)
        self._said = {"driver": driver, "silence": silence, "options": options}
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer, self._number = b"", 0
        self._answers: dict[int, dict[str, Any]] = {}
        # Two locks: an emergency stop comes from another thread, and its request leaves while that of the
        # loop is not yet answered
        self._writing, self._reading = threading.Lock(), threading.Lock()

    def open(self) -> None:
        """Start the guard, which opens the device."""
        self.close()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pliant.hardware.post"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl+C is for us, not for it
        )
        self._buffer = b""
        self._ask({"open": {**self._said, "channels": [asdict(c) for c in self.channels]}}, START_TIMEOUT)

    def arm(self) -> None:
        """From now on it wants commands."""
        self._ask({"arm": True})

    def send(self, counts: Mapping[int, int]) -> None:
        self._ask({"send": {str(i): n for i, n in counts.items()}})

    def counts(self) -> dict[int, int]:
        """Where the device says it is."""
        return {int(i): n for i, n in self._ask({"counts": True})["counts"].items()}

    def safe(self) -> None:
        try:
            self._ask({"safe": True})
        except DeviceError:
            return  # it is gone, or does so by itself

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(ANSWER_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _ask(self, request: Mapping[str, Any], timeout: float = ANSWER_TIMEOUT) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise DeviceError(f"Device {self.name!r} is not open.")
        with self._writing:
            self._number += 1
            number = self._number
            line = json.dumps({"number": number, **request}).encode() + b"\n"
            try:
                process.stdin.write(line)
                process.stdin.flush()
            except (OSError, ValueError) as error:
                raise DeviceError(f"The guard of {self.name!r} is gone: {error}.") from error
        with self._reading:
            answer = self._answer(process.stdout, number, timeout)
        if "error" in answer:
            raise DeviceError(f"Guard of {self.name!r}: {answer['error']}")
        return answer

    def _answer(self, pipe: Any, number: int, timeout: float) -> dict[str, Any]:
        """The answer to a request; answers to others are kept for whoever asked."""
        end = monotonic() + timeout
        while number not in self._answers:
            ready, _, _ = select.select([pipe], [], [], max(end - monotonic(), 0.0))
            data = os.read(pipe.fileno(), 65536) if ready else b""
            if not data:
                raise DeviceError(f"The guard of {self.name!r} {'is gone' if ready else 'does not answer'}.")
            *lines, self._buffer = (self._buffer + data).split(b"\n")
            self._answers |= {said.pop("number"): said for said in map(json.loads, lines)}
        answer = self._answers.pop(number)
        for late in sorted(self._answers)[:-KEPT_ANSWERS]:
            del self._answers[late]
        return answer
