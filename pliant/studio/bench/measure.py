"""The studio: how fast it opens, how evenly the simulation runs, what showing and keeping frames costs.

Viewers run in processes of their own, as browsers do. Figures depend on what else the machine does;
dgemm(1500) says how much.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pliant.contact import Sphere
from pliant.io.player import page, player
from pliant.io.table import Table
from pliant.robots import trunk
from pliant.session import Session
from pliant.studio.bench.opening import chromium, drawn, first_frame, first_picture
from pliant.studio.bench.tube import bent_tube
from pliant.studio.desk import Desk, View
from pliant.studio.loop import Loop
from pliant.studio.messages import parse
from pliant.studio.server import Studio
from pliant.studio.view import Window, open_window
from pliant.timing import Yardstick

PERIOD = 0.02  # [s]: 50 Hz
SECONDS = 10.0  # of each measurement: the last 500 steps
BALL = Sphere((0.03, 0.0, 0.12), 0.012)
CENTRE = np.array([0.05, 0.0, 0.175])  # [m]: round it the tip is led while the trunk leans on the ball
CIRCLE = 0.006  # [m]


def studio_bench() -> list[Table]:
    """Every figure next to what is asked for."""
    table = Table("The studio on this machine", ("what", "asked", "measured", "check"))
    _sizes(table)
    _opening(table)
    _rates(table)
    _server(table)
    table.notes.append(
        f"dgemm(1500): {Yardstick.measure().milliseconds:.0f} ms; load {os.getloadavg()[0]:.1f}"
    )
    return [table]


def _add(table: Table, what: str, asked: str, measured: str, check: bool | None) -> None:
    table.add(what=what, asked=asked, measured=measured, check=check)


def _sizes(table: Table) -> None:
    size = len(page().encode()) / 1e6
    _add(table, "page", "< 1 MB", f"{size:.2f} MB", size < 1.0)
    size = len(player(bent_tube(300))) / 1e6
    _add(table, "player, 300 frames of 5000 vertices", "< 6 MB", f"{size:.2f} MB", size < 6.0)


def _opening(table: Table) -> None:
    first = min(first_frame() for _ in range(3))
    _add(table, "pliant view trunk: first frame sent", "", f"{first:.2f} s", None)
    seconds = first_picture()
    shown = "no Chromium here" if seconds is None else f"{seconds:.2f} s"
    _add(
        table, "pliant view trunk: first picture", "< 3 s", shown, None if seconds is None else seconds < 3.0
    )


# Rates


def _rates(table: Table) -> None:
    """The trunk watched in several ways: at rest, then against a ball with its target on a circle."""
    _watched(table, "50 Hz, idle viewer", draws=1, still=True)
    _watched(table, "in contact, one viewer", draws=1)
    _watched(table, "in contact, and one that has stalled", draws=1, stalls=1)
    _watched(table, "in contact, ten viewers", draws=10)
    with chromium() as found:
        if found is not None:
            _watched(table, "in contact, Chromium on the same machine", browser=found)


def _watched(
    table: Table, what: str, *, draws: int = 0, stalls: int = 0, still: bool = False, browser: Any = None
) -> None:
    with ExitStack() as stack:
        window = stack.enter_context(_trunk())
        tab = _tab(browser, window) if browser else None
        viewers = [stack.enter_context(_viewer(window, k < draws)) for k in range(draws + stalls)]
        if not still:
            stack.enter_context(_leading(window))
        time.sleep(2.0)
        before = tab.evaluate("studio.drawn") if tab else 0
        touched, sent = _steady(window, SECONDS)
        share, rate = window.loop.pace.punctual(PERIOD), 1.0 / float(np.mean(window.loop.pace.intervals))
        asked, good = (
            ("≥ 99 % of steps in 1.5 periods", share >= 0.99) if still else ("≥ 49 Hz", rate >= 49.0)
        )
        _add(table, f"control, {what}", asked, f"{rate:.1f} Hz, {100 * share:.1f} %", bool(good))
        if not still:
            rates = [_said(viewer)["rate"] for viewer in viewers[:draws]] or [sent]
            few = min(rates)
            _add(table, f"frames, {what}", "≥ 29/s", f"{few:.1f}/s, touching {touched:.0%}", few >= 29.0)
        if tab is not None:
            rate = (tab.evaluate("studio.drawn") - before) / SECONDS
            _add(table, f"pictures, {what}", "", f"{rate:.1f}/s, in software", None)


@contextmanager
def _trunk() -> Iterator[Window]:
    with TemporaryDirectory() as folder:
        robots = {"trunk": lambda: Session(trunk(), obstacles=[BALL], period=PERIOD)}
        with open_window(
            lambda: Desk(robots, "trunk", folder=Path(folder)), summaries={"trunk": ""}
        ) as window:
            yield window


@contextmanager
def _leading(window: Window) -> Iterator[None]:
    """The target goes round a circle of which the ball bars a part."""
    over = threading.Event()

    def lead() -> None:
        begin = time.perf_counter()
        while not over.wait(0.05):
            angle = 0.8 * (time.perf_counter() - begin)
            at = CENTRE + CIRCLE * np.array([np.cos(angle), np.sin(angle), 0.0])
            window.loop.put(parse(json.dumps({"do": "aim", "row": "tip", "value": at.tolist()})))

    thread = threading.Thread(target=lead, daemon=True)
    thread.start()
    yield
    over.set()
    thread.join()


def _steady(window: Window, seconds: float) -> tuple[float, float]:
    """Share of time in which the server worked, and frames sent per second to the first viewer."""
    viewer = next(iter(window.studio.viewers.values()))
    window.loop.pace.intervals.clear()
    looks, first, begin = [], viewer.serial, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        time.sleep(0.1)
        looks.append(len(window.session.frame.touch) > 0)
    return float(np.mean(looks)), (viewer.serial - first) / (time.perf_counter() - begin)


@contextmanager
def _viewer(window: Window, draws: bool) -> Iterator[subprocess.Popen[str]]:
    way = "draws" if draws else "stalls"
    command = [sys.executable, "-m", "pliant.studio.bench.viewer", window.url, str(SECONDS + 1.0), way]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()  # ready
    yield process
    process.kill()
    process.wait()


def _said(viewer: subprocess.Popen[str]) -> dict[str, float]:
    assert viewer.stdout is not None
    return json.loads(viewer.stdout.readline())


def _tab(browser: Any, window: Window) -> Any:
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto(window.url)
    drawn(tab)
    return tab


# Cost


class _Shown:
    """A desk that shows ready-made frames, at 30 Hz."""

    def __init__(self) -> None:
        run = bent_tube(90)
        self.session, self.stage, self.frames = self, run.stage, run.frames
        self.period, self.playing, self.speed, self.count = 1 / 30, True, 1.0, 0
        self.rests = False

    def tick(self) -> bool:
        self.count += 1
        return True

    def view(self, fields: frozenset[str] = frozenset()) -> View:
        return View(self.frames[self.count % 90], self.stage, {"playing": True, "recording": None})

    def called_by(self, wake: Callable[[], object]) -> None:
        """It has nothing to call for."""

    def gather(self) -> bool:
        """Nothing is built."""
        return False

    def close(self) -> None:
        """Nothing is recorded, nothing runs beside it."""


def _server(table: Table) -> None:
    """Processor time of the server's thread while one viewer gets 30 frames/s of 5000 vertices."""
    loop = Loop(_Shown, lambda view: served.show(view))  # type: ignore[arg-type]
    served = Studio(loop)
    with Window(loop, served).open() as window, _viewer(window, True) as viewer:
        thread = next(t for t in threading.enumerate() if t.name == "pliant-server")
        assert thread.ident is not None
        clock = time.pthread_getcpuclockid(thread.ident)
        begin, used = time.perf_counter(), time.clock_gettime(clock)
        time.sleep(SECONDS)
        share = (time.clock_gettime(clock) - used) / (time.perf_counter() - begin)
        said = _said(viewer)
    _add(table, "server, 30 Hz and 5000 vertices", "< 10 % of a core", f"{100 * share:.1f} %", share < 0.1)
    _add(table, "a frame of it", "", f"{said['bytes'] / 1e3:.1f} kB, {said['rate']:.1f}/s", None)
