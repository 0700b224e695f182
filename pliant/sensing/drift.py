"""How far the state of a robot in motion may be off: deviations of (q, v, λ_f) in square-root form.

    x − x̂ = S z,   z ~ N(0, I)          Cov x = S Sᵀ,   S = (Q, V, L) of a few columns

Columns follow the linearised step of the model, readings make them shorter, and those that carry least are
left out (Verlaan and Heemink 1997).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.algebra import Factor, SparseRows
from pliant.conditions import Conditions
from pliant.dynamics.implicit import Moving, StageSolution, Task
from pliant.dynamics.inertia import Inertia

NEGLIGIBLE = 1e-10  # of the largest share that a direction has in S Sᵀ: smaller ones are left out


@dataclass(frozen=True)
class Drift:
    """Deviations of the motion: Q (ndof, k) [m], V (ndof, k) [m/s], L (nf, k) of efforts not known.

    `solved` (rows, k) are those of the efforts that the model solved for in the last step: `rows` names them
    among all rows, contacts below.
    """

    Q: np.ndarray
    V: np.ndarray
    L: np.ndarray
    solved: np.ndarray
    rows: np.ndarray

    @classmethod
    def at_rest(
        cls, H: SparseRows, factor: Factor, c: Conditions, lam: np.ndarray, unknown: np.ndarray, L: np.ndarray
    ) -> Drift:
        """Of a robot that rests under efforts that are off by L: Q = K⁻¹(H_fᵀ L + H_aᵀ Λ)."""
        U = factor.solve(H.take(unknown).to_csr().T @ L)
        a = np.flatnonzero(_acting(c, lam))
        U, reaction = _kept(H, factor, c, a, U, U)
        return cls(U, np.zeros(U.shape), L, reaction, a)

    def loosened(self, change: np.ndarray) -> Drift:
        """With a change of the efforts, a factor (nf, j) of its covariance, that is independent of all."""
        wide = lambda S: np.column_stack([S, np.zeros((len(S), change.shape[1]))])
        L = np.column_stack([self.L, change])
        return Drift(wide(self.Q), wide(self.V), L, wide(self.solved), self.rows)

    def advanced(
        self,
        inertia: Inertia,
        task: Task,
        here: Moving,
        taken: StageSolution,
        K: np.ndarray,
        unknown: np.ndarray,
    ) -> Drift:
        """After a step of the model, with K (nb, 3, 3) that of the robot where it was linearised.

        From (M/h + D + hK) v = M v*/h + … in deviations,

            K̃ U = M V/h − K Q + H_fᵀ L + H_aᵀ Λ,      Q⁺ = Q + U,      V⁺ = V + (s/h)(U/s − V)

        with Λ such that rows a that act keep their δ. `unknown` are the rows of λ_f.
        """
        stage, H, factor = task.stage, here.view.H, taken.condensed.factor
        M = inertia.mass(here.pose)
        times = lambda A, S: np.array([inertia.product(A, column) for column in S.T.copy()]).T
        force = times(M, self.V) / stage.step - times(K, self.Q)
        U = factor.solve(force + H.take(unknown).to_csr().T @ self.L)
        a = np.flatnonzero(_acting(here.conditions, taken.lam))
        U, reaction = _kept(H, factor, here.conditions, a, U, self.Q + U)
        V = self.V + stage.reach / stage.step * (U / stage.reach - self.V)
        return Drift(self.Q + U, V, self.L, reaction, a)

    def told(self, A: np.ndarray, b: np.ndarray) -> tuple[Drift, np.ndarray, float]:
        """(S⁺, z, misfit) by readings b (m,) of unit noise, that A (m, k) = ∂b/∂z says how columns move.

            min ‖A z⁻ − b‖² + ‖z⁻‖²,      S⁺ = S (I + AᵀA)^(−½),      S z⁻ = S⁺ z

        The misfit is the root mean square of b over its deviation (I + AAᵀ)^½; NaN without readings.
        """
        U, size, Vt = np.linalg.svd(A, full_matrices=True)
        s = np.zeros(len(Vt))
        s[: len(size)] = size
        along = np.zeros(len(Vt))
        along[: len(size)] = (U.T @ b)[: len(size)]
        left = b - A @ (Vt.T @ (s / (1.0 + s * s) * along))
        misfit = float(np.sqrt(b @ left / len(b))) if len(b) else float("nan")
        return self.turned(Vt.T / np.sqrt(1.0 + s * s)), s * along / np.sqrt(1.0 + s * s), misfit

    def settled(self) -> Drift:
        """The same of a motion in which the model solves for nothing."""
        return replace(self, solved=np.zeros((0, self.L.shape[1])), rows=np.zeros(0, int))

    def turned(self, T: np.ndarray) -> Drift:
        """S T: other coordinates z."""
        return Drift(self.Q @ T, self.V @ T, self.L @ T, self.solved @ T, self.rows)

    def compressed(self, inertia: Inertia, M: np.ndarray, columns: int) -> Drift:
        """The most important directions, so many at most: those of largest deviation, q, v and λ_f alike.

        Places and velocities count by mass, and all three by their share in the sum over all columns.
        """
        if not self.Q.shape[1]:
            return self
        weighed = lambda S: S.T @ np.array([inertia.product(M, column) for column in S.T.copy()]).T
        parts = [weighed(self.Q), weighed(self.V), self.L.T @ self.L]
        G = sum(part / max(float(np.trace(part)), 1e-300) for part in parts)
        size, directions = np.linalg.eigh(G)
        keep = np.flatnonzero(size > NEGLIGIBLE * size[-1])[-columns:]
        return self.turned(directions[:, keep])


def _acting(c: Conditions, lam: np.ndarray) -> np.ndarray:
    """Which rows (m,) keep their δ: efforts that are solved for and not at a bound."""
    return ~c.given & (lam > c.low) & (lam < c.high)


def _kept(
    H: SparseRows, factor: Factor, c: Conditions, a: np.ndarray, U: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """U with the reaction Λ (rows, k) of rows a that keep their δ, which would move by H_a `end`."""
    if not len(a):
        return U, np.zeros((0, U.shape[1]))
    acting = H.take(a).to_csr()
    back = factor.solve(acting.T.toarray())
    W = acting @ back + np.diag(c.compliance[a])
    reaction = -np.linalg.lstsq(W, acting @ end, rcond=None)[0]
    return U + back @ reaction, reaction
