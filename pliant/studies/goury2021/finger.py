"""The finger's contact modes (Fig. 7)."""

from __future__ import annotations

import numpy as np

from pliant.reduction import ContactFit, factorisation
from pliant.studies.check import Check
from pliant.studies.figures import heading, new_figure
from pliant.studies.goury2021.drawing import draw_arrows, mode_arrows, show
from pliant.studies.goury2021.fingers import PAPER, POINTS, SMOOTH, Finger
from pliant.studies.goury2021.lab import Lab
from pliant.studies.goury2021.paper import FINGER_POINTS, FINGER_SHOTS
from pliant.studies.study import Findings, Picture


def modes(lab: Lab) -> Findings:
    """Fig. 7."""
    finger = lab.fingers()[0]
    fit, shots = finger.fits[SMOOTH], finger.shots
    samples = len(finger.full.surroundings.samples)  # type: ignore[arg-type]
    touching = (shots.contact > 0).sum(axis=1)
    falls = bool((np.diff(fit.errors) <= 1e-9).all())
    checks = [
        Check.compared("collision points", samples, paper=FINGER_POINTS, why="made to have about as many"),
        Check.compared(
            "snapshots", len(shots), paper=FINGER_SHOTS, why="as many as the paper in the full setting"
        ),
        Check("snapshots left out", len(shots.skipped)),
        Check("points that push when fully pulled", int(touching[-1])),
        Check("points that push in any snapshot", int(shots.contact.any(axis=0).sum())),
        Check.holds("the error of the snapshots falls with every mode", falls),
        Check("error of the snapshots with 5 modes, nested HALS", 100 * fit.errors[-1], unit="%"),
        Check("the same, clipped ALS as in the paper", 100 * finger.fits[PAPER].errors[-1], unit="%"),
        Check("left out by the points of the default choice", 100 * finger.fits[POINTS].errors[-1], unit="%"),
    ]
    text = (
        f"{finger.name[0].upper()}{finger.name[1:]}. Modes by nested HALS, drawn as arrows on the finger "
        "in the snapshot in which each pushes most."
    )
    data = {"errors": fit.errors.tolist(), "pushing": touching.tolist()}
    return Findings(
        "Contact modes of the finger", text, checks=checks, pictures=[_modes(finger, fit)], data=data
    )


def _modes(finger: Finger, fit: ContactFit) -> Picture:
    shots, robot = finger.shots, finger.full
    B = factorisation.projected(fit.basis.modes, shots.contact[:, fit.basis.index].T)
    count = min(4, len(fit.basis))
    figure, axes = new_figure(9.6, 2.6, 1, count)
    for mode, ax in enumerate(axes.ravel()):
        q = shots.coordinates[int(np.argmax(B[mode]))]
        camera = show(ax, robot, q, finger.view)
        draw_arrows(ax, camera, *mode_arrows(robot, fit.basis, mode, q), 0.02)
        heading(ax, f"mode {mode + 1}")
    return Picture("modes", "Four contact modes as arrows, as in the paper's Fig. 7.", figure)
