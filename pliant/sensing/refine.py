"""A force between candidates: the place on the skin where it explains the readings best.

Readings depend linearly on the nodal shares of a force: at barycentric coordinates β of a triangle, A(β) = Σ
βᵢ Aᵢ. The best place is searched for on few points of every triangle, then on ever finer points of the best
ones; one force after the other, as few as will do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.sensing.places import Skin
from pliant.sensing.sparse import chi_square

PLACING_SWEEPS = 6  # over all forces
GRID_LEVELS = 10  # times the grid on a triangle is halved
SEARCHED_TRIANGLES = 8  # the best on the coarse points, which are searched on ever finer ones
SETTLED = 1e-6  # relative: sweeps end where the sum of squares falls by less
REGULARISED = 1e-12  # of the trace of AᵀA: added to it, as directions of a force may be alike
COARSE = np.array(
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]
)
GRID = np.array([(i, j, 4 - i - j) for i in range(5) for j in range(5 - i)], float) / 4.0


def refined(
    skin: Skin,
    field: np.ndarray,
    b: np.ndarray,
    directions: np.ndarray | None,
    *,
    most: int,
    chance: float,
    pushing: bool = False,
) -> np.ndarray:
    """Places (k, 3) at rest [m] of the fewest forces, at most `most`, that leave nothing but noise.

    `field` (m, n, 3) are whitened readings per force along x, y, z on each of the skin's nodes, b (m,) the
    whitened readings. With `directions` (n, 3) on the nodes, forces act along them only, and with `pushing`
    only forwards. A further force is taken where noise would explain as much with a probability of `chance`
    at most.
    """
    A = field if directions is None else np.einsum("mnk,nk->mn", field, directions)[..., None]
    limit = chi_square(A.shape[2] + 2, chance / len(skin.rest))  # its components, and where it is
    forces: list[tuple[np.ndarray, np.ndarray]] = []  # (place, columns) of each
    left = float(b @ b)
    while len(forces) < most:
        trial, now = _settled(skin, A, b, [*forces, _best(skin, A, b, forces, pushing)[:2]], pushing)
        if left - now < limit:
            break
        forces, left = trial, now
    return np.array([place for place, _ in forces]).reshape(-1, 3)


def _settled(skin: Skin, A: np.ndarray, b: np.ndarray, forces: list, pushing: bool) -> tuple[list, float]:
    """Each force placed again, the others where they are, while that helps; and the sum of squares left."""
    left = np.inf
    for _ in range(PLACING_SWEEPS):
        before = left
        for k in range(len(forces)):
            others = forces[:k] + forces[k + 1 :]
            place, columns, left = _best(skin, A, b, others, pushing)
            forces = [*forces[:k], (place, columns), *forces[k + 1 :]]
        if len(forces) == 1 or left >= before * (1.0 - SETTLED):
            break
    return forces, left


def _best(skin: Skin, A: np.ndarray, b: np.ndarray, others: list, pushing: bool):
    """(place, its columns (m, w), sum of squares) of one force more, the others free to adapt."""
    project = lambda M: M
    if others:
        Q = np.linalg.qr(np.concatenate([columns for _, columns in others], axis=1))[0]
        b = b - Q @ (Q.T @ b)
        project = lambda M: M - np.tensordot(Q, np.tensordot(Q, M, axes=(0, 0)), axes=(1, 0))
    coarse = np.einsum("pc,mtcw->mtpw", COARSE, A[:, skin.triangles])
    cost = _left(project(coarse.reshape(len(b), -1, A.shape[2])), b, pushing)
    of_triangle = cost.reshape(-1, len(COARSE)).min(axis=1)
    best = (skin.rest[0], A[:, 0], np.inf)
    for t in np.argsort(of_triangle)[:SEARCHED_TRIANGLES]:
        trial = _within(skin.rest[skin.triangles[t]], A[:, skin.triangles[t]], b, project, pushing)
        best = trial if trial[2] < best[2] else best
    return best


def _within(corners: np.ndarray, A: np.ndarray, b: np.ndarray, project: Callable, pushing: bool):
    """(place, columns (m, w), sum of squares) of the best force on a triangle, A (m, 3, w) at its corners."""
    beta, best, left = np.eye(3), np.full(3, 1.0 / 3.0), np.inf
    for _ in range(GRID_LEVELS):
        points = GRID @ beta
        cost = _left(project(np.einsum("pc,mcw->mpw", points, A)), b, pushing)
        k = int(cost.argmin())
        if cost[k] < left:
            left, best = float(cost[k]), points[k]
        beta = 0.5 * beta + 0.5 * best
    return best @ corners, np.einsum("c,mcw->mw", best, A), left


def _left(A: np.ndarray, b: np.ndarray, pushing: bool) -> np.ndarray:
    """Sum of squares left (p,) by each of p forces with columns (m, p, w)."""
    across = np.einsum("mpw,m->pw", A, b)
    if pushing:
        across = np.maximum(across, 0.0) if A.shape[2] == 1 else across
    G = np.einsum("mpv,mpw->pvw", A, A)
    G = G + (REGULARISED * np.einsum("pvv->p", G) + 1e-300)[:, None, None] * np.eye(A.shape[2])
    return b @ b - np.einsum("pw,pw->p", across, np.linalg.solve(G, across[..., None])[..., 0])
