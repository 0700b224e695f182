"""The reduced model of a project: made once, kept beside its file, used as long as it fits.

    robot.toml
    robot.cache/6f1c…d2.npz         named by a digest of all that the model depends on

A project that was changed since has another digest, and runs by its full model until it is reduced again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any

from pliant.errors import InputError, PliantError, unknown_name
from pliant.laws import Known
from pliant.project.project import Project
from pliant.reduction.fast import ASKED, Fast, fast
from pliant.reduction.fingerprint import Fingerprint
from pliant.reduction.watch import apart, balanced, on_full
from pliant.result import Result

MODELS = ("auto", "full", "reduced")
WITHOUT_EFFECT = {"summary", "demonstration", "hardware"}  # tables that no reduced model depends on


def digest(project: Project) -> str:
    """A digest of what a file says of a robot, and of the shape and stiffness that come of it."""
    said = project.spec.model_dump(mode="json", exclude=WITHOUT_EFFECT)
    fingerprint = Fingerprint.of(project.robot)
    stiffness = f"{fingerprint.stiffness:.5e}"  # but for rounding, which machines differ by
    text = json.dumps([said, fingerprint.shape, stiffness], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def folder_of(project: Project) -> Path:
    """Where is kept what was computed of a project and may be computed again."""
    return project.source.path.with_suffix(".cache")


def place_of(project: Project, suffix: str = ".npz") -> Path:
    """Where the reduced model of a project, as it is now, is or will be; or what else has a `suffix`."""
    return folder_of(project) / f"{digest(project)}{suffix}"


def make(project: Project, *, error: float = ASKED, executor: Any = None, progress: Any = False) -> Fast:
    """Reduce a project's robot and keep the model beside its file; options as of `pliant.reduction.fast`.

    What was begun and stopped goes on where it was.
    """
    place = place_of(project)
    under_way = place.with_suffix("")  # snapshots, until there is a model
    made = fast(project.robot, error=error, folder=under_way, executor=executor, progress=progress)
    made.save(place)
    for part in sorted(under_way.rglob("*"), reverse=True):
        part.rmdir() if part.is_dir() else part.unlink()
    under_way.rmdir()
    return made


def keep(fast: Fast, project: Project) -> None:
    """Keep a model beside a project that its robot is, but for its name, targets and obstacles."""
    first, *others = fast.models
    named = replace(first, fingerprint=replace(first.fingerprint, robot=project.robot.name))
    place = place_of(project)
    place.parent.mkdir(parents=True, exist_ok=True)
    Fast(project.robot, (named, *others)).save(place)


def settled(fast: Fast, result: Result, laws: Mapping[str, Known]) -> tuple[float, bool]:
    """[m] how far an equilibrium of the reduced robot under commands is from the full one's, which starts
    there; and whether that was found.
    """
    start = on_full(fast.full, fast.robot, result.state)
    there, found = balanced(fast.full, start, laws, ())
    return apart(fast.full, there.q, start.q), found


def chosen(project: Project, model: str = "auto") -> tuple[Fast | None, str]:
    """The reduced model to run, or None for the full one; and a sentence that says which, and why.

    model: "auto" takes the reduced one where there is one that fits, and met the error asked for; "full" and
    "reduced" are what they say.
    """
    if model not in MODELS:
        raise unknown_name("model", model, MODELS)
    if model == "full":
        return None, "The full model runs, as asked."
    name = project.source.path.name
    way = f"pliant reduce {quote(str(project.source.path))}"
    old = any(folder_of(project).glob("*.npz"))
    place = place_of(project) if old else None  # a digest takes its time
    if place is not None and place.exists():
        try:
            found = Fast.load(place, project.robot)
        except PliantError as error:
            if model == "reduced":
                raise
            return None, f"The full model runs: {error}"
        if model == "auto" and not found.share <= found.facts["asked"]:
            return None, f"The full model runs: the reduced one misses the error asked for ({found})."
        return found, f"The reduced model runs: {found}. With --model full, the full one does."
    why = "the reduced one is of an earlier version of the file" if old else "it was not reduced"
    if model == "reduced":
        raise InputError(f"reduced model of {name}", expected="one that fits the file", got=why, hint=way)
    return None, f"The full model runs: {why}. `{way}` makes a fast one."
