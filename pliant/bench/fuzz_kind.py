"""A kind of input: valid examples to damage, and the reader that must withstand it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.bench.fuzz_mutation import Damage


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    `seeds(folder)` gives valid inputs, made by our own writers in a folder that stays as they leave it.
    `read(data, folder)` says whether an input is accepted; a PliantError refuses it too, every other
    exception is a fault. `inside(data, damage)` damages behind checksums and compression, which would hide
    damage from the reader.
    """

    name: str
    seeds: Callable[[Path], Sequence[bytes]]
    read: Callable[[bytes, Path], bool]
    inside: Callable[[bytes, Damage], bytes] | None = None


def of_file(
    name: str, ending: str, write: Callable[[Path], Sequence[Path]], read: Callable[[Path], object]
) -> Kind:
    """A kind of file with an ending: `write` makes some in a folder, `read` takes the path of one."""

    def accepted(data: bytes, folder: Path) -> bool:
        path = folder / f"input{ending}"
        path.write_bytes(data)
        read(path)
        return True

    packed = ending == ".npz"
    return Kind(
        name, lambda folder: [p.read_bytes() for p in write(folder)], accepted, npz_inside if packed else None
    )


def npz_inside(data: bytes, damage: Damage) -> bytes:
    """An .npz file with one of its members changed, and a checksum that fits."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        chosen = int(damage.rng.integers(len(names)))
        for k, name in enumerate(names):
            content = old.read(name)
            new.writestr(zipfile.ZipInfo(name), damage(content) if k == chosen else content)
    return out.getvalue()


@cache
def bar() -> pl.Robot:
    """A small robot above a floor."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(3, 1, 1))
    clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(1, 0, 0))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.45), density=1100, fixed=clamp, order=1)
    path = [[x, 0.01, 0.015] for x in np.linspace(0.0, 0.095, 3)]
    rows = {
        "cable": pl.Row(pl.Cable(body.points(path)), pl.Bounded(effort=(0, 2), displacement=(-0.01, 0.01))),
        "tip": pl.Row(pl.Position(body.points([[0.1, 0.01, 0.01]])), pl.Target()),
    }
    around = pl.contact.Surroundings(obstacles=[pl.Plane((0, 0, -0.02), (0, 0, 1), name="floor")])
    return pl.Robot(body, rows, gravity=(0, 0, -9.81), name="bar", surroundings=around)
