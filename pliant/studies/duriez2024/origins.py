"""Whose robots, methods and settings are in this study."""

from __future__ import annotations

from pliant.studies.provenance import Choice, Share
from pliant.studies.setup import Setup

SHARES = (
    Share(
        "two-piston robot",
        "W_aa, W_ea, J and two increments",
        "a column",
        "solved from the printed W: the report gives no robot",
    ),
    Share("the deformed two-piston robot", "matrices in a figure", "not compared", "no digits to read"),
    Share(
        "models of actuators, sensors, effectors",
        "equations",
        "the registries, each against a second way",
        "",
    ),
    Share("reduction (§6.1)", "modal and POD", "outside this study", "see docs/reduction.md; to be added"),
    Share("specimens", "none", "a bar, a rod and a tube of 0.1 m", "any would do"),
)
CHOICES = (
    Choice("half width of the column", "50 mm", "on nothing: it scales the increments only"),
    Choice("bounds on errors", "in the parts", "on the order of the element or the solver's tolerance"),
    Choice("what is random", "nothing", "the seed changes no number of this study"),
)


def robots(setup: Setup) -> str:
    """Whose robots are used."""
    unread = "" if setup.data is None else f" Nothing in {setup.data} is read by this study."
    return f"The report gives no robots: all are specimens of our own.{unread}"
