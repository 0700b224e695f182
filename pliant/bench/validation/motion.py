"""Motions with a closed form or something that stays: falling, swinging, spinning, bouncing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from time import process_time

import numpy as np

from pliant.bodies import Prismatic, Rigid, Solid
from pliant.contact import Plane
from pliant.dynamics import Moment, Rayleigh, Simulation
from pliant.interactions import Slider
from pliant.io.table import Table
from pliant.laws import Elastic
from pliant.materials import Hooke, NeoHookean
from pliant.mesh import box, near_plane
from pliant.robot import Robot, Row
from pliant.timing import Yardstick

GRAVITY = 9.81  # [m/s²]
SCHEMES = ("bdf2", "euler", "midpoint")
SPIN = (2.0, 15.0, 0.5)  # [rad/s]


@dataclass
class Run:
    """A simulation that counts its steps, their linearisations and their schemes, and CPU time [s]."""

    sim: Simulation
    steps: int = 0
    linearisations: int = 0
    seconds: float = 0.0
    schemes: Counter = field(default_factory=Counter)

    def step(self) -> Moment:
        """One step further."""
        begin = process_time()
        moment = self.sim.step()
        self.seconds += process_time() - begin
        self.steps, self.linearisations = self.steps + 1, self.linearisations + moment.certificate.iterations
        self.schemes[moment.certificate.scheme] += 1
        return moment


def motion() -> Table:
    """Errors and costs of the schemes; about half a minute."""
    columns = ("what", "scheme", "error", "allowed", "linearisations a step", "÷ dgemm(1500) a step", "check")
    table, yard = Table("Motion in time", columns), Yardstick.measure()

    def add(what: str, scheme: str, error: float, allowed: float | None, run: Run) -> None:
        table.add(
            what=what,
            scheme=scheme,
            error=f"{error:+.1e}",
            allowed=allowed,
            check=None if allowed is None else bool(abs(error) <= allowed),
            **{
                "linearisations a step": run.linearisations / run.steps,
                "÷ dgemm(1500) a step": yard.ratio(1e3 * run.seconds / run.steps),
            },
        )

    for scheme in SCHEMES:
        add("free fall, 20 steps of 10 ms: way", scheme, *fall(scheme))
    for scheme in SCHEMES:
        add("oscillator, ζ = 0.05, T/100: damping ratio", scheme, *damped(scheme))
    for scheme in SCHEMES:
        add("order, a bar that swings, less that of the scheme", scheme, *order(scheme))
    for law, name in ((NeoHookean(3e5, 0.45), "0.45"), (NeoHookean(3e5, 0.3), "0.3")):
        energy, momentum, run = spinning(law)
        add(f"bar that spins, ν = {name}, 400 steps of 10 ms: energy", "midpoint", energy, 1e-8, run)
        add("the same: angular momentum", "midpoint", momentum, 1e-8, run)
        energy, _, run = spinning(law, "bdf2")
        add("the same: energy", "bdf2", energy, 0.1, run)
    for scheme in ("bdf2", "euler"):
        most, run = bouncing(scheme)
        add("block that bounces: most energy above that at first", scheme, most, 1e-9, run)
    table.notes.append(
        "Errors are relative. Nothing is asked of Euler's scheme where its order is in the way."
    )
    return table


def fall(scheme: str) -> tuple[float, float | None, Run]:
    """Relative error of how far a free block has fallen, from rest; what is allowed; the run."""
    body = Solid(box((0.04, 0.02, 0.02), cells=(2, 1, 1)), Hooke(3e5, 0.3), density=1000)
    run = Run(Simulation(Robot(body, gravity=(0, 0, -GRAVITY)), time_step=0.01, scheme=scheme))
    for _ in range(20):
        moment = run.step()
    fallen = float((body.mesh.nodes - moment.positions)[:, 2].mean())
    return fallen / (0.5 * GRAVITY * moment.t**2) - 1.0, None if scheme == "euler" else 1e-9, run


def damped(scheme: str, ratio: float = 0.05, per_period: int = 100) -> tuple[float, float | None, Run]:
    """Relative error of the damping ratio of a mass on a spring, from its energy over four periods."""
    mass, stiffness = 0.008, 2.0
    region = Rigid(lambda x: x[:, 0] > -1.0, "all", joint=Prismatic((1, 0, 0)))
    body = Solid(box((0.02,) * 3, cells=(1, 1, 1), kind="hex"), Hooke(3e5, 0.3), density=1000, rigid=region)
    robot = Robot(body, {"x": Row(Slider(body.region_points("all"), (1, 0, 0)), Elastic(stiffness))})
    omega = float(np.sqrt(stiffness / mass))
    sim = Simulation(
        robot,
        scheme=scheme,
        time_step=2 * np.pi / omega / per_period,
        damping=Rayleigh(mass=2 * ratio * omega),
        state=robot.rest.with_(v=np.array([0, 0, 0.1, 0, 0, 0])),
    )
    run, energy = Run(sim), []
    for _ in range(4 * per_period + 1):
        x = float(run.step().displacement["x"][0])
        energy.append(sim.energy.kinetic + 0.5 * stiffness * x * x)
    periods = 4 * per_period * sim.time_step
    found = float(np.log(energy[0] / energy[-1])) / (2.0 * omega * periods)
    return found / ratio - 1.0, None if scheme == "euler" else 0.01, run


def order(scheme: str) -> tuple[float, float, Run]:
    """Observed order less the scheme's, of where a bar that swings is after 40, 80 and 160 steps."""
    mesh, ends = box((0.04, 0.02, 0.02), cells=(2, 1, 1)), []
    body = Solid(mesh, NeoHookean(3e4, 0.3), density=1100, fixed=near_plane(mesh, (0, 0, 0), (1, 0, 0)))
    robot, free = Robot(body, gravity=(0, 0, -GRAVITY)), body.node_block >= 0
    v = np.zeros((int(free.sum()), 3))
    v[:, 2] = 200.0 * body.coordinates.rest[free, 0] ** 2
    for steps in (40, 80, 160):
        start = robot.rest.with_(v=v.ravel())
        run = Run(Simulation(robot, scheme=scheme, time_step=0.004 / steps, state=start))
        for _ in range(steps):
            moment = run.step()
        ends.append(moment.q)
    size: Callable[[np.ndarray], float] = lambda x: float(np.linalg.norm(x))
    found = float(np.log2(size(ends[1] - ends[0]) / size(ends[2] - ends[1])))
    return found - (1.0 if scheme == "euler" else 2.0), 0.2, run


