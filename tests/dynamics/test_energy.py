"""What motion keeps and loses: energy, momentum, frequency."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.dynamics import Simulation


def swinging(scheme: str, law, step: float, steps: int) -> tuple[np.ndarray, float]:
    """Energies of a bar let go from where half its length bends it aside, and the largest kinetic one [J]."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(4, 1, 1), kind="hex")
    body = pl.Solid(mesh, law, density=1100, fixed=pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0)))
    load = pl.Row(pl.PointForce(body.points([[0.1, 0.01, 0.01]]), direction=(0, 0, 1)))
    robot = pl.Robot(body, {"load": load}, gravity=(0, 0, -9.81))
    start = pl.static(robot, {"load": pl.Known(effort=1.0)})
    assert start.displacement["load"][0] > 0.035
    sim = Simulation(robot, scheme=scheme, time_step=step, state=start.state)
    energies, kinetic = [sim.energy.total], 0.0
    for k in range(steps):
        sim.step()
        if k % 10 == 9:
            energies.append(sim.energy.total)
            kinetic = max(kinetic, sim.energy.kinetic)
    return np.array(energies), kinetic


@pytest.mark.parametrize("law", [pl.Hooke(3e5, 0.3), pl.NeoHookean(3e5, 0.3)], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_midpoint_keeps_energy(law, step, within):
    """Over 200 steps of 100 and of 20 in a swing, bent by half its length."""
    energies, kinetic = swinging("midpoint", law, step, 200)
    within((energies - energies[0]) / kinetic, 1e-9, "change of energy")


@pytest.mark.parametrize("scheme, lost", [("euler", 0.3), ("bdf2", 0.003)])
def test_dissipative_schemes_lose_energy(scheme, lost):
    """Euler at every step; bdf2 over time."""
    energies, kinetic = swinging(scheme, pl.Hooke(3e5, 0.3), 1e-3, 300)
    assert energies[0] - energies[-1] > lost * kinetic
    assert scheme == "bdf2" or (np.diff(energies) < 0).all()


@pytest.mark.parametrize("law", [pl.Hooke(1e5, 0.3), pl.NeoHookean(3e5, 0.45)], ids=("hooke", "neo"))
def test_large_steps_of_the_default_gain_no_energy(law):
    """A bar that turns by 9° in a step of 10 ms and wobbles: one linearisation a step would heat it up."""
    mesh = pl.mesh.box((0.1, 0.03, 0.015), cells=(4, 1, 1))
    body = pl.Solid(mesh, law, density=1100)
    robot, X = pl.Robot(body), body.mesh.nodes
    v = np.cross([2.0, 15.0, 0.5], X - X.mean(axis=0))
    v[:, 2] += 0.3 * np.sin(30.0 * X[:, 0])
    sim = Simulation(robot, time_step=0.01, state=robot.rest.with_(v=v.ravel()))
    first, most = sim.energy.total, 0.0
    for _ in range(60):
        sim.step()
        most = max(most, sim.energy.total)
    assert 0.5 * first < sim.energy.total < first and most < 1.1 * first


@pytest.mark.parametrize("scheme", ["euler", "bdf2", "midpoint"])
def test_a_soft_body_that_spins_freely(scheme):
    """Linear momentum to round-off by all schemes; midpoint keeps the angular one and the energy too."""
    mesh = pl.mesh.box((0.04, 0.02, 0.02), cells=(2, 1, 1))
    body = pl.Solid(mesh, pl.NeoHookean(3e4, 0.3), density=1100)
    robot, M = pl.Robot(body), body.pattern.to_csr(body.mass())
    X = body.mesh.nodes
    v = (np.cross([3.0, 5.0, 30.0], X - X.mean(0)) + np.array([0.1, 0.2, 0.3])).ravel()
    sim = Simulation(robot, scheme=scheme, time_step=2e-3, state=robot.rest.with_(v=v))

    def momenta() -> tuple[np.ndarray, np.ndarray]:
        p, x = (M @ sim.state.v).reshape(-1, 3), body.positions(sim.state.q)
        return p.sum(0), np.cross(x, p).sum(0)

    (linear, angular), energy = momenta(), sim.energy.total
    for _ in range(100):
        sim.step()
    np.testing.assert_allclose(momenta()[0], linear, rtol=1e-11)
    if scheme == "midpoint":
        np.testing.assert_allclose(momenta()[1], angular, atol=1e-7 * np.linalg.norm(angular))
        assert sim.energy.total == pytest.approx(energy, rel=1e-5)
    else:
        assert sim.energy.total < energy


@pytest.mark.parametrize("scheme", ["midpoint", "bdf2"])
def test_frequency_of_a_vibrating_beam(scheme, within):
    """Quadratic tetrahedra against Euler–Bernoulli: f = 1.8751²/2π √(EI/ρAL⁴).

    For a beam 30 times as long as thick.
    """
    L, t, E, rho, per_period = 0.3, 0.01, 1e6, 1000.0, 80
    mesh = pl.mesh.box((L, t, t), cells=(15, 1, 1))
    body = pl.Solid(mesh, pl.Hooke(E, 0.0), density=rho, fixed=pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0)))
    tip = pl.Row(pl.PointForce(body.points([[L, t / 2, t / 2]]), direction=(0, 0, 1)))
    robot = pl.Robot(body, {"tip": tip})
    start = pl.static(robot, {"tip": pl.Known(effort=1e-5)})
    f = 1.875104**2 / (2 * np.pi) * np.sqrt(E * t**2 / (12 * rho * L**4))
    h = 1 / f / per_period
    sim = Simulation(robot, scheme=scheme, time_step=h, state=start.state)
    z = np.array(
        [
            start.displacement["tip"][0],
            *(sim.step().displacement["tip"][0] for _ in range(int(1.8 * per_period))),
        ]
    )
    before = np.flatnonzero(np.diff(np.sign(z)))
    crossings = (before + z[before] / (z[before] - z[before + 1])) * h
    assert len(crossings) == 4
    within(1.5 / (crossings[3] - crossings[0]) / f - 1, 0.01, "frequency")


