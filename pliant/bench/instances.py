"""Random inverse problems with contact, in the sizes of Coevoet et al. 2017 (Table 12): W = H K⁻¹ Hᵀ.

A "rod" bends in two planes and stretches; its compliance is the Green's function of a cantilever, mixed by a random
congruence so that no two instances share their modes. Cables run along it at some offset and end at some height, a
slider moves its base, contacts are obstacles around it, the effector is its tip. Something "random" has a compliance
with a decaying spectrum in random directions and random rows: fewer symmetries, many more contact modes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.errors import unknown_name
from pliant.solvers.lcp import lcp

SIZES = ((2, 16), (4, 21), (5, 47), (9, 76))  # (actuators, contacts): beam, tower, rod in a pipe, trunk
KINDS = ("rod", "random")
WORK = 0.02  # of one actuator alone at full effort [J]
LENGTH, RADIUS = 0.2, 0.01  # [m]
STATIONS = 40
BENDING, STRETCHING = 2e-3, 30.0  # EI [N·m²], EA [N]
BASE = 200.0  # stiffness that holds the base slider [N/m]
LOCAL = (
    1e-3  # indentation of a section, relative to the mean compliance: without it many contacts are dependent
)


Array = np.ndarray
Matrices = tuple[Array, Array, Array, Array, Array, Array, Array, Array]


@dataclass(frozen=True, eq=False)
class Instance:
    """The arguments of `qpcc`: efforts [N], displacements and gaps [m]."""

    Wea: np.ndarray
    Wec: np.ndarray
    Waa: np.ndarray
    Wac: np.ndarray
    Wcc: np.ndarray
    de: np.ndarray
    da: np.ndarray
    dc: np.ndarray
    effort: tuple[np.ndarray, np.ndarray]
    displacement: tuple[np.ndarray, np.ndarray]

    @property
    def matrices(self) -> Matrices:
        """The positional arguments."""
        return self.Wea, self.Wec, self.Waa, self.Wac, self.Wcc, self.de, self.da, self.dc

    @property
    def limits(self) -> dict[str, Any]:
        """The keyword arguments."""
        return {"effort": self.effort, "displacement": self.displacement}

    def with_(self, **changes: Any) -> Instance:
        """A copy with some fields replaced."""
        return replace(self, **changes)


def instance(
    actuators: int, contacts: int, *, seed: int, kind: str = "rod", limited: bool = False, hard: bool = False
) -> Instance:
    """One random instance. `limited` bounds displacements too; `hard` has narrow gaps and far targets."""
    if kind not in KINDS:
        raise unknown_name("kind", kind, KINDS)
    rng = np.random.default_rng((seed, actuators, contacts))
    He, Ha, Hc, G = (_rod if kind == "rod" else _anything)(actuators, contacts, rng)
    H = np.concatenate([He, Ha, Hc])
    W = H @ G @ H.T
    W = 0.5 * (W + W.T)
    ne, na = len(He), actuators
    e, a, c = slice(0, ne), slice(ne, ne + na), slice(ne + na, None)
    most = np.sqrt(2.0 * WORK / np.diag(W[a, a]))  # each actuator alone does the same work
    reach = np.abs(W[c, a]) @ most
    gaps = rng.uniform(-0.01, 0.1 if hard else 0.3, contacts) * reach
    target = _reached(W[e, a], W[e, c], W[c, a], W[c, c], gaps, most, rng)
    far = rng.uniform(0.5, 2.0) if hard else rng.uniform(0.0, 1.0)
    de = -target - far * rng.normal(size=ne) * np.array([1.0, 1.0, 0.1]) * 0.2 * np.linalg.norm(target)
    span = np.full(na, np.inf)
    if limited:
        span = rng.uniform(0.4, 1.2, na) * np.abs(W[a, a]).max(axis=1) * most
    return Instance(
        W[e, a].copy(),
        W[e, c].copy(),
        W[a, a].copy(),
        W[a, c].copy(),
        W[c, c].copy(),
        de,
        np.zeros(na),
        gaps,
        (np.zeros(na), most),
        (-span, span),
    )


def instances(size: tuple[int, int], count: int, *, first: int = 0, **options: Any) -> Sequence[Instance]:
    """`count` instances of one size; options as for `instance`."""
    return [instance(*size, seed=first + k, **options) for k in range(count)]


def _rod(actuators: int, contacts: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Rows of effector, actuators, contacts, and K⁻¹."""
    G = _compliance(rng)
    return _point(LENGTH), _actuators(actuators, rng), _obstacles(contacts, rng), G


