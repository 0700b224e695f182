"""Covariance of estimated efforts: from the noise of readings, and from what the model does not know exactly.

    x̂ − x = G (noise + S θ)        Cov x̂ = G Gᵀ + G S Σ_θ Sᵀ Gᵀ

G is the gain of the fit on whitened readings; columns of S are ∂δ_s/∂θ over the noise: θ is ln E with deviation σ_E/E, and the errors
of commands that are not estimated themselves. Where the scale s of all loads is estimated (Young's modulus over s), true efforts are
x/s, and their gain is (G_x − λ G_s)/s.
"""

from __future__ import annotations

import numpy as np

from pliant.sensing.condensed import Commands
from pliant.sensing.pose import Move
from pliant.sensing.roles import Roles
from pliant.sensing.weights import Weights


def covariance(move: Move, roles: Roles, weights: Weights, commands: Commands, young: float) -> np.ndarray:
    """Of the unknown efforts (nf, nf), bounds left aside; infinite where nothing is known."""
    nf, seen = len(roles.unknown), move.white.seen
    gain = np.zeros((len(move.columns), len(move.white.b)))
    gain[move.columns] = move.fit.gain
    scale = gain[-1] if commands.scale else 0.0
    lam = move.pose.lam[roles.unknown] / move.pose.scale
    gain = (gain[:nf] - np.outer(lam, scale) if commands.scale else gain[:nf]) / move.pose.scale
    out = gain @ gain.T
    readings = int(seen.sum())
    doubtful = []
    if young and not commands.scale:
        doubtful.append(young * move.system.young)
    if not commands.estimated:
        doubtful += [s * move.system.A[:, nf + k] for k, s in enumerate(commands.sigma)]
    if doubtful:
        moved = gain[:, :readings] @ weights.whitened(np.column_stack(doubtful), seen)
        out = out + moved @ moved.T
    if (
        move.fit.rank < move.fit.gain.shape[0]
    ):  # infinite variance for what has a share in directions that no reading determines
        determined = np.ones(len(move.columns))
        determined[move.columns] = np.einsum("ij,ji->i", move.fit.gain, move.white.A)
        unseen = np.flatnonzero(determined[:nf] < 1.0 - 1e-6)
        out[unseen, unseen] = np.inf
    return out
