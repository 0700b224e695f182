"""The tracker's coordinates in the robot's: a rigid motion that brings points onto points (Kabsch 1976)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, as_floats

WRONG_UNIT = 30.0  # ratio of spreads, or its inverse, that no rigid motion explains
COLLINEAR = 1e-6  # second largest spread over the largest: below that, points lie on a line


@dataclass(frozen=True)
class Rigid:
    """x ↦ R x + t, and the root mean square distance [m] that was left."""

    rotation: np.ndarray
    translation: np.ndarray
    rms: float = 0.0

    def apply(self, points: ArrayLike) -> np.ndarray:
        """Points (n, 3) moved."""
        return np.asarray(points, float) @ self.rotation.T + self.translation

    @property
    def inverse(self) -> Rigid:
        """The motion back."""
        return Rigid(self.rotation.T, -self.rotation.T @ self.translation, self.rms)


def register(source: ArrayLike, target: ArrayLike) -> Rigid:
    """The rigid motion with the least Σ‖R sᵢ + t − tᵢ‖² over pairs (n, 3) [m]; NaN are left out."""
    s = as_floats("source", source, "points (n, 3)")
    t = as_floats("target", target, "points (n, 3)")
    if s.ndim != 2 or s.shape[1] != 3 or s.shape != t.shape:
        raise InputError(
            "source and target", expected="points (n, 3) each", got=f"shapes {s.shape} and {t.shape}"
        )
    good = np.isfinite(s).all(axis=1) & np.isfinite(t).all(axis=1)
    if good.sum() < 3:
        raise InputError("source and target", expected="at least three pairs", got=f"{good.sum()}")
    s, t = s[good], t[good]
    middle, aim = s.mean(axis=0), t.mean(axis=0)
    spread = np.linalg.svd(s - middle, compute_uv=False)
    if spread[1] <= COLLINEAR * spread[0]:
        raise InputError("source", expected="points that do not lie on one line", got="points on a line")
    check_size(s, t)
    U, _, Vt = np.linalg.svd((s - middle).T @ (t - aim))
    mirror = np.diag([1.0, 1.0, np.sign(np.linalg.det(Vt.T @ U.T))])
    R = Vt.T @ mirror @ U.T
    move = aim - R @ middle
    rms = float(np.sqrt(((s @ R.T + move - t) ** 2).sum(axis=1).mean()))
    return Rigid(R, move, rms)


def check_size(points: np.ndarray, model: np.ndarray) -> None:
    """Raise InputError where the spread of points (n, 3) and of a model (m, 3) show different units."""
    size = lambda x: float(np.sqrt(((x - x.mean(axis=0)) ** 2).sum(axis=1).mean()))
    ratio = size(points) / max(size(model), 1e-300)
    if ratio > WRONG_UNIT or 0.0 < ratio < 1.0 / WRONG_UNIT:
        factor = 10.0 ** round(float(np.log10(ratio)))
        hint = f"Are they in another unit? Divide by {factor:g}."
        raise InputError(
            "points", expected="metres", got=f"points spread {ratio:.3g} times as wide", hint=hint
        )