def _anything(actuators: int, contacts: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """The same for a body without any structure."""
    n = 3 + actuators + contacts
    modes, _ = np.linalg.qr(rng.normal(size=(n, n)))
    G = (modes * (0.1 / (1.0 + np.arange(n)) ** 1.5)) @ modes.T
    rows = rng.normal(size=(n, n)) / np.sqrt(n)
    return rows[:3], rows[3 : 3 + actuators], rows[3 + actuators :], G


def _heights() -> np.ndarray:
    return LENGTH * np.arange(1, STATIONS + 1) / STATIONS


def _compliance(rng: np.random.Generator) -> np.ndarray:
    """K⁻¹ (3s+1, 3s+1) over u_x, u_y, u_z of the stations and the base: a cantilever under a random congruence."""
    s = _heights()
    low, high = np.minimum.outer(s, s), np.maximum.outer(s, s)
    bend = low**2 * (3 * high - low) / (6 * BENDING)
    G = np.zeros((3 * STATIONS + 1, 3 * STATIONS + 1))
    for k, block in enumerate((bend, bend, low / STRETCHING)):
        G[k * STATIONS : (k + 1) * STATIONS, k * STATIONS : (k + 1) * STATIONS] = block
    G[-1, -1] = 1.0 / BASE
    n = len(G)
    mix = np.eye(n) + 0.2 * rng.normal(size=(n, 6)) @ rng.normal(size=(6, n)) / np.sqrt(6 * n)
    return mix @ G @ mix.T + LOCAL * np.trace(G) / n * np.eye(n)


def _point(height: float) -> np.ndarray:
    """(3, 3s+1): displacement of the section at a height; the base carries it along z."""
    s = _heights()
    rows = np.zeros((3, 3 * STATIONS + 1))
    k = int(np.clip(np.searchsorted(s, height), 1, STATIONS - 1))
    share = np.clip((height - s[k - 1]) / (s[k] - s[k - 1]), 0.0, 1.0)
    for axis in range(3):
        rows[axis, axis * STATIONS + k - 1], rows[axis, axis * STATIONS + k] = 1.0 - share, share
    rows[2, -1] = 1.0
    return rows


def _actuators(count: int, rng: np.random.Generator) -> np.ndarray:
    """Cables in rings of up to four that end at different heights; an odd last actuator pushes the base."""
    rows = []
    for k in range(count - count % 2):
        ring = k // 4
        end = LENGTH * (1.0 - 0.45 * ring)
        per_ring = min(4, count - count % 2 - 4 * ring)
        angle = 2 * np.pi * (k % 4) / per_ring + 0.1 * rng.normal()
        step = LENGTH / STATIONS
        slope = (_point(end) - _point(end - step)) / step
        # pulling shortens the cable: its end rotates towards it and comes down
        rows.append(RADIUS * (np.cos(angle) * slope[0] + np.sin(angle) * slope[1]) - _point(end)[2])
        rows[-1][-1] = 0.0
    if count % 2:
        rows.append(np.eye(3 * STATIONS + 1)[-1])
    return np.array(rows)


def _obstacles(count: int, rng: np.random.Generator) -> np.ndarray:
    """Points along the rod that see a wall: half of them face one way, half the other, like a slit or a pipe."""
    heights = rng.uniform(0.15, 1.0, count) * LENGTH
    angles = np.pi * np.arange(count) + rng.normal(size=count) * 0.6
    tilt = 0.1 * rng.normal(size=count)
    normals = np.stack([np.cos(angles), np.sin(angles), tilt], axis=1)
    return np.stack([normal @ _point(height) for normal, height in zip(normals, heights)])


def _reached(
    Wea: np.ndarray,
    Wec: np.ndarray,
    Wca: np.ndarray,
    Wcc: np.ndarray,
    gaps: np.ndarray,
    most: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """(ne,) where the tip goes under random efforts of some actuators, contacts included."""
    effort = most * rng.uniform(size=len(most)) * (rng.uniform(size=len(most)) < 0.6)
    contact = lcp(Wcc, Wca @ effort + gaps).effort
    return Wea @ effort + Wec @ contact
