"""Whose hands, methods and settings are in this study."""

from __future__ import annotations

from pliant.studies.provenance import Choice, Share
from pliant.studies.setup import Setup

SHARES = (
    Share("hand", "two fingers of three joints", "ours, soft_hand()", "no dimension of it is printed"),
    Share("forces of the band", "curves", "synthetic, with 2 % of noise", "no numbers are printed"),
    Share("length of the band", "0.35 m, stretched to 1.15 m", "the same", ""),
    Share(
        "stiffness, damping, gains, period",
        "150, 550, 0.1 and 0.58, 500, 0.053 s",
        "the same in tracking and in its speed",
        "the other parts have a hand of 0.12 m, and a damping of 5 that suits it",
    ),
    Share("masses, drag", "not printed", "1 kg, 5 kg, 1 N·s/m", ""),
    Share(
        "targets of Fig. 4-5",
        "(0, 0), and a ramp to (0.5, 1.0)",
        "the same, in a hand of 4 m",
        "units and the time of the ramp are not printed",
    ),
    Share(
        "law of the outer loop",
        "PD, (4.4), with J",
        "PD with J⁺ and with Jᵀ; integral action beside it",
        "J does not fit",
    ),
    Share("static equilibrium", "a cone program", "the same, and Newton's method", ""),
    Share(
        "friction of the skins",
        "none",
        "in the plant at some places of part targets; planner and loop without it, with it, with too little",
        "ours beside the thesis's",
    ),
)
CHOICES = (
    Choice("gains of the faster PID", "0.4, 0.2, 0.05", "on these targets"),
    Choice("integral action beside the thesis's PD", "k_p²/4(1 + k_d)", "critical damping, before any run"),
    Choice("time of the ramp", "60 s", "on nothing; lags are in proportion to its speed"),
    Choice("stiffer skins of the true hand", "20 %", "before any run"),
    Choice(
        "rehearsals of a plan, parts and tries of its corrections",
        "8, 9, 8",
        "on places of development seeds 0 and 1",
    ),
    Choice(
        "corrections of a plan keep the grip",
        "rehearsal.py",
        "on the cause of a scored failure (seed 204: median 5.2 % of the size), found and mended on seeds "
        "401 to 413",
    ),
    Choice(
        "noise of the band's forces",
        "the study's seed",
        "on nothing now; the file that ships was made with a seed that had been chosen, and is not used here",
    ),
    Choice("random grasps, places, mechanisms", "the study's seed", "on nothing; development had 0 to 11"),
)


def robots(setup: Setup) -> str:
    """Whose hands are used."""
    unread = "" if setup.data is None else f" Nothing in {setup.data} is read by this study."
    return f"The thesis prints no dimensions: all hands are our own.{unread}"
