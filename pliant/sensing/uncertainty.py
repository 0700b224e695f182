"""Covariance of estimated efforts: from the noise of readings, and from what the model does not know exactly.

    x̂ − x = G (noise + S θ)        Cov x̂ = G Gᵀ + G S Σ_θ Sᵀ Gᵀ

G is the gain of the fit on whitened readings; columns of S are ∂δ_s/∂θ over the noise, where θ is ln E with
deviation σ_E/E, and the errors of commands that are not estimated themselves. Where the scale s of all loads
is estimated (Young's modulus over s), true efforts are x/s, and their gain is (G_x − λ G_s)/s. Where it might
have been and the residuals did not ask for it, an error of s moves them by G A_s + λ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.sensing.condensed import Commands
from pliant.sensing.doubts import command_factor
from pliant.sensing.judgement import load_errors
from pliant.sensing.least_squares import UNDETERMINED
from pliant.sensing.pose import Move
from pliant.sensing.roles import Roles


def covariance(move: Move, roles: Roles, shared: np.ndarray, commands: Commands, young: float) -> np.ndarray:
    """Covariance (nf, nf) of the unknown efforts without their bounds.

    Errors that do not act in the fit widen it; `shared` (ns, k) are those that readings have in common. The
    variance is infinite of what has a share in directions that no reading determines.
    """
    nf, seen = len(roles.unknown), move.white.seen
    gain = np.zeros((len(move.columns), len(move.white.b)))
    gain[move.columns] = move.fit.gain
    scale = gain[-1] if commands.scale else 0.0
    lam = move.pose.lam[roles.unknown] / move.pose.scale
    gain = (gain[:nf] - np.outer(lam, scale) if commands.scale else gain[:nf]) / move.pose.scale
    readings = int(seen.sum())
    spread = lambda columns: gain[:, :readings] @ move.weights.whitened(columns, seen)
    parts = [gain, *(spread(columns) for columns in _widening(move, roles, commands, young))]
    parts.append(_idle(move, roles, shared, commands, spread, lam) @ move.judgement.left)
    out = np.sum([part @ part.T for part in parts], axis=0)
    if move.fit.rank < move.fit.gain.shape[0]:
        determined = np.ones(len(move.columns))
        determined[move.columns] = np.einsum("ij,ji->i", move.fit.gain, move.white.A)
        unseen = np.flatnonzero(determined[:nf] < 1.0 - UNDETERMINED)
        out[unseen, unseen] = np.inf
    return out


def _idle(move: Move, roles: Roles, shared: np.ndarray, commands: Commands, spread: Any, lam: np.ndarray):
    """(nf, k): what one deviation of each error that might have acted, and does not, adds to the efforts."""
    parts = [np.zeros((len(lam), 0))]
    if not move.judgement.loads:
        errors = spread(load_errors(move.system, roles, commands))
        if commands.scale:
            errors[:, -1] += commands.scale * lam
        parts.append(errors)
    if not move.judgement.offset:
        parts.append(spread(shared))
    return np.column_stack(parts)


def _widening(move: Move, roles: Roles, commands: Commands, young: float) -> list[np.ndarray]:
    """What one deviation of each error that is not to be estimated adds to the readings, (ns, k) each."""
    nf, na, A, out = len(roles.unknown), len(commands.rows), move.system.A, []
    if young and not commands.scale:
        out.append(young * move.system.young[:, None])
    if na and not commands.estimated:
        out.append(A[:, nf : nf + na] @ command_factor(roles, commands))
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
