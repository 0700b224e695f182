"""The inverse problem with friction as a function of the actuator efforts; contact efforts follow from them.

    c(λ_a) = Σ wₑδₑ² + ε λ_aᵀW_aa λ_a + ρ ‖λ_a − λ_prev‖²_Waa,   δ_e = W_ea λ_a + W_ec λ_c(λ_a) + de

On a region, where no contact changes its mode, λ_c is smooth in λ_a, and the equations of the modes give its
derivative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.algebra.jit import work_kernel
from pliant.solvers.friction.cone import INSIDE, LOW, OPEN, SLIP, STICK, classify, slip_directions
from pliant.solvers.friction.forward import solve_scaled
from pliant.solvers.friction.mode_equations import new_equations, solve_modes
from pliant.solvers.friction.newton import PROXIMAL
from pliant.solvers.friction.scaled import Scaled, scaled
from pliant.solvers.qpcc.problem import Problem
from pliant.solvers.solution import Reals

FORWARD = 1e-12  # residual asked of contact efforts


class Point(NamedTuple):
    """Actuator efforts and what follows: contact efforts x and gaps w are scaled, errors weighted."""

    effort: Reals
    x: Reals
    w: Reals
    error: Reals
    displacement: Reals
    cost: float
    violation: float  # of displacement bounds, scaled, summed
    residual: float  # of the contact laws


class Region(NamedTuple):
    """The contact modes at a point, derivatives by the actuator efforts, and margins g ≥ 0 of the modes."""

    mode: np.ndarray
    slip: Reals
    E: Reals  # (ne, na) of the weighted errors
    A: Reals  # (na, na) of the displacements
    g: Reals  # (k,) margins of the modes …
    G: Reals  # (k, na) … and their derivatives
    row: np.ndarray  # (k,) whose margins they are …
    side: np.ndarray  # (k,) … and which


@work_kernel
def _derivatives(s, x, w, fresh, mode, slip, V, X, equations):
    """X (na, m) ← ∂x/∂λ_a from V (na, m) = ∂w/∂λ_a at fixed x; `fresh` takes the modes of the point first."""
    if fresh:
        classify(s.mu, s.lo, s.hi, x, w, mode, slip)
    else:
        slip_directions(s.mu, len(s.lo), x, w, mode, slip)
    solve_modes(s.W, s.mu, len(s.lo), mode, slip, PROXIMAL, V, X, equations)


@dataclass(frozen=True, eq=False)
class Task:
    """A checked problem; contact rows scaled (see `Scaled`), errors weighted, actuators in user units."""

    contacts: Scaled
    V: Reals  # (na, m) ∂w/∂λ_a
    Ea: Reals  # (ne, na) errors e = Ea λ_a + Ec x + e0
    Ec: Reals
    e0: Reals
    Aa: Reals  # (na, na) displacements Aa λ_a + Ac x + a0
    Ac: Reals
    a0: Reals
    Q: Reals  # (na, na) cost of efforts λ_aᵀQ λ_a − 2 pᵀλ_a + constant
    p: Reals
    constant: float
    effort: tuple[Reals, Reals]
    displacement: tuple[Reals, Reals]
    unit: Reals  # (na,) √W_aa

    @classmethod
    def of(cls, problem: Problem, mu: Reals, eps: float) -> Task:
        """Scale a problem whose contact rows are one-sided rows, normals and tangents."""
        p, rows = problem, problem.nc - 3 * len(mu)
        s = scaled(p.Wcc, p.dc, mu, np.zeros(rows), np.full(rows, np.inf), p.guess)
        root, work = np.sqrt(p.weights)[:, None], 0.5 * (p.Waa + p.Waa.T)
        own, price = np.abs(p.Waa.diagonal()), p.rho * work @ p.previous
        unit = np.sqrt(np.where(own > 0.0, own, own.max(initial=0.0) or 1.0))
        return cls(
            s, np.ascontiguousarray(p.Wac * s.d), root * p.Wea, root * p.Wec * s.d, root[:, 0] * p.de, p.Waa,
            p.Wac * s.d, p.da, (eps + p.rho) * work, price, float(p.previous @ price), _ordered(p.lo, p.hi),
            _ordered(p.dlo, p.dhi), unit,
        )  # fmt: skip

    def at(self, effort: Reals, guess: Reals | None = None) -> Point:
        """The contact problem solved at some efforts; `guess` are contact efforts to start from."""
        s = self.contacts
        q = s.q + effort @ self.V
        x = (s.x if guess is None else guess).copy()
        residual, _, _ = solve_scaled(s._replace(q=q, x=x), guess is not None, FORWARD)
        error = self.Ea @ effort + self.Ec @ x + self.e0
        displacement = self.Aa @ effort + self.Ac @ x + self.a0
        cost = float(error @ error + effort @ (self.Q @ effort - 2.0 * self.p) + self.constant)
        violation = self.violation(displacement)
        return Point(effort, x, s.W @ x + q, error, displacement, cost, violation, residual)

    def violation(self, displacement: Reals) -> float:
        """By how much displacements leave their bounds, scaled, summed."""
        outside = np.maximum(self.displacement[0] - displacement, displacement - self.displacement[1])
        return float((np.maximum(outside, 0.0) / self.unit).sum())

    def region(self, point: Point, mode: np.ndarray | None = None) -> Region:
        """Derivatives at a point, with its own modes or with other ones that hold there, too."""
        s, na = self.contacts, len(self.V)
        modes = np.empty(len(s.lo) + len(s.mu), np.int64) if mode is None else mode.copy()
        slip, X = np.zeros((len(s.mu), 3)), np.empty((na, len(s.q)))
        equations = new_equations(len(s.q), na)
        _derivatives(s, point.x, point.w, mode is None, modes, slip, self.V, X, equations)
        dw = (self.V + X @ s.W).T
        return Region(
            modes, slip, self.Ea + self.Ec @ X.T, self.Aa + self.Ac @ X.T,
            *_margins(s, point, modes, slip, X.T, dw),
        )  # fmt: skip


def _ordered(lo: Reals, hi: Reals) -> tuple[Reals, Reals]:
    """Bounds; contradicting ones are replaced by their middle."""
    with np.errstate(invalid="ignore"):
        middle = 0.5 * (lo + hi)
    return np.where(lo > hi, middle, lo), np.where(lo > hi, middle, hi)


def _margins(
    s: Scaled, point: Point, mode: np.ndarray, slip: Reals, dx: Reals, dw: Reals
) -> tuple[Reals, Reals, np.ndarray, np.ndarray]:
    """(g, G, row, side) of `cone.margins`, with derivatives."""
    p, n, x, w = len(s.lo), len(s.mu), point.x, point.w
    contacts = np.arange(n)
    i, t = p + contacts, p + n + 2 * contacts
    plain, state = mode[:p], mode[p:]
    shut, free = np.flatnonzero(plain == LOW), np.flatnonzero(plain == INSIDE)
    opened, stuck, slips = (np.flatnonzero(state == kind) for kind in (OPEN, STICK, SLIP))
    rubs = slips[s.mu[slips] > 0.0]
    size = np.hypot(x[t[stuck]], x[t[stuck] + 1])
    along = np.stack([x[t[stuck]], x[t[stuck] + 1]], axis=1) / np.where(size > 0.0, size, 1.0)[:, None]
    one, two, mu = slip[rubs, 0], slip[rubs, 1], s.mu[stuck]
    g = [
        w[shut], x[free] - s.lo[free], w[i[opened]], mu * x[i[stuck]] - size, x[i[slips]],
        -(one * w[t[rubs]] + two * w[t[rubs] + 1]),
    ]  # fmt: skip
    G = [
        dw[shut], dx[free], dw[i[opened]],
        mu[:, None] * dx[i[stuck]] - along[:, :1] * dx[t[stuck]] - along[:, 1:] * dx[t[stuck] + 1],
        dx[i[slips]],
        -(one[:, None] * dw[t[rubs]] + two[:, None] * dw[t[rubs] + 1]),
    ]  # fmt: skip
    row = np.concatenate([shut, free, i[opened], i[stuck], i[slips], i[rubs]])
    side = np.zeros(len(row), np.int64)
    side[len(row) - len(rubs) :] = 1
    return np.concatenate(g), np.concatenate(G), row, side
