"""How long a step of the spine manipulator takes: straight and bent, with and without contact of its ribs."""

from __future__ import annotations

import math
from collections.abc import Callable

from pliant.algebra import factorise
from pliant.core.view import linearise
from pliant.dynamics import Rayleigh, Simulation
from pliant.io.table import Table
from pliant.laws import Known
from pliant.result import Result
from pliant.robot import Robot
from pliant.robots import manipulator as build
from pliant.static import static
from pliant.timing import paired

ASKED = 0.047  # of dgemm(1500): 170 steps/s without contact
YARDSTICK = 0.125  # [s] that a dgemm(1500) takes on the machine that the rates asked for are meant for
PULL = 32.0  # [N] on the three tendons of one side
WARMING_STEPS = 40  # before times are measured
DAMPING = Rayleigh(mass=1.0, stiffness=0.005)


def pulled(force: float) -> dict[str, Known]:
    """The laws of a bend to one side."""
    return {f"tendon {n}": Known(effort=force) for n in (1, 4, 7)}


class Steps:
    """Steps of 10 ms under a force on the tendons of one side [N], a function of time, after the first 40."""

    def __init__(self, robot: Robot, force: Callable[[float], float], start: Result | None = None) -> None:
        state = None if start is None else start.state
        self.force, self.contacts = force, 0
        self.sim = Simulation(robot, time_step=0.01, scheme="euler", damping=DAMPING, state=state)
        for _ in range(WARMING_STEPS):
            self()

    def __call__(self) -> None:
        self.moment = self.sim.step(pulled(self.force(self.sim.t)))
        if self.moment.contacts is not None:
            self.contacts = max(self.contacts, len(self.moment.contacts))


def newton_step(robot: Robot) -> Callable[[], object]:
    """One linearisation and factorisation at rest: what statics repeats."""
    rest = robot.rest

    def action() -> object:
        at = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity)
        assert at is not None and at.K is not None
        return factorise(robot.symbolic, at.K).solve(at.r)

    return action


def manipulator() -> list[Table]:
    """Steps of 10 ms, as in Table II of Goury et al. 2021: straight, bent with contacts, and swinging."""
    columns = (
        "what",
        "coordinates",
        "contacts at most",
        "push",
        "ms",
        "÷ dgemm(1500)",
        "steps/s",
        "asked",
        "check",
    )
    table = Table("One step of the spine manipulator, one thread", columns)
    free, touching = build(contact=False), build()
    bent = static(touching, pulled(PULL), load_steps=8)
    still, constant = lambda t: 0.0, lambda t: PULL
    swing = lambda t: PULL * math.sin(t) ** 2  # from straight to bent in a second and a half, and back
    cases = [
        ("time step, straight, no contact model", free, still, None, ASKED),
        ("time step, straight", touching, still, None, ASKED),
        ("time step, bent, no contact model", free, constant, None, ASKED),
        ("time step, bent", touching, constant, bent, None),
        ("time step, swinging, no contact model", free, swing, None, ASKED),
        ("time step, swinging", touching, swing, None, None),
    ]
    for what, robot, force, start, asked in cases:
        steps = Steps(robot, force, start)
        ms, ratio = paired(steps)
        pushing = int((steps.moment.contact_force > 0).sum())
        _add(table, what, robot, ms, ratio, asked, steps.contacts, pushing)
    ms, ratio = paired(newton_step(free))
    _add(table, "Newton step of statics, no contact model", free, ms, ratio, ASKED, 0, 0)
    table.notes.append(f"Steps/s where a dgemm(1500) takes {1e3 * YARDSTICK:.0f} ms.")
    return [table]


def _add(
    table: Table, what: str, robot: Robot, ms: float, ratio: float, asked: float | None, near: int, push: int
) -> None:
    table.add(
        what=what,
        coordinates=robot.ndof,
        push=push,
        ms=ms,
        asked=asked,
        check=None if asked is None else ratio <= asked,
        **{"contacts at most": near, "÷ dgemm(1500)": ratio, "steps/s": round(1.0 / (YARDSTICK * ratio))},
    )
