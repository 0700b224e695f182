"""Schemes of integration: observed orders, exact motions, the stable step."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Rigid
from pliant.dynamics import KelvinVoigt, Rayleigh, Simulation, StandardLinear
from pliant.dynamics.schemes.registry import SCHEMES

IMPLICIT = [name for name, scheme in SCHEMES.items() if scheme.explicit is None]
EXPLICIT = [name for name in SCHEMES if name not in IMPLICIT]
DOWN = np.array([0.0, 0.0, -9.81])
SPIN = np.array([5.0, 20.0, 11.0])
THROWN = np.array([0.1, 0.2, 0.3])


def block(fixed: bool = True, kind: str = "hex", cells=(2, 1, 1), **options) -> pl.Solid:
    mesh = pl.mesh.box((0.04, 0.02, 0.02), cells=cells, kind=kind)
    clamp = pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0)) if fixed else None
    law = options.pop("law", pl.Hooke(young=3e4, poisson=0.3))
    return pl.Solid(mesh, law, density=1100, fixed=clamp, **options)


def brick(centre=None) -> pl.Solid:
    """Rigid as a whole, 60 × 30 × 20 mm about the origin."""
    mesh = pl.mesh.box((0.06, 0.03, 0.02), cells=(2, 1, 1), kind="hex")
    mesh = mesh.transformed(translation=(-0.03, -0.015, -0.01))
    region = Rigid(lambda x: x[:, 0] > -1, "all", centre=centre)
    return pl.Solid(mesh, pl.Hooke(3e4, 0.3), density=1000, rigid=region, mass="consistent")


def run(sim: Simulation, steps: int) -> pl.dynamics.Moment:
    for _ in range(steps - 1):
        sim.step()
    return sim.step()


def waving(body: pl.Solid) -> np.ndarray:
    """A smooth field of velocities: bending if the body is fixed, spinning if not."""
    fixed = body.rigid_modes() == 0
    bend = lambda x: np.stack([0 * x[:, 0], 200 * x[:, 0] ** 2, 3 * x[:, 0]], 1)
    v = np.zeros(body.ndof)
    X = body.coordinates.rest[body.node_block >= 0]
    v[: X.size] = (bend(X) if fixed else np.cross(SPIN, X)).ravel()
    for at, c in zip(body.region_block, body.coordinates.region_centre, strict=True):
        motion = np.r_[bend(c[None])[0], 0, -3, 400 * c[0]] if fixed else np.r_[np.cross(SPIN, c), SPIN]
        v[3 * at : 3 * at + 6] = motion
    return v


# Orders


def observed_order(scheme: str, body: pl.Solid, damping=None, duration: float = 0.004) -> float:
    """log₂ of how much differences between runs with halved steps fall."""
    robot, ends = pl.Robot(body, gravity=DOWN), []
    for steps in (40, 80, 160):
        start = robot.rest.with_(v=waving(body))
        sim = Simulation(robot, scheme=scheme, time_step=duration / steps, damping=damping, state=start)
        ends.append(run(sim, steps).q)
    return float(np.log2(np.linalg.norm(ends[1] - ends[0]) / np.linalg.norm(ends[2] - ends[1])))


REGION = Rigid(lambda x: x[:, 0] > 0.03)
CASES = {
    "elastic": ({}, None),
    "Rayleigh": ({}, Rayleigh(mass=3.0, stiffness=0.003)),
    "Kelvin–Voigt": ({}, KelvinVoigt(0.002)),
    "standard linear": ({}, StandardLinear(0.005, 1.0)),
    "neo-Hookean": ({"law": pl.NeoHookean(3e4, 0.3)}, None),
    "rigid region": ({"rigid": REGION}, None),
    "free": ({"fixed": False}, None),
    "free with rigid region": ({"fixed": False, "rigid": REGION}, None),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("scheme", IMPLICIT)
def test_observed_order(scheme, case):
    """As the registry says; the default number of linearisations in a step is enough for that."""
    options, damping = CASES[case]
    order = observed_order(scheme, block(**options), damping)
    assert order == pytest.approx(SCHEMES[scheme].order, abs=0.25)


@pytest.mark.parametrize("scheme", EXPLICIT)
def test_observed_order_of_explicit_schemes(scheme):
    order = observed_order(scheme, block(mass="lumped"))
    assert order == pytest.approx(SCHEMES[scheme].order, abs=0.25)


# Exact motions


def summed(scheme: str, h: float, n: int) -> float:
    """∫∫ of one as a scheme sums it up over n steps of h."""
    return n * (n + 1) / 2 * h * h if scheme == "euler" else (n * h) ** 2 / 2


@pytest.mark.parametrize("element", ["hex", "tet"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_free_fall(scheme, element):
    """Every node falls alike: v = v₀ + gt, and the way as the scheme sums it up: exactly, but for Euler's."""
    body = block(fixed=False, kind=element, mass="lumped" if scheme in EXPLICIT else "consistent")
    robot, h, n = pl.Robot(body, gravity=DOWN), 5e-4, 20
    start = robot.rest.with_(v=np.tile(THROWN, body.ndof // 3))
    moment = run(Simulation(robot, scheme=scheme, time_step=h, state=start), n)
    v, moved = moment.v.reshape(-1, 3), body.positions(moment.q) - body.mesh.nodes
    np.testing.assert_allclose(v, np.tile(THROWN + DOWN * n * h, (len(v), 1)), rtol=1e-9)
    way = THROWN * n * h + DOWN * summed(scheme, h, n)
    np.testing.assert_allclose(moved, np.tile(way, (len(moved), 1)), atol=1e-12)
    assert moment.t == pytest.approx(n * h)


def turn(axis: int, angle: float) -> np.ndarray:
    """The rotation (3, 3) about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
    return R


@pytest.mark.parametrize("scheme", IMPLICIT)
@pytest.mark.parametrize("axis", range(3))
def test_rigid_spin_about_a_principal_axis_is_exact(scheme, axis):
    """Whatever the step: the speed stays, and the angle is ωt."""
    body, h, n = brick(), 0.01, 40
    robot, v = pl.Robot(body), np.r_[0.3, 0, 0, 25.0 * np.eye(3)[axis]]
    moment = run(Simulation(robot, scheme=scheme, time_step=h, state=robot.rest.with_(v=v)), n)
    R, centre = body.pose(moment.q, "all")
    np.testing.assert_allclose(moment.v, v, atol=1e-10)
    np.testing.assert_allclose(R, turn(axis, 25.0 * n * h), atol=1e-9)
    np.testing.assert_allclose(centre, [0.3 * n * h, 0, 0], atol=1e-12)


def tumbling(scheme: str, steps: int) -> tuple[np.ndarray, float]:
    """Kinetic energies of a brick without symmetry, and how its angular momentum has grown."""
    body = brick()
    robot, omega = pl.Robot(body), np.array([1.0, 30.0, 2.0])
    sim = Simulation(robot, scheme=scheme, time_step=1e-3, state=robot.rest.with_(v=np.r_[0, 0, 0, omega]))
    energy = [sim.energy.kinetic]
    for _ in range(steps):
        sim.step()
        energy.append(sim.energy.kinetic)
    inertia = body.pattern.to_csr(body.mass()).toarray()[3:, 3:]
    return np.array(energy), float(
        np.linalg.norm(inertia @ sim.state.v[3:]) / np.linalg.norm(inertia @ omega)
    )


def test_tumbling_keeps_energy_and_momentum():
    """Midpoint keeps both over many turns; Euler only ever loses energy."""
    energy, momentum = tumbling("midpoint", 400)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-10)
    assert momentum == pytest.approx(1.0, rel=1e-10)
    energy, _ = tumbling("euler", 300)
    assert (np.diff(energy) <= 1e-13 * energy[0]).all() and energy[-1] < 0.995 * energy[0]


def test_the_centre_of_a_region_does_not_matter():
    """Described by another point than its centre of mass, a brick flies the same way, to second order."""
    omega, errors = np.array([8.0, 4.0, -6.0]), []
    for h in (2e-3, 1e-3):
        ends = []
        for centre in ((0.0, 0.0, 0.0), (0.02, -0.01, 0.03)):
            body = brick(centre)
            robot = pl.Robot(body, gravity=DOWN)
            start = robot.rest.with_(v=np.r_[THROWN + np.cross(omega, centre), omega])
            sim = Simulation(robot, scheme="midpoint", time_step=h, state=start)
            ends.append(body.positions(run(sim, round(0.1 / h)).q))
        errors.append(np.abs(ends[1] - ends[0]).max())
    assert errors[1] < 1e-4 and errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)


# Central differences


@pytest.mark.parametrize(
    "damping", [None, Rayleigh(stiffness=3e-4), KelvinVoigt(3e-4), Rayleigh(mass=20.0)], ids=str
)
@pytest.mark.parametrize("region", [False, True])
def test_stable_step(damping, region):
    """Noise stays small just below the stable step and grows without bounds just above it."""
    body = block(mass="lumped", rigid=REGION if region else ())
    robot, rng = pl.Robot(body), np.random.default_rng(0)
    largest = Simulation(robot, scheme="central", damping=damping).stable_step
    noise = robot.rest.with_(v=1e-9 * rng.normal(size=robot.ndof) * body.free)
    calm = Simulation(robot, scheme="central", damping=damping, time_step=0.99 * largest, state=noise)
    energy = calm.energy.total
    run(calm, 400)
    assert calm.energy.total < 2 * energy
    with pytest.warns(pl.PliantWarning, match="unstable"):
        wild = Simulation(robot, scheme="central", damping=damping, time_step=1.02 * largest, state=noise)
    with np.errstate(all="ignore"):
        try:
            run(wild, 400)
        except pl.ConvergenceError:
            return
    assert wild.energy.total > 1e3 * energy


def test_the_usual_step_of_central_differences_is_stable():
    body = block(mass="lumped")
    sim = Simulation(pl.Robot(body, gravity=DOWN), scheme="central")
    assert sim.time_step == pytest.approx(0.9 * sim.stable_step)
    run(sim, 500)
    assert abs(sim.energy.total) < 1e-2 * sim.energy.kinetic + 1e-5
