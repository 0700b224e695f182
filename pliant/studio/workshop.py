"""The workshop: a robot of one's own, edited while it runs.

What is edited is the document of a project file. An edit is a new document; in a thread of its own the robot
is made of it, and a session opened; the desk then takes that session. What cannot be made is refused with the
reason, and the last document stays. Meshes are made there, too. Documents before are kept for undo.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import tomllib
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from pliant.errors import InputError, PliantError, unknown_name
from pliant.io.recording import taken
from pliant.session import Session
from pliant.studio.limits import DOCUMENTS
from pliant.studio.made import FILE, Made, Measured, Origin, Refused, Under
from pliant.units import number

if TYPE_CHECKING:
    from pliant.project.aside import Aside

QUIET = 2.0  # [s] after an edit until its mesh is judged


class Workshop:
    """Used from the simulation's thread; `wake` is called from others when there is something to `gather`."""

    def __init__(self, folder: Path, period: float = 0.02) -> None:
        self.folder, self.period = folder, period
        self.wake: Callable[[], object] = lambda: None
        self.documents: list[dict[str, Any]] = []  # one for each edit, the present one last
        self.project: Any = None
        self.fast: Any = None  # the reduced model that runs in its place
        self.busy, self.figures = "", {}  # what the thread does; what was measured of the robot
        self._aside: Aside | None = None  # a process that reduces the robot
        self._now: dict[str, Any] | None = None  # the document made last, None while one is made
        self._judging: Aside | None = None  # a process that judges it
        self._called = ""  # the robot's name in the studio, where that is not its document's
        self._waiting: list[Callable[[dict[str, Any], Any], None]] = []
        self._done: SimpleQueue[Made | Refused | Measured | Under] = SimpleQueue()
        self._origin = Origin(folder)
        self.known = self._projects()
        self.facts: dict[str, Any] | None = None  # of the present document, for the page
        self._saved: Path | None = None  # the folder it was saved in

    # What a person asks for

    @property
    def name(self) -> str:
        """The name of the robot, "" if there is none."""
        return (self._called or str(self.documents[-1]["name"])) if self.documents else ""

    def begin(self, name: str, kind: str, content: bytes, unit: str, size: float) -> None:
        """A new robot of a part: its mesh, and guesses to go on from.

        Without a size, meshes are tried in a process of its own, as `pliant new` does.
        """
        from pliant.project.aside import Aside
        from pliant.project.guess import likely_unit

        self._check_idle()
        temporary = tempfile.TemporaryDirectory(prefix="pliant-")
        place = Path(temporary.name)
        stem = plain(name)
        part = place / f"{stem}.{kind}"
        part.write_bytes(content)
        chosen = "" if kind == "step" else unit or likely_unit(part, kind)
        origin = Origin(place, part, chosen, temporary)

        said = {"part": str(part), "unit": chosen or None, "size": size or None}

        def make() -> Made:
            doubts = []
            for told in Aside("begin", place / FILE, json.dumps(said)):
                if "doubt" in told:
                    doubts.append(told["doubt"])
                    continue
                edge, rate = number(1e3 * told["edge"], 2), number(told["rate"], 2)
                self._done.put(Under(f"Making the mesh of {name}: edges of {edge} mm, {rate} Hz"))
                self.wake()
            document = tomllib.loads((place / FILE).read_text(encoding="utf-8"))
            document["name"] = stem
            mesh = place / FILE.replace(".toml", ".vtu")
            mesh.rename(place / f"{stem}.vtu")
            document["bodies"][0]["mesh"] = f"{stem}.vtu"
            return replace(self._made(document, origin), doubt=" ".join(doubts))

        self._work(f"Making the mesh of {name}", make)

    def adopt(self, project: Any, name: str, fast: Any = None) -> None:
        """The project that the studio was opened on, and its reduced model, if that runs.

        Its file is left alone, *Save* writes another.
        """
        from pliant.studio.draft import facts

        document, path = tomllib.loads(project.source.text), project.source.path
        self.documents, self.project, self._called = [document], project, name
        self.facts = {**facts(project, document), "model": str(fast or "")}
        self.fast, self._origin = fast, Origin(path.parent, file=path.name)
        self._now = document
        threading.Thread(target=self._judge, args=(project, document), daemon=True).start()

    def edit(self, change: Callable[[dict[str, Any], Any], None]) -> None:
        """A change of the document; while the robot is being made, it waits."""
        self._check()
        self.leave()
        if self.busy:
            self._waiting.append(change)
            if len(self._waiting) > DOCUMENTS:
                self._waiting.clear()
                raise InputError("edits", expected="a few at a time", got=f"more than {DOCUMENTS} that wait")
            return
        document = deepcopy(self.documents[-1])
        change(document, self.project)
        self._make(document)

    def remesh(self, size: float) -> None:
        """The part meshed again with edges of `size` [m]; everything else stays where it is."""
        self._check_idle()
        self._check()
        origin, document = self._origin, deepcopy(self.documents[-1])
        part, place = origin.part, origin.place
        if part is None:
            raise InputError("mesh", expected="a robot made of an STL or STEP part", got="one of a mesh")

        def make() -> Made:
            from pliant.mesh import read, write

            mesh = read(part, unit=origin.unit or None, size=size)
            name = f"{part.stem}-{len(list(place.glob('*.vtu'))) + 1}.vtu"
            write(mesh, place / name)
            document["bodies"][0] |= {"mesh": name, "unit": "m"}
            return self._made(document, origin)

        self._work("Making the mesh", make)

    def fasten(self) -> None:
        """A reduced model of the robot, made in a process of its own, that takes its place; `leave` stops it.

        What was begun goes on where it was. An edit, too, stops it.
        """
        from pliant.project.aside import Aside

        self._check_idle()
        self._check()
        document, origin, project = self.documents[-1], self._origin, self.project
        self._aside = aside = Aside("reduce", project.source.path, project.source.text)

        def make() -> Made:
            began: tuple[int, float] | None = None
            for report in aside:
                began = began or (report["done"], perf_counter())
                self._done.put(Under(f"Making it fast: {_left(**report, began=began)}"))
                self.wake()
            return self._made(document, origin, replaced=1)

        self._work("Making it fast", make)

    @property
    def making(self) -> bool:
        """Whether a reduced model is being made."""
        return self._aside is not None

    def leave(self) -> None:
        """Stop making the robot fast."""
        if self._aside is not None:
            self._aside.stop()

    def close(self) -> None:
        """End what runs beside the studio."""
        self.leave()
        self._unjudged()

    def undo(self) -> None:
        """Back to the document before."""
        self._check_idle()
        self._check()
        if len(self.documents) < 2:
            raise InputError("undo", expected="an edit before", got="none")
        self._make({**self.documents[-2], "name": self.documents[-1]["name"]}, replaced=2)

    def open(self, name: str) -> None:
        """A project in the folder."""
        self.known = self._projects()
        if name not in self.known:
            raise unknown_name("project", name, self.known)
        self._check_idle()
        origin = Origin(self.folder / name)

        def make() -> Made:
            document = tomllib.loads((origin.place / FILE).read_text(encoding="utf-8"))
            return self._made({**document, "name": name}, origin)

        self._work(f"Opening {name}", make)

    def save(self, name: str, more: dict[str, Any]) -> Path:
        """The project file with `more` in it (obstacles, targets), its meshes beside it; returns its path.

        What was saved or opened by this name is replaced; any other is left alone.
        """
        from pliant.project import load
        from pliant.project.reduced import keep
        from pliant.project.toml import dumps

        self._check_idle()
        self._check()
        folder = self.folder / plain(name)
        path = folder / FILE
        if path.exists() and folder.resolve() not in (self._origin.place.resolve(), self._saved):
            raise taken(path)
        document = merged(deepcopy(self.documents[-1]), more)
        document["name"] = plain(name)
        folder.mkdir(parents=True, exist_ok=True)
        for body in document["bodies"]:
            for key in {"mesh", "lines"} & body.keys():
                source = self._origin.place / body[key]
                body[key] = source.name
                if source.resolve() != (folder / source.name).resolve():
                    shutil.copyfile(source, folder / source.name)
        path.write_text(dumps(document), encoding="utf-8")
        if self.fast is not None:
            keep(self.fast, load(path))
        self._called = ""
        self._saved, self.known = folder.resolve(), self._projects()
        self.documents[-1] = {**self.documents[-1], "name": document["name"]}
        self.facts = self.facts and {**self.facts, "name": document["name"]}
        return path

    def session(self) -> Session:
        """The present robot from its beginning."""
        summary = self.documents[-1].get("summary", "")
        return Session(self.project.robot, period=self.period, summary=summary, fast=self.fast)

    def _projects(self) -> list[str]:
        """The names of the projects in the folder."""
        return sorted(p.parent.name for p in self.folder.glob(f"*/{FILE}"))

    # What the thread does

    def gather(self) -> tuple[Session | None, str]:
        """What was finished since the last time: a session to show, and what went wrong, "" for nothing."""
        session, why = None, ""
        while True:
            try:
                found = self._done.get_nowait()
            except Empty:
                return session, why
            if isinstance(found, Measured):
                if self.documents and found.document is self.documents[-1]:
                    self.figures = {**self.figures, **found.figures}
                continue
            if isinstance(found, Under):
                self.busy = found.way
                continue
            self.busy, self._aside = "", None
            if isinstance(found, Refused):
                why = found.why
            else:
                if found.origin is not self._origin:  # another robot
                    self.documents, self._origin, self._saved, self._called = [], found.origin, None, ""
                session, self.project, self.fast = found.session, found.project, found.fast
                why = found.doubt
                kept = self.documents[: len(self.documents) - found.replaced]
                self.documents = [*kept, found.document][-DOCUMENTS:]
                self.figures, self.facts = {}, found.facts
            why = self._next() or why

    def _next(self) -> str:
        """Begin with the edit that waits; returns why it cannot be made, "" otherwise."""
        while self._waiting and not self.busy:
            change = self._waiting.pop(0)
            try:
                self.edit(change)
            except PliantError as error:
                return str(error)
            except Exception as error:  # a fault of ours
                return f"{type(error).__name__}: {error}"
        return ""

    def _make(self, document: dict[str, Any], *, replaced: int = 0) -> None:
        origin = self._origin
        self._work("Building the robot", lambda: self._made(document, origin, replaced))

    def _made(self, document: dict[str, Any], origin: Origin, replaced: int = 0) -> Made:
        """The robot of a document, by its reduced model where there is one that fits."""
        from pliant.project.project import of_text
        from pliant.project.reduced import chosen
        from pliant.project.toml import dumps
        from pliant.studio.draft import facts

        project = of_text(origin.place / origin.file, dumps(document))
        fast, words = chosen(project)
        told = {**facts(project, document), "model": str(fast or "")}
        if replaced == 1 and fast is None:  # it was reduced a moment ago
            raise InputError("reduced model", expected="one that is accurate enough", got=words)
        summary = document.get("summary", "")
        session = Session(project.robot, period=self.period, summary=summary, fast=fast)
        return Made(document, project, fast, session, told, origin, replaced)

    def _work(self, what: str, make: Callable[[], Made]) -> None:
        self.busy = what
        self._unjudged()

        def run() -> None:
            try:
                made = make()
            except PliantError as error:
                self._done.put(Refused(str(error)))
            except Exception as error:  # a fault of ours: the studio goes on with the robot it has
                self._done.put(Refused(f"{type(error).__name__}: {error}"))
            else:
                self._now = made.document
                self._done.put(made)
                self.wake()
                self._judge(made.project, made.document)
            self.wake()

        threading.Thread(target=run, name="pliant-workshop", daemon=True).start()

    def _judge(self, project: Any, document: dict[str, Any]) -> None:
        """How fast it is, and how accurate, as a process tells once nothing was edited for a while."""
        from pliant.project.aside import Aside

        robot = project.robot
        sleep(QUIET)
        if self._now is not document or not (robot.by_role("actuator") and robot.by_role("effector")):
            return
        with suppress(PliantError):  # it has no such figure, or is edited by now
            self._judging = Aside("judge", project.source.path, project.source.text)
            for report in self._judging:
                self._done.put(Measured(document, report))
                self.wake()

    def _unjudged(self) -> None:
        self._now = None
        if self._judging is not None:
            self._judging.stop()

    def _check(self) -> None:
        if not self.documents and not self.busy:
            hint = "Begin one from an STL or STEP part with New, or open one that you saved."
            raise InputError("edit", expected="a robot of your own", got="one of the gallery", hint=hint)

    def _check_idle(self) -> None:
        if self.busy:
            raise InputError("edit", expected="to wait a moment", got=self.busy.lower())


def _left(done: int, total: int, began: tuple[int, float]) -> str:
    """ "12 of 60 equilibria, about 40 s left"."""
    first, start = began
    said = f"{done} of {total} equilibria"
    if done == total:
        return f"{said}, choosing modes"
    if done == first:
        return said
    left = (perf_counter() - start) / (done - first) * (total - done)
    return f"{said}, about {left / 60:.0f} min left" if left > 100 else f"{said}, about {left:.0f} s left"


def merged(document: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """A document with further tables in it: obstacles instead of its own, targets of its effectors."""
    document.pop("obstacles", None)
    if more.get("obstacles"):
        document["obstacles"] = more["obstacles"]
    for name, target in more.get("targets", {}).items():
        if name in document.get("effectors", {}):
            document["effectors"][name]["target"] = target
    return document


def plain(name: str) -> str:
    """A name as that of a folder or file: letters, digits, blanks and dashes, at most 60."""
    kept = "".join(c if c.isalnum() or c in " -" else "-" for c in name).strip(" -")
    return kept[:60] or "robot"
