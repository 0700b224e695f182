"""Open the studio on a robot: the simulation in one thread, the server in another."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from pliant.algebra import blas
from pliant.bodies import Solid
from pliant.contact import Obstacle
from pliant.errors import InputError, PliantError, unknown_name
from pliant.io.notebook import live_html
from pliant.io.recording import Recording
from pliant.reduction.fast import Fast
from pliant.robot import Robot
from pliant.robots import gallery
from pliant.session import Session
from pliant.studio.desk import Desk
from pliant.studio.loop import Loop
from pliant.studio.server import LOCAL, Studio

KINDS = {
    "mcap": "application/octet-stream",
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
}
HAND = "a soft hand of cable membranes; drag its object's target"


class Window:
    """An open studio: `url` to look at, `wait()` until interrupted, `close()`."""

    def __init__(self, loop: Loop, studio: Studio) -> None:
        self.loop, self.studio = loop, studio
        self._ready, self._main = threading.Event(), asyncio.new_event_loop()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="pliant-server", daemon=True)

    def __repr__(self) -> str:
        return f"Window({self.url!r})"

    def _repr_html_(self) -> str:
        """In a notebook: the studio itself, live; pages of this machine may show it from now on."""
        self.studio.framed = True
        return live_html(self.url)

    @property
    def url(self) -> str:
        """The link to open."""
        return self.studio.url

    @property
    def session(self) -> Session:
        """The session of the simulation's thread: to look at, not to step."""
        assert self.loop.desk is not None
        return self.loop.desk.session

    def open(self, listening: Callable[[str], object] | None = None) -> Window:
        """Start both threads; returns when the robot is there.

        `listening` is called with the link as soon as the page is.
        """
        # loads SciPy's BLAS and pins it to one thread, which works from the main thread only
        blas.addresses()
        self.loop.start()
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            self.loop.stop()
            raise PliantError(
                f"The studio cannot listen on {self.studio.host}:{self.studio.port}: {self._failure}"
            )
        if listening is not None:
            listening(self.url)  # a browser starts while the robot is built
        self.loop.ready.wait()
        if self.loop.failure is not None:
            self.close()
            raise self.loop.failure
        self.loop.refresh()  # what was shown before the server listened is shown again
        return self

    def wait(self) -> None:
        """Until the process is interrupted."""
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Stop both threads; a recording that runs is completed."""
        self.loop.stop()
        if self._thread.is_alive():
            self._main.call_soon_threadsafe(self._done.set)
            self._thread.join()

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._main)
        try:
            self._main.run_until_complete(self._serve())
        finally:
            self._main.close()

    async def _serve(self) -> None:
        self._done = asyncio.Event()
        try:
            await self.studio.open()
        except OSError as error:
            self._failure = error
            return
        finally:
            self._ready.set()
        await self._done.wait()
        await self.studio.close()


def view(
    robot: Robot | str,
    *,
    obstacles: Iterable[Obstacle] = (),
    mode: str = "",
    period: float = 0.02,
    host: str = "127.0.0.1",
    port: int = 0,
    browser: bool = True,
    folder: str | Path | None = None,
    fast: Fast | None = None,
    project: Any = None,
) -> Window:
    """Open the studio on a robot, or on one of the gallery by name, and return at once.

    The page is at `.url`; it can switch to the robots of the gallery. `host` other than this machine needs
    the token in the link. `folder` is where recordings go, results/recordings by default. `fast` is a reduced
    model that runs in the robot's place, see `Session`. `project` is the `pliant.project.Project` that the
    robot is from: it can be edited in the page.
    """
    robots, summaries = gallery_sessions(period)
    chosen = robot if isinstance(robot, str) else robot.name
    if isinstance(robot, Robot):
        chosen = chosen if chosen not in robots else f"my {chosen}"
        options: dict[str, Any] = {"mode": mode, "obstacles": tuple(obstacles), "period": period}
        options["fast"] = fast
        robots = {chosen: partial(Session, robot, **options), **robots}
        summaries = {chosen: "the robot of your script", **summaries}
    if chosen not in robots:
        raise unknown_name("robot", chosen, robots)
    place = Path(folder) if folder is not None else Path("results") / "recordings"

    def open_desk() -> Desk:
        desk = Desk(robots, chosen, folder=place)
        if project is not None and all(isinstance(body, Solid) for body in project.robot.bodies):
            desk.workshop.adopt(project, chosen, fast)
        return desk

    return open_window(
        open_desk,
        summaries=summaries,
        host=host,
        port=port,
        listening=webbrowser.open if browser else None,
    )


def open_window(
    open_desk: Callable[[], Desk],
    *,
    summaries: dict[str, str],
    host: str = "127.0.0.1",
    port: int = 0,
    listening: Callable[[str], object] | None = None,
) -> Window:
    """A studio on a desk; see `Window.open` for `listening`."""
    if not 0 <= port < 65536:
        raise InputError("port", expected="0 to 65535", got=port)
    token = "" if host in LOCAL else secrets.token_urlsafe(18)
    loop = Loop(open_desk, lambda seen: studio.show(seen))
    studio = Studio(
        loop, host=host, port=port, token=token, robots=summaries, download=partial(_download, loop)
    )
    return Window(loop, studio).open(listening)


def gallery_sessions(period: float) -> tuple[dict[str, Callable[[], Session]], dict[str, str]]:
    """Functions that open a session, and summaries, by name."""

    def opener(name: str) -> Callable[[], Session]:
        entry = gallery[name]
        return lambda: Session(entry.build(), period=period, summary=entry.summary)

    def hand() -> Any:
        from pliant.membrane.session import HandSession  # comes with kernels of its own

        return HandSession(period=period, summary=HAND)

    sessions = {**{name: opener(name) for name in gallery}, "hand": hand}
    return sessions, {**{n: entry.summary for n, entry in gallery.items()}, "hand": HAND}


def _download(loop: Loop, number: int, kind: str) -> tuple[bytes, str]:
    """A finished recording by number, as it is, as a player, or as a table."""
    from pliant.io.player import player

    finished = loop.desk.recordings if loop.desk is not None else []
    if not 1 <= number <= len(finished):
        raise InputError(f"recording {number}", expected="a finished one", got=f"{len(finished)} of them")
    path = finished[number - 1]
    if kind == "mcap":
        return path.read_bytes(), KINDS[kind]
    recording = Recording.read(path)
    if kind == "html":
        return player(recording).encode(), KINDS[kind]
    with tempfile.TemporaryDirectory() as folder:
        return recording.to_csv(Path(folder) / "signals.csv").read_bytes(), KINDS[kind]
