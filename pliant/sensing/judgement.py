"""Which doubts act, and how large the noise is: variance components by restricted maximum likelihood.

Readings b = A x + noise are whitened by their stated noise. What no force explains, y = Nᵀb with NᵀA = 0, has
the covariance

    s² I + Σ_g Nᵀ Q_g Q_gᵀ N          g the doubts that act, Q_g one deviation of each error in a doubt

The scale s of the noise and the doubts are those of the largest likelihood of y; s may be less than one, as
residuals smaller than the stated noise say what a doubt that they point along is worth. A doubt acts only
where it raises that by more than chance would: fits to errors that are not there cost accuracy. Errors of a
doubt that does not act still widen the covariance, by what y leaves possible of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from pliant.sensing.condensed import Commands, System
from pliant.sensing.doubts import command_factor
from pliant.sensing.roles import Roles
from pliant.sensing.sparse import chi_square
from pliant.sensing.weights import Weights

CHANCE = 1e-3  # that residuals of noise alone make a doubt act
LEAST_SCALE, LARGEST_SCALE, SCALES = 1e-2, 1e4, 600  # of the noise, and how many are tried


@dataclass(frozen=True)
class Judgement:
    """Scale s of the stated noise, whether errors of loads and an offset act, and what s was estimated from.

    `freedom` counts the readings that neither forces nor acting errors explain; it is infinite where s is
    what was stated. `left` (k, k) is a factor of what remains possible of the errors that do not act, those
    of loads first, in stated deviations: M = left leftᵀ is their mean square, given the residuals.
    """

    scale: float = 1.0
    loads: bool = True
    offset: bool = True
    freedom: float = float("inf")
    left: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))


AS_STATED = Judgement()


def judge(linear: System, weights: Weights, seen: np.ndarray, roles: Roles, commands: Commands) -> Judgement:
    """What the residuals of readings say of stated noise and doubts."""
    nf, plain = len(roles.unknown), Weights(weights.noise, weights.shared[:, :0])
    white = lambda rows: plain.whitened(rows, seen)
    both = white(np.column_stack([linear.A[:, :nf], linear.b]))
    N = _unexplained(both[:, :-1])
    doubts = (white(load_errors(linear, roles, commands)), white(weights.shared))
    y, errors = N.T @ both[:, -1], [N.T @ Q for Q in doubts]
    scale, (loads, offset) = components(y, errors)
    active, idle = (
        _stacked(y, errors, [acts is wanted for acts in (loads, offset)]) for wanted in (True, False)
    )
    return Judgement(scale, loads, offset, _freedom(scale, active), _left(y, scale, active, idle))


def _freedom(scale: float, acting: np.ndarray) -> float:
    """tr s²(s² I + QQᵀ)⁻¹: how many readings the scale s was estimated from; infinite where none."""
    size = np.linalg.svd(acting, compute_uv=False) if acting.size else np.zeros(0)
    own = len(acting) - len(size) + float((scale**2 / (scale**2 + size**2)).sum())
    return own if own > 0.0 else float("inf")


def _stacked(y: np.ndarray, errors: Sequence[np.ndarray], which: Sequence[bool]) -> np.ndarray:
    return np.column_stack([np.zeros((len(y), 0)), *(Q for Q, use in zip(errors, which, strict=True) if use)])


def _left(y: np.ndarray, scale: float, acting: np.ndarray, idle: np.ndarray) -> np.ndarray:
    """A factor of the mean square of idle errors, given y: their covariance, and what y makes of them.

    With V = s² I + QQᵀ of what acts, C = (I + Q_iᵀ V⁻¹ Q_i)⁻¹ and θ = C Q_iᵀ V⁻¹ y, it is C + θθᵀ.
    """
    if not idle.size:
        return np.zeros((idle.shape[1], idle.shape[1]))
    weighed = np.linalg.solve(scale**2 * np.eye(len(y)) + acting @ acting.T, np.column_stack([idle, y]))
    C = np.linalg.inv(np.eye(idle.shape[1]) + idle.T @ weighed[:, :-1])
    theta = C @ idle.T @ weighed[:, -1]
    return np.linalg.cholesky(0.5 * (C + C.T) + np.outer(theta, theta))


def load_errors(linear: System, roles: Roles, commands: Commands) -> np.ndarray:
    """(ns, k): what one deviation of each estimated error of commands and loads adds to the readings."""
    nf, na = len(roles.unknown), len(commands.rows) if commands.estimated else 0
    parts = [linear.A[:, nf : nf + na] @ command_factor(roles, commands)] if na else []
    if commands.scale:
        parts.append(commands.scale * linear.A[:, -1:])
    return np.column_stack([np.zeros((len(linear.A), 0)), *parts])


def components(y: np.ndarray, doubts: Sequence[np.ndarray]) -> tuple[float, tuple[bool, ...]]:
    """(scale s, which doubts act), of the largest likelihood of y (m,) with doubts (m, k_g).

    A doubt without columns counts as acting: there is nothing to decide. So do all where y is empty.
    """
    price = chi_square(1, 2.0 * CHANCE)  # of a variance that cannot be negative: half of the draws say zero
    choices = [(True,) if not (len(y) and Q.size) else (False, True) for Q in doubts]
    best = (np.inf, 1.0, tuple(True for _ in doubts))
    for acting in product(*choices):
        cost, scale = _likelihood(y, _stacked(y, doubts, acting))
        used = sum(acts and Q.size > 0 for Q, acts in zip(doubts, acting, strict=True))
        best = min(best, (cost + price * used, scale, acting))
    return best[1], best[2]


def _likelihood(y: np.ndarray, Q: np.ndarray) -> tuple[float, float]:
    """(−2 log-likelihood of y, s) at the best s for the covariance s² I + QQᵀ."""
    if not len(y):
        return 0.0, 1.0
    U, size, _ = np.linalg.svd(Q, full_matrices=True) if Q.size else (np.eye(len(y)), np.zeros(0), None)
    z = (U.T @ y) ** 2
    own = np.zeros(len(y))
    own[: len(size)] = size**2

    def cost(s: np.ndarray) -> np.ndarray:
        total = s[:, None] ** 2 + own
        return np.sum(np.log(total) + z / total, axis=1)

    tried = np.geomspace(LEAST_SCALE, LARGEST_SCALE, SCALES)
    near = int(np.argmin(cost(tried)))
    finer = np.geomspace(tried[max(near - 1, 0)], tried[min(near + 1, SCALES - 1)], SCALES)
    costs = cost(finer)
    return float(costs.min()), float(finer[int(np.argmin(costs))])


def _unexplained(A: np.ndarray) -> np.ndarray:
    """N (m, m − rank A): an orthonormal basis of what no force explains."""
    U, size, _ = np.linalg.svd(A / np.maximum(np.linalg.norm(A, axis=0), 1e-300), full_matrices=True)
    return U[:, int((size > 1e-9 * size.max(initial=0.0)).sum()) :]
