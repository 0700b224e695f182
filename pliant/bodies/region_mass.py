"""Mass that moves with a rigid region, as six equations of its own.

With the centre of mass at an arm b (in the region's axes) from the point t that the region turns about, and
the inertia J about that point,

    weight:   E = −g·m (t + R b)        r_τ = m Qᵀg      r_ω = b × h      h = m Rᵀg
              K_ωω = (h·b) I − ½(h bᵀ + b hᵀ)
    inertia:  M_ττ = m I      M_ωτ = m [b]ₓ RᵀQ      M_ωω = J
              c_τ = m QᵀR(ω × (ω × b))      c_ω = ω × Jω
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.algebra.pattern import Pattern
from pliant.bodies.body import Linearised
from pliant.bodies.coordinates import Coordinates
from pliant.bodies.rigid import Rigid


@dataclass(frozen=True, eq=False)
class RegionMass:
    """Mass m [kg] of a region, at an arm b (3,) [m], with the inertia J (3, 3) [kg·m²] about its centre."""

    coordinates: Coordinates
    region: int
    mass: float
    arm: np.ndarray
    inertia: np.ndarray

    @property
    def span(self) -> slice:
        """Its six coordinates in dq."""
        first = 3 * int(self.coordinates.region_block[self.region])
        return slice(first, first + 6)

    def weight(self, q: np.ndarray, gravity: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Energy since rest [J], r (6,) [N, N·m] and K_ωω (3, 3); locked coordinates are not left out."""
        (t, R), (t0, Q) = self._pose(q), self._pose(self.coordinates.q0)
        moved, h = t - t0 + (R - Q) @ self.arm, self.mass * (R.T @ gravity)
        r = np.concatenate([self.mass * (Q.T @ gravity), np.cross(self.arm, h)])
        K = (h @ self.arm) * np.eye(3) - 0.5 * (np.outer(h, self.arm) + np.outer(self.arm, h))
        return -self.mass * float(gravity @ moved), r, K

    def blocks(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M_ττ, M_ωτ and M_ωω (3, 3)."""
        R, Q = self._pose(q)[1], self.coordinates.region_frame[self.region]
        return self.mass * np.eye(3), self.mass * _skew(self.arm) @ R.T @ Q, self.inertia

    def gyroscopic(self, q: np.ndarray, spin: np.ndarray) -> np.ndarray:
        """c (6,) [N, N·m] of a region that turns with ω (3,) [rad/s], in its own axes."""
        R, Q = self._pose(q)[1], self.coordinates.region_frame[self.region]
        inward = R @ np.cross(spin, np.cross(spin, self.arm))
        return np.concatenate([self.mass * (Q.T @ inward), np.cross(spin, self.inertia @ spin)])

    def _pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pose = q[self.coordinates.pose + 12 * self.region :][:12]
        return pose[:3], pose[3:].reshape(3, 3)


class RegionMasses:
    """What rigid regions weigh besides the material in them: added to the equations of their body."""

    def __init__(self, regions: Sequence[Rigid], coordinates: Coordinates, pattern: Pattern) -> None:
        self.every = []
        self._free, self._place = np.asarray(coordinates.free), []
        for region in regions:
            if region.mass > 0.0:
                r = coordinates.region(region.name)
                found = RegionMass(coordinates, r, region.mass, *region.inertia_about(coordinates, r))
                block = int(coordinates.region_block[r])
                rows, cols = block + np.array([0, 1, 1]), block + np.array([0, 0, 1])
                self.every.append(found)
                self._place.append(pattern.find(rows, cols)[0])

    def __bool__(self) -> bool:
        return bool(self.every)

    @property
    def total(self) -> float:
        """[kg]."""
        return float(sum(part.mass for part in self.every))

    def loaded(self, found: Linearised, q: np.ndarray, gravity: np.ndarray, *, clamp: bool) -> Linearised:
        """Energy, r and K of a body, with the weights; the terms of K that may be negative unless clamped."""
        energy, r, K = found
        if r is None or not self.every or not np.any(gravity):
            return found
        r, K = r.copy(), None if K is None else K.copy()
        for part, place in zip(self.every, self._place, strict=True):
            more, push, turn = part.weight(q, np.asarray(gravity, float))
            energy += more
            r[part.span] += np.where(self._free[part.span], push, 0.0)
            if K is not None and not clamp:
                K[place[2]] += self._open(part, turn, 1, 1)
        return energy, r, K

    def with_inertia(self, M: np.ndarray, q: np.ndarray) -> np.ndarray:
        """M of a body, with theirs."""
        if not self.every:
            return M
        M = M.copy()
        for part, place in zip(self.every, self._place, strict=True):
            for k, (i, j), block in zip(place, ((0, 0), (1, 0), (1, 1)), part.blocks(q), strict=True):
                M[k] += self._open(part, block, i, j)
        return M

    def with_gyroscopic(self, c: np.ndarray | None, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """c of a body, with theirs; None where nothing turns."""
        for part in self.every:
            spin = np.where(self._free[part.span], v[part.span], 0.0)[3:]
            if spin.any():
                c = np.zeros(len(v)) if c is None else c.copy()
                c[part.span] += np.where(self._free[part.span], part.gyroscopic(q, spin), 0.0)
        return c

    def _open(self, part: RegionMass, block: np.ndarray, i: int, j: int) -> np.ndarray:
        """A block without its locked rows and columns."""
        free = self._free[part.span].reshape(2, 3)
        return block * np.outer(free[i], free[j])


def _skew(a: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
