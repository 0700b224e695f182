"""Part 10: equations of motion in time: every scheme, explicit and implicit, and every viscous law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

import pliant as pl
from pliant.bodies import Prismatic, Rigid, Solid
from pliant.dynamics import Damping, KelvinVoigt, Maxwell, Prony, Rayleigh, Simulation, StandardLinear
from pliant.dynamics.schemes.registry import SCHEMES
from pliant.robot import Robot, Row
from pliant.state import State
from pliant.studies.duriez2024.compared import Compared
from pliant.studies.duriez2024.lab import Lab
from pliant.studies.study import Findings

LENGTH, SIDE, YOUNG, DENSITY = 0.1, 0.02, 1e5, 1000.0
ORDERS = {"euler": 1, "bdf2": 2, "midpoint": 2, "central": 2}
TIME = 0.1  # [s] of the viscous laws
STRAIN = 1e-5  # small enough for a linear law


def motion(lab: Lab) -> Findings:
    """Schemes, then viscosity."""
    return Findings("Dynamics and viscosity", TEXT, [_schemes(lab).table, _viscosity(lab).table])


def bar(density: float = DENSITY, **options: object) -> Robot:
    """A bar fixed at x = 0, with a rigid end that slides along it: stress is uniform if it is light."""
    mesh = pl.mesh.box((LENGTH, SIDE, SIDE), cells=(2, 1, 1), kind="hex")
    end = Rigid(lambda x: x[:, 0] > LENGTH - 1e-9, "end", joint=Prismatic((1, 0, 0)))
    law = pl.Hooke(YOUNG, 0.0, small_strain=True)
    chosen: dict = {"density": density, "fixed": lambda x: x[:, 0] < 1e-9, "rigid": end, **options}
    body = Solid(mesh, law, **chosen)
    return pl.Robot(body, {"end": Row(pl.Slider(body.region_points("end"), (1, 0, 0)))})


@dataclass(frozen=True)
class Modes:
    """M, K (n, n) of the free coordinates, frequencies ω (n,) [rad/s] and shapes of a robot at rest."""

    M: np.ndarray
    K: np.ndarray
    free: np.ndarray
    omega: np.ndarray
    shape: np.ndarray

    @classmethod
    def of(cls, robot: Robot) -> Modes:
        """By dense eigenvalues."""
        body = robot.bodies[0]
        keep = np.flatnonzero(body.free)
        full = lambda blocks: body.pattern.to_csr(blocks).toarray()[np.ix_(keep, keep)]
        M, K = full(body.mass()), full(body.linearise(body.q0, np.zeros(3))[2])
        squares, shape = scipy.linalg.eigh(K, M)
        return cls(M, K, keep, np.sqrt(squares), shape)


def _schemes(lab: Lab) -> Compared:
    table = Compared("Integration in time")
    for scheme in SCHEMES:
        robot = bar(mass="lumped") if scheme == "central" else bar()
        n = 4 * lab.setting.steps
        errors = [_swing(robot, scheme, k * n, k * 9 * n // 8)[1] for k in (1, 2)]
        order = float(np.log2(errors[0] / errors[1]))
        table.add(
            scheme, "observed order, after 1⅛ periods", ORDERS.get(scheme, 2), order, allowed=0.15, scale=1.0
        )
        _fall(table, scheme)
    _first_step(table)
    _stable(table)
    kept = 1.0 + _swing(bar(), "midpoint", 40, 200)[0]
    table.add("midpoint", "energy after five periods, 40 steps each", 1.0, kept, unit="1", allowed=1e-6)
    return table


def _let_go(robot: Robot) -> tuple[State, float]:
    """The robot drawn out along its first mode, and that mode's frequency ω [rad/s]."""
    modes = Modes.of(robot)
    dq = np.zeros(robot.ndof)
    dq[modes.free] = modes.shape[:, 0] / np.abs(modes.shape[:, 0]).max() * STRAIN * LENGTH
    return replace(robot.rest, q=robot.retract(robot.rest.q, dq)), float(modes.omega[0])


def _swing(robot: Robot, scheme: str, per_period: int, steps: int) -> tuple[float, float]:
    """Errors of energy (relative) and of place (over the amplitude) of the first mode after so many steps."""
    state, omega = _let_go(robot)
    h = 2 * np.pi / omega / per_period
    sim = Simulation(robot, scheme=scheme, time_step=h, state=state)
    start, energy = state.q - robot.rest.q, sim.energy.total
    for _ in range(steps):
        sim.step()
    away = sim.state.q - robot.rest.q - np.cos(omega * h * steps) * start
    return sim.energy.total / energy - 1.0, float(np.abs(away).max() / np.abs(start).max())


def _fall(table: Compared, scheme: str) -> None:
    """A free block for ten steps."""
    mesh = pl.mesh.box((SIDE, SIDE, SIDE), cells=(1, 1, 1), kind="hex")
    body = Solid(mesh, pl.Hooke(YOUNG, 0.3), density=DENSITY, mass="lumped")
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    h, n = 2e-4 if scheme == "central" else 1e-3, 10
    sim = Simulation(robot, scheme=scheme, time_step=h)
    for _ in range(n):
        sim.step()
    fallen = (robot.rest.q - sim.state.q).reshape(-1, 3)[: len(mesh.nodes), 2]
    summed = n * (n + 1) if scheme == "euler" else n * n
    expected = np.full(len(mesh.nodes), 9.81 * h * h * summed / 2)
    table.add(scheme, "free fall, by the scheme's own formula", expected, fallen, unit="m", allowed=1e-9)


