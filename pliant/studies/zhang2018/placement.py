"""Part 7: where to put six markers on the robot for three forces, in four postures; against chance."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pliant.errors import PliantWarning
from pliant.laws import Known
from pliant.sensing import ForceEstimator, place_markers
from pliant.sensing import places as spread
from pliant.sensing.identifiability import paper_index
from pliant.studies.check import Check
from pliant.studies.figures import INK, LINES, heading, new_figure
from pliant.studies.study import Findings, Picture
from pliant.studies.zhang2018.lab import Lab
from pliant.studies.zhang2018.pictures import BODY, FOUND, MARKER, NONE, looked_at

COUNT, SPACING = 6, 0.012  # markers, and the spacing of places for them [m]
RANDOM_CHOICES = 300
LAYOUT = "r5"
PULLED = (
    {},
    {"cable 1": Known(effort=2.0)},
    {"cable 2": Known(effort=2.0)},
    {f"cable {n}": Known(effort=2.0) for n in range(1, 5)},
)
TEXT = (
    "Six of the places on the upper skin of the robot, 12 mm apart, for the three forces of layout r5 in "
    "all components: those of the least I_w in the worst of four postures (at rest, one cable or another at "
    "2 N, all of them). Beside it I_w of 300 random choices of six."
)


def placement(lab: Lab) -> Findings:
    """Chosen places, and their picture."""
    robot, layout, rng = lab.build("r"), lab.layout(LAYOUT), lab.setup.rng("placement")
    places = spread(robot, SPACING, lambda x: x[:, 2] > 0.02).points
    chosen = place_markers(robot, places, layout.candidates, COUNT, postures=PULLED)
    fields = [_field(robot, places, layout.candidates, laws) for laws in PULLED]
    chance = []
    for _ in range(RANDOM_CHOICES):
        which = rng.choice(len(places), COUNT, replace=False)
        chance.append(max(paper_index(f[which].reshape(-1, f.shape[2])) for f in fields))
    figure, axes = new_figure(9.0, 3.6, 1, 2)
    _draw(axes[0, 0], robot, places.rest, chosen.positions, layout.candidates)
    _compare(axes[0, 1], np.array(chance), chosen.worst)
    checks = [
        Check.at_most("I_w chosen over the best of 300 random choices", chosen.worst / min(chance), 1.0),
        Check("I_w chosen, worst posture", chosen.worst, unit="N/mm"),
        Check("I_w of random choices, median", float(np.median(chance)), unit="N/mm"),
    ]
    return Findings(
        "Placement of markers",
        TEXT,
        checks=checks,
        pictures=[Picture("placement", "Places chosen, and I_w of random choices.", figure)],
    )


def _field(robot: Any, places: Any, candidates: np.ndarray, laws: dict[str, Known]) -> np.ndarray:
    """W_ef (n, 3, forces) of all places in one posture."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PliantWarning)
        estimator = ForceEstimator(robot, places, candidates, laws=laws)
    A = estimator.model.influence(estimator.pose, estimator.commands)
    return A.reshape(-1, 3, A.shape[1])


def _draw(ax: Any, robot: Any, places: np.ndarray, chosen: np.ndarray, forces: np.ndarray) -> None:
    flat = looked_at(ax, robot, robot.positions(robot.rest.q), BODY)
    ax.plot(*flat(places).T, "o", markerfacecolor="white", markeredgecolor=NONE, markersize=3.4, zorder=4)
    ax.plot(*flat(chosen).T, "o", color=MARKER, markersize=6, zorder=5, label="chosen")
    ax.plot(*flat(forces).T, "x", color=FOUND, markersize=7, markeredgewidth=2, zorder=6, label="forces")
    ax.legend(frameon=False, fontsize=8, labelcolor=INK, loc="upper right")
    ax.set_axis_off()
    heading(ax, f"{COUNT} of {len(places)} places")


def _compare(ax: Any, chance: np.ndarray, chosen: float) -> None:
    good = chance[np.isfinite(chance)]
    bins = np.geomspace(min(chosen, good.min()) * 0.8, good.max() * 1.2, 30)
    ax.hist(good, bins=bins, color=LINES[3], alpha=0.6)
    ax.axvline(chosen, color=LINES[0], linewidth=2)
    ax.set_xscale("log")
    ax.set_xlabel("I_w in the worst posture [N/mm]")
    ax.set_ylabel("random choices")
    heading(ax, "chosen (line) and random choices")
