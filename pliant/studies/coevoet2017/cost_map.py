"""c(λ_a) of an inverse problem with two actuators, on a grid: its pieces, its minima, and the way of the solver.

For given actuator efforts the contact forces are unique, so the cost is a function of λ_a alone: a quadratic on every
piece, the polygon on which the same contacts push (section III-E of the paper).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.bench.instances import Instance
from pliant.solvers import landscape, qp, qpcc, qpcc_global


@dataclass(frozen=True, eq=False)
class CostMap:
    """`efforts` (n,) [N] along both axes; `cost` (n, n) [m²] and `piece` (n, n) with the first actuator along columns.

    `pieces` are the sets of contacts that push, by number of piece; `minima` (k, 2) [N] with `costs` (k,), the global one
    first; `path` (s, 2) [N] are the optima of the programs that the paper's solver goes through from zero, one per
    piece of `visited`; `steps` the cost at each.
    """

    efforts: np.ndarray
    cost: np.ndarray
    piece: np.ndarray
    pieces: tuple[tuple[int, ...], ...]
    minima: np.ndarray
    costs: np.ndarray
    path: np.ndarray
    visited: tuple[tuple[int, ...], ...]
    steps: np.ndarray
    default: np.ndarray  # (2,) [N] what the default solver finds
    total: int  # pieces that meet the box, those too small for the grid included


def cost_map(p: Instance, most: float, *, size: int = 400, eps: float | None = None) -> CostMap:
    """The map over [0, most]² [N], size × size points; ε as for `qpcc`, the paper's unless given."""
    limits: dict[str, Any] = {"effort": (0.0, most), "eps": eps}
    efforts = np.linspace(0.0, most, size)
    first, second = np.meshgrid(efforts, efforts)
    points = np.column_stack([first.ravel(), second.ravel()])
    drawn = landscape(points, *p.matrices, eps=eps)
    exact = qpcc_global(*p.matrices, **limits)
    paper = qpcc(*p.matrices, **limits, method="decomposition", starts=1)
    visited, weight = paper.certificate.path, paper.certificate.eps
    path = np.array([np.zeros(2), *(optimum(p, members, weight, most) for members in visited)])
    at = landscape(path, *p.matrices, eps=eps)
    return CostMap(
        efforts,
        drawn.cost.reshape(size, size),
        drawn.piece.reshape(size, size),
        drawn.pieces,
        np.array([m.effort for m in exact.minima]),
        np.array([m.cost for m in exact.minima]),
        path,
        visited,
        at.cost,
        np.array(qpcc(*p.matrices, **limits).effort),
        exact.pieces,
    )


def optimum(p: Instance, members: tuple[int, ...], eps: float, most: float) -> np.ndarray:
    """(2,) [N] solution of QP_I of the paper in its reduced form (eq. 15): the best efforts while these contacts push.

    λ_c = A λ_a + b on the members, zero elsewhere; A λ_a + b ≥ 0 there, and gaps ≥ 0 elsewhere.
    """
    F, others = list(members), [c for c in range(len(p.dc)) if c not in members]
    back = -np.linalg.solve(p.Wcc[np.ix_(F, F)], np.column_stack([p.Wac.T[F], p.dc[F]]))
    A, b = back[:, :2], back[:, 2]
    E, e = p.Wea + p.Wec[:, F] @ A, p.de + p.Wec[:, F] @ b
    gap, open_ = p.Wac.T[others] + p.Wcc[np.ix_(others, F)] @ A, p.dc[others] + p.Wcc[np.ix_(others, F)] @ b
    Q, c = 2.0 * (E.T @ E + eps * p.Waa), 2.0 * E.T @ e
    least = np.concatenate([-b, -open_])
    bounds = np.zeros(2), np.full(2, most)
    return np.array(qp(Q, c, *bounds, np.vstack([A, gap]), least, np.full(len(least), np.inf)).effort)
