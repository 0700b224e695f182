"""How well a controller on reduced dynamics, which reads the tip only, damps the trunk's first vibration."""

from __future__ import annotations

import numpy as np

from pliant.dynamics import Rayleigh, Simulation
from pliant.io.table import Table
from pliant.laws import Known
from pliant.reduction.controller import Damper
from pliant.reduction.linear_dynamics import LinearDynamics, linear_dynamics
from pliant.reduction.modal import mass_matrix, modal
from pliant.reduction.reduce import reduce
from pliant.result import Result
from pliant.robot import Robot
from pliant.robots import trunk
from pliant.static import static

TIME_STEP = 0.01  # [s]
PRETENSION = 0.3  # [N]
KICK = 0.01  # [m] the tip swings
TIMES_BETTER = 10.0  # damping ratio asked of the controller, over that without
ABOVE_OTHERS = 1e-3  # of the first energy: down to where the decay is measured, as other vibrations move too
WEAK = Rayleigh(mass=0.2, stiffness=2e-4)
CABLES = tuple(f"cable {k + 1}" for k in range(4))


def damping(steps: int = 120) -> list[Table]:
    """Damping ratios of the gallery's trunk, full and nonlinear, kicked along its first vibration.

    The controller knows 8 vibrations of a trunk that is reduced to 16 modes and reads the tip's position
    every 10 ms. Asked: ten times the damping ratio, and no vibration excited.
    """
    robot, pretension = trunk(), {name: Known(effort=PRETENSION) for name in CABLES}
    rest = static(robot, pretension)
    small = reduce(robot, modal(robot, rest.state, modes=16))
    model = _dynamics(small, static(small, pretension), 8)
    damper = Damper(model, time_step=TIME_STEP)
    plant = _dynamics(robot, rest, 30)
    lowest = float(damper.damping(plant)[1].min())
    free, tip = _ratio(robot, rest, pretension, None, plant, steps)
    controlled, end = _ratio(robot, rest, pretension, damper, plant, steps)
    table = Table(
        "Damping of the trunk's first vibration", ("case", "damping ratio", "tip at the end [mm]", "check")
    )
    table.add(case="constant tension", **{"damping ratio": free, "tip at the end [mm]": 1e3 * tip})
    good = controlled >= TIMES_BETTER * free and lowest > 0.0
    table.add(
        case="controlled",
        check=bool(good),
        **{"damping ratio": controlled, "tip at the end [mm]": 1e3 * end},
    )
    table.add(case="worst of 30 vibrations, linear", check=lowest > 0.0, **{"damping ratio": lowest})
    return [table]


def _dynamics(robot: Robot, rest: Result, modes: int) -> LinearDynamics:
    return linear_dynamics(robot, rest.state, actuators=CABLES, sensors=["tip"], modes=modes, damping=WEAK)


def _ratio(
    robot: Robot,
    rest: Result,
    pretension: dict[str, Known],
    damper: Damper | None,
    plant: LinearDynamics,
    steps: int,
) -> tuple[float, float]:
    """Damping ratio by the decay of the first vibration's energy, and the tip's motion at the end [m]."""
    phi, w, body = plant.shapes[:, 0], float(plant.frequency[0]), robot.body
    M = mass_matrix(robot, rest.q, body.free)
    kick = rest.state.with_(v=KICK * w * phi / np.abs(phi).max())
    sim = Simulation(robot, time_step=TIME_STEP, scheme="midpoint", damping=WEAK, state=kick)
    start = reading = rest.displacement["tip"]
    energy, far = [], []
    for _ in range(steps):
        moment = sim.step(pretension if damper is None else {**pretension, **damper.step(reading)})
        reading = moment.displacement["tip"]
        moved = (moment.q - rest.q)[body.coordinates.moving]
        energy.append((phi @ (M @ sim.state.v)) ** 2 + (w * (phi @ (M @ moved))) ** 2)
        far.append(float(np.linalg.norm(reading - start)))
    above = np.array(energy) > ABOVE_OTHERS * energy[0]
    used = steps if above.all() else int(np.argmin(above))
    slope = np.polyfit(TIME_STEP * np.arange(used), np.log(energy[:used]), 1)[0]
    return float(-slope / (2.0 * w)), max(far[-max(steps // 5, 1) :])
