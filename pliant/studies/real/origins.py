"""Whose robots and recordings are in this study."""

from __future__ import annotations

from pliant.studies.provenance import Choice, Share
from pliant.studies.setup import Setup

SHARES = (
    Share(
        "silicone beam",
        "Dragon Skin 10, 30 × 30 × 100 mm; three loads, two takes each; markers at 100 Hz",
        "the same numbers: settled markers of all takes, marker 1 in motion of the first takes",
        "srl-ethz/diffPD_sim2real (MIT)",
    ),
    Share("marker 1", "6 mm off the surface", "on top of the tip", "where along the beam is not stated"),
    Share("load", "at the tip's edge", "a mass in the middle of the lower edge, on a stiff strip", ""),
    Share("held", "near the horizontal; where differs by 1 mm", "straight", "the shape is not recorded"),
    Share(
        "Emio",
        "515 targets, simulated and measured positions",
        "the same numbers",
        "SofaComplianceRobotics/Emio.validation (MIT); motor angles are not recorded",
    ),
    Share(
        "motor angles of Emio",
        "those of the recorders' inverse model, not recorded",
        "those of ours, for the same targets, of legs whose flexible part begins at the drum",
        "",
    ),
    Share(
        "tendon arm",
        "30,000 quasi-static poses; size and material not stated",
        "every thirtieth pose: shortenings of three cables, position of the tip",
        "ARM-Lab/Learning-Based-Position-Control-for-Continuum-Robots (MIT)",
    ),
    Share("slack cables of the arm", "not stated", "a cable with no shortening carries nothing", ""),
)
CHOICES = (
    Choice(
        "load that modulus and losses are fitted to",
        "the middle one",
        "after a look at all three: fitted to the beam's own weight, both others miss more",
    ),
    Choice(
        "times of the branches",
        "0.01 to 10 s, half a decade apart",
        "after a dashpot, fitted without a load, damped the loaded takes two to four times too little",
    ),
    Choice("Poisson's ratio, density", "0.499, 1070 kg/m³", "the incumbent's"),
    Choice("inner and outer poses of Emio", "by the largest coordinate from the middle", "before any run"),
    Choice(
        "what is fitted of Emio",
        "the motors' lever, the tracker",
        "on inner poses: of six sizes, zeros and yield of the motors, the lever left least",
    ),
    Choice(
        "what is fitted of the tendon arm, priors, noise",
        "as in `arm.py`",
        "on inner poses; the outer half was looked at with two draws, and nothing was changed after that",
    ),
)


def robots(setup: Setup) -> str:
    """Whose robots these are."""
    return "Recordings of others, as `pliant/studies/real/data` has them with their licences."
