"""Faults in a project file: errors that name the file, the line and the key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.errors import FileError, InputError, PliantError
from pliant.project.lines import line_map, line_of, spelled

if TYPE_CHECKING:
    from pydantic import ValidationError

# What building a robot may raise when a number of the file makes no sense together with another.
WRONG = (PliantError, ArithmeticError, ValueError, TypeError, LookupError, OSError, MemoryError)
SHOWN = 3  # further faults that a message lists
DEEPEST = 32  # tables and arrays within each other
# A dotted key of very many parts: the time that tomllib takes for it grows with the square of their number.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:{_PART}){{{DEEPEST}}}")


@dataclass(frozen=True)
class Source:
    """The text of a project file, and where it stands."""

    path: Path
    text: str

    @cached_property
    def lines(self) -> dict[tuple[str | int, ...], int]:
        """The line of every key."""
        return line_map(self.text)

    def line(self, *path: Any) -> int:
        """The line of a key, or of the table it is missing in."""
        return line_of(self.lines, path)[1]

    def fault(self, path: Sequence[Any], *, expected: str, got: Any, hint: str = "") -> FileError:
        """The error for what stands at a path."""
        key = spelled(path) or "the file"
        return FileError(
            f"{self.path.name}, line {self.line(*path)}, {key}", expected=expected, got=got, hint=hint
        )

    @contextmanager
    def at(self, *path: Any) -> Iterator[None]:
        """What goes wrong inside is a fault at a path, unless it names a place already."""
        try:
            yield
        except InputError as error:
            if error.what.startswith(f"{self.path.name}, line "):
                raise
            got = f"{error.got} ({error.what})"
            raise self.fault(path, expected=error.expected, got=got, hint=error.hint) from error
        except WRONG as error:
            raise self.fault(path, expected="something to build a robot from", got=_said(error)) from error

    def parsed(self) -> dict[str, Any]:
        """The values, or the error of a text that is no TOML; its line is the parser's."""
        deep = _DEEP_KEY.search(self.text)
        if deep is not None:
            raise self._too_deep(deep.start())
        try:
            values = tomllib.loads(self.text)
        except ValueError as error:  # TOMLDecodeError, or that of a number of thousands of digits
            what, _, place = str(error).rpartition(" (at ")
            line = place.partition(",")[0].removeprefix("line ")
            if not line.isdigit():  # the end of the document
                line = str(max(1, len(self.text.splitlines())))
            row = self.text.splitlines()[int(line) - 1 : int(line)]
            key = row[0].partition("=")[0].strip() if row else ""
            raise FileError(
                f"{self.path.name}, line {line}, {key or 'the file'}",
                expected="TOML",
                got=what or str(error),
            ) from error
        except RecursionError as error:
            raise self._too_deep() from error
        if _depth(values) > DEEPEST:  # checks and messages walk through them
            raise self._too_deep()
        return values

    def _too_deep(self, place: int = 0) -> FileError:
        what = f"{self.path.name}, line {1 + self.text.count(chr(10), 0, place)}, the file"
        return FileError(what, expected=f"tables and arrays at most {DEEPEST} deep", got="deeper ones")

    def rejected(self, error: ValidationError) -> FileError:
        """Pydantic's findings as one error: the first in the file, and a few more."""
        faults = []
        for one in error.errors(include_url=False):
            known, line = line_of(self.lines, one["loc"])
            missing = one["type"] == "missing"
            path = (*known, one["loc"][-1]) if missing else known
            expected = "a value" if missing else _expected(one)
            got = "nothing" if missing else _shown(one)
            faults.append((line, spelled(path) or "the file", expected, got))
        faults.sort(key=lambda row: row[0])
        line, key, expected, got = faults[0]
        more = [f"line {row[0]}, {row[1]}: expected {row[2]}" for row in faults[1 : 1 + SHOWN]]
        hint = f"Also {'; '.join(more)}." if more else ""
        return FileError(f"{self.path.name}, line {line}, {key}", expected=expected, got=got, hint=hint)


def _depth(values: Any) -> int:
    """How many tables and arrays stand within each other, counted up to one more than is allowed."""
    level, depth = [values], 0
    while level and depth <= DEEPEST:
        depth += 1
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, (dict, list))
        ]
    return depth


def _expected(one: Any) -> str:
    if one["type"] == "extra_forbidden":
        return "no such key"
    if one["type"] == "dict_type":  # [[obstacles]] instead of [obstacles.ball]
        return f"a table for each name, such as [{one['loc'][-1]}.NAME]"
    message = str(one["msg"]).removeprefix("Input should be ").removeprefix("a valid ")
    return message[0].lower() + message[1:]


def _shown(one: Any) -> str:
    """What was given, cut short."""
    if one["type"] == "extra_forbidden":
        return repr(one["loc"][-1])
    text = repr(one["input"])
    return text if len(text) < 60 else f"{text[:57]}…"


def _said(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text if isinstance(error, PliantError) else f"{type(error).__name__}: {text[:200]}"
