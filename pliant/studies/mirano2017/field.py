"""The force field of a membrane (§3): what it exerts on a point pressed into it, Figs 3-2 and 3-3."""

from __future__ import annotations

import numpy as np

from pliant.membrane.bodies import At, PlanarBody
from pliant.membrane.cable import Membrane, Over
from pliant.membrane.data.rubber_band import ENDS, PRELOAD, STIFFNESS
from pliant.membrane.joints import Translating
from pliant.membrane.mechanism import Mechanism
from pliant.membrane.shapes import Disc
from pliant.membrane.wrapping import LEFT
from pliant.studies.check import Check
from pliant.studies.figures import LINES, heading, new_figure
from pliant.studies.mirano2017.lab import Lab
from pliant.studies.study import Findings, Picture

SCALE = 1.5e-3  # [m/N] of the arrows
TEXT = (
    "A point pressed into a membrane between two pulleys feels F = −k (L − L_rest)(û₁ + û₂), û from the "
    "pulleys to the point, with L_rest = |p₂ − p₁| − L₀: the thesis prints this with a stray ½ and −L₀ for "
    "a stretch. Here the force comes out of the mechanism, with the point as a pulley of radius zero. The "
    "measurements are synthetic, with the noise of this run's seed: the thesis prints its figures only."
)


def membrane_scene() -> Mechanism:
    """The band of §3.2 between the pulleys, behind which most of it lies, and a point below it."""
    body = PlanarBody("point", Translating(start=(0.0, -0.05)), 0.1, shape=Disc(0.0))
    path = [At("world", ENDS[0]), Over("point", LEFT), At("world", ENDS[1])]
    return Mechanism([body], cables=[Membrane("band", path, STIFFNESS, preload=PRELOAD)])


def formula(p: np.ndarray) -> np.ndarray:
    """The thesis's force, corrected, (2,) [N]."""
    one, two = p - ENDS[0], p - ENDS[1]
    a, b = float(np.linalg.norm(one)), float(np.linalg.norm(two))
    span = float(np.linalg.norm(np.subtract(ENDS[1], ENDS[0])))
    return -STIFFNESS * (a + b - span + PRELOAD) * (one / a + two / b)


def field(lab: Lab) -> Findings:
    """The field, and the measurements against it."""
    mech, data = membrane_scene(), lab.band
    model = np.array([mech.forces(p) for p in data.points])
    exact = np.array([formula(p) for p in data.points])
    mirrored = np.array([mech.forces(p * (-1.0, 1.0)) * (-1.0, 1.0) for p in data.points])
    size = float(np.abs(model).max())
    error = np.linalg.norm(data.force - model, axis=1) / np.linalg.norm(model, axis=1)
    checks = [
        Check.at_most(
            "force of the mechanism against the formula, relative",
            float(np.abs(model - exact).max()) / size,
            1e-12,
        ),
        Check.at_most(
            "left against right, relative",
            float(np.abs(model - mirrored).max()) / size,
            1e-12,
            paper="symmetric",
        ),
        Check.at_most(
            "measured against model, root mean square",
            float(np.sqrt((error**2).mean())),
            0.035,
            paper="very close",
        ),
    ]
    pictures = [
        Picture(
            "field",
            "Forces of the membrane: model (dark), measured (orange), and their mirror images (teal).",
            _arrows(data, model),
        ),
        Picture("forces", "Measured forces against the model's.", _scatter(data.force, model)),
    ]
    return Findings("Force field of a membrane (Figs 3-2, 3-3)", TEXT, checks=checks, pictures=pictures)


def _arrows(data, model: np.ndarray):
    figure, axes = new_figure(7.2, 4.2)
    ax = axes[0, 0]
    ax.plot(*np.array(ENDS).T, "o-", color="black", linewidth=1.0)
    draw = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 2.2e-3}
    p = data.points
    ax.quiver(*(p * (-1.0, 1.0)).T, *(SCALE * data.force * (-1.0, 1.0)).T, color=LINES[1], alpha=0.5, **draw)
    ax.quiver(*p.T, *(SCALE * data.force).T, color=LINES[0], **draw)
    ax.quiver(*p.T, *(SCALE * model).T, color="black", **draw)
    ax.set_aspect("equal")
    ax.set_xlim(-0.23, 0.23)
    ax.set_ylim(-0.17, 0.08)
    ax.set_xlabel("x [m]")
    ax.set_ylabel("y [m]")
    heading(ax, f"arrows: {1.0 / SCALE:.0f} N per metre")
    return figure


def _scatter(measured: np.ndarray, model: np.ndarray):
    figure, axes = new_figure(4.2, 4.0)
    ax = axes[0, 0]
    for k, name in enumerate(("x", "y")):
        ax.plot(measured[:, k], model[:, k], "o", color=LINES[k], markersize=3.5, label=f"along {name}")
    both = np.array([min(measured.min(), model.min()), max(measured.max(), model.max())])
    ax.plot(both, both, color="black", linewidth=0.8)
    ax.set_xlabel("measured [N]")
    ax.set_ylabel("model [N]")
    ax.legend(frameon=False, fontsize=8)
    return figure
