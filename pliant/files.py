"""Files that are read: what is wrong with one is a FileError that names it.

Arrays take no more memory than the file holds.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pliant.errors import FileError, InputError, PliantError

LONGEST_SHOWN = 400  # characters of a path that messages show
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


@contextmanager
def reading(
    path: str | Path, what: str, expected: str, *, hint: str = "", error: type[FileError] = FileError
) -> Iterator[Path]:
    """Gives the path of a file that is there; what goes wrong inside is a FileError that names it.

        with reading(path, "reduced model", "a file that pliant wrote") as file: ...

    Inside belongs what depends on the file alone: opening it, parsing it, making what it describes. Parsers
    and libraries have many words for a damaged file, so every exception counts as one; those of ours keep
    what they say, and warnings pass.
    """
    named = f"{what} {shown(path)}"
    try:
        file = Path(path)
        if file.is_dir():
            raise error(named, expected=expected, got="a folder")
        if not file.is_file():
            raise error(named, expected=expected, got="nothing there", hint=_beside(file))
        yield file
    except (FileError, Warning):
        raise
    except InputError as fault:
        raise error(
            f"{named}: {fault.what}", expected=fault.expected, got=fault.got, hint=fault.hint
        ) from fault
    except PliantError:
        raise
    except Exception as fault:
        raise error(named, expected=expected, got=_said(fault), hint=hint) from fault


def _beside(missing: Path) -> str:
    """Which files of the same folder have nearly this name, in words."""
    try:
        there = sorted(entry.name for entry in missing.parent.iterdir() if entry.suffix == missing.suffix)
    except OSError:
        return ""
    near = get_close_matches(missing.name, there, n=2)
    return f"Did you mean {' or '.join(map(repr, near))}?" if near else ""


def shown(path: Any) -> str:
    """A path as messages show it: on one line, and not for ever."""
    text = str(path)
    text = text if text.isprintable() else repr(text)
    return (
        text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN // 2]}…{text[-LONGEST_SHOWN // 2 :]}"
    )


def read_arrays(file: str | Path | BinaryIO) -> dict[str, np.ndarray]:
    """The arrays of an .npz file by name; call it within `reading`.

    Nothing in the file is executed. An array that claims another size than its content has is refused before
    memory is taken for it.
    """
    with zipfile.ZipFile(file) as box:
        return {entry.filename.removesuffix(".npy"): _array(box, entry) for entry in box.infolist()}


def _array(box: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    with box.open(entry) as content:
        shape, by_columns, dtype = _HEADERS[np.lib.format.read_magic(content)](content)
        size, held = math.prod(shape) * dtype.itemsize, entry.file_size - content.tell()
        if dtype.hasobject or min(shape, default=0) < 0 or size != held:
            claims = f"{dtype} {shape} in {held} bytes"
            expected = "numbers that fill it, as pliant wrote them"
            raise InputError(f"array {entry.filename!r}", expected=expected, got=claims)
        flat = np.frombuffer(bytearray(content.read(size)), dtype)
    return flat.reshape(shape[::-1]).T if by_columns else flat.reshape(shape)


def read_saved(file: Path, kind: str, version: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Facts and arrays of an .npz file, read within `reading`.

    Its array `facts` is a line of JSON, with "format" and "version".
    """
    arrays = read_arrays(file)
    if "facts" not in arrays:
        raise InputError("content", expected=f"a {kind} that pliant wrote", got=f"{sorted(arrays)[:5]}")
    facts = json.loads(str(arrays.pop("facts")))
    if not isinstance(facts, dict) or facts.get("format") != kind:
        got = facts.get("format") if isinstance(facts, dict) else facts
        raise InputError("format", expected=f"a {kind} that pliant wrote", got=repr(got)[:60])
    if facts.get("version") != version:
        hint = "It was written by another version of pliant: make it again."
        raise InputError(
            "version", expected=f"version {version}", got=repr(facts.get("version"))[:60], hint=hint
        )
    return facts, arrays


def _said(fault: Exception) -> str:
    if isinstance(fault, OSError) and fault.strerror:
        return fault.strerror
    text = " ".join(str(fault).split())[:300]
    return f"{type(fault).__name__}: {text}" if text else type(fault).__name__
