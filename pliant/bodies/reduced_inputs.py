"""What a reduced body may be made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.bodies.solid import Solid
from pliant.errors import InputError

STILL = 1e-9  # of a mode's largest motion: less at a fixed node is rounding


def checked_body(body: Any) -> Solid:
    """A body that can be reduced, or an InputError that says why not."""
    if not isinstance(body, Solid):
        hint = "Rods and shells have rotations among their coordinates, which modes cannot add up."
        raise InputError("body to reduce", expected="a Solid", got=type(body).__name__, hint=hint)
    if len(body.z0):
        hint = "A law with ν = 0.49 that does not soften can be reduced."
        got = "a law that softens" if body.softens else "an incompressible law"
        raise InputError("body to reduce", expected="no internal variables of cells", got=got, hint=hint)
    if body.region_masses:
        expected = "a body whose rigid regions weigh what their cells do"
        raise InputError("body to reduce", expected=expected, got="one with masses of regions")
    return body


def checked_modes(modes: Any, body: Solid) -> np.ndarray:
    """Modes (n, 3, k) of a body, exactly zero where it is fixed."""
    shapes = np.asarray(modes, float)
    n, k = len(body.coordinates.rest), len(body.mesh.nodes)
    if shapes.ndim != 3 or shapes.shape[1] != 3 or shapes.shape[0] not in (n, k) or not shapes.shape[2]:
        raise InputError("modes", expected=f"shape ({n}, 3, modes) for this body", got=shapes.shape)
    if shapes.shape[0] < n:
        hint = "Modes of a body with rigid regions go over their frame nodes too: coordinates.rest."
        raise InputError("modes", expected=f"{n} nodes", got=k, hint=hint)
    if not np.isfinite(shapes).all():
        raise InputError(
            "modes", expected="finite numbers", got=f"{(~np.isfinite(shapes)).sum()} that are not"
        )
    largest = np.linalg.norm(shapes, axis=1).max(axis=0)
    if not largest.all():
        raise InputError(
            "modes", expected="motions", got=f"mode {int(np.argmin(largest))} is zero everywhere"
        )
    fixed = np.zeros((n, 3), bool)
    fixed[:k] = body.fixed
    motion = np.abs(shapes[fixed]).max(axis=0, initial=0.0) / largest
    if (motion > STILL).any():
        got = f"mode {int(np.argmax(motion))} moves them"
        raise InputError("modes", expected="zero at fixed nodes", got=got)
    return np.where(fixed[:, :, None], 0.0, shapes)


def checked_cells(cells: Any, weights: Any, every: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells (m,) and weights (m,); all of `every` with weight one if none are given."""
    if (cells is None) != (weights is None):
        raise InputError("cells of a Reduced", expected="cells and weights, or neither", got="one of them")
    if cells is None:
        return every, np.ones(len(every))
    chosen, w = np.asarray(cells, np.int64).ravel(), np.asarray(weights, float).ravel()
    strange = np.setdiff1d(chosen, every)
    if chosen.shape != w.shape or not len(chosen) or len(strange) or len(np.unique(chosen)) < len(chosen):
        got = f"cell {strange[0]}" if len(strange) else f"{len(chosen)} cells and {len(w)} weights"
        raise InputError("cells of a Reduced", expected="different cells of the body, a weight each", got=got)
    if not (np.isfinite(w).all() and (w > 0).all()):
        raise InputError("weights of a Reduced", expected="positive numbers", got=float(w.min()))
    return chosen, w