# What midpoint keeps, and says of it


def spinning(body: pl.bodies.Body, omega, wobble: float, step: float, **options) -> Simulation:
    """A free body thrown spinning, its ends swinging against each other."""
    robot = pl.Robot(body)
    sim = Simulation(robot, scheme="midpoint", time_step=step, **options)
    X = body.mesh.nodes
    v = np.cross(omega, X - X.mean(axis=0))
    v[:, 2] += wobble * np.sin(30.0 * X[:, 0])
    sim.state = sim.state.with_(v=v.ravel())
    return sim


BARS = {
    "neo-Hookean": {"law": pl.NeoHookean(3e5, 0.45)},
    "nearly incompressible": {"law": pl.NeoHookean(3e5, 0.49)},
    "corotated": {"law": pl.Hooke(3e5, 0.45)},
    "hexahedra": {"law": pl.Hooke(3e5, 0.45), "kind": "hex"},
    "linear": {"law": pl.NeoHookean(3e5, 0.3), "order": 1},
}


@pytest.mark.parametrize("wobble", [0.3, 0.0])
@pytest.mark.parametrize("case", BARS)
def test_a_bar_that_spins_fast_keeps_its_energy_and_momentum(case, wobble, within):
    """At 15 rad/s in steps of 10 ms, longer than most of its periods; and the running totals say so."""
    options = dict(BARS[case])
    law = options.pop("law")
    body = pl.Solid(pl.mesh.box((0.1, 0.03, 0.015), cells=(3, 1, 1), **options), law, density=1100)
    sim = spinning(body, (2.0, 15.0, 0.5), wobble, 0.01)
    energy, M = sim.energy.total, body.pattern.to_csr(body.mass())

    def momentum() -> np.ndarray:
        return np.cross(body.positions(sim.state.q), (M @ sim.state.v).reshape(-1, 3)).sum(axis=0)

    before = momentum()
    moments = [sim.step() for _ in range(30)]
    assert {(m.certificate.status, m.certificate.scheme) for m in moments} == {("converged", "midpoint")}
    within(sim.energy.total / energy - 1, 1e-8, "energy")
    within((momentum() - before) / np.linalg.norm(before), 1e-8, "angular momentum")
    assert sim.energy_drift == pytest.approx(sim.energy.total - energy, abs=1e-14 * energy)
    assert sum(m.certificate.energy_drift for m in moments) == pytest.approx(
        sim.energy_drift, abs=1e-12 * energy
    )
    linear, angular = sim.momentum_drift
    assert np.abs(linear).max() < 1e-13
    np.testing.assert_allclose(angular, momentum() - before, atol=1e-12 * np.linalg.norm(before))


