"""StateBasis: the shapes that a reduced body moves in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.bodies import Solid
from pliant.errors import InputError

DEPENDENT = 1e-10  # of the largest singular value: shapes below depend on the others
CONTAINED = 1e-6  # of a mode's norm: a smaller part outside of the modes before adds nothing


@dataclass(frozen=True, eq=False)
class StateBasis:
    """Modes (n, 3, k) of a body's nodes, with the frame nodes of its rigid regions, and where they come from.

    `values` are singular values of all snapshots (POD, weighted by volume), or frequencies [rad/s] (modal).
    `skipped` says which snapshots were left out, and why.
    """

    modes: np.ndarray
    kind: str
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))
    skipped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.modes.ndim != 3 or self.modes.dtype.kind != "f" or not np.isfinite(self.modes).all():
            got = f"{self.modes.dtype} {self.modes.shape}"
            raise InputError("modes", expected="finite numbers (nodes, 3, modes)", got=got)
        for array in (self.modes, self.values):
            array.setflags(write=False)

    def __len__(self) -> int:
        return self.modes.shape[2]

    def __repr__(self) -> str:
        return f"StateBasis({self.kind}, {len(self)} modes of {len(self.modes)} nodes)"

    def first(self, count: int) -> StateBasis:
        """The first modes only."""
        if not 1 <= count <= len(self):
            raise InputError("modes", expected=f"1 to {len(self)}, the rank of the basis", got=count)
        return StateBasis(self.modes[:, :, :count].copy(), self.kind, self.values.copy(), self.skipped)

    @classmethod
    def given(cls, body: Solid, modes: Any) -> StateBasis:
        """Shapes of your own, (n, 3, k) [m]: they must be independent."""
        shapes = np.array(modes, float)
        n = len(body.coordinates.rest)
        if shapes.ndim != 3 or shapes.shape[:2] != (n, 3) or not shapes.shape[2]:
            raise InputError("modes", expected=f"shape ({n}, 3, modes)", got=shapes.shape)
        if not np.isfinite(shapes).all():
            raise InputError("modes", expected="finite numbers", got="nan or inf")
        values = np.linalg.svd(shapes.reshape(3 * n, -1), compute_uv=False)
        rank = int((values > DEPENDENT * values[0]).sum()) if values[0] > 0 else 0
        if rank < shapes.shape[2]:
            raise InputError("modes", expected="independent shapes", got=f"{shapes.shape[2]} of rank {rank}")
        return cls(shapes, "given", values)

    def joined(self, other: StateBasis) -> StateBasis:
        """These modes, and what others add to them: those parts that are not here yet."""
        n, k = len(self.modes), len(self)
        if len(other.modes) != n:
            raise InputError("modes", expected=f"{n} nodes", got=len(other.modes))
        flat = np.concatenate([self.modes, other.modes], axis=2).reshape(3 * n, -1)
        flat = flat / np.linalg.norm(flat, axis=0)
        Q, R = np.linalg.qr(flat)
        new = np.flatnonzero(np.abs(np.diagonal(R)) > CONTAINED)
        added = Q[:, new[new >= k]].reshape(n, 3, -1)
        modes = np.concatenate([self.modes, added], axis=2)
        return StateBasis(modes, f"{self.kind} + {other.kind}", self.values.copy(), self.skipped)


def node_volumes(body: Solid) -> np.ndarray:
    """Volume (n,) [m³] that each node stands for, all positive; frame nodes of rigid regions have none."""
    mesh, n = body.mesh, len(body.coordinates.rest)
    share = np.repeat(mesh.cell_volumes / mesh.cells.shape[1], mesh.cells.shape[1])
    return np.bincount(mesh.cells.ravel(), share, n)
