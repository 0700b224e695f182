"""What the commands share: the application, argument types, exit codes."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import tyro

FAILED, ERROR, INTERRUPTED = 1, 2, 130

app = tyro.extras.SubcommandApp()
Name = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]
Given = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
File = Annotated[Path | None, tyro.conf.arg(metavar="FILE")]
Model = Annotated[str, tyro.conf.arg(metavar="auto|full|reduced")]
Folder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")]


def entry_of(name: str) -> Any:
    """A robot of the gallery, or of a project file."""
    if name.endswith(".toml"):
        return project_of(name).entry()
    refuse_part(name)
    from pliant.robots import entry, grippers

    if name in (*grippers, "hand"):
        from pliant.errors import InputError

        hint = f"It moves in time, in the studio: pliant view {name}."
        raise InputError(f"robot {name!r}", expected="one that is driven at rest", got=repr(name), hint=hint)
    return entry(name)


def refuse_part(name: str) -> None:
    """Raise InputError for a mesh or a part, with the command that begins a robot from it."""
    from pliant.errors import InputError
    from pliant.mesh.files import SUFFIXES

    if Path(name).suffix.lower() in SUFFIXES:
        hint = f"Begin a project file from it: pliant new {quote(name)}"
        raise InputError(
            repr(name), expected="a robot or a project file (robot.toml)", got="a part", hint=hint
        )


def project_of(path: str) -> Any:
    """A project file."""
    from pliant.project import load

    return load(path)


def save_tables(tables: list[Any], path: Path | None) -> int:
    """Tables to a file, if one is named; returns the exit code."""
    if path is not None:
        from pliant.io.table import save

        save(tables, path)
    return 0
