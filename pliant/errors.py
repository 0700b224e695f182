"""One exception root. A message names the thing, what was expected, what came, and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class PliantError(Exception):
    """Every error that a user of pliant may see."""


class InputError(PliantError, ValueError):
    """Something given by the user cannot be used."""

    def __init__(self, what: str, *, expected: str, got: Any, hint: str = "") -> None:
        self.what, self.expected, self.got, self.hint = what, expected, got, hint
        super().__init__(f"{what}: expected {expected}, got {got}." + (f" {hint}" if hint else ""))


class MeshError(InputError):
    """A mesh or mesh file that cannot be used."""


class SingularError(PliantError):
    """A stiffness matrix without an inverse: the message counts the motions that nothing holds."""


class ConvergenceError(PliantError):
    """An equilibrium that was not reached; `result` holds the best state and its certificate."""

    def __init__(self, message: str, result: Any = None) -> None:
        self.result = result
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
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f"Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    return InputError(f"{kind} {name!r}", expected=f"one of {sorted(known)}", got=repr(name), hint=hint)
