"""The public names of pliant: which module each is at home in, for the reference.

A name at the root (`pl.Solid`) and the one it comes from (`pliant.bodies.Solid`) are the same object, and are
documented once, where it is at home.
"""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

# Modules of the reference, in the order of a table of contents. None: what its __all__ names.
HOMES: dict[str, tuple[str, ...] | None] = {
    "pliant.robot": ("Robot", "Row"),
    "pliant.state": ("State",),
    "pliant.result": ("Result", "Certificate", "Passage"),
    "pliant.mesh": None,
    "pliant.materials": None,
    "pliant.bodies": None,
    "pliant.interactions": None,
    "pliant.laws": (
        "Bounded",
        "Elastic",
        "Known",
        "Law",
        "Measured",
        "Observed",
        "Target",
        "Unilateral",
        "Unknown",
        "Valve",
    ),
    "pliant.contact": None,
    "pliant.static": None,
    "pliant.assemble": ("assemble",),
    "pliant.joints": None,
    "pliant.things": None,
    "pliant.urdf": ("Arm", "Place", "read"),
    "pliant.pneumatics": None,
    "pliant.compliance": ("Compliance", "compliance"),
    "pliant.dynamics": None,
    "pliant.inverse": None,
    "pliant.sensing": None,
    "pliant.reduction": None,
    "pliant.planning": None,
    "pliant.learning": None,
    "pliant.membrane": None,
    "pliant.robots": None,
    "pliant.project": None,
    "pliant.session": None,
    "pliant.studio": None,
    "pliant.hardware": None,
    "pliant.hardware.emulators": None,
    "pliant.io.recording": ("Recorder", "Recording", "RecordingError"),
    "pliant.io.player": ("export", "player"),
    "pliant.io.picture": ("View", "picture"),
    "pliant.io.report": ("report",),
    "pliant.io.run_report": ("run_report",),
    "pliant.io.streams": None,
    "pliant.studies": None,
    "pliant.solvers": None,
    "pliant.algebra": None,
    "pliant.threads": ("pin_blas",),
    "pliant.errors": (
        "PliantError",
        "InputError",
        "FileError",
        "MeshError",
        "MeshFileError",
        "SingularError",
        "ConvergenceError",
        "MissingExtraError",
        "PliantWarning",
    ),
}


def public(module: str) -> list[str]:
    """Public names of a module of the reference."""
    named = HOMES[module]
    return list(import_module(module).__all__ if named is None else named)


@cache
def homes() -> dict[str, Any]:
    """{full name: object} of everything in the reference; an object that two modules name is at home once."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    for module in HOMES:
        for name in public(module):
            value = getattr(import_module(module), name)
            if isinstance(value, ModuleType):
                continue
            if _has_identity(value):
                if id(value) in seen:
                    continue
                seen.add(id(value))
            found[f"{module}.{name}"] = value
    return found


@cache
def home_of() -> dict[int, str]:
    """{id of an object: its full name}, of classes and functions."""
    return {id(value): name for name, value in homes().items() if _has_identity(value)}


@cache
def short_names() -> dict[str, str]:
    """{name without its module: full name} where only one object has it."""
    found: dict[str, list[str]] = {}
    for full in homes():
        found.setdefault(full.rpartition(".")[2], []).append(full)
    return {short: full[0] for short, full in found.items() if len(full) == 1}


def at_root() -> dict[str, str]:
    """{name of the package root: where it is at home}, without modules."""
    import pliant

    values = {name: getattr(pliant, name) for name in dir(pliant) if not name.startswith("_")}
    return {name: home_of()[id(value)] for name, value in sorted(values.items()) if id(value) in home_of()}


def _has_identity(value: Any) -> bool:
    return inspect.isclass(value) or callable(value)
