"""Few forces among many candidates:  b = A x + noise (whitened), x zero but in some groups of columns.

There are three methods to choose the groups: all at once and those above a threshold (the paper's), greedily
(orthogonal matching pursuit with exchange of one and of two), and by the ℓ₁ norm of group lengths. All fit
the chosen groups again by bounded least squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pliant.sensing.least_squares import bounded_least_squares

EXCHANGE_SWEEPS = 4  # in which every group may be exchanged
EXCHANGE_GAIN = 1e-12  # relative: an exchange must lower the sum of squares by more
REGULARISED = 1e-10  # of the trace of a group's AᵀA: added to it, as its columns may be alike
PAIRED = 100  # candidates of which pairs are tried, those that explain most
LASSO_ITERATIONS = 400  # of the accelerated gradient method
LASSO_SETTLED = 1e-6  # of the largest y: steps at which the gradient method ends
LASSO_ZERO = 1e-6  # of the longest group: groups that the lasso sets to zero


@dataclass(frozen=True)
class Candidates:
    """The whitened problem: A (m, n·width), b (m,), bounds of x; columns of one group stand together."""

    A: np.ndarray
    b: np.ndarray
    low: np.ndarray
    high: np.ndarray
    width: int

    @property
    def count(self) -> int:
        """n, how many groups."""
        return self.A.shape[1] // self.width

    def columns(self, groups: list[int]) -> np.ndarray:
        """Columns of groups."""
        return (self.width * np.array(groups, int)[:, None] + np.arange(self.width)).ravel()

    def fit(self, groups: list[int]) -> tuple[np.ndarray, float]:
        """Efforts of the groups (k, width), and the sum of squares left."""
        if not groups:
            return np.zeros((0, self.width)), float(self.b @ self.b)
        c = self.columns(groups)
        x = bounded_least_squares(self.A[:, c], self.b, self.low[c], self.high[c]).x
        r = self.b - self.A[:, c] @ x
        return x.reshape(-1, self.width), float(r @ r)


def chi_square(freedom: int, chance: float) -> float:
    """What a χ² variable exceeds with a probability."""
    from scipy.special import chdtri  # slow to import

    return float(chdtri(freedom, chance))


def threshold(problem: Candidates, level: float) -> list[int]:
    """All candidates at once; those whose force is larger than `level` [N]."""
    x, _ = problem.fit(list(range(problem.count)))
    return np.flatnonzero(np.linalg.norm(x, axis=1) > level).tolist()


def greedy(
    problem: Candidates, *, most: int = 4, chance: float = 1e-3, start: tuple[int, ...] = ()
) -> list[int]:
    """The groups that explain most, added one by one to `start`; each may then be exchanged for a better one.

    It stops where no group explains more than noise would by `chance` among so many candidates, or at `most`
    groups.
    """
    limit = chi_square(problem.width, chance / max(problem.count, 1))
    chosen = _exchanged(problem, list(start))
    left = problem.fit(chosen)[1]
    while len(chosen) < min(most, problem.count):
        trial = _exchanged(problem, [*chosen, _best(problem, chosen)])
        now = problem.fit(trial)[1]
        if left - now < limit:
            break
        chosen, left = trial, now
    return sorted(_pruned(problem, chosen, limit))


def lasso(problem: Candidates, *, most: int = 4, chance: float = 1e-3) -> list[int]:
    """min ½‖A x − b‖² + τ Σ ‖A_g‖ ‖x_g‖, τ what noise alone would reach.

    Groups that explain no more than noise are then dropped, and the choice is improved as in `greedy`, which
    begins with it.
    """
    n, w = problem.count, problem.width
    size = np.linalg.norm(problem.A.reshape(-1, n, w), axis=(0, 2))
    size = np.where(size > 0.0, size, 1.0)
    A = problem.A / np.repeat(size, w)
    tau = np.sqrt(chi_square(w, chance / max(n, 1)))
    y = _group_lasso(A, problem.b, w, tau, problem.low >= 0.0, problem.high <= 0.0)
    strength = np.linalg.norm(y.reshape(n, w), axis=1)
    order = np.argsort(-strength)[: int((strength > LASSO_ZERO * strength.max(initial=0.0)).sum())]
    limit = chi_square(w, chance / max(n, 1))
    start = _pruned(problem, order[: max(4 * most, 8)].tolist(), limit)
    while len(start) > most:
        start.remove(_weakest(problem, start)[0])
    return greedy(problem, most=most, chance=chance, start=tuple(start))


def _best(problem: Candidates, chosen: list[int]) -> int:
    """The group whose addition leaves the smallest sum of squares."""
    w = problem.width
    A, r = _beside(problem, chosen)
    across = np.einsum("mnw,m->nw", A, r)
    if w == 1:
        able = np.where(
            problem.low >= 0.0, across[:, 0] > 0.0, np.where(problem.high <= 0.0, across[:, 0] < 0.0, True)
        )
        own = np.einsum("mnw,mnw->n", A, A)
        gain = np.where(able & (own > 0.0), across[:, 0] ** 2 / np.where(own > 0.0, own, 1.0), 0.0)
    else:
        G = _regularised(np.einsum("mnv,mnw->nvw", A, A))
        gain = np.einsum("nw,nw->n", across, np.linalg.solve(G, across[..., None])[..., 0])
    gain[chosen] = -1.0
    return int(gain.argmax())


def _beside(problem: Candidates, chosen: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """A (m, n, w) less what the chosen groups could explain of it, and what these leave of b (m,)."""
    A = problem.A.reshape(-1, problem.count, problem.width)
    if not chosen:
        return A, problem.b
    x, _ = problem.fit(chosen)
    own = problem.A[:, problem.columns(chosen)]
    Q = np.linalg.qr(own)[0]
    A = A - np.tensordot(Q, np.tensordot(Q, A, axes=(0, 0)), axes=(1, 0))
    return A, problem.b - own @ x.ravel()


def _best_pair(problem: Candidates, chosen: list[int]) -> list[int]:
    """The two groups whose addition leaves the smallest sum of squares.

    Forces side by side in opposite directions explain much together and little each, so that a search for
    one at a time passes them by.
    """
    n, w = problem.count, problem.width
    A, r = _beside(problem, chosen)
    free = np.setdiff1d(np.arange(n), chosen)
    if len(free) > PAIRED:
        free = np.sort(free[np.argsort(-np.abs(np.einsum("mnw,m->nw", A, r)).max(axis=1)[free])[:PAIRED]])
    i, j = (free[k] for k in np.triu_indices(len(free), 1))
    flat = A.reshape(len(r), -1)
    G, c = (flat.T @ flat).reshape(n, w, n, w), (flat.T @ r).reshape(n, w)
    block = lambda a, b: G[a, :, b, :]
    beside = lambda k: np.concatenate([block(k, i), block(k, j)], axis=2)
    both = np.concatenate([beside(i), beside(j)], axis=1)
    across = np.concatenate([c[i], c[j]], axis=1)
    x = np.linalg.solve(_regularised(both), across[..., None])[..., 0]
    gain = np.einsum("pk,pk->p", across, x)
    columns = np.concatenate([w * i[:, None] + np.arange(w), w * j[:, None] + np.arange(w)], axis=1)
    within = (x >= np.minimum(problem.low[columns], 0.0)) & (x <= np.maximum(problem.high[columns], 0.0))
    best = int(np.where(within.all(axis=1), gain, -1.0).argmax())
    return [int(i[best]), int(j[best])]


def _regularised(G: np.ndarray) -> np.ndarray:
    """Gram matrices (n, k, k) with a little more on their diagonals."""
    trace = np.einsum("nvv->n", G)
    return G + (REGULARISED * trace + 1e-300)[:, None, None] * np.eye(G.shape[1])


def _exchanged(problem: Candidates, chosen: list[int]) -> list[int]:
    """Groups replaced one by one, then two by two, while the sum of squares falls."""
    left = problem.fit(chosen)[1]
    for _ in range(EXCHANGE_SWEEPS):
        before = left
        for size in (1, 2):
            for out in combinations(range(len(chosen)), size):
                others = [g for k, g in enumerate(chosen) if k not in out]
                if problem.count - len(others) < size:
                    continue
                new = [_best(problem, others)] if size == 1 else _best_pair(problem, others)
                now = problem.fit([*others, *new])[1]
                if now < left * (1.0 - EXCHANGE_GAIN):
                    chosen, left = [*others, *new], now
        if left >= before:
            break
    return chosen


def _weakest(problem: Candidates, chosen: list[int]) -> tuple[int, float]:
    """The group whose removal costs least, and what it costs."""
    left = problem.fit(chosen)[1]
    costs = [problem.fit([g for g in chosen if g != one])[1] - left for one in chosen]
    k = int(np.argmin(costs))
    return chosen[k], costs[k]


def _pruned(problem: Candidates, chosen: list[int], limit: float) -> list[int]:
    chosen = list(chosen)
    while chosen:
        one, cost = _weakest(problem, chosen)
        if cost >= limit:
            break
        chosen.remove(one)
    return chosen


def _group_lasso(
    A: np.ndarray, b: np.ndarray, width: int, tau: float, positive: np.ndarray, negative: np.ndarray
) -> np.ndarray:
    """The minimiser y by accelerated proximal gradients with restarts, within one-sided bounds."""
    G, c = A.T @ A, A.T @ b
    step = 1.0 / max(float(np.linalg.eigvalsh(G)[-1]), 1e-300)
    low, high = np.where(positive, 0.0, -np.inf), np.where(negative, 0.0, np.inf)
    y = z = np.zeros(len(c))
    t = 1.0
    for _ in range(LASSO_ITERATIONS):
        v = np.clip(z - step * (G @ z - c), low, high).reshape(-1, width)
        length = np.linalg.norm(v, axis=1, keepdims=True)
        new = (v * np.maximum(1.0 - step * tau / np.where(length > 0, length, 1.0), 0.0)).ravel()
        moved = new - y
        if (z - new) @ moved > 0.0:  # the momentum went too far: restart it
            t = 1.0
        faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        y, z, t = new, new + (t - 1.0) / faster * moved, faster
        if np.abs(moved).max(initial=0.0) <= LASSO_SETTLED * np.abs(y).max(initial=0.0):
            break
    return y
