"""Hyper-reduction by energy-conserving sampling and weighting (ECSW; Farhat, Avery, Chapman, Cortial 2014).

The internal forces of a reduced body, Σₑ Φₑᵀfₑ over all cells, are replaced by Σ wₑ Φₑᵀfₑ over a few cells
with weights wₑ > 0. These are chosen such that both agree on snapshots x_s,

    Σₑ wₑ g_se = Σₑ g_se  within a tolerance,       g_se = L⁻¹Φₑᵀ fₑ(x_s) / |Σₑ L⁻¹Φₑᵀ fₑ(x_s)|

with LLᵀ = ΦᵀK(x_s)Φ, in the norm |L⁻¹f|² = f·K⁻¹f, the energy that an error of the force puts in: a robot is
soft in some motions, and there small forces matter. Which motions these are changes as it bends: linear modes
that bend a straight bar stretch a bent one. Positive weights on energies keep what statics and
dynamics rely on: f is a gradient, K is symmetric, and it is positive definite where the cells are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.bodies import Solid
from pliant.bodies.reduced import Reduced
from pliant.bodies.sampling import Sampled, sample
from pliant.errors import InputError
from pliant.reduction.non_negative import sparse_weights

MOST_NUMBERS = 5e7  # in G: 400 MB
SOFTEST = 1e-9  # of the largest eigenvalue of ΦᵀKΦ: the least stiffness that a motion counts with
AT_REST = 1e-9  # of the largest amplitudes: snapshots nearer to rest, or to another one, add nothing


@dataclass(frozen=True, eq=False)
class Sampling:
    """Cells (m,) of a mesh with weights (m,) > 0, of `every` cells; `error` in the snapshots' forces."""

    cells: np.ndarray
    weights: np.ndarray
    every: int
    error: float
    snapshots: int

    def __post_init__(self) -> None:
        cells, weights = self.cells, self.weights
        if cells.shape != (cells.size,) or cells.dtype.kind not in "iu" or weights.shape != cells.shape:
            got = f"{cells.dtype} {cells.shape}, weights {weights.shape}"
            raise InputError("sampling", expected="numbers of cells (m,), and a weight of each", got=got)
        if (
            not (np.isfinite(weights) & (weights > 0)).all()
            or not ((cells >= 0) & (cells < self.every)).all()
        ):
            expected = f"cells below {self.every} with positive weights"
            raise InputError("sampling", expected=expected, got="others")

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return f"Sampling({len(self)} of {self.every} cells, error {self.error:.1e})"


def ecsw(
    body: Solid,
    modes: np.ndarray,
    coordinates: np.ndarray,
    *,
    tolerance: float = 0.005,
    cells: int | None = None,
    snapshots: int = 100,
) -> Sampling:
    """A few cells that stand for all of a body in `modes` (n, 3, k), from snapshots (s, nq).

    `tolerance` is the relative error of the forces over all snapshots, `cells` the largest number of cells.
    At most `snapshots` of them are used, far from each other; memory is (k · snapshots) × cells of the mesh.
    """
    if not 0 < tolerance < 1:
        raise InputError("tolerance", expected="a number between 0 and 1", got=tolerance)
    unsampled = Reduced(body, modes)
    amplitudes = np.array([unsampled.project(q) for q in np.atleast_2d(coordinates)])
    if not len(amplitudes) or not amplitudes.any():
        raise InputError("snapshots", expected="some that are not at rest", got="none")
    every = sample(body.assembly, body.coordinates.rest)
    limit = int(min(snapshots, max(2, MOST_NUMBERS // (unsampled.count * len(every.cells)))))
    chosen = spread_out(amplitudes, limit)
    G = cell_forces(unsampled, every, amplitudes[chosen])
    weights = sparse_weights(G, G.sum(axis=1), tolerance=tolerance, most=cells)
    number = every.cells[weights.support]
    order = np.argsort(number)
    return Sampling(number[order], weights.values[order], len(every.cells), weights.error, len(chosen))


def cell_forces(reduced: Reduced, every: Sampled, amplitudes: np.ndarray) -> np.ndarray:
    """G (s·k, cells): L⁻¹Φₑᵀfₑ of every cell at every snapshot, relative to their sum over cells."""
    m, nn = every.nodes.shape
    shapes = reduced.modes[every.nodes][..., : reduced.count].reshape(m, 3 * nn, -1)
    G = np.empty((len(amplitudes), reduced.count, m))
    for s, q in enumerate(amplitudes):
        x = (reduced.full.coordinates.rest + reduced.modes @ q)[every.nodes].ravel()
        f = every.assembly.node_forces(x, np.zeros(0)).reshape(m, 1, 3 * nn)
        G[s] = _energy_norm(reduced, q) @ (f @ shapes)[:, 0].T
        G[s] /= np.linalg.norm(G[s].sum(axis=1)) or 1.0
    return G.reshape(-1, m)


def _energy_norm(reduced: Reduced, q: np.ndarray) -> np.ndarray:
    """T (k, k) with |T f|² = f·K⁻¹f at q, or at rest where cells are inside out; unsupported motions count as
    a little stiff.
    """
    K = reduced.linearise(q, np.zeros(3))[2]
    if K is None:
        K = reduced.linearise(reduced.q0, np.zeros(3))[2]
    assert K is not None
    own = reduced.pattern.to_csr(K).toarray()[: reduced.count, : reduced.count]
    value, vector = np.linalg.eigh(own)
    return (vector / np.sqrt(np.maximum(value, SOFTEST * value[-1]))) @ vector.T


def spread_out(points: np.ndarray, count: int) -> np.ndarray:
    """Indices of at most `count` points, each the farthest from those before and from the origin."""
    scale = np.abs(points).max(axis=0)
    x = points / np.where(scale > 0, scale, 1.0)
    distance, chosen = np.linalg.norm(x, axis=1), []
    while len(chosen) < min(count, len(points)):
        best = int(np.argmax(distance))
        if distance[best] <= AT_REST:
            break
        chosen.append(best)
        distance = np.minimum(distance, np.linalg.norm(x - x[best], axis=1))
    return np.array(chosen, int)