def spinning(
    law: NeoHookean, scheme: str = "midpoint", steps: int = 400, step: float = 0.01
) -> tuple[float, float, Run]:
    """How much a free bar that spins and wobbles has changed of its energy and its angular momentum."""
    mesh = box((0.1, 0.03, 0.015), cells=(5, 2, 1))
    body = Solid(mesh, law, density=1100)
    robot, X = Robot(body), body.mesh.nodes
    v = np.cross(SPIN, X - X.mean(axis=0))
    v[:, 2] += 0.3 * np.sin(30.0 * X[:, 0])
    sim = Simulation(robot, scheme=scheme, time_step=step, state=robot.rest.with_(v=v.ravel()))
    M = body.pattern.to_csr(body.mass())
    momentum = lambda: np.cross(body.positions(sim.state.q), (M @ sim.state.v).reshape(-1, 3)).sum(axis=0)
    run, energy, before = Run(sim), sim.energy.total, momentum()
    for _ in range(steps):
        run.step()
    turned = float(np.linalg.norm(momentum() - before) / np.linalg.norm(before))
    return sim.energy.total / energy - 1.0, turned, run


def bouncing(scheme: str) -> tuple[float, Run]:
    """The most that the energy of a block on a floor rises above that of its fall, and the run."""
    mesh, height = box((0.02,) * 3, cells=(2, 2, 2), kind="hex"), 0.05
    mesh = mesh.transformed(translation=(0.0, 0.0, height))
    body = Solid(mesh, Hooke(2e4, 0.3), density=1000)
    robot, floor = Robot(body, gravity=(0, 0, -GRAVITY)), Plane((0, 0, 0), (0, 0, 1))
    run = Run(Simulation(robot, [floor], time_step=1e-3, scheme=scheme))
    first, most = run.sim.energy.total, 0.0
    for _ in range(400):
        run.step()
        most = max(most, run.sim.energy.total - first)
    return most / (body.total_mass * GRAVITY * height), run
