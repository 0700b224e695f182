"""Part 6: the forward problem with complementarity: slack cables, contacts, friction, soft surroundings."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

import pliant as pl
from pliant.algebra import factorise
from pliant.bodies import Beam, Circle, Solid
from pliant.contact import Plane, Samples, Surroundings
from pliant.core.view import linearise
from pliant.mesh.lines import line
from pliant.result import Result
from pliant.robot import Robot, Row
from pliant.solvers import mcp
from pliant.studies.duriez2024.compared import Compared
from pliant.studies.duriez2024.lab import TIGHT, Lab
from pliant.studies.study import Findings

CABLES = ("up", "down", "left", "right")
PULLED = 0.004  # [m]
MU = 0.4


def forward(lab: Lab) -> Findings:
    """Slack cables, the mixed problem by enumeration, contact with a soft body, friction."""
    return Findings(
        "Forward model: slack cables, contact, friction",
        TEXT,
        [_slack().table, _enumerated().table, _touching(lab).table, _friction().table],
    )


def arm() -> Robot:
    """A bar with four cables, its tip observed."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(8, 2, 2), kind="hex")
    body = Solid(mesh, pl.Hooke(young=3e5, poisson=0.3), density=1100, fixed=lambda x: x[:, 0] < 1e-9)
    rows = {"tip": Row(pl.Position(body.points([[0.1, 0.01, 0.01]])), pl.Target())}
    offsets = {"up": (0.01, 0.017), "down": (0.01, 0.003), "left": (0.003, 0.01), "right": (0.017, 0.01)}
    for name, (y, z) in offsets.items():
        path = body.points([[x, y, z] for x in np.linspace(0.0, 0.095, 8)])
        rows[name] = Row(pl.Cable(path), pl.Bounded(effort=(0, 20)))
    return pl.Robot(body, rows, gravity=(0, 0, -9.81))


def _slack() -> Compared:
    """Every cable wound to a length: those that are pulled in are taut, the others hang loose."""
    table = Compared("A cable controlled in length: 0 ≤ λ ⊥ δ − imposed ≥ 0")
    robot = arm()
    imposed = {"up": PULLED, "down": -0.002, "left": 0.0, "right": -0.002}
    laws = {name: pl.Known(displacement=value) for name, value in imposed.items()}
    result = pl.static(robot, laws, tolerance=TIGHT)
    for name, value in imposed.items():
        effort, excess = float(result.effort[name][0]), float(result.displacement[name][0]) - value
        taut = effort > 0
        state = f"{'taut' if taut else 'slack'}: {effort:.3g} N, {1e3 * excess:.3g} mm to spare"
        good = abs(excess) < 1e-9 if taut else (effort == 0 and excess > 0)
        table.holds(f"cable {name!r}, {1e3 * value:g} mm", "taut or slack, never both", good, measured=state)
    taut = {name: pl.Known(effort=result.effort[name]) for name in CABLES}
    again = pl.static(robot, taut, tolerance=TIGHT).displacement["tip"]
    table.add(
        "tip",
        "the same with these tensions imposed",
        again,
        result.displacement["tip"],
        unit="m",
        allowed=1e-8,
    )
    return table


@dataclass(frozen=True)
class Condensed:
    """The arm above a floor, condensed at rest: W over tip (3), cables (4) and contacts (n), and free δ."""

    W: np.ndarray
    free: np.ndarray

    tip, cables, contacts = slice(0, 3), slice(3, 7), slice(7, None)

    @classmethod
    def arm(cls) -> Condensed:
        """Four corners of its underside are contacts."""
        robot = arm()
        corners = robot.bodies[0].points([[x, y, 0] for x in (0.08, 0.1) for y in (0.0, 0.02)])
        floor = Plane((0, 0, -0.002), (0, 0, 1), name="floor")
        around = Surroundings([floor], samples=Samples.around(corners, 0.0), alarm=0.05)
        rest = robot.rest
        linear = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity)
        assert linear is not None and linear.K is not None
        factor = factorise(robot.symbolic, linear.K)
        linear = linear.touching(around.detector(robot).detect(rest.q))
        return cls(factor.compliance(linear.H), linear.delta + linear.H.dot(factor.solve(linear.r)))


def _enumerated() -> Compared:
    """One condensed problem of cables and contacts, against all 2ⁿ guesses of which are active."""
    table = Compared("The mixed complementarity problem (34) of cables and contacts, by enumeration")
    problem = Condensed.arm()
    W, q = problem.W[3:, 3:], problem.free[3:].copy()
    q[:4] -= [-0.001, 0.002, 0.001, 0.0]  # lengths pulled in [m]
    solution = mcp(W, q, np.zeros(len(q)), np.full(len(q), np.inf))
    brute = enumerated(W, q)
    active = f"{np.count_nonzero(brute[:4])} taut, {np.count_nonzero(brute[4:])} push"
    name = f"4 cables, {len(q) - 4} contacts: {active}"
    table.add(name, "efforts", brute, solution.effort, unit="N", allowed=1e-8)
    least = float((W @ solution.effort + q).min())
    table.add(name, "least gap left", 0.0, min(least, 0.0), unit="m", allowed=1e-12, scale=1.0)
    return table


