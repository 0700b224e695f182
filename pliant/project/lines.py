"""Where the keys and values of a TOML text stand: the line of every path, so that an error can name it.

`tomllib` reads values without their places. This walks the same text again, which `tomllib` has found to be
valid, and notes

    ("cables", "cable 1", "through", 3)  →  line 17        (the key, or the element of an array)
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

Path = tuple[str | int, ...]
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]+")
_BLANK = re.compile(r"[ \t]*")
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_QUOTES = ('"""', "'''", '"', "'")


def line_map(text: str) -> dict[Path, int]:
    """The line (from 1) of every key, table, array element and value of a valid TOML text; () is line 1."""
    return _Walk(text).lines


def line_of(lines: Mapping[Path, int], path: Sequence[Any]) -> tuple[Path, int]:
    """The longest known part of a path, and its line.

    Parts that the file does not have, such as the tag of a choice, are left out.
    """
    known: Path = ()
    for part in path:
        if (*known, part) in lines:
            known = (*known, part)
    return known, lines[known]


def spelled(path: Sequence[Any]) -> str:
    """A path as a person writes it: cables."cable 1".through[3]."""
    out = ""
    for part in path:
        if isinstance(part, int):
            out += f"[{part}]"
        else:
            word = part if _BARE.fullmatch(part) else f'"{part}"'
            out += f".{word}" if out else word
    return out


class _Walk:
    """One pass over a valid text. `at` is the place of the next character."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.lines: dict[Path, int] = {(): 1}
        self._counts: dict[Path, int] = {}  # tables in an array of tables, so far
        self._seen, self._line = 0, 1
        self._file()

    def _now(self) -> int:
        self._line += self.text.count("\n", self._seen, self.at)
        self._seen = self.at
        return self._line

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def _note(self, path: Path, line: int) -> None:
        for n in range(1, len(path) + 1):
            self.lines.setdefault(path[:n], line)

    def _file(self) -> None:
        table: Path = ()
        while True:
            self._skip(_SPACE)
            if self.at >= len(self.text):
                return
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> Path:
        line, double = self._now(), self.text.startswith("[[", self.at)
        self.at += 2 if double else 1
        keys = self._keys()
        self.at += 2 if double else 1
        path: Path = ()
        for n, key in enumerate(keys):
            path = (*path, key)
            if double and n == len(keys) - 1:
                self._counts[path] = self._counts.get(path, -1) + 1
            if path in self._counts:
                self._note(path, line)
                path = (*path, self._counts[path])
        self._note(path, line)
        return path

    def _pair(self, table: Path) -> None:
        line = self._now()
        path = (*table, *self._keys())
        self._note(path, line)
        self.at += 1  # =
        self._skip(_BLANK)
        self._value(path)

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(_BLANK)
            keys.append(self._key())
            self._skip(_BLANK)
            if self.text[self.at] != ".":
                return keys
            self.at += 1

    def _key(self) -> str:
        if self.text[self.at] in "\"'":
            start = self.at
            self._string()
            (value,) = tomllib.loads(f"k = {self.text[start : self.at]}").values()
            return value
        match = _BARE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return match[0]

    def _string(self) -> None:
        quote = next(q for q in _QUOTES if self.text.startswith(q, self.at))
        self.at += len(quote)
        while not self.text.startswith(quote, self.at):
            self.at += 2 if quote[0] == '"' and self.text[self.at] == "\\" else 1
        self.at += len(quote)
        while len(quote) == 3 and self.text.startswith(quote[0], self.at):  # a quote before the closing three
            self.at += 1

    def _value(self, path: Path) -> None:
        first = self.text[self.at]
        if first in "\"'":
            self._string()
        elif first == "[":
            self._array(path)
        elif first == "{":
            self._inline(path)
        else:
            self._skip(_SCALAR)

    def _array(self, path: Path) -> None:
        self.at += 1
        n = 0
        while True:
            self._skip(_SPACE)
            if self.text[self.at] == "]":
                break
            self._note((*path, n), self._now())
            self._value((*path, n))
            self._skip(_SPACE)
            if self.text[self.at] == ",":
                self.at += 1
            n += 1
        self.at += 1

    def _inline(self, path: Path) -> None:
        self.at += 1
        while True:
            self._skip(_SPACE)
            if self.text[self.at] == "}":
                break
            self._pair(path)
            self._skip(_SPACE)
            if self.text[self.at] == ",":
                self.at += 1
        self.at += 1