def _first_step(table: Compared) -> None:
    """(24) from rest in full matrices, with Rayleigh damping: A dv = h Hᵀλ, A = M + hD + h²K."""
    robot, h, alpha, beta, force = bar(), 0.004, 3.0, 0.002, 1e-3
    modes, H = Modes.of(robot), _row(robot)
    H = H[modes.free]
    A = modes.M + h * (alpha * modes.M + beta * modes.K) + h * h * modes.K
    sim = Simulation(robot, time_step=h, scheme="euler", damping=Rayleigh(mass=alpha, stiffness=beta))
    moved = sim.step({"end": pl.Known(effort=force)}).displacement["end"]
    expected = h * h * force * H @ np.linalg.solve(A, H)
    table.add("euler", "one step, W = h² H (M + hD + h²K)⁻¹ Hᵀ", expected, moved, unit="m", allowed=1e-6)


def _row(robot: Robot) -> np.ndarray:
    """H (ndof,) of the first row at rest."""
    p = robot.bundle.positions(robot.rest.q)
    return robot.bundle.jacobian(robot.rest.q, robot.bundle.gradient(p)).transpose_dot(np.ones(1))


def _stable(table: Compared) -> None:
    """2/ω of the fastest mode."""
    robot = bar(mass="lumped")
    sim = Simulation(robot, scheme="central")
    table.add(
        "central",
        "largest stable step, 2/ω by eigenvalues",
        2 / Modes.of(robot).omega[-1],
        sim.stable_step,
        unit="s",
        allowed=0.01,
    )


Curve = Callable[[np.ndarray], np.ndarray]
PRONY = ((0.5, 0.05), (1.5, 0.2))
# The law, then the length under a constant force (times σ/E), and the force at a constant length (times EAε);
# t in units of TIME.
LAWS: dict[str, tuple[Damping, Curve | None, Curve | None]] = {
    "Kelvin–Voigt": (KelvinVoigt(TIME), lambda t: 1 - np.exp(-t), None),
    "Maxwell": (Maxwell(TIME), lambda t: 1 + t, lambda t: np.exp(-t)),
    "standard linear solid": (
        StandardLinear(TIME, 2.0),
        lambda t: 1 - 2 / 3 * np.exp(-t / 3),
        lambda t: 1 + 2 * np.exp(-t),
    ),
    "Prony series": (
        Prony(PRONY, long_term=0.7),
        None,
        lambda t: 0.7 + np.sum([g * np.exp(-t * TIME / time) for g, time in PRONY], axis=0),
    ),
}


def _viscosity(lab: Lab) -> Compared:
    table = Compared("Viscous laws, from a fifth of their time constant to twice it")
    steps = lab.setting.steps // 2
    t = np.arange(1, 2 * steps + 1) / steps
    late = t > 0.2
    robot = bar(density=1.0)
    area, step = SIDE**2, TIME / steps
    for name, (law, creep, relax) in LAWS.items():
        runs = (
            (
                "creep",
                creep,
                pl.Known(effort=STRAIN * YOUNG * area),
                lambda m: m.displacement["end"][0] / (STRAIN * LENGTH),
            ),
            (
                "relaxation",
                relax,
                pl.Known(displacement=STRAIN * LENGTH),
                lambda m: m.effort["end"][0] / (STRAIN * YOUNG * area),
            ),
        )
        for what, curve, command, read in runs:
            if curve is not None:
                sim = Simulation(robot, scheme="bdf2", time_step=step, damping=law)
                seen = np.array([read(sim.step({"end": command})) for _ in t])
                table.add(name, what, curve(t)[late], seen[late], unit="1", allowed=2e-3)
    _decay(table, lab)
    return table


def _decay(table: Compared, lab: Lab) -> None:
    """Rayleigh: a vibration ω dies with e^(−ξωt), ξ = (α/ω + βω)/2."""
    robot, alpha, beta, n = bar(), 4.0, 2e-4, 2 * lab.setting.steps
    state, omega = _let_go(robot)
    damping = Rayleigh(mass=alpha, stiffness=beta)
    sim = Simulation(robot, scheme="bdf2", time_step=2 * np.pi / omega / n, state=state, damping=damping)
    start = sim.energy.total
    for _ in range(3 * n):
        sim.step()
    ratio = 0.5 * (alpha / omega + beta * omega)
    left = np.sqrt(sim.energy.total / start)
    table.add(
        "Rayleigh",
        "amplitude after three periods, e^(−6πξ)",
        np.exp(-6 * np.pi * ratio),
        left,
        unit="1",
        allowed=0.02,
    )


TEXT = (
    "Backward Euler is the scheme of the report; a second-order one, a conservative one and explicit "
    "central differences stand beside it. Their orders are observed on a vibration whose frequency is that "
    "of the same matrices. Viscous laws creep and relax as springs and dashpots do."
)
