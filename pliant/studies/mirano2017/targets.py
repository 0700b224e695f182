"""The steady-state Jacobian controller on the moving hand: random places within its reach and beyond."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.io.table import Table
from pliant.membrane.control import Outer, follow
from pliant.membrane.grasp import UnreachableError
from pliant.membrane.hand import Hand
from pliant.membrane.moving_hand import Moving
from pliant.membrane.reach import rigid_pinch
from pliant.studies.check import Check
from pliant.studies.figures import BAD, GOOD, heading, new_figure
from pliant.studies.mirano2017.lab import Lab
from pliant.studies.mirano2017.reaching import regions
from pliant.studies.study import Findings, Picture

STIFFER = 1.2  # stiffness of the true skins over the model's
PRESS = 0.02  # of the hand's size: how far a pinch presses in
REACHED = 0.01  # of the hand's size: a target that is nearer counts as reached …
REACHED_BY_PINCH = 0.02  # … and by a pinch, which nothing corrects
FRICTIONS, RUBBED = (0.1, 0.3), 10  # of the skins, and at how many places
UNDERRATED = 0.75  # of the friction: what planner and loop are told of it at last
TEXT = (
    "Twenty places (three in the quick setting) are drawn from the reachable set. The moving hand has skins "
    "20 % stiffer than the controller's model, and joints that give way under load. Each run begins with "
    "the object in the middle; the error is the largest of the last second. Beside it, the fingers are "
    "closed on the place as a rigid pinch would be, without a model of the skins, their joints cut off at "
    "the limits. Places outside of the reach must be refused before anything moves. At last the same places "
    "with friction between skins and object: the plant has it, planner and loop know nothing of it; then "
    "they rehearse on a model that has it, or has three quarters of it."
)


def targets(lab: Lab) -> Findings:
    """Errors at random places, with the Jacobian controller and without; refusals."""
    hand, reach, rng = lab.hand, lab.reach, lab.setup.rng("targets")
    places = reach.points[rng.permutation(len(reach.points))[: lab.setting.targets]]
    true = replace(hand, fingers=tuple(replace(f, stiffness=STIFFER * f.stiffness) for f in hand.fingers))
    table = Table("Places within reach", ("case", "x", "y", "error", "error of a pinch"))
    errors, pinched = [], []
    for number, place in enumerate(places, 1):
        errors.append(_controlled(lab, true, place) / hand.size)
        pinched.append(_pinched(lab, true, place) / hand.size)
        x, y = place / hand.size
        table.add(case=number, x=x, y=y, error=errors[-1], **{"error of a pinch": pinched[-1]})
    table.notes.append("All in sizes of the hand.")
    beyond = _beyond(lab, rng)
    refused = sum(_refuses(lab, place) for place in beyond)
    reached = int(np.sum(np.array(errors) <= REACHED))
    without = int(np.sum(np.array(pinched) <= REACHED_BY_PINCH))
    checks = [
        Check.at_most("largest error with the Jacobian controller, of the size", max(errors), REACHED),
        Check("places reached with it", f"{reached} of {len(places)}"),
        Check("places that a pinch gets within 2 % of", f"{without} of {len(places)}"),
        Check.holds(
            "places beyond reach are refused", refused == len(beyond), measured=f"{refused} of {len(beyond)}"
        ),
    ]
    for friction in FRICTIONS:
        checks += _rubbed(lab, true, places[:RUBBED], friction)
    caption = (
        "Places asked for: reached by both (full), by the Jacobian controller only (ring); refused (cross)."
    )
    picture = Picture("targets", caption, _figure(lab, places, errors, pinched, beyond))
    return Findings(
        "Places in the hand", TEXT, [table], checks, [picture], {"errors": errors, "pinched": pinched}
    )


def _rubbed(lab: Lab, true: Hand, places: np.ndarray, friction: float) -> list[Check]:
    """With friction in the plant: unknown to planner and loop, known, and known too low."""
    checks = []
    for told, words in (
        (0.0, "in the plant only"),
        (friction, "in planner and loop too"),
        (UNDERRATED * friction, f"in planner and loop {UNDERRATED:g} of it"),
    ):
        errors = np.array([_controlled(lab, true, place, friction, told) for place in places]) / lab.hand.size
        reached = f"{int((errors <= REACHED).sum())} of {len(errors)}"
        name = f"friction {friction:g}, {words}: median error of the size"
        median = float(np.median(errors))
        checks += [
            Check.at_most(name, median, REACHED) if told == friction else Check(name, median),
            Check(f"friction {friction:g}, {words}: places reached", reached),
        ]
    return checks


def _controlled(lab: Lab, true: Hand, place: np.ndarray, friction: float = 0.0, told: float = 0.0) -> float:
    plant = Moving(true, lab.home.joints, lab.home.pose, friction=friction)
    outer = Outer(lab.hand, reach=lab.reach, friction=told)
    outer.aim(plant.read(), place)
    return follow(plant, outer, lab.setting.settle).settled()


def _pinched(lab: Lab, true: Hand, place: np.ndarray) -> float:
    """Distance [m] of the object at rest from the place, when the fingers go where a rigid pinch would."""
    plant = Moving(true, lab.home.joints, lab.home.pose)
    goal = pinch_joints(lab.hand, place)
    steps = np.linspace(0.0, 1.0, 41)[1:]
    for share in steps:
        plant.advance((1.0 - share) * lab.home.joints + share * goal, 0.05)
    reading = plant.advance(goal, lab.setting.settle - 2.0)
    return float(np.hypot(*(reading.pose[:2] - place)))


def pinch_joints(hand: Hand, place: np.ndarray) -> np.ndarray:
    """Joints (6,), within limits, of two paddles parallel to x that pinch the object at a place."""
    half = float(hand.shape.support((0.0, 1.0))[1]) - PRESS * hand.size
    joints = []
    for finger in hand.fingers:
        tip = place - (0.0, finger.side * (half + finger.offset)) - np.asarray(finger.base)
        angle = np.arctan2(tip[1], tip[0])
        joints += [angle - finger.heading, np.hypot(*tip) - finger.link, -angle]
    return np.clip(joints, hand.lower, hand.upper)


def _beyond(lab: Lab, rng: np.random.Generator) -> np.ndarray:
    """Random places more than two cells from every place within reach."""
    places: list[np.ndarray] = []
    while len(places) < lab.setting.refused:
        place = rng.uniform((-0.6, -0.8), (0.6, 0.8)) * lab.hand.size
        if np.hypot(*(lab.reach.points - place).T).min() > max(2.0 * lab.reach.cell, 0.1 * lab.hand.size):
            places.append(place)
    return np.array(places)


def _refuses(lab: Lab, place: np.ndarray) -> bool:
    plant, outer = Moving(lab.hand, lab.home.joints, lab.home.pose), Outer(lab.hand, reach=lab.reach)
    try:
        outer.aim(plant.read(), place)
    except UnreachableError:
        return True
    return False


def _figure(lab: Lab, places: np.ndarray, errors: list, pinched: list, beyond: np.ndarray) -> Any:
    figure, axes = new_figure(5.2, 5.6)
    ax, size = axes[0, 0], lab.hand.size
    regions(ax, lab.hand, lab.reach, rigid_pinch(lab.hand, lab.reach))
    for place, error, other in zip(places / size, errors, pinched):
        colour = GOOD if error <= REACHED else BAD
        ax.plot(*place, "o", color=colour, mfc=colour if other <= REACHED_BY_PINCH else "white", ms=6)
    ax.plot(*(beyond / size).T, "x", color=BAD, ms=6)
    ax.set_xlim(-0.65, 0.65)
    ax.set_ylim(-0.85, 0.85)
    heading(ax, "Places asked for, in sizes of the hand")
    return figure
