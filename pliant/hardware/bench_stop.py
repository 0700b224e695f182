"""How fast an emergency stop is: from the press, at random moments, until the device has acknowledged."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import numpy as np

from pliant.hardware.channel import Channel
from pliant.hardware.emulators import Microcontroller, Terminal
from pliant.hardware.loop import Loop
from pliant.hardware.serial_line import SerialLine
from pliant.io.table import Table

RATE, STOPS = 50.0, 100
BUSY = 0.4  # of a period that the model computes


def stop_bench(stops: int = STOPS) -> list[Table]:
    """Milliseconds from the press to the acknowledged safe state; wanted: within one period."""
    device, rng = Microcontroller([1]), np.random.default_rng(0)
    with Terminal(device) as terminal:
        drive = SerialLine(terminal.port, [Channel("cable", 1, 1e5, safe=0.0)], watchdog=10.0, timeout=5.0)
        taken = [_stop(Loop(_Busy(), drive, rate=RATE, watchdog=10.0), device, rng) for _ in range(stops)]
    took = 1e3 * np.array(taken)
    table = Table(f"Emergency stop at {RATE:g} Hz", ("what", "measured", "wanted", "check"))
    for what, share in (("median", 0.5), ("99 %", 0.99), ("longest", 1.0)):
        table.add(what=f"{what} of {stops} [ms]", measured=float(np.quantile(took, share)))
    table.add(
        what="within a period [ms]",
        measured=float(took.max()),
        wanted=1e3 / RATE,
        check=bool(took.max() < 1e3 / RATE),
    )
    return [table]


class _Busy:
    """A controller that takes its time, and always says the same."""

    def step(self) -> SimpleNamespace:
        """One period."""
        time.sleep(BUSY / RATE)
        row = {"cable": np.array([1e-3])}
        return SimpleNamespace(command=row, effort=row, displacement=row)


def _stop(loop: Loop, device: Microcontroller, rng: np.random.Generator) -> float:
    """[s] that a stop in the middle of a run takes; infinite if the device is not safe then."""
    accepted = len(device.accepted)
    running = threading.Thread(target=loop.run)
    running.start()
    while len(device.accepted) < accepted + 2 and running.is_alive():
        time.sleep(1e-3)
    time.sleep(float(rng.uniform(0.0, 2.0 / RATE)))
    begun = time.perf_counter()
    loop.stop()
    took = time.perf_counter() - begun if device.state == "safe" else np.inf
    running.join()
    return took
