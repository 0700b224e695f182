"""Whose hands, methods and settings are in this study."""

from __future__ import annotations

from pliant.studies.conditions import Conditions
from pliant.studies.provenance import Choice, Share

SHARES = (
    Share("hand", "two fingers of three joints, no dimensions", "ours, soft_hand()", "none are printed"),
    Share("measured forces of the band", "curves", "synthetic, with 2 % of noise", "no numbers are printed"),
    Share("stiffness, damping, gains, period", "150, 550, 0.1, 0.58, 0.053 s, 500", "the same", ""),
    Share(
        "targets of Fig. 4-5", "(0, 0) and (0.5, 1.0)", "the same, in a hand of 4 m", "units are not printed"
    ),
)
CHOICES = (
    Choice("masses and drag of the hand", "1 kg, 5 kg, 1 N·s/m", "on nothing: the thesis prints none"),
    Choice("gains of PID", "0.4, 0.2, 0.05", "on the same targets"),
    Choice("random grasps, places, forces", "the study's seed", "on nothing"),
)


def robots(conditions: Conditions) -> str:
    """Whose hands are used."""
    unread = "" if conditions.data is None else f" Nothing in {conditions.data} is read by this study."
    return f"The thesis prints no dimensions: all hands are our own.{unread}"
