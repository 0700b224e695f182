"""Static equilibrium (§4.2): the cone program of the thesis against Newton's method, and its Jacobian."""

from __future__ import annotations

import numpy as np

from pliant.errors import InputError
from pliant.io.table import Table
from pliant.membrane.cone import cone_equilibrium
from pliant.membrane.equilibrium import HELD
from pliant.membrane.hand import Hand, Held
from pliant.membrane.posture import Grip
from pliant.studies.check import Check
from pliant.studies.mirano2017.lab import Lab
from pliant.studies.study import Findings
from pliant.timing import Yardstick, microseconds

SPREAD = np.array([0.06, 0.01, 0.25, 0.06, 0.01, 0.25])  # of random joints about a grasp [rad, m, rad]
KINK = 1e-5  # relative difference of slopes by two steps, from which a contact changes between them
TEXT = (
    "Random joints about a grasp of the square box, of which those are kept that grip it with both skins. "
    "The cone program is solved by Clarabel to a gap of 1e-10; a gap ε in the energy leaves about √ε in the "
    "place, in the direction that the skins resist least."
)


def random_grasps(lab: Lab, count: int) -> list[Held]:
    """Hands at random joints that hold the object with both skins, no looser than a plan would."""
    rng, grasps, least = lab.setup.rng("statics"), [], Grip.of(lab.hand).low
    while len(grasps) < count:
        held = _held(lab.hand, lab.home.joints + SPREAD * rng.uniform(-1.0, 1.0, 6))
        if held is not None and held.status == HELD and held.grip.min() >= least:
            grasps.append(held)
    return grasps


def _held(hand: Hand, joints: np.ndarray) -> Held | None:
    try:
        return hand.rest(joints)
    except InputError:  # an end of a skin inside the box
        return None


def statics(lab: Lab) -> Findings:
    """Cone program and Newton on random grasps; Jacobians against differences; time."""
    cases, size = random_grasps(lab, lab.setting.trials), lab.hand.size
    cones = [cone_equilibrium(h.rest.skins, h.rest.shape, h.pose * (0, 0, 1)) for h in cases]
    place = max(np.abs(c.pose - h.pose).max() for c, h in zip(cones, cases)) / size
    energy = max(abs(c.energy / h.rest.energy - 1.0) for c, h in zip(cones, cases))
    solved = sum(c.status == "Solved" for c in cones)
    slopes = [
        error
        for held in cases[: max(20, lab.setting.trials // 5)]
        if (error := _slope_error(lab.hand, held)) is not None
    ]
    times, table = _times(lab, cases[0])
    residual = max(h.rest.residual / h.rest.forces for h in cases)
    checks = [
        Check.holds(
            "cone program solved in every case", solved == len(cases), measured=f"{solved} of {len(cases)}"
        ),
        Check.at_most("energies differ by at most, relative", energy, 1e-6),
        Check.at_most("places differ by at most, of the hand's size", place, 1e-4),
        Check.at_most("Newton: residual over all forces", residual, 1e-9),
        Check.at_most("Jacobian against differences, relative", max(slopes), 1e-4),
        Check.at_most("equilibrium with Jacobian", times, 100.0, unit="µs"),
    ]
    data = {"cases": len(cases), "slopes": len(slopes), "rounds": max(c.rounds for c in cones)}
    return Findings("Static equilibrium", TEXT, [table], checks, data=data)


def _slope_error(hand: Hand, held: Held, step: float = 1e-6) -> float | None:
    """Relative error of dp/dθ against central differences; None where a contact changes within the step."""
    slopes = []
    for h in (step, 3.0 * step):
        columns = [
            (hand.rest(held.joints + h * e, held.pose).pose - hand.rest(held.joints - h * e, held.pose).pose)
            / (2.0 * h)
            for e in np.eye(len(held.joints))
        ]
        slopes.append(np.array(columns).T)
    scale = np.abs(held.jacobian).max()
    if np.abs(slopes[1] - slopes[0]).max() > KINK * scale:
        return None
    return float(np.abs(held.jacobian - slopes[0]).max() / scale)


def _times(lab: Lab, held: Held) -> tuple[float, Table]:
    """(time of an equilibrium with Jacobian [µs], table of times and ratios to dgemm(1500))."""
    yard = Yardstick.measure().milliseconds
    table = Table("Time of one equilibrium", ("what", "µs", "over dgemm(1500)"))
    cone = lambda: cone_equilibrium(held.rest.skins, held.rest.shape, held.pose * (0, 0, 1))
    rows = {
        "Newton with Jacobian by the joints": lambda: lab.hand.rest(held.joints).jacobian,
        "cone program (Clarabel)": cone,
    }
    times = {name: min(microseconds(action, repeats=25) for _ in range(5)) for name, action in rows.items()}
    for name, value in times.items():
        table.add(what=name, **{"µs": value, "over dgemm(1500)": value / (1e3 * yard)})
    return times["Newton with Jacobian by the joints"], table
