"""A cable through material points, pulled at one end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from pliant.drive import Drive
from pliant.errors import InputError
from pliant.inputs import not_negative, positive
from pliant.interactions import checks
from pliant.interactions.interaction import INF, Interaction
from pliant.interactions.polyline import add_stiffness, neighbour_pairs, unit
from pliant.points import Points

ANCHORED, ENDED = 1, 2  # bits: the cable starts, or ends, at a point fixed in space
FIRST, LAST = "first", "last"


class Cable(Interaction):
    """δ = ℓ₀ − ℓ(q), how far it is pulled in [m]; λ ≥ 0 is the tension [N] where it is pulled.

    ℓ = Σ |p_{k+1} − p_k| over the via points, in order. An `anchor` (3,) is a first point fixed in space, an
    `end` (3,) a last one. Without friction the tension is the same all along. With it, it differs by

        Tₛ = λ exp(−ρ aₛ),     aₛ = friction · (housing + Σ θ) + sheath · x

    with the angles θ [rad] by which the cable turns between where it is pulled and segment s, whose middle is
    x [m] away along the cable at rest. ρ is what the cable remembers: 1 where it was last pulled in, −1 where
    it was last let out, in between where it sticks. It slides or sticks as a whole.

    friction: μ at via points. sheath: the same per metre [1/m]. housing: turn [rad] of what it runs through
    before its first point. pulled: at its "first" point or its "last". stiffness: of tendon and housing in
    series [N/m]; with it an imposed displacement is that of the drive, δ + λ/stiffness + slack. slack: how
    far [m] the drive goes before the cable is taut at rest. drive: what pulls it, with lag, rate and limit.
    """

    effort_range = (0.0, INF)

    def __init__(
        self,
        points: Points | Sequence[Points],
        *,
        anchor: ArrayLike | None = None,
        end: ArrayLike | None = None,
        friction: float = 0.0,
        sheath: float = 0.0,
        housing: float = 0.0,
        pulled: str = FIRST,
        stiffness: float = INF,
        slack: float = 0.0,
        drive: Drive | None = None,
    ) -> None:
        super().__init__(points)
        fixed, self._ends, self._kind = (anchor, end), np.zeros((2, 3)), 0
        names, nodes = [f"point {i}" for i in range(self.point_count)], [self.rest]
        if anchor is not None:
            self._ends[0], self._kind = checks.position("anchor of a Cable", anchor), self._kind | ANCHORED
            names, nodes = ["the anchor", *names], [self._ends[:1], *nodes]
        if end is not None:
            self._ends[1], self._kind = checks.position("end of a Cable", end), self._kind | ENDED
            names, nodes = [*names, "the end"], [*nodes, self._ends[1:]]
        checks.at_least("points of a Cable", self.point_count, 1)
        checks.at_least("points of a Cable", self.point_count + sum(f is not None for f in fixed), 2)
        lengths = checks.segments("Cable", np.concatenate(nodes), names)
        self.rest_length = float(lengths.sum())
        self.friction = not_negative("friction of a Cable", friction)
        self.sheath = not_negative("sheath of a Cable", sheath, "1/m")
        self.housing = not_negative("housing of a Cable", housing, "rad")
        self.stiffness = positive("stiffness of a Cable", stiffness, "N/m", infinite=True)
        self.compliance = 1.0 / self.stiffness
        self.slack = not_negative("slack of a Cable", slack, "m")
        if pulled not in (FIRST, LAST):
            raise InputError("pulled of a Cable", expected="'first' or 'last'", got=repr(pulled))
        self.pulled = pulled
        self.integrable = not (self.friction or self.sheath)
        self.slides = not self.integrable
        self.internal = int(self.slides)
        if drive is not None and drive.backlash:
            hint = "A cable only pulls: its teeth lie on one side, and slack says how far that is."
            raise InputError("drive of a Cable", expected="no backlash", got=drive.backlash, hint=hint)
        self._driven(drive)
        self._part = self._movable(lengths)
        self._even = np.ones(len(lengths))
        order = lengths if pulled == FIRST else lengths[::-1]
        middle = np.cumsum(order) - 0.5 * order
        self._given = self.friction * self.housing + self.sheath * (
            middle if pulled == FIRST else middle[::-1]
        )

    @property
    def anchor(self) -> np.ndarray | None:
        """The first point, fixed in space, (3,) [m], or None."""
        return self._ends[0].copy() if self._kind & ANCHORED else None

    @property
    def end(self) -> np.ndarray | None:
        """The last point, fixed in space, (3,) [m], or None."""
        return self._ends[1].copy() if self._kind & ENDED else None

    def value(self, p: np.ndarray) -> np.ndarray:
        return _value(p, self._ends, self._kind, self.rest_length)

    def gradient(self, p: np.ndarray) -> np.ndarray:
        return _gradient(p, self._ends, self._kind, self._even)

    def pairs(self) -> np.ndarray:
        return neighbour_pairs(self.point_count, 1)

    def hessian(self, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """Each segment adds −λ (I − u uᵀ)/ℓ to its two points' own blocks and + to the block between them."""
        return _hessian(p, self._ends, self._kind, lam[0] * self._even)

    # Friction

    def _movable(self, lengths: np.ndarray) -> np.ndarray:
        """Each segment's part of the length that can change (k,): of those whose ends are not both fixed."""
        moves = np.concatenate([np.diff(part.ptr) > 0 for part in self.points])
        moves = np.pad(moves, (self._kind & ANCHORED, (self._kind & ENDED) // ENDED))
        able = lengths * (moves[1:] | moves[:-1])
        return able / able.sum() if able.any() else lengths / self.rest_length

    def tension(self, p: np.ndarray, lam: float, rho: float) -> np.ndarray:
        """Tension of each segment (k,) [N], from the first to the last, with ρ as it is remembered."""
        return lam * self._share(p, rho)

    def acting(self, p: np.ndarray, z: np.ndarray) -> np.ndarray:
        return _gradient(p, self._ends, self._kind, self._share(p, z[0]))

    def acting_hessian(self, p: np.ndarray, lam: np.ndarray, z: np.ndarray) -> np.ndarray:
        return _hessian(p, self._ends, self._kind, lam[0] * self._share(p, z[0]))

    def transmitted(self, p: np.ndarray, rho: float) -> tuple[float, float]:
        """The mean share of the tension that is left along the cable where it can move, m(ρ), and dm/dρ."""
        loss = self._loss(p)
        share = self._part * np.exp(-rho * loss)
        return float(share.sum()), -float(loss @ share)

    def _share(self, p: np.ndarray, rho: float) -> np.ndarray:
        return np.exp(-rho * self._loss(p))

    def _loss(self, p: np.ndarray) -> np.ndarray:
        return _loss(p, self._ends, self._kind, self.friction, self._given, self.pulled == LAST)


@njit(cache=True, error_model="numpy")
def _value(p, ends, kind, rest_length):
    delta = np.empty(1)
    length = 0.0
    for i in range(1, len(p)):
        length += unit(p[i - 1, 0], p[i - 1, 1], p[i - 1, 2], p[i, 0], p[i, 1], p[i, 2])[0]
    for e in range(2):
        if kind & (1 << e):
            a = p[0] if e == 0 else p[len(p) - 1]
            length += unit(ends[e, 0], ends[e, 1], ends[e, 2], a[0], a[1], a[2])[0]
    delta[0] = rest_length - length
    return delta


@njit(cache=True, error_model="numpy")
def _loss(p, ends, kind, friction, given, backwards):
    """aₛ of each segment: what is given, and friction times the angles on the way from the pulled end."""
    k = len(given)
    a, along = given.copy(), np.empty((k, 3))
    for s in range(k):
        i = s - (kind & 1)
        if i < 0:
            _, ux, uy, uz = unit(ends[0, 0], ends[0, 1], ends[0, 2], p[0, 0], p[0, 1], p[0, 2])
        elif i + 1 < len(p):
            _, ux, uy, uz = unit(p[i, 0], p[i, 1], p[i, 2], p[i + 1, 0], p[i + 1, 1], p[i + 1, 2])
        else:
            _, ux, uy, uz = unit(p[i, 0], p[i, 1], p[i, 2], ends[1, 0], ends[1, 1], ends[1, 2])
        along[s, 0], along[s, 1], along[s, 2] = ux, uy, uz
    turned = 0.0
    for n in range(1, k):
        s, before = (k - 1 - n, k - n) if backwards else (n, n - 1)
        u, v = along[before], along[s]
        x, y, z = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
        turned += np.arctan2(np.sqrt(x * x + y * y + z * z), u[0] * v[0] + u[1] * v[1] + u[2] * v[2])
        a[s] += friction * turned
    return a


@njit(cache=True, error_model="numpy")
def _gradient(p, ends, kind, share):
    g, first = np.zeros(p.shape), kind & 1
    for i in range(1, len(p)):
        _, ux, uy, uz = unit(p[i - 1, 0], p[i - 1, 1], p[i - 1, 2], p[i, 0], p[i, 1], p[i, 2])
        w = share[first + i - 1]
        g[i - 1, 0] += w * ux
        g[i - 1, 1] += w * uy
        g[i - 1, 2] += w * uz
        g[i, 0] -= w * ux
        g[i, 1] -= w * uy
        g[i, 2] -= w * uz
    for e in range(2):
        if kind & (1 << e):
            i, w = (0, share[0]) if e == 0 else (len(p) - 1, share[len(share) - 1])
            _, ux, uy, uz = unit(ends[e, 0], ends[e, 1], ends[e, 2], p[i, 0], p[i, 1], p[i, 2])
            g[i, 0] -= w * ux
            g[i, 1] -= w * uy
            g[i, 2] -= w * uz
    return g


@njit(cache=True, error_model="numpy")
def _hessian(p, ends, kind, tension):
    P, first = len(p), kind & 1
    blocks = np.zeros((2 * P - 1, 3, 3))
    for i in range(1, P):
        length, ux, uy, uz = unit(p[i - 1, 0], p[i - 1, 1], p[i - 1, 2], p[i, 0], p[i, 1], p[i, 2])
        s = tension[first + i - 1] / length if length > 0.0 else 0.0
        add_stiffness(blocks[i - 1], -s, ux, uy, uz)
        add_stiffness(blocks[i], -s, ux, uy, uz)
        add_stiffness(blocks[P + i - 1], s, ux, uy, uz)
    for e in range(2):
        if kind & (1 << e):
            i, t = (0, tension[0]) if e == 0 else (P - 1, tension[len(tension) - 1])
            length, ux, uy, uz = unit(ends[e, 0], ends[e, 1], ends[e, 2], p[i, 0], p[i, 1], p[i, 2])
            add_stiffness(blocks[i], -t / length if length > 0.0 else 0.0, ux, uy, uz)
    return blocks