def test_steps_that_do_not_keep_energy_say_so():
    """Where something touches a step is Euler's: it loses energy, and the totals have it."""
    mesh = pl.mesh.box((0.02,) * 3, cells=(1, 1, 1), kind="hex").transformed(translation=(0, 0, 1e-3))
    body = pl.Solid(mesh, pl.Hooke(1e5, 0.3), density=1000)
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    floor = pl.Plane((0, 0, 0), (0, 0, 1))
    sim = Simulation(robot, [floor], scheme="midpoint", time_step=2e-3)
    start, moments = sim.energy.total, [sim.step() for _ in range(20)]
    blow = [m for m in moments if m.certificate.scheme == "euler"]
    assert moments[0].certificate.status == "converged" and moments[0].certificate.fallback == ""
    assert blow and blow[0].certificate.status == "energy not kept" and "touches" in str(blow[0].certificate)
    total = sum(m.certificate.energy_drift for m in moments)
    assert sim.energy_drift == pytest.approx(total, rel=1e-9) and total < 0.1 * (sim.energy.total - start) < 0


def test_work_that_is_done_on_a_robot_is_no_drift():
    """A spring row, a force and Rayleigh's damping: what they give and take is counted."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(4, 1, 1))
    body = pl.Solid(
        mesh, pl.NeoHookean(3e5, 0.4), density=1100, fixed=pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    )
    tip = body.points([[0.1, 0.01, 0.01]])
    rows = {
        "load": pl.Row(pl.PointForce(tip, direction=(0, 0, 1))),
        "spring": pl.Row(pl.PointForce(tip, direction=(0, 1, 0)), pl.Elastic(5.0)),
    }
    robot = pl.Robot(body, rows, gravity=(0, 0, -9.81))
    sim = Simulation(robot, scheme="midpoint", time_step=5e-3, damping=pl.dynamics.Rayleigh(mass=3.0))
    for k in range(20):
        moment = sim.step({"load": pl.Known(effort=0.1 * np.sin(0.3 * k))})
        assert moment.certificate.status == "converged"
    assert abs(sim.energy_drift) < 1e-8 * sim.energy.kinetic and sim.momentum_drift is None


def test_what_viscous_materials_lose_is_not_counted_and_the_certificate_says_so():
    body = pl.Solid(pl.mesh.box((0.1, 0.03, 0.015), cells=(3, 1, 1)), pl.NeoHookean(3e5, 0.4), density=1100)
    sim = Simulation(pl.Robot(body), scheme="midpoint", time_step=5e-3, damping=pl.dynamics.KelvinVoigt(0.01))
    certificate = sim.step().certificate
    assert certificate.scheme == "midpoint" and "energy drift not judged" in str(certificate)
    assert np.isnan(certificate.energy_drift) and np.isnan(sim.energy_drift)
    plain = Simulation(pl.Robot(body), scheme="midpoint", time_step=5e-3)
    assert "not judged" not in str(plain.step().certificate) and abs(plain.energy_drift) < 1e-12