def enumerated(W: np.ndarray, q: np.ndarray) -> np.ndarray:
    """λ of 0 ≤ λ ⊥ Wλ + q ≥ 0 (n,), by trying every set of active rows."""
    n, best, least = len(q), np.zeros(len(q)), np.inf
    for choice in product((False, True), repeat=n):
        on = np.array(choice)
        lam = np.zeros(n)
        lam[on] = np.linalg.lstsq(W[np.ix_(on, on)], -q[on], rcond=None)[0]
        size = np.abs(W @ lam).max() + np.abs(q).max()
        violation = max(-lam.min() * np.diagonal(W).max(), -(W @ lam + q).min(), 0.0) / size
        if violation < least:
            best, least = lam, violation
    return best


def _touching(lab: Lab) -> Compared:
    """A rod pushed down on a soft pillar: the environment has degrees of freedom of its own."""
    table = Compared("Contact with a body that deforms too")
    length, height, side, young, force = 0.05, 0.02, 0.01, 1e3, 1e-3  # two springs of about 5 N/m
    section, rubber = Circle(0.004), pl.Hooke(young=1e6, poisson=0.0)
    rod = Beam(line((0, 0, 0), (length, 0, 0)), section, rubber, fixed=0)
    mesh = pl.mesh.box((side, side, height), cells=(2, 2, 2), kind="hex")
    below = (length - side / 2, -side / 2, -0.004 - height)
    top = pl.Rigid(lambda x: x[:, 2] > below[2] + height - 1e-9, name="top", joint=pl.Prismatic((0, 0, 1)))
    law = pl.Hooke(young=young, poisson=0.0)
    pillar = Solid(
        mesh.transformed(translation=below), law, fixed=lambda x: x[:, 2] < below[2] + 1e-9, rigid=top
    )
    tip = rod.at([length])
    samples = [Samples.around(tip, 0.004), Samples.on(pillar)]
    rows = {"push": Row(pl.PointForce(tip, direction=(0, 0, -1)))}
    robot = pl.Robot([rod, pillar], rows, surroundings=Surroundings(samples=samples))
    result = pl.static(robot, {"push": pl.Known(effort=force)}, tolerance=TIGHT)
    _, GA, _, _, EI, _ = section.stiffness(rubber)
    k_rod, k_pillar = 1 / (length**3 / (3 * EI) + length / GA), young * side**2 / height
    expected = force * k_pillar / (k_rod + k_pillar)
    table.add(
        "rod on a pillar",
        "force in the contact, P k₂/(k₁ + k₂)",
        expected,
        result.contact_force.sum(),
        unit="N",
        allowed=0.005,
    )
    sunk = force / (k_rod + k_pillar)
    table.add(
        "rod on a pillar",
        "how far both give way, P/(k₁ + k₂)",
        sunk,
        result.displacement["push"],
        unit="m",
        allowed=0.005,
    )
    return table


def _friction() -> Compared:
    """A soft block under a lid that presses it on a floor and moves sideways: it sticks, then slips."""
    table = Compared("Coulomb friction")
    robot = _block()
    start = _dragged(robot, 0.0, None)
    small, twice = (_dragged(robot, x, start) for x in (2e-5, 4e-5))
    stuck = np.abs(twice.contacts.slip(twice.q, start.q)[twice.contact_force > 1e-9]).max()  # pyright: ignore
    table.add("sticks", "slip below the threshold", 0.0, stuck, unit="m", allowed=1e-9, scale=1.0)
    table.add(
        "sticks",
        "twice the way, twice the force",
        2 * small.effort["x"],
        twice.effort["x"],
        unit="N",
        allowed=1e-3,
    )
    now = start
    for x in np.linspace(0.001, 0.006, 6):
        now = _dragged(robot, float(x), now)
    felt = now.touch()
    table.add("slips", "pull on the lid, μ N", MU * felt.push, now.effort["x"], unit="N", allowed=1e-3)
    table.add(
        "slips", "force of the floor", [-MU * felt.push, 0, felt.push], felt.force, unit="N", allowed=1e-3
    )
    size = np.linalg.norm(now.friction_force, axis=1)
    worst = float((size - MU * now.contact_force).max())
    table.add("cone", "largest ‖λ_T‖ − μ λ_N", 0.0, max(worst, 0.0), unit="N", allowed=1e-9, scale=1.0)
    return table


def _block() -> Robot:
    mesh = pl.mesh.box((0.03, 0.03, 0.02), cells=(2, 2, 2), kind="hex")
    lid = pl.Rigid(lambda x: x[:, 2] > 0.02 - 1e-9, name="lid")
    body = Solid(mesh, pl.Hooke(young=1e5, poisson=0.3), rigid=lid)
    points = body.region_points("lid")
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    rows = {name: Row(pl.Slider(points, axis)) for name, axis in axes.items()}
    rows["turn"] = Row(pl.Orientation(points))
    floor = Plane((0, 0, 0), (0, 0, 1), name="floor")
    return pl.Robot(body, rows, surroundings=Surroundings([floor], friction=MU))


def _dragged(robot: Robot, x: float, start: Result | None) -> Result:
    """The lid pressed down by a millimetre and moved by x [m]."""
    where = {"x": x, "y": 0.0, "z": -0.001, "turn": np.zeros(3)}
    laws = {name: pl.Known(displacement=value) for name, value in where.items()}
    return pl.static(robot, laws, state=None if start is None else start.state)


TEXT = (
    "Actuation and contact are rows of one mixed complementarity problem. A cable whose length is imposed "
    "pulls when it is taut and does nothing when it is slack; contacts push; friction sticks or slips."
)
