"""Drive the devices of a project file: by itself, or following a studio."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from pliant.hardware import Follower, Keyboard, Loop, LoopReport, Signals, Stop, studio_stop
from pliant.hardware.clock import Clock
from pliant.io.recording import Recorder
from pliant.project.emulate import emulated
from pliant.project.project import Project, load
from pliant.project.reduced import chosen
from pliant.project.wiring import hardware_of
from pliant.session import Session


def drive(
    path: str | Path,
    *,
    aims: Mapping[str, Any] | None = None,
    seconds: float | None = None,
    dry_run: bool = False,
    emulate: bool = False,
    record: str | Path | None = None,
    clock: Clock | None = None,
    model: str = "auto",
    told: Callable[[str], object] = lambda sentence: None,
) -> LoopReport:
    """Run the robot of a project file on its devices until the time is over, or until it is stopped.

    Space, escape, q, Ctrl+C and SIGTERM stop it.

    emulate: emulators answer instead of the devices.
    aims: targets of effectors by row, instead of those of the file. record: a new file (.mcap) for what
    happens; one that is there already is refused before a device is touched. clock: for tests. model: which
    one runs, see `pliant.project.reduced.chosen`; `told` hears it in a sentence.
    """
    project = load(path)
    hardware = hardware_of(project)
    fast, words = chosen(project, model)
    told(words)
    period = 1.0 / hardware.rate
    session = Session(project.robot, period=period, summary=project.spec.summary, fast=fast)
    for row, value in (aims or {}).items():
        session.aim(row, value)
    stop = Stop()
    with ExitStack() as stack:
        recorder = None if record is None else stack.enter_context(Recorder(record, session.stage))
        ports = (
            stack.enter_context(emulated(project, clock=clock.now if clock else monotonic))
            if emulate
            else None
        )
        stack.enter_context(Signals(stop))
        stack.enter_context(Keyboard(stop))
        loop = Loop(
            session,
            project.devices(ports),
            rate=hardware.rate,
            watchdog=max(hardware.watchdog, 1.0 / hardware.rate),
            dry_run=dry_run,
            stop=stop,
            recorder=recorder,
            clock=clock,
        )
        report = loop.run(seconds=seconds)
    if recorder is not None and not recorder.count:  # no device was reached: the name is free again
        recorder.path.unlink(missing_ok=True)
    return report


@contextmanager
def following(
    window: Any, project: Project, *, dry_run: bool = False, clock: Clock | None = None
) -> Iterator[Follower]:
    """The devices of a project follow an open studio.

    Its pause and reset are emergency stops, and `resume` arms again. `clock` is for tests.
    """
    hardware = hardware_of(project)
    desk, stop = window.loop.desk, Stop()
    studio_stop(desk, stop)
    with Follower(
        desk.session, project.devices(), watchdog=hardware.watchdog, dry_run=dry_run, stop=stop, clock=clock
    ) as follower:
        yield follower
