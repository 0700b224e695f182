"""Strings: straight elements between nodes that only stretch, E = ½ (EA/ℓ₀)(ℓ − ℓ₀)²."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.arrays import read_only
from pliant.bodies.blocks import kernel
from pliant.errors import InputError, as_floats

NO_LENGTH = 1e-9  # of ℓ₀: a string that is shorter has no direction
JUST_STRAIGHT = 1e-12  # of ℓ₀: a string that is shorter by less counts as taut, so that its K is not zero


@dataclass(frozen=True, eq=False)
class Strings:
    """Strings between nodes of a sheet or a net.

    pairs (n, 2): node indices.
    stiffness: EA [N], one number or one each.
    rest_length: ℓ₀ [m], one each; None takes the distance at rest over `prestretch`.
    tension_only: slack strings do nothing; False makes them bars.
    density [kg/m]: mass per rest length.
    """

    pairs: Any
    stiffness: Any
    rest_length: Any = None
    prestretch: float = 1.0
    tension_only: bool = True
    density: float = 0.0

    def __post_init__(self) -> None:
        n = len(self._set_pairs())
        for name, unit in (("stiffness", "N"), ("rest_length", "m")):
            value = getattr(self, name)
            if value is None:
                continue
            what, expected = f"{name} of strings", f"one positive number [{unit}], or {n}"
            numbers = as_floats(what, value, expected)
            if numbers.shape not in ((), (n,)) or not (np.isfinite(numbers) & (numbers > 0)).all():
                raise InputError(what, expected=expected, got=value)
            object.__setattr__(self, name, read_only(np.broadcast_to(numbers, n))[0])
        if not (np.isfinite(self.prestretch) and self.prestretch > 0):
            raise InputError("prestretch of strings", expected="a positive number", got=self.prestretch)
        if not (np.isfinite(self.density) and self.density >= 0):
            raise InputError("density of strings", expected="a number ≥ 0 [kg/m]", got=self.density)

    def _set_pairs(self) -> np.ndarray:
        what, expected = "pairs of strings", "node indices (n, 2)"
        pairs = as_floats(what, self.pairs, expected)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
            raise InputError(what, expected=expected, got=np.shape(self.pairs))
        if (pairs != np.round(pairs)).any() or (pairs < 0).any():
            raise InputError(what, expected=expected, got=self.pairs)
        alike = pairs[pairs[:, 0] == pairs[:, 1], 0]
        if len(alike):
            raise InputError(what, expected="two different nodes", got=f"node {int(alike[0])} twice")
        object.__setattr__(self, "pairs", read_only(pairs.astype(np.int64))[0])
        return pairs

    def lengths(self, nodes: np.ndarray) -> np.ndarray:
        """ℓ₀ (n,) [m] of strings between nodes (k, 3) [m] at rest."""
        if self.pairs.max() >= len(nodes):
            raise InputError(
                "pairs of strings", expected=f"node indices below {len(nodes)}", got=int(self.pairs.max())
            )
        if self.rest_length is not None:
            return self.rest_length
        distance = np.linalg.norm(nodes[self.pairs[:, 1]] - nodes[self.pairs[:, 0]], axis=1)
        if not (distance > 0).all():
            raise InputError(
                "strings", expected="nodes apart", got=f"string {int(np.argmin(distance))} without length"
            )
        return distance / self.prestretch

    def node_mass(self, nodes: np.ndarray) -> np.ndarray:
        """(k,) [kg]: half of each string's at either end."""
        half = 0.5 * self.density * self.lengths(nodes)
        return np.bincount(self.pairs.ravel(), np.repeat(half, 2), len(nodes))


class StringGroup:
    """Strings ready for assembly: a group of cells like those of a solid."""

    internal = memory = 0

    def __init__(self, strings: Strings, nodes: np.ndarray, rank: np.ndarray) -> None:
        length = strings.lengths(nodes)
        first = rank[strings.pairs[:, 0]] >= rank[strings.pairs[:, 1]]
        high, low = np.where(first[:, None], strings.pairs, strings.pairs[:, ::-1]).T
        self.strings = strings
        self.pairs = np.stack([high, high, low], axis=1), np.stack([high, low, low], axis=1)
        self._ends, self._length, self._stiffness = read_only(
            np.stack([high, low], axis=1), length, strings.stiffness
        )

    def bind(self, slots: np.ndarray) -> None:
        """Slots (n, 3) in K of (i, i), (i, j), (j, j)."""
        (self._slots,) = read_only(slots)

    def assemble(self, q, z, K, f, tangent, clamp, viscous=None) -> float:
        """The energy [J], inf if a string has no length; adds to f (3n,) and, if tangent, to K (flat)."""
        law = self._length, self._stiffness, self.strings.tension_only
        return add_strings(q, self._ends, *law, self._slots, K, f, tangent, clamp)

    def stress_memory(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """None: strings stay elastic."""
        return np.zeros(0)

    def tension(self, q: np.ndarray) -> np.ndarray:
        """(n,) [N], zero in slack strings."""
        x = q[(3 * self._ends[:, :, None] + np.arange(3))]
        T = self._stiffness * (np.linalg.norm(x[:, 1] - x[:, 0], axis=1) / self._length - 1.0)
        return np.maximum(T, 0.0) if self.strings.tension_only else T


@kernel
def add_strings(q, ends, length, stiffness, tension_only, slots, K, f, tangent, clamp):
    """Adds K = (EA/ℓ₀) t tᵀ + (T/ℓ)(I − t tᵀ) of each; clamp leaves compression out of the second term."""
    t, energy = np.empty(3), 0.0
    for e in range(len(ends)):
        a, b = 3 * ends[e, 0], 3 * ends[e, 1]
        square = 0.0
        for i in range(3):
            t[i] = q[a + i] - q[b + i]
            square += t[i] * t[i]
        now = math.sqrt(square)
        if not now > NO_LENGTH * length[e]:
            return np.inf
        k, stretch = stiffness[e] / length[e], now - length[e]
        if tension_only and stretch < -JUST_STRAIGHT * length[e]:
            continue
        T = k * stretch
        energy += 0.5 * T * stretch
        across = (max(T, 0.0) if clamp else T) / now
        for i in range(3):
            t[i] /= now
            f[a + i] += T * t[i]
            f[b + i] -= T * t[i]
        if not tangent:
            continue
        for s in range(3):
            slot, sign = slots[e, s], -1.0 if s == 1 else 1.0
            if slot < 0:
                continue
            for i in range(3):
                for j in range(3):
                    K[9 * slot + 3 * i + j] += sign * (k - across) * t[i] * t[j]
                K[9 * slot + 4 * i] += sign * across
    return energy
