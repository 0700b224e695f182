"""How a study is run: quick or full, the seed of all that is drawn and scored, a folder of meshes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np

from pliant.errors import InputError


@dataclass(frozen=True)
class Setup:
    """How a study is run.

    `seed` decides everything random that is scored. Unless the user gives one, it is that of the study's
    name, which nobody chose; 0, the default here, is for development and tests. `data` is a folder with
    meshes of the paper's authors, if the user has one.
    """

    seed: int = 0
    quick: bool = False
    data: Path | None = None

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise InputError("seed", expected="zero or a positive integer", got=self.seed, hint="--seed 1")
        if self.data is not None and not self.data.is_dir():
            raise InputError(
                "data", expected="a folder with meshes", got=str(self.data), hint="see docs/studies.md"
            )

    def rng(self, part: str) -> np.random.Generator:
        """The generator of a part: the same for the same seed, whichever other parts run."""
        return np.random.default_rng([self.seed, crc32(part.encode())])

    def seeds(self, part: str, count: int) -> list[int]:
        """So many seeds of a part, for what takes a seed itself; the first ones stay when more are asked."""
        return [int(n) for n in self.rng(part).integers(2**31, size=count)]

    def file(self, name: str) -> Path | None:
        """A file of the folder of meshes; None where there is no folder, or no such file in it."""
        path = None if self.data is None else self.data / name
        return path if path is not None and path.is_file() else None


def seed_of(name: str) -> int:
    """The seed that a study has by its name."""
    return crc32(name.encode())
