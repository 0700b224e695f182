"""Part 9: which point of the tracker is which marker, by the paper's rule and by ours.

The paper takes for each marker of the model the nearest point that is seen; if that is farther than a
threshold, the marker is hidden. It prints no threshold: here both rules have the same, half the smallest
distance of two markers. Ours assigns each point once, after an offset that all share is removed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.io.table import Table
from pliant.sensing import MarkerTracker
from pliant.studies.study import Findings
from pliant.studies.zhang2018.lab import Lab

NOISE = 1e-4  # [m]
HIDDEN = 0.3  # share of the markers
FRAMES = 200
MOVES = (0.0, 0.3, 0.6)  # of the gate: how far all markers moved since the model was brought up to date
LAYOUTS = ("s1", "s7", "r1", "r7")
TEXT = (
    "Unlabelled points with 0.1 mm of noise, 30 % of the markers hidden, and one reflection that is no "
    "marker, anywhere in the box of the robot. The model is at rest; all markers have moved together in a "
    "random direction since, by a share of the threshold. A frame is right where every marker that is seen "
    "has its point and no hidden one has any. Same frames for both rules. A reflection near a hidden marker "
    "is taken for it by any rule, so that nothing is claimed."
)


def marker_rule(lab: Lab) -> Findings:
    """Shares of frames that are labelled right."""
    table = Table(
        "Frames labelled right",
        ("case", "gate [mm]", "moved, of the gate", "paper's rule", "ours"),
    )
    for name in LAYOUTS:
        tracker = MarkerTracker(lab.estimator(name))
        for move in MOVES:
            rng = lab.setup.rng(f"marker rule {name} {move}")
            right = np.mean([_right(tracker, move, rng) for _ in range(FRAMES)], axis=0)
            cells = {"gate [mm]": 1e3 * tracker.gate, "moved, of the gate": move}
            cells |= {"paper's rule": float(right[0]), "ours": float(right[1])}
            table.add(case=name, **cells)
    return Findings("Which marker a point is", TEXT, [table])


def _right(tracker: MarkerTracker, move: float, rng: np.random.Generator) -> tuple[bool, bool]:
    """Whether one frame is labelled right by the paper's rule, and by ours."""
    model = tracker.expected
    way = rng.normal(size=3)
    seen = rng.permutation(len(model))[: round((1.0 - HIDDEN) * len(model))]
    moved = model + move * tracker.gate * way / np.linalg.norm(way)
    points = (moved + NOISE * rng.normal(size=model.shape))[seen]
    cloud = np.vstack([points, rng.uniform(model.min(axis=0), model.max(axis=0))])
    truth = np.full(len(model), -1)
    truth[seen] = np.arange(len(seen))
    rules: Sequence[np.ndarray] = (nearest(cloud, model, tracker.gate), tracker.allocate(cloud).index)
    return bool((rules[0] == truth).all()), bool((rules[1] == truth).all())


def nearest(points: np.ndarray, model: np.ndarray, gate: float) -> np.ndarray:
    """The paper's rule: (m,) number of the nearest point of each marker, −1 where it is beyond the gate."""
    away = np.linalg.norm(points[None] - model[:, None], axis=2)
    return np.where(away.min(axis=1) <= gate, away.argmin(axis=1), -1)
