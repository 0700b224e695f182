"""Where compiled kernels are kept.

Importing this module, before any kernel is made, sees to it that there is a place.

Numba keeps kernels beside their sources, or else in the user's cache folder, and refuses to make any where it
can write to neither. Then they go to a temporary folder of the user's own. Compiled code runs as it is found:
nobody else may be able to put some there.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import config, njit

from pliant.errors import PliantError

VARIABLE = "NUMBA_CACHE_DIR"
KEPT, TEMPORARY, LOST = (
    "kept",
    "kept until temporary files are removed",
    "not kept, every start compiles again",
)


def where() -> Path | None:
    """The folder in which Numba keeps the kernels of this file's folder; None if it does not compile.

    Those of other folders are beside it.

    Numba raises a RuntimeError where it has no place for them.
    """
    made: Any = njit(cache=True)(_nothing)
    return Path(made.stats.cache_path) if hasattr(made, "stats") else None


def private_folder() -> tuple[Path, str]:
    """A temporary folder that only this user can write to, and how long it stays.

    It has the user's number in its name, so that the next process finds it. If somebody else was there
    before, or could put another in its place, it is a new one for this process alone.
    """
    try:
        base = Path(tempfile.gettempdir())
    except FileNotFoundError:
        raise PliantError(
            "Compiled kernels need a folder to be kept in, and none can be written, not even a temporary "
            f"one: set {VARIABLE} to one."
        ) from None
    if hasattr(os, "getuid"):
        folder = base / f"pliant-kernels-{os.getuid()}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        if _guarded(base) and _private(folder):
            return folder, TEMPORARY
    folder = Path(tempfile.mkdtemp(prefix="pliant-kernels-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder, LOST


def _private(folder: Path) -> bool:
    """Whether a path is a folder, no link to one, that belongs to this user and that others cannot enter."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def _guarded(base: Path) -> bool:
    """Whether nobody but this user and root can rename what this user has in a folder."""
    found = base.stat()
    shared = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return found.st_uid in (0, os.getuid()) and (not shared or bool(found.st_mode & stat.S_ISVTX))


def _nothing() -> None:
    """A function to ask Numba about."""


def _settle() -> str:
    """Name a folder to Numba where it finds none, also for child processes; returns how long kernels stay."""
    try:
        where()
    except RuntimeError:
        folder, stay = private_folder()
        os.environ[VARIABLE] = str(folder)
        config.reload_config()
        return stay
    return KEPT


STAY = _settle()
