"""Part 7: inverse models by optimisation on compliance: bounds, contact, friction, forces from sensors."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import lsq_linear, minimize_scalar

import pliant as pl
from pliant.contact import Plane, Surroundings
from pliant.inverse import Outcome
from pliant.robot import Robot, Row
from pliant.solvers import qp, qpcc
from pliant.studies.duriez2024.compared import Compared
from pliant.studies.duriez2024.forward import Condensed, arm, enumerated
from pliant.studies.duriez2024.lab import TIGHT, Lab
from pliant.studies.settle import settle
from pliant.studies.study import Findings

MOST_STEPS = 80  # to come to rest
REACHED = 2e-5  # [m] 0.02 % of the length


def inverse(lab: Lab) -> Findings:
    """The programs on matrices, the inverse model on robots, forces from markers."""
    tables = [_programs().table, _reaching().table, _touching().table, _sensing().table]
    return Findings("Inverse model", TEXT, tables)


def _programs() -> Compared:
    """The quadratic program of section 8.2 and that with contact of 9.3, each by another method."""
    table = Compared("The programs on condensed matrices")
    p, most = Condensed.arm(), 3.0
    Wea, Waa = p.W[p.tip, p.cables], p.W[p.cables, p.cables]
    task = p.free[p.tip] - [0.097, 0.012, 0.012]
    eps = 1e-4 * np.abs(Wea.T @ Wea).max() / Waa.max()
    solution = qp(Wea.T @ Wea + eps * Waa, Wea.T @ task, np.zeros(4), np.full(4, most)).effort
    root = np.linalg.cholesky(eps * Waa).T  # ‖W_ea λ + δ_e‖² + ‖Rλ‖² is the cost
    stacked, right = np.vstack([Wea, root]), np.concatenate([-task, np.zeros(4)])
    other = lsq_linear(stacked, right, bounds=(0.0, most), method="bvls", tol=1e-15).x
    table.add(
        "QP, four cables", "tensions, by bounded least squares", other, solution, unit="N", allowed=1e-6
    )
    _with_contact(table, p, most)
    return table


def _with_contact(table: Compared, p: Condensed, most: float) -> None:
    """Two cables press the arm on the floor and drag it aside, against a search over both tensions."""
    a, c, e = [4, 5], p.contacts, p.tip  # the cables down and left
    Wea, Wec, Waa, Wac, Wcc = p.W[e][:, a], p.W[e, c], p.W[np.ix_(a, a)], p.W[a][:, c], p.W[c, c]
    task, gap = p.free[e] - [0.098, 0.005, -0.003], p.free[c]
    eps = 1e-4 * np.abs(Wea.T @ Wea).max() / Waa.max()
    solution = qpcc(Wea, Wec, Waa, Wac, Wcc, task, p.free[a], gap, effort=(0.0, most), eps=eps)

    def cost(effort: np.ndarray) -> float:
        miss = Wea @ effort + Wec @ enumerated(Wcc, gap + Wac.T @ effort) + task
        return float(miss @ miss + eps * effort @ Waa @ effort)

    centre, width = np.full(2, most / 2), most / 2
    for _ in range(14):  # ever finer grids around the best point so far
        grid = (centre + width * np.array(o) for o in product(np.linspace(-1, 1, 7), repeat=2))
        centre, width = min((np.clip(g, 0, most) for g in grid), key=cost), 0.45 * width
    name = f"QPCC, two cables, {len(gap)} contacts, {np.count_nonzero(solution.contact)} push"
    table.add(name, "tensions, by search", centre, solution.effort, unit="N", allowed=1e-3)
    table.add(name, "cost, by search", cost(centre), solution.cost, unit="m²", allowed=1e-6)


def _again(robot: Robot, out: Outcome) -> pl.Result:
    """The equilibrium with the commands of the drives imposed."""
    laws = {name: pl.Known(displacement=value) for name, value in out.command.items()}
    return pl.static(robot, laws, state=out.state)


def _reaching() -> Compared:
    """Targets within reach, one out of reach, and one beyond the bounds."""
    table = Compared("Kinematics inverted: bounds and redundancy")
    robot = arm()
    for target in ([0.096, 0.018, 0.01], [0.096, 0.004, 0.018]):
        rest = settle(pl.Inverse(robot), {"tip": target}, most=MOST_STEPS)
        tip = _again(robot, rest.out).displacement["tip"]
        table.add(
            "four cables",
            f"tip to {target}, commands imposed forward",
            target,
            tip,
            unit="m",
            allowed=REACHED,
            scale=1.0,
        )
    far = np.array([0.085, 0.01, 0.045])
    single = _single(robot, 1.5)
    rest = settle(pl.Inverse(single), {"tip": far}, most=MOST_STEPS)
    top = pl.static(single, {"up": pl.Known(effort=1.5)}).displacement["tip"]
    table.add(
        "one cable, beyond its bound",
        "tip at the greatest tension",
        top,
        rest.out.displacement["tip"],
        unit="m",
        allowed=REACHED,
        scale=1.0,
    )
    aside, single = np.array([0.09, 0.015, 0.02]), _single(robot, 10.0)
    rest = settle(pl.Inverse(single), {"tip": aside}, most=MOST_STEPS)
    miss = lambda tension: float(np.linalg.norm(_tip(single, tension) - aside))
    best = minimize_scalar(miss, bounds=(0.0, 10.0), method="bounded", options={"xatol": 1e-6})
    table.add(
        "one cable, target aside",
        "least distance, by search over tensions",
        best.fun,
        rest.error,
        unit="m",
        allowed=1e-4,
    )
    return table


def _single(robot: Robot, most: float) -> Robot:
    rows = {"tip": robot.rows["tip"], "up": Row(robot.rows["up"].interaction, pl.Bounded(effort=(0, most)))}
    return pl.Robot(robot.bodies, rows, gravity=robot.gravity)


def _tip(robot: Robot, tension: float) -> np.ndarray:
    return pl.static(robot, {"up": pl.Known(effort=tension)}).displacement["tip"]


def _touching() -> Compared:
    """The arm pressed on a floor without and with friction; its commands imposed forward must agree."""
    table = Compared("Inverse model with contact")
    target = np.array([0.096, 0.016, -0.004])
    for name, mu in (("smooth floor", 0.0), ("rough floor, μ = 0.4", 0.4)):
        free = arm()
        around = Surroundings([Plane((0, 0, -0.001), (0, 0, 1), name="floor")], friction=mu)
        robot = pl.Robot(free.bodies, free.rows, gravity=free.gravity, surroundings=around)
        rest = settle(pl.Inverse(robot), {"tip": target}, most=MOST_STEPS)
        forward = _again(robot, rest.out)
        show = {"unit": "m", "allowed": 1e-4, "scale": 1.0}
        table.add(
            name,
            "tip, commands imposed forward",
            forward.displacement["tip"],
            rest.out.displacement["tip"],
            **show,
        )
        pushes = rest.out.contact_force.sum()
        table.add(
            name, "force of the floor, the same way", forward.touch().push, pushes, unit="N", allowed=0.02
        )
        table.holds(
            name,
            "it touches",
            pushes > 0.01,
            measured=f"{pushes:.3g} N at {np.count_nonzero(rest.out.contact_force)} points",
        )
    return table


def _sensing() -> Compared:
    """Section 8.3: the force on the end of the arm from where its markers are, by W_se alone."""
    table = Compared("External forces from sensors")
    body = arm().bodies[0]
    rows = {
        "force": Row(pl.PointForce(body.points([[0.1, 0.01, 0.01]])), pl.Unknown()),
        "markers": Row(pl.Position(body.points([[x, 0.01, 0.02] for x in (0.04, 0.07, 0.1)])), pl.Measured()),
    }
    robot = pl.Robot(body, rows, gravity=(0, 0, -9.81))
    true = np.array([0.1, -0.05, 0.15])
    seen = pl.static(robot, {"force": pl.Known(effort=true)}, tolerance=TIGHT).displacement["markers"]
    now = pl.static(robot)
    for _ in range(12):
        now = _nearer(robot, now, seen)
    force = now.effort["force"]
    table.add("three markers", "the force that was applied", true, force, unit="N", allowed=1e-6)
    return table


def _nearer(robot: Robot, now: pl.Result, seen: np.ndarray) -> pl.Result:
    """A step of min ‖δ_s + W_se Δλ − δ_s measured‖², with a line search on the distance to the readings."""
    W = pl.compliance(robot, now.state)["markers", "force"]
    miss = seen - now.displacement["markers"]
    step = np.linalg.lstsq(W, miss, rcond=None)[0]
    for _ in range(10):
        law = pl.Known(effort=now.effort["force"] + step)
        trial = pl.static(robot, {"force": law}, state=now.state, tolerance=TIGHT)
        if np.linalg.norm(seen - trial.displacement["markers"]) < np.linalg.norm(miss):
            return trial
        step = 0.5 * step
    return now


TEXT = (
    "The quadratic program of the report (bounds on tensions and lengths, energy of the actuators as "
    "regularisation), the one with complementarity, and the same on robots: what the inverse model commands "
    "is imposed on the forward model, which must bring the effector to the same place. Force sensing by "
    "markers is shown in its simplest form."
)
