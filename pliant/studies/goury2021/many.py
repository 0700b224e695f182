"""Where the time of contact goes with thousands of points: full contact beside its reductions."""

from __future__ import annotations

from time import process_time

import numpy as np

from pliant.bench.manipulator import YARDSTICK
from pliant.dynamics import Simulation
from pliant.io.table import Table
from pliant.laws import Known
from pliant.robot import Robot
from pliant.robots.manipulator import manipulator
from pliant.studies.goury2021.lab import DAMPING, PULL, TENSION, TIME_STEP, Lab
from pliant.studies.goury2021.paper import STEPS_PER_SECOND, TABLE_II_ROWS
from pliant.studies.goury2021.postures import bend
from pliant.studies.study import Findings
from pliant.timing import Yardstick

LAST = 50  # steps at the end, bent and at rest, that are timed
COLUMNS = (
    *("what", "points", "tension", "rows near", "pushing", "mm from full contact", "ms", "÷ dgemm(1500)"),
    "steps/s",
)


def many(lab: Lab) -> Findings:
    """Steps of 10 ms, fully bent and in the tightest bend that the tendons allow."""
    setting = lab.setting
    dense = {**setting.spine, "points": setting.points}
    models = {
        "no contact": lab.manipulator(False),
        "full contact": lab.manipulator(),
        f"{setting.modes} modes of patches": lab.fit(setting.modes, "patches").robot,
        "points": lab.fit(None, "points").robot,
        "full contact, many points": manipulator(**dense),
    }
    table = Table("Time steps of 10 ms, bent and at rest", COLUMNS)
    for force in (PULL, TENSION):
        true = None
        for name, robot in models.items():
            tip, cells = _bent(robot, force, setting.path)
            true = tip if name == "full contact" else true
            missed = None if true is None else 1e3 * float(np.linalg.norm(tip - true))
            table.add(what=name, tension=force, **cells, **{"mm from full contact": missed})
    first = table.rows[0]
    first["mm from full contact"] = None
    table.notes.append(
        f"CPU time. Steps/s where a dgemm(1500) takes {1e3 * YARDSTICK:.0f} ms. The paper's full model has "
        f"{TABLE_II_ROWS} rows and takes {STEPS_PER_SECOND['full', 'bent']:g} steps/s fully bent."
    )
    text = (
        "The paper reduces contacts because its solver slows down with their number. Here the contacts that "
        "push are found by pivoting among those that are near, a few dozen even where thousands of points "
        "are watched: what is left to save is the search for contacts and their stiffness, not the solution."
    )
    return Findings("Thousands of points", text, [table])


def _bent(robot: Robot, force: float, steps: int) -> tuple[np.ndarray, dict]:
    """The tip (3,) [m] after a bend in so many steps, and what its last steps were like."""
    simulation = Simulation(robot, time_step=TIME_STEP, scheme="euler", damping=DAMPING)
    yard, spent = Yardstick.measure(clock=process_time).milliseconds, []
    for k in range(2 * steps):
        share = min((k + 1) / steps, 1.0)
        laws = {name: Known(effort=share * float(law.effort)) for name, law in bend(force).items()}  # type: ignore[arg-type]
        begin = process_time()
        moment = simulation.step(laws)
        spent.append(1e3 * (process_time() - begin))
    ms = float(np.median(spent[-LAST:]))
    samples, contacts = robot.surroundings.samples, moment.contacts
    return moment.displacement["tip"], {
        "points": 0 if samples is None else len(samples),  # type: ignore[arg-type]
        "rows near": 0 if contacts is None else len(contacts),
        "pushing": int(np.count_nonzero(moment.contact_force)) if contacts is not None else 0,
        "ms": ms,
        "÷ dgemm(1500)": ms / yard,
        "steps/s": round(yard / (YARDSTICK * ms)),
    }
