"""From a linearisation to estimated efforts: condense, eliminate what the model solves for, fit the rest.

Condensed rows are sensors s, unknown forces f, doubtful commands a, and what the model solves for itself, u:
imposed displacements, cables that cannot push, contacts. With x = (λ_f, errors of commands, and the scale of
all known loads less 1 if Young's modulus is estimated),

    δ_s = d_s + B_s x + W_su λ_u          0 = d_u + B_u x + W_uu λ_u    for active rows of u

so that the readings are b = A x + noise with A = B_s − W_su W_uu⁻¹ B_u. Two-sided rows are always active. The
active set of one-sided rows is kept from the last step; where that contradicts itself, the quadratic program
with complementarity (`solvers.qpcc`) gives another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.algebra import SparseRows
from pliant.core.tangent import Condensed as Tangent
from pliant.core.view import View
from pliant.sensing.least_squares import Fit, bounded_least_squares
from pliant.sensing.roles import Roles
from pliant.sensing.weights import Weights
from pliant.solvers import qpcc

REDUNDANT = 1e-13  # of W's diagonal: added to it, as rows of u may be redundant
CONVEX = 1e-12  # of the squared norms of A's columns: added to the program to keep it strictly convex
NO_BETTER = 1e-6  # relative: the active set at hand is kept unless the other leaves less by more than that
CLEAR = 1e-9  # of the largest δ: a gap that is only so much negative counts as open


@dataclass(frozen=True)
class Commands:
    """Rows (na,) whose commands are doubtful, and the standard deviation (na,) of each.

    `estimated` says whether the errors are estimated; `shared` is the relative deviation of a factor on all
    commands.
    """

    rows: np.ndarray
    sigma: np.ndarray
    estimated: bool
    names: tuple[str, ...] = ()
    scale: float = 0.0  # deviation of the scale of all known loads about 1, if that is estimated; 0 if not
    shared: float = 0.0


@dataclass(frozen=True)
class SensingRows:
    """The rows that sensing condenses: sensors, unknown forces, doubtful commands, rows solved for, contacts.

    `internal` (ndof,) [N] are forces that scale with E, if their scale is of interest; `scale` is what
    gravity was scaled by in this view.
    """

    roles: Roles
    commands: Commands
    view: View
    internal: np.ndarray | None = None
    scale: float = 1.0

    @cached_property
    def needed(self) -> np.ndarray:
        """Indices of these rows, in their order."""
        roles, own = self.roles, self.view.own
        robot = [roles.sensors, roles.unknown, self.commands.rows, roles.solved]
        return np.concatenate([*robot, np.arange(own, len(self.view.lam))])

    @cached_property
    def load(self) -> np.ndarray | None:
        """All known loads (ndof,) [N], if their scale is estimated."""
        if not self.commands.scale or self.internal is None:
            return None
        return (self.view.r + self.internal) / self.scale + self._given

    @cached_property
    def before(self) -> np.ndarray:
        """Efforts at hand of the condensed rows: of sensors none, of doubtful commands their errors."""
        if self.load is not None:
            return np.zeros(len(self.needed))
        c, rows, lam = self.roles.conditions, self.commands.rows, self.view.lam
        errors = np.where(c.given[rows], lam[rows] - c.effort[rows], 0.0)
        robot = [np.zeros(len(self.roles.sensors)), lam[self.roles.unknown], errors, lam[self.roles.solved]]
        return np.concatenate([*robot, self.view.force])

    @cached_property
    def _given(self) -> np.ndarray:
        c, given = self.roles.conditions, np.zeros(len(self.view.lam))
        given[: self.view.own] = np.where(c.given, c.effort, 0.0)
        return self.view.H.transpose_dot(given)

    def parted(self, view: View) -> tuple[SparseRows, np.ndarray, np.ndarray]:
        """H and δ of the condensed rows, and the load with given efforts and those at hand."""
        H, right = view.H.take(self.needed), view.r + self._given
        if self.load is not None:
            right = right + (1.0 - self.scale) * (self.load - self._given)
        return H, view.delta[self.needed], right + H.transpose_dot(self.before)

    def support(self, condensed: Tangent) -> bool:
        """Sensing uses positive tangents only."""
        return False


@dataclass(frozen=True)
class Condensed:
    """Blocks of the condensed problem, all for total efforts.

    `d_s` and `d_u` are δ without unknown forces, less what is imposed.
    """

    tangent: Tangent
    before: np.ndarray  # efforts at hand of the condensed rows
    d_s: np.ndarray
    d_u: np.ndarray
    B_s: np.ndarray  # (ns, nf + na)
    B_u: np.ndarray
    W_su: np.ndarray
    W_uu: np.ndarray
    young_s: np.ndarray  # (ns,) ∂δ_s/∂ln E with no row of u active
    young_u: np.ndarray
    one_sided: np.ndarray  # (nu,) bool
    given: np.ndarray  # (na,) whether a doubtful command is an effort
    load: np.ndarray | None  # (ndof,) all known loads, if their scale is estimated

    @property
    def free(self) -> np.ndarray:
        """(ndof,) The motion with the efforts at hand: how far it is from equilibrium."""
        return self.tangent.rows.answer(np.zeros(len(self.tangent.here)))


@dataclass(frozen=True)
class System:
    """Readings b = A x + noise with one active set, not yet whitened."""

    A: np.ndarray  # (ns, nf + na)
    b: np.ndarray
    young: np.ndarray  # (ns,) ∂δ_s/∂ln E
    reaction: np.ndarray  # λ_u of the active rows = −reaction·(x, 1)


def blocks(rows: SensingRows, tangent: Tangent) -> Condensed:
    """The blocks of W = H K⁻¹ Hᵀ and of δ that the problem is about."""
    roles, commands, c = rows.roles, rows.commands, rows.roles.conditions
    factor, H, W, solved, before = tangent.factor, tangent.H, tangent.W, roles.solved, rows.before
    d = tangent.free - W @ before
    young = np.zeros(len(d))
    if rows.internal is not None and rows.load is None:
        young = -H.dot(factor.solve(rows.internal))
    ns, nf, na, nh = len(roles.sensors), len(roles.unknown), len(commands.rows), len(solved)
    s, x, u = slice(0, ns), slice(ns, ns + nf + na), slice(ns + nf + na, len(d))
    d_u, W_uu, B_s, B_u = d[u].copy(), W[u, u].copy(), W[s, x].copy(), W[u, x].copy()
    d_u[:nh] -= c.imposed[solved]
    W_uu[np.arange(nh), np.arange(nh)] += c.compliance[solved]
    for k in np.flatnonzero(~c.given[commands.rows]):  # the error of an imposed displacement
        B_s[:, nf + k], B_u[:, nf + k] = 0.0, 0.0
        B_u[:nh, nf + k] = -1.0 * (solved == commands.rows[k])
    if rows.load is not None:
        moved = H.dot(factor.solve(rows.load))
        B_s, B_u = np.column_stack([B_s, moved[s]]), np.column_stack([B_u, moved[u]])
    one_sided = np.ones(len(d_u), bool)
    one_sided[: len(roles.equal)] = False
    effort = c.given[commands.rows]
    parts = (d[s], d_u, B_s, B_u, W[s, u], W_uu, young[s], young[u])
    return Condensed(tangent, before, *parts, one_sided, effort, rows.load)


def system(condensed: Condensed, readings: np.ndarray, active: np.ndarray) -> System:
    """Readings (ns,) as a linear function of x where the `active` rows (nu,) of u keep their δ."""
    c, a = condensed, np.flatnonzero(active)
    if not len(a):
        return System(c.B_s, readings - c.d_s, c.young_s, np.zeros((0, c.B_s.shape[1] + 1)))
    W = c.W_uu[np.ix_(a, a)]
    W = W + REDUNDANT * np.diag(np.abs(np.diagonal(W)))
    right = np.column_stack([c.B_u[a], c.d_u[a], c.young_u[a]])
    solved, across = np.linalg.solve(W, right), c.W_su[:, a]
    A = c.B_s - across @ solved[:, :-2]
    young = c.young_s - across @ solved[:, -1]
    return System(A, readings - c.d_s + across @ solved[:, -2], young, solved[:, :-1])


@dataclass(frozen=True)
class Whitened:
    """What the fit is made of: rows that are seen, whitened, and priors of errors and forces below."""

    A: np.ndarray
    b: np.ndarray
    seen: np.ndarray  # (ns,) bool


def whiten(
    linear: System, weights: Weights, seen: np.ndarray, prior: np.ndarray, columns: np.ndarray
) -> Whitened:
    """Rows that are seen, whitened; below, prior (p, nx) x = 0. `columns`: which x are estimated."""
    both = weights.whitened(np.column_stack([linear.A, linear.b]), seen)
    below = prior[~prior[:, ~columns].any(axis=1)]
    A = np.concatenate([both[:, :-1], below])[:, columns]
    return Whitened(A, np.concatenate([both[:, -1], np.zeros(len(below))]), seen)


def solve(
    condensed: Condensed,
    readings: np.ndarray,
    weights: Weights,
    seen: np.ndarray,
    prior: np.ndarray,
    columns: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray, np.ndarray],
    active: np.ndarray,
) -> tuple[Fit, System, Whitened, np.ndarray, np.ndarray]:
    """(fit, system, whitened rows, λ_u (nu,), active rows of u (nu,)), from a guess of the active set.

    `bounds` are the least and the largest of each estimated x, and the x to stay near where readings do not
    determine all of them. The choice of active one-sided rows makes several minima: the guess is kept where
    it is consistent and the other is no better.
    """
    args = (readings, weights, seen, prior, columns)
    here = _fit_with(condensed, *args, bounds, active)
    if not condensed.one_sided.any():
        return here[:5]
    other = _best_active(condensed, *args, bounds, here[0].x)
    if (other == active).all():
        return here[:5]
    there = _fit_with(condensed, *args, bounds, other)
    stay = here[5] and (here[6] <= there[6] * (1.0 + NO_BETTER) or not there[5])
    return here[:5] if stay else there[:5]


def _fit_with(condensed, readings, weights, seen, prior, columns, bounds, active):
    """What `solve` returns for one active set, whether that is consistent, and the sum of squares left."""
    linear = system(condensed, readings, active)
    white = whiten(linear, weights, seen, prior, columns)
    fit = bounded_least_squares(white.A, white.b, *bounds)
    x, lam = np.zeros(len(columns)), np.zeros(len(active))
    x[columns] = fit.x
    lam[active] = -(linear.reaction[:, :-1] @ x + linear.reaction[:, -1])
    left = white.b - white.A @ fit.x
    return fit, linear, white, lam, active, _consistent(condensed, x, lam, active), float(left @ left)


def _consistent(c: Condensed, x: np.ndarray, lam: np.ndarray, active: np.ndarray) -> bool:
    """Whether active one-sided rows do push, and the others are open."""
    if not c.one_sided.any():
        return True
    gap = c.d_u + c.B_u @ x + c.W_uu @ lam
    scale = np.abs(c.d_u).max(initial=0.0) + 1e-300
    push = c.one_sided & active
    return bool((lam[push] >= 0.0).all() and (gap[c.one_sided & ~active] >= -CLEAR * scale).all())


def _best_active(c, readings, weights, seen, prior, columns, bounds, start) -> np.ndarray:
    """The active set (nu,) bool of the best fit: all two-sided rows, and those that push in its solution."""
    o, h = np.flatnonzero(c.one_sided), np.flatnonzero(~c.one_sided)
    white = whiten(system(c, readings, ~c.one_sided), weights, seen, prior, columns)
    B_o, W_oo, d_o, W_so = c.B_u[o], c.W_uu[np.ix_(o, o)], c.d_u[o], c.W_su[:, o]
    if len(h):  # two-sided rows are eliminated
        W_oh = c.W_uu[np.ix_(o, h)]
        back = np.linalg.solve(c.W_uu[np.ix_(h, h)], np.column_stack([c.B_u[h], W_oh.T, c.d_u[h]]))
        at = c.B_u.shape[1]
        B_o, W_oo, d_o = B_o - W_oh @ back[:, :at], W_oo - W_oh @ back[:, at:-1], d_o - W_oh @ back[:, -1]
        W_so = W_so - c.W_su[:, h] @ back[:, at:-1]
    nx = int(columns.sum())
    Wec = np.zeros((len(white.b), len(o)))
    Wec[: int(seen.sum())] = weights.whitened(W_so, seen)
    Waa = np.diag(CONVEX * np.einsum("ij,ij->j", white.A, white.A))
    solution = qpcc(
        white.A,
        Wec,
        Waa,
        B_o[:, columns].T,
        W_oo,
        -white.b,
        np.zeros(nx),
        d_o,
        effort=bounds[:2],
        eps=1.0,
        warm=start,
    )
    active = ~c.one_sided
    active[o] = solution.contact > 0.0
    return active


def recovered(condensed: Condensed, roles: Roles, x: np.ndarray, lam_u: np.ndarray) -> np.ndarray:
    """dq = K⁻¹(r + Hᵀ(0, λ_f, errors of given efforts, λ_u)) (ndof,), and what the scale of loads adds."""
    nf, na = len(roles.unknown), len(condensed.given)
    errors = np.where(condensed.given, x[nf : nf + na], 0.0)
    chosen = np.concatenate([np.zeros(len(roles.sensors)), x[:nf], errors, lam_u])
    dq = condensed.tangent.rows.answer(chosen - condensed.before)
    if condensed.load is not None:
        dq = dq + x[-1] * condensed.tangent.factor.solve(condensed.load)
    return dq
