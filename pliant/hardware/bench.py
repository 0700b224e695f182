"""How punctual the loop is: a trunk on a ball at 50 Hz, with an emulated drive behind a pseudo-terminal."""

from __future__ import annotations

from time import thread_time

import numpy as np

from pliant.contact import Sphere
from pliant.hardware.channel import Channel
from pliant.hardware.emulators import Microcontroller, Terminal
from pliant.hardware.loop import Loop
from pliant.hardware.report import LoopReport
from pliant.hardware.serial_line import SerialLine
from pliant.io.table import Table
from pliant.robots import trunk
from pliant.session import Session

RATE, SECONDS = 50.0, 600.0
SHARE_WANTED = 0.999  # of the deadlines, on an idle machine


class Leaning:
    """The trunk's tip goes to and fro, on a ball that it slides along."""

    def __init__(self) -> None:
        self.session = Session(trunk(), obstacles=[Sphere((0.035, 0.0, 0.14), 0.02)], period=1.0 / RATE)
        self.robot, self.touching, self.cpu = self.session.robot, 0, []

    def step(self):
        """One period."""
        phase = 2.0 * np.pi * self.session.count / (8.0 * RATE)
        self.session.aim("tip", (0.03, 0.03 * np.sin(phase), 0.185))
        begun = thread_time()
        frame = self.session.step()
        self.cpu.append(thread_time() - begun)
        self.touching += len(frame.touch) > 0
        return frame


def loop_bench(seconds: float = SECONDS) -> list[Table]:
    """Deadlines, jitter and the share of steps in contact over so long."""
    model = Leaning()
    channels = [Channel.spool(f"cable {k}", k, radius=0.01, safe=0.0) for k in range(1, 9)]
    with Terminal(Microcontroller(range(1, 9))) as terminal:
        drive = SerialLine(terminal.port, channels, watchdog=1.0, timeout=0.1)
        report = Loop(model, drive, rate=RATE, watchdog=1.0).run(seconds=seconds)
    return [_table(report, model)]


def _table(report: LoopReport, model: Leaning) -> Table:
    table = Table(f"The loop at {1.0 / report.period:g} Hz", ("what", "measured", "wanted", "check"))
    good = report.status == "done"
    table.add(what="status", measured=f"{report.status} {report.reason}".strip(), wanted="done", check=good)
    table.add(what="periods", measured=report.periods)
    table.add(
        what="deadlines met [%]",
        measured=100 * report.met,
        wanted=100 * SHARE_WANTED,
        check=report.met >= SHARE_WANTED,
    )
    late, busy = 1e3 * report.jitter, 1e3 * report.busy
    table.add(what="jitter, median / 99.9 % / largest [ms]", measured=_three(late))
    table.add(what="turn, median / 99.9 % / largest [ms]", measured=_three(busy))
    cpu = 1e3 * np.array(model.cpu[1:])  # the first compiles, before the devices are armed
    table.add(what="of that CPU of the model's step [ms]", measured=_three(cpu))
    table.add(what="steps in contact [%]", measured=100 * model.touching / len(model.cpu))
    table.notes.append(
        "Emulated drive and loop share the machine. Deadlines need an idle one: "
        "where others work, a turn takes far longer than its CPU."
    )
    return table


def _three(values: np.ndarray) -> str:
    return " / ".join(f"{np.quantile(values, share):.3g}" for share in (0.5, 0.999, 1.0))
