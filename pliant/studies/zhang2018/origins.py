"""Whose robots, methods and settings are in this study."""

from __future__ import annotations

from pliant.studies.conditions import Conditions
from pliant.studies.provenance import Choice, Share

SHARES = (
    Share("sheet", "4923 linear tetrahedra", "4840, ours", "neither sizes nor a mesh are public"),
    Share("parallel robot", "4147 linear tetrahedra", "4080, ours", "the authors' mesh is not read yet"),
    Share("layouts of markers and candidates", "figures", "ours, of the same kind", "no places are printed"),
    Share("estimator", "plain least squares", "the same, and one with doubts", ""),
)
CHOICES = (
    Choice("layouts", "robots/", "on I_w near the paper's"),
    Choice("noise, hidden markers, forces", "the study's seed", "on nothing"),
)


def robots(conditions: Conditions) -> str:
    """Whose robots are used."""
    return "Sheet and robot are look-alikes of our own, not the authors'."
