"""Steps in time of the public finger, whose cable folds it until its skin touches itself."""

from __future__ import annotations

from time import process_time

import numpy as np

from pliant.contact import Surroundings
from pliant.dynamics import Simulation
from pliant.io.table import Table
from pliant.laws import Known
from pliant.robot import Robot
from pliant.timing import Yardstick

PULL, TIME, STEPS = 0.07, 2.0, 240  # [m] of cable, in [s], then held; steps of 10 ms
FRICTION = 0.08
ASKED = {0.0: None, FRICTION: 0.03}  # of dgemm(1500): the median, by coefficient of friction
MEASURED_ANEW = 40  # steps after which the yardstick is measured anew
COLUMNS = (
    "case",
    "coordinates",
    "contacts",
    "push",
    "linearisations",
    "÷ dgemm(1500)",
    "99 %",
    "asked",
    "check",
)


def self_contact(finger: Robot) -> Table:
    """CPU time of the steps in which something pushes, with friction and without."""
    table = Table("One step in time of the finger that touches itself", COLUMNS)
    for friction, asked in ASKED.items():
        around = Surroundings(self_contact=True, friction=friction)
        robot = Robot(finger.bodies, finger.rows, gravity=(0.0, 0.0, 0.0), surroundings=around)
        _folded(robot)  # compiled code is loaded on the way
        steps = _folded(robot)
        table.add(case=f"μ = {friction:g}", coordinates=robot.ndof, asked=asked, **_summary(steps, asked))
    return table


def _folded(robot: Robot) -> np.ndarray:
    """Of each step in which something pushes (n, 4): contacts, those that push, linearisations, ÷ dgemm."""
    sim, measured = Simulation(robot, time_step=0.01), []
    for k in range(STEPS):
        if k % MEASURED_ANEW == 0:
            yardstick = Yardstick.measure(clock=process_time)
        pull = Known(displacement=PULL * min(1.0, (sim.t + sim.time_step) / TIME))
        begin = process_time()
        moment = sim.step({"cable 0": pull})
        ratio = yardstick.ratio(1e3 * (process_time() - begin))
        push = int((moment.contact_force > 0.0).sum())
        if push and moment.contacts is not None:
            measured.append((len(moment.contacts), push, moment.certificate.iterations, ratio))
    return np.array(measured)


def _summary(steps: np.ndarray, asked: float | None) -> dict[str, object]:
    contacts, push, linearisations, ratio = steps.T
    median = float(np.median(ratio))
    return {
        "contacts": float(contacts.mean()),
        "push": float(push.mean()),
        "linearisations": float(linearisations.mean()),
        "÷ dgemm(1500)": median,
        "99 %": float(np.quantile(ratio, 0.99)),
        "check": None if asked is None else median <= asked,
    }
