"""Writes values as TOML, in the order given: tables by their headers, short things on one line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

WIDTH = 100
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(data: Mapping[str, Any]) -> str:
    """The text of a file.

    Dictionaries are tables, lists of dictionaries arrays of tables unless they are short.
    """
    return "\n".join(_table(data, ())).strip() + "\n"


def _table(data: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    out, later = [], []
    for key, value in data.items():
        if _is_table(value) or _are_tables(value):
            later.append((key, value))
        else:
            out.append(_pair(key, value))
    for key, value in later:
        below = (*path, key)
        header = ".".join(_key(part) for part in below)
        for table in [value] if _is_table(value) else value:
            inner = _table(table, below)
            bare = _is_table(value) and inner and inner[0] == ""  # only further tables in it
            out += inner if bare else ["", f"[{header}]" if _is_table(value) else f"[[{header}]]", *inner]
    return out


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _are_tables(value: Any) -> bool:
    """Whether to write an array of dictionaries with headers; one that fits on a line stays there."""
    tables = isinstance(value, (list, tuple)) and len(value) > 0 and all(map(_is_table, value))
    return tables and (len(_value(value)) > WIDTH or max(map(len, value)) > 3)


def _pair(key: str, value: Any) -> str:
    head, text = f"{_key(key)} = ", _value(value)
    if len(head) + len(text) <= WIDTH or not isinstance(value, (list, tuple, np.ndarray)):
        return head + text
    rows, row = [], ""
    for item in (_value(v) for v in value):
        if row and len(row) + len(item) > WIDTH - 6:
            rows.append(row)
            row = ""
        row += f"{item}, "
    lines = [f"    {r.strip()}" for r in (*rows, row) if r]
    return "\n".join([f"{head}[", *lines, "]"])


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return repr(number) if math.isfinite(number) else str(number)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items())
        return f"{{ {inside} }}"
    return f"[{', '.join(_value(v) for v in value)}]"
