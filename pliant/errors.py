"""One exception root. A message names the thing, what was expected, what came, and the way out."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable
from typing import Any

import numpy as np

SUGGESTIONS = 3  # names, at most, that an error for an unknown one suggests
LEAST_SIMILARITY = 0.4  # of a suggested name, from 0 to 1, as difflib measures it


class PliantError(Exception):
    """Every error that a user of pliant may see."""


class InputError(PliantError, ValueError):
    """Something given by the user cannot be used."""

    def __init__(self, what: str, *, expected: str, got: Any, hint: str = "") -> None:
        self.what, self.expected, self.got, self.hint = what, expected, got, hint
        super().__init__(f"{what}: expected {expected}, got {got}." + (f" {hint}" if hint else ""))


class FileError(InputError):
    """A file that cannot be read: missing, damaged, or of another kind than was asked for."""


class MeshError(InputError):
    """A mesh or mesh file that cannot be used."""


class MeshFileError(MeshError, FileError):
    """A mesh file that cannot be read."""


class SingularError(PliantError):
    """A stiffness matrix without an inverse: the message counts the motions without support."""


class ConvergenceError(PliantError):
    """An equilibrium that was not reached; `result` has the best state and its certificate."""

    def __init__(self, message: str, result: Any = None) -> None:
        self.result = result
        super().__init__(message)


class CalibrationError(PliantError):
    """Records that the model cannot explain; `found` is the fit that was refused, to look at."""

    def __init__(self, message: str, found: Any = None) -> None:
        self.found = found
        super().__init__(message)


class MissingExtraError(PliantError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f'{feature} needs an optional package: pip install "pliant[{extra}]".')


class PliantWarning(UserWarning):
    """Something suspicious that is not an error, such as a robot of 100 m."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that is not there, with the nearest names suggested."""
    known = list(known)
    near = difflib.get_close_matches(str(name), known, n=SUGGESTIONS, cutoff=LEAST_SIMILARITY)
    hint = f"Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    return InputError(f"{kind} {name!r}", expected=f"one of {sorted(known)}", got=repr(name), hint=hint)


def is_number(value: Any) -> bool:
    """Whether a value is a real number, NaN and infinity included; True and False are not."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def as_floats(what: str, value: Any, expected: str, error: type[InputError] = InputError) -> np.ndarray:
    """`value` as an array of floats, or an InputError; its shape and its values are the caller's to check."""
    try:
        return np.array(value, float)
    except (TypeError, ValueError, OverflowError):
        got = value if isinstance(value, str) else reprlib.repr(value)
        raise error(what, expected=expected, got=got) from None
