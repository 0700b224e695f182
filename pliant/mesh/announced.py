"""What mesh files announce: counts and numbers that must fit into the file, because their parsers trust them.

On the word of one damaged line a parser allocates memory for 10¹² nodes, or reads on at the end of a file
for ever.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from pliant.errors import MeshError

_COUNTS = {
    "vtk": re.compile(rb"^(?:POINTS|CELLS|CELL_TYPES|POINT_DATA|CELL_DATA) +(\d+)(?: +(\d+))?", re.MULTILINE),
    "ply": re.compile(rb"^element +\S+ +(\d+)()", re.MULTILINE),
}
_MSH = re.compile(rb"\$MeshFormat\s+(\d)(?:\.(\d))?\d*\s+([01])\s+([48])")
_NODES = re.compile(rb"\$Nodes\r?\n")
_STL_HEAD, _STL_COUNT, _STL_TRIANGLE = 80, 4, 50  # bytes of a binary STL: head, how many triangles, each
STL_START = _STL_HEAD + _STL_COUNT
_STL_SANE = 1000  # times as many bytes as there are: what announces more is no binary STL
MOST_UNUSED_NUMBERS = 10_000_000  # of nodes, since the parser makes a table of all numbers


def check_announced(path: Path, kind: str) -> None:
    """Raise MeshError if a file announces more than it can contain."""
    if kind in _COUNTS:
        raw = path.read_bytes()
        if kind == "ply" and b"end_header" not in raw:
            raise MeshError("head", expected="an end", got="none")
        _check_counts([int(n) for line in _COUNTS[kind].findall(raw) for n in line if n], len(raw))
    elif kind == "stl":
        _check_stl(path.read_bytes())
    elif kind == "gmsh":
        raw = path.read_bytes()
        tags = _msh_nodes(raw)
        largest = float(tags.max(initial=0))
        if not 0 <= largest <= MOST_UNUSED_NUMBERS + len(raw):
            got = f"one with the number {largest:g}"
            raise MeshError("nodes", expected=f"{len(tags)} nodes with numbers near theirs", got=got)


def stl_bytes(head: bytes) -> int:
    """How long a binary STL is that begins like this."""
    return STL_START + _STL_TRIANGLE * int.from_bytes(head[_STL_HEAD:STL_START], "little")


def _check_stl(raw: bytes) -> None:
    """Whether an STL is there to its end: text has one, and binary files say how many triangles they have."""
    text, announced = raw.lstrip().lower(), stl_bytes(raw)
    hint = "Was it cut off? Export it again."
    if len(raw) == announced:
        return
    if text.startswith(b"solid") and (b"facet" in text or b"endsolid" in text):
        if text.rfind(b"endsolid") <= text.rfind(b"facet"):
            raise MeshError("text", expected="'endsolid' at its end", got="none", hint=hint)
    elif len(raw) < STL_START or announced > _STL_SANE * len(raw):
        expected = "STL: text that begins with 'solid', or a binary head and triangles"
        raise MeshError("content", expected=expected, got=f"{len(raw)} bytes that are neither", hint=hint)
    else:
        count = (announced - STL_START) // _STL_TRIANGLE
        expected = f"{announced} bytes for the {count} triangles that it announces"
        raise MeshError("content", expected=expected, got=f"{len(raw)} bytes", hint=hint)


def _check_counts(counts: list[int], size: int) -> None:
    if max(counts, default=0) > size:
        raise MeshError("counts", expected=f"no more than {size} bytes can contain", got=max(counts))


def _msh_nodes(raw: bytes) -> np.ndarray:
    """The numbers of the nodes in an MSH file of version 2 or 4, text or binary."""
    head, start = _MSH.search(raw), _NODES.search(raw)
    if head is None or start is None:
        raise MeshError("content", expected="a head and nodes", got="none")
    version, text = (int(head[1]), int(head[2] or 1)), head[3] == b"0"
    if text:
        end = raw.find(b"$EndNodes", start.end())
        return _text_nodes(np.array(raw[start.end() : end].split(), float), version, len(raw))
    if version[0] < 4:
        line = raw[start.end() :].split(b"\n", 1)[0]
        _check_counts([int(line)], len(raw))
        return np.zeros(0)  # the parser takes 1, 2, 3 … only
    return _binary_nodes(raw, start.end(), version, np.dtype(f"<u{int(head[4])}"))


def _text_nodes(v: np.ndarray, version: tuple[int, int], size: int) -> np.ndarray:
    if not np.isfinite(v).all() or v.size < 2:
        raise MeshError("nodes", expected="finite numbers", got="others")
    if version[0] < 4:
        _check_counts([int(v[0])], size)
        return v[1::4]
    _check_counts([int(n) for n in v[:2]], size)
    tags, at = [], 2 if version == (4, 0) else 4
    for _ in range(int(v[0])):
        n = int(v[at + 3])
        rows = v[at + 4 : at + 4 + 4 * n]
        tags.append(rows[::4] if version == (4, 0) else rows[:n])
        at += 4 + 4 * n
    return _counted(tags, int(v[1]))


def _binary_nodes(raw: bytes, at: int, version: tuple[int, int], integer: np.dtype) -> np.ndarray:
    blocks, total = (int(n) for n in np.frombuffer(raw, integer, 2, at))
    _check_counts([blocks, total], len(raw))
    at += (2 if version == (4, 0) else 4) * integer.itemsize
    node = np.dtype([("tag", "<i4"), ("place", "<f8", 3)])
    tags = []
    for _ in range(blocks):
        n = int(np.frombuffer(raw, integer, 1, at + 12)[0])
        at += 12 + integer.itemsize
        if version == (4, 0):
            tags.append(np.frombuffer(raw, node, n, at)["tag"])
            at += n * node.itemsize
        else:
            tags.append(np.frombuffer(raw, integer, n, at))
            at += n * (integer.itemsize + 24)
    return _counted(tags, total)


def _counted(parts: list[np.ndarray], total: int) -> np.ndarray:
    tags = np.concatenate([np.zeros(0), *parts])
    if len(tags) != total:
        raise MeshError("nodes", expected=f"{total} as announced", got=len(tags))
    return tags
