"""A synthetic stand-in for the rubber-band experiment of Mirano's thesis (§3), which prints no numbers.

A band of 0.35 m, stretched to 1.15 m (L₀ = 0.80 m) over pulleys 0.40 m apart, is pressed down at a grid of 10
× 6 points; each component of the force carries a normal error of 2 % of the force. `write(path)` made the
file that is shipped, with this seed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.membrane.identification import predicted
from pliant.membrane.measurements import Measurements, read_measurements

ENDS = ((-0.2, 0.0), (0.2, 0.0))  # [m]
STIFFNESS, PRELOAD = 20.0, 0.80  # [N/m], [m]
NOISE, SEED = 0.02, 1
ACROSS, DOWN = np.linspace(-0.15, 0.15, 10), np.linspace(0.02, 0.14, 6)  # [m]
FILE = Path(__file__).with_suffix(".csv")


def rubber_band() -> Measurements:
    """The shipped measurements: 60 forces with an error of 2 %."""
    return read_measurements(FILE)


def synthesise(
    *, stiffness: float = STIFFNESS, preload: float = PRELOAD, noise: float = NOISE, seed: int = SEED
) -> Measurements:
    """The same experiment with another band or another seed."""
    points = np.array([(x, -y) for y in DOWN for x in ACROSS])
    exact = predicted(Measurements.of(ENDS, points, np.zeros_like(points)), stiffness, preload)
    size = np.linalg.norm(exact, axis=1, keepdims=True)
    error = np.random.default_rng(seed).normal(size=exact.shape)
    return Measurements.of(ENDS, points, exact + noise * size * error)


def write(path: str | Path, measurements: Measurements | None = None) -> Path:
    """Write measurements as CSV, by default the shipped ones made anew."""
    m = synthesise() if measurements is None else measurements
    (ax, ay), (bx, by) = m.ends
    lines = [
        "# Synthetic: forces of a stretched band on a roller; see rubber_band.py.",
        f"# pulley_a = {ax:g}, {ay:g}",
        f"# pulley_b = {bx:g}, {by:g}",
        "x [m],y [m],force_x [N],force_y [N]",
    ]
    lines += [f"{x:.6f},{y:.6f},{fx:.5f},{fy:.5f}" for (x, y), (fx, fy) in zip(m.points, m.force)]
    path = Path(path)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
