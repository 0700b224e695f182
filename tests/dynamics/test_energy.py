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
    """Over a thousand steps of 100 and of 20 in a swing, bent by half its length."""
    energies, kinetic = swinging("midpoint", law, step, 1000)
    within((energies - energies[0]) / kinetic, 1e-4, "change of energy")


@pytest.mark.parametrize("scheme, lost", [("euler", 0.3), ("bdf2", 0.003)])
def test_dissipative_schemes_lose_energy(scheme, lost):
    """Euler at every step; bdf2 over time."""
    energies, kinetic = swinging(scheme, pl.Hooke(3e5, 0.3), 1e-3, 300)
    assert energies[0] - energies[-1] > lost * kinetic
    assert scheme == "bdf2" or (np.diff(energies) < 0).all()


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
