"""Bellows: a corrugated tube with closed ends and one cavity."""

from __future__ import annotations

import numpy as np

from pliant.errors import InputError
from pliant.mesh.generate.disc import ON_SURFACE, disc, round_off, sweep
from pliant.mesh.generate.grid import at_least, finish, positive
from pliant.mesh.mesh import Mesh

THICKEST_WALL = 0.9  # of the radius of curvature of the outer wall: the inner one would fold


def bellows(
    length: float = 0.08,
    *,
    radius: float = 0.014,
    amplitude: float = 0.0025,
    wall: float = 0.0015,
    end: float = 0.004,
    convolutions: int = 5,
    around: int = 16,
    across: int = 1,
    steps: int = 4,
    kind: str = "tet",
    order: int = 1,
) -> Mesh:
    """A bellows from z = 0 to z = `length`, with one closed cavity. All lengths in metres.

    Between solid ends of thickness `end` its outer radius is radius − amplitude cos 2πns, where s goes from
    0 to 1 through n `convolutions`; the `wall` has the same thickness everywhere. Cells: `around` the axis
    (a multiple of 4), `across` the wall, `steps` along each convolution. With `order=2` mid nodes lie on
    true circles.
    """
    positive(length=length, radius=radius, wall=wall, end=end)
    at_least(1, convolutions=convolutions, across=across)
    at_least(2, steps=steps)
    if 2 * end >= length:
        raise InputError("end", expected=f"less than half the length, {length / 2:g} m", got=end)
    if not 0 <= amplitude < radius - wall:
        raise InputError(
            "amplitude", expected=f"from 0 to radius − wall = {radius - wall:g} m", got=amplitude
        )
    outer, inner = _profile(length - 2 * end, radius, amplitude, wall, convolutions, steps)

    points, quads = disc(around, 1 + across)
    n, circle = len(points), points[-around:]
    core = n - (1 + across) * around
    z = np.concatenate([[0.0], end + outer[:, 1], [length]])
    rows = np.concatenate([[0], np.arange(len(outer)), [len(outer) - 1]])  # solid ends continue the wall
    nodes, cells = sweep(points, quads, z)
    layers = nodes.reshape(len(z), n, 3)
    layers[:, :core, :2] *= inner[rows, 0][:, None, None]
    for ring in range(1 + across):
        share = ring / across
        r, dz = (inner + share * (outer - inner))[rows].T - np.array([[0], [1]]) * outer[rows, 1]
        span = slice(core + ring * around, core + (ring + 1) * around)
        layers[:, span, :2] = r[:, None, None] * circle
        layers[:, span, 2] += dz[:, None]
    filled = np.zeros(len(z) - 1, bool)
    filled[[0, -1]] = True
    in_wall = np.arange(len(quads)) >= len(quads) - across * around
    kept = np.repeat(filled, len(quads)) | np.tile(in_wall, len(filled))

    def curve(ends: np.ndarray, middle: np.ndarray) -> np.ndarray:
        far = np.linalg.norm(ends[:, :, :2], axis=2) > inner[:, 0].min() * (1 - ON_SURFACE)
        return round_off(ends, middle, where=far.all(axis=1))

    return finish(nodes, cells[kept], kind=kind, order=order, curve=curve)


def _profile(
    length: float, radius: float, amplitude: float, wall: float, convolutions: int, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Outer and inner (r, z) of the corrugated wall, (n, 2): inner is outer moved along its normal."""
    wave = 2 * np.pi * convolutions / length
    if amplitude * wave**2 * wall > THICKEST_WALL:
        raise InputError(
            "wall",
            expected=f"less than {THICKEST_WALL} of the radius of curvature, "
            f"{1 / (amplitude * wave**2):.3g} m",
            got=wall,
            hint="Fewer convolutions or a smaller amplitude bend less sharply.",
        )
    z = np.linspace(0, length, convolutions * steps + 1)
    slope = amplitude * wave * np.sin(wave * z)
    normal = np.column_stack([np.ones_like(z), -slope]) / np.hypot(1, slope)[:, None]
    outer = np.column_stack([radius - amplitude * np.cos(wave * z), z])
    return outer, outer - wall * normal
