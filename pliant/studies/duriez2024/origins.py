"""Whose robots, methods and settings are in this study."""

from __future__ import annotations

from pliant.studies.provenance import Choice, Share
from pliant.studies.setup import Setup

SHARES = (
    Share(
        "two-piston robot",
        "W_aa, W_ea, J and two increments",
        "a block of 60 × 60 × 72 mm, and a column that has the printed W",
        "the report gives no robot",
    ),
    Share("the deformed two-piston robot", "matrices in a figure", "not compared", "no digits to read"),
    Share(
        "models of actuators, sensors, effectors",
        "equations",
        "the registries, each against a second way",
        "",
    ),
    Share("reduction (§6.1)", "modal and POD", "both, on a bar with a cable", "no robot is named"),
    Share("specimens", "none", "a bar, a rod and a tube of 0.1 m", "any would do"),
)
CHOICES = (
    Choice("half width of the column", "50 mm", "on nothing: it scales the increments only"),
    Choice("bounds on errors", "in the parts", "on the order of the element or the solver's tolerance"),
    Choice(
        "dimensions and modulus of the block",
        "whole millimetres; 2.67 kPa",
        "on the printed W: its ratios give the proportions, its size the modulus",
    ),
    Choice("tensions that the reduced bar has not seen", "the study's seed", "on nothing"),
    Choice(
        "what is asked of the reduced bar",
        "2 % of the stroke; 10 % of W_ea, at equilibria",
        "2 % before any run; W was asked at rest first, which is no equilibrium under weight (20 % off)",
    ),
)


def robots(setup: Setup) -> str:
    """Whose robots are used."""
    unread = "" if setup.data is None else f" Nothing in {setup.data} is read by this study."
    return f"The report gives no robots: all are specimens of our own.{unread}"
