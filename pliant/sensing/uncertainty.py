"""Covariance of estimated efforts: from the noise of readings, and from what the model does not know exactly.

    x̂ − x = G (noise + S θ)        Cov x̂ = G Gᵀ + G S Σ_θ Sᵀ Gᵀ

G is the gain of the fit on whitened readings; columns of S are ∂δ_s/∂θ over the noise, where θ is ln E with
deviation σ_E/E, and the errors of commands that are not estimated themselves. Where the scale s of all loads
is estimated (Young's modulus over s), true efforts are x/s, and their gain is (G_x − λ G_s)/s.
"""

from __future__ import annotations

import numpy as np

from pliant.sensing.condensed import Commands
from pliant.sensing.doubts import shared_error
from pliant.sensing.least_squares import UNDETERMINED
from pliant.sensing.pose import Move
from pliant.sensing.roles import Roles
from pliant.sensing.weights import Weights


def covariance(move: Move, roles: Roles, weights: Weights, commands: Commands, young: float) -> np.ndarray:
    """Covariance (nf, nf) of the unknown efforts without their bounds.

    The variance is infinite of what has a share in directions that no reading determines.
    """
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
        if commands.shared:
            doubtful.append(move.system.A[:, nf : nf + len(commands.rows)] @ shared_error(roles, commands))
    if doubtful:
        moved = gain[:, :readings] @ weights.whitened(np.column_stack(doubtful), seen)
        out = out + moved @ moved.T
    if move.fit.rank < move.fit.gain.shape[0]:
        determined = np.ones(len(move.columns))
        determined[move.columns] = np.einsum("ij,ji->i", move.fit.gain, move.white.A)
        unseen = np.flatnonzero(determined[:nf] < 1.0 - UNDETERMINED)
        out[unseen, unseen] = np.inf
    return out


def contact_deviation(move: Move, roles: Roles, contacts: int) -> tuple[np.ndarray, float]:
    """Standard deviations [N] of contact forces (n,) and of their sum, from the noise of readings alone.

    λ_u = −reaction·(x, 1). The deviation is zero where nothing touches, infinite where readings do not
    determine what pushes there.
    """
    first, active = len(roles.solved), np.flatnonzero(move.active)  # contacts stand below the robot's rows
    reaction = move.system.reaction[active >= first, :-1][:, move.columns]
    reaction = np.concatenate([reaction, reaction.sum(axis=0, keepdims=True)])
    moved = reaction @ move.fit.gain
    deviation = np.linalg.norm(moved, axis=1) / move.pose.scale
    if move.fit.rank < move.fit.gain.shape[0]:
        left = np.abs(reaction - moved @ move.white.A).max(axis=1, initial=0.0)
        deviation[left > UNDETERMINED * np.abs(reaction).max(initial=1e-300)] = np.inf
    out = np.zeros(contacts)
    out[active[active >= first] - first] = deviation[:-1]
    return out, float(deviation[-1])
