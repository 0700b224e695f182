"""Contact and friction in time: who lands, slides, sticks and bounces, and what is kept meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Plane, Samples, Sphere, Surroundings
from pliant.contact.detect import search_distance
from pliant.dynamics import KelvinVoigt, Simulation, implicit

FLOOR = Plane((0, 0, 0), (0, 0, 1))
DOWN = np.array([0.0, 0.0, -9.81])
SIDE = 0.02


def cube(height: float = 0.0, young: float = 1e5, **options) -> pl.Solid:
    mesh = pl.mesh.box((SIDE,) * 3, cells=(2, 2, 2), kind="hex").transformed(translation=(0, 0, height))
    return pl.Solid(mesh, pl.Hooke(young, 0.3), density=1000, **options)


def vertical(moment: pl.dynamics.Moment) -> float:
    return float(moment.contact_force @ moment.contacts.normal[:, 2])


@pytest.mark.parametrize("step", [4e-3, 1e-3])
@pytest.mark.parametrize("scheme", ["euler", "bdf2", "midpoint"])
def test_a_dropped_cube_comes_to_rest(scheme, step):
    """It never enters the floor, is never pulled, and in the end the floor carries its weight."""
    sim = Simulation(
        pl.Robot(cube(5e-3), gravity=DOWN), [FLOOR], scheme=scheme, time_step=step, damping=KelvinVoigt(2e-3)
    )
    for _ in range(round(0.2 / step)):
        moment = sim.step()
        assert (moment.contact_force >= 0).all()
        assert moment.positions[:, 2].min() > -1e-9
    assert vertical(moment) == pytest.approx(1000 * SIDE**3 * 9.81, rel=1e-6)


def test_explicit_contact():
    sim = Simulation(
        pl.Robot(cube(1e-3, mass="lumped"), gravity=DOWN),
        [FLOOR],
        scheme="central",
        damping=KelvinVoigt(1e-3),
    )
    forces = []
    for _ in range(round(0.1 / sim.time_step)):
        moment = sim.step()
        forces.append(vertical(moment))
        assert moment.positions[:, 2].min() > -1e-9
    assert np.mean(forces[-200:]) == pytest.approx(1000 * SIDE**3 * 9.81, rel=1e-2)


def test_a_contact_that_nobody_saw_coming_holds(monkeypatch):
    """Pushed through a floor that was too far away to be searched for, in one step from rest.

    It ends where it ends if all contacts near are searched for from the beginning.
    """
    body = cube(1e-3)
    rows = {"push": pl.Row(pl.Position(body.points([[SIDE / 2, SIDE / 2, 1e-3 + SIDE / 2]])))}
    ends = []
    for close in (search_distance.CLOSE, 10.0):
        monkeypatch.setattr(search_distance, "CLOSE", close)
        sim = Simulation(pl.Robot(body, rows), [FLOOR], time_step=0.01)
        seen = len(sim._model.contacts(sim.state.q, sim.state.v, 0.01))
        free = Simulation(pl.Robot(body, rows), time_step=0.01).step(
            {"push": pl.Known(effort=(0.0, 0.0, -2.0))}
        )
        moment = sim.step({"push": pl.Known(effort=(0.0, 0.0, -2.0))})
        assert free.positions[:, 2].min() < -1e-3 and moment.positions[:, 2].min() > -1e-9
        assert vertical(moment) > 1.0
        ends.append((seen, moment.positions))
    assert ends[0][0] == 0 and ends[1][0] > 0
    np.testing.assert_array_equal(ends[0][1], ends[1][1])


def test_signorini_holds_at_the_end_of_a_step():
    """Forces push where gaps are closed and nowhere else, among a ball and a floor."""
    ball = Sphere((0.012, 0.008, -0.01), 0.012)
    sim = Simulation(
        pl.Robot(cube(4e-3), gravity=DOWN),
        [FLOOR, ball],
        time_step=2e-3,
        damping=KelvinVoigt(5e-3),
        iterations=4,
    )
    touched = 0
    for _ in range(60):
        moment = sim.step()
        gap, force = moment.contacts.gap, moment.contact_force
        assert (force >= 0).all() and gap.min(initial=0.0) > -1e-6
        assert np.abs(gap[force > 0]).max(initial=0.0) < 1e-6
        touched += (force > 0).any()
    assert touched > 20


@pytest.mark.parametrize("scheme", ["euler", "bdf2", "midpoint"])
def test_a_collision_keeps_linear_momentum(scheme):
    """Two free cubes: to round-off, through the blow and after it; energy is never made."""
    lower, upper = cube(), cube(SIDE + 1e-3)
    robot = pl.Robot([lower, upper])
    v = np.zeros((robot.ndof // 3, 3))
    v[: lower.ndof // 3], v[lower.ndof // 3 :] = [0.1, 0.0, 0.5], [0.0, 0.02, -0.3]
    sim = Simulation(robot, scheme=scheme, time_step=1e-3, state=robot.rest.with_(v=v.ravel()))
    M = robot.pattern.to_csr(np.concatenate([lower.mass(), upper.mass()]))
    momentum = lambda: (M @ sim.state.v).reshape(-1, 3).sum(0)
    before, energy, hit = momentum(), sim.energy.total, 0.0
    for _ in range(40):
        moment = sim.step()
        hit = max(hit, moment.contact_force.sum())
        np.testing.assert_allclose(momentum(), before, atol=1e-12 * np.abs(before).max())
    assert hit > 0.5 and sim.energy.total < energy * (1 + 1e-9)
    apart = sim.state.v.reshape(-1, 3)
    assert apart[: lower.ndof // 3, 2].mean() < apart[lower.ndof // 3 :, 2].mean()


def test_an_obstacle_comes_and_goes():
    """A ball pushed into a beam that is held moves it; taken away, the beam swings back."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(5, 1, 1), kind="hex")
    clamp = pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    robot = pl.Robot(pl.Solid(mesh, pl.Hooke(3e5, 0.3), density=1000, fixed=clamp))
    sim = Simulation(robot, time_step=2e-3, damping=KelvinVoigt(0.02))
    name = sim.detector.add(Sphere((0.09, 0.01, -0.012), 0.01, name="ball"))
    for k in range(50):
        sim.detector.replace(Sphere((0.09, 0.01, -0.012 + 2e-4 * k), 0.01, name="ball"))
        pushed = sim.step()
    assert vertical(pushed) > 0.01 and pushed.positions[:, 2].max() > 0.025
    sim.detector.remove(name)
    for _ in range(400):
        back = sim.step()
    np.testing.assert_allclose(back.positions, robot.body.mesh.nodes, atol=1e-5)


def test_a_robot_inside_an_obstacle_is_pushed_out_gently():
    """What begins deep in a floor leaves it, no faster than five lengths a second."""
    robot = pl.Robot(cube(-8e-3))
    sim = Simulation(robot, [FLOOR], time_step=1e-3, damping=KelvinVoigt(2e-3))
    fastest = 0.0
    for _ in range(100):
        moment = sim.step()
        fastest = max(fastest, float(np.abs(moment.v).max()))
    assert moment.positions[:, 2].min() > -1e-9 and fastest < 15 * robot.length


# Friction


def plate(mu: float, slope: float) -> Simulation:
    """A plate on an incline, told by gravity that leans."""
    mesh = pl.mesh.box((0.04, 0.04, 0.01), cells=(2, 2, 1), kind="hex")
    body = pl.Solid(mesh, pl.Hooke(1e6, 0.3), density=1000)
    lean = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    corners = Samples.on(body, spacing=1.0)  # nodes alone: no contact is a sum of others
    robot = pl.Robot(body, gravity=lean, surroundings=Surroundings([FLOOR], samples=corners, friction=mu))
    return Simulation(robot, time_step=2e-3, damping=KelvinVoigt(2e-3))


@pytest.mark.parametrize("mu", [0.2, 0.6])
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_a_plate_sticks_below_the_cone(mu, share):
    """tan φ = share · μ: once settled it does not move, and friction carries the weight along the slope."""
    slope = np.arctan(share * mu)
    sim = plate(mu, slope)
    for _ in range(50):
        settled = sim.step().positions
    for _ in range(50):
        moment = sim.step()
    np.testing.assert_allclose(moment.positions, settled, atol=1e-8)
    along = np.einsum("ka,kai->i", moment.friction_force, moment.contacts.tangents)
    np.testing.assert_allclose(along, [-0.016 * 9.81 * np.sin(slope), 0, 0], atol=1e-6)


@pytest.mark.parametrize("mu, share", [(0.2, 1.05), (0.2, 2.0), (0.6, 1.1), (0.6, 1.6), (0.0, 1.0)])
def test_a_plate_slides_above_the_cone(mu, share, within):
    """a = g (sin φ − μ cos φ)."""
    slope = np.arctan(share * mu) if mu else 0.3
    sim = plate(mu, slope)
    speed = []
    for _ in range(100):
        speed.append(sim.step().v.reshape(-1, 3)[:, 0].mean())
    expected = 9.81 * (np.sin(slope) - mu * np.cos(slope))
    within((speed[-1] - speed[-60]) / (59 * 2e-3) / expected - 1, 1e-2, "acceleration")


def test_a_sliding_plate_stops():
    """Thrown along a level floor with v, it comes to rest after v²/2μg."""
    sim = plate(0.4, 0.0)
    for _ in range(30):
        sim.step()
    before = sim.step().positions[:, 0].mean()
    thrown = sim.state.v.reshape(-1, 3) + np.array([0.4, 0.0, 0.0])
    sim.state = sim.state.with_(v=thrown.ravel())
    for _ in range(100):
        moment = sim.step()
    assert np.abs(moment.v).max() < 1e-6
    assert moment.positions[:, 0].mean() - before == pytest.approx(0.4**2 / (2 * 0.4 * 9.81), rel=0.02)


@pytest.mark.parametrize("friction", [0.3, {"floor": 0.0, "wall": 0.3}])
def test_contacts_that_seem_to_stay_open_are_left_out_of_no_solution_with_friction(monkeypatch, friction):
    """A tilted cube thrown into a corner: solved for all contacts near, and for those that matter."""
    turn = np.array([[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]])
    mesh = pl.mesh.box((SIDE,) * 3, cells=(3, 3, 3), kind="hex").transformed(rotation=turn)
    mesh = mesh.transformed(translation=-mesh.nodes.min(axis=0) + [1e-3, 0.0, 1e-4])
    corner = [Plane((0, 0, 0), (0, 0, 1), name="floor"), Plane((0, 0, 0), (1, 0, 0), name="wall")]
    body = pl.Solid(mesh, pl.Hooke(1e5, 0.3), density=1000)
    nodes = Samples.on(body, spacing=1.0)  # no contact is a sum of others
    around = Surroundings(corner, samples=nodes, friction=friction)
    robot = pl.Robot(body, gravity=DOWN, surroundings=around)

    def thrown() -> list[pl.dynamics.Moment]:
        sim = Simulation(robot, time_step=2e-3, damping=KelvinVoigt(1e-3))
        velocity = np.tile([-0.4, 0.1, -0.2], robot.ndof // 3)
        sim.state = sim.state.with_(v=velocity)
        return [sim.step() for _ in range(25)]

    monkeypatch.setattr(implicit, "FEW_CONTACTS", 0)
    some = thrown()
    monkeypatch.setattr(implicit, "FEW_CONTACTS", 10**9)
    every = thrown()
    touching = {name for m in some for name, f in zip(_opponents(m), m.contact_force) if f > 0.0}
    assert touching == {"floor", "wall"} and any(m.friction_force.any() for m in some)
    assert sum(np.count_nonzero(m.contact_force == 0.0) for m in some) > 30
    for one, other in zip(some, every, strict=True):
        np.testing.assert_allclose(one.q, other.q, atol=1e-8 * SIDE)


def _opponents(moment: pl.dynamics.Moment) -> list[str]:
    return [moment.contacts.names[k] for k in moment.contacts.opponent]


def test_what_pushes_in_the_end_touches_or_the_status_says_otherwise():
    """A bar falls on a small ball, in steps so long that linearised gaps are not the true ones."""
    mesh = pl.mesh.box((0.1, 0.01, 0.01), cells=(10, 1, 1), kind="tet", order=2)
    body = pl.Solid(mesh, pl.Hooke(3e5, 0.4), density=1000.0, order=2, fixed=mesh.nodes[:, 0] < 1e-9)
    robot = pl.Robot(body, gravity=(0, 0, -15.0))
    bound = pl.contact.depth_bound(robot.length)
    for radius, time_step in ((0.003, 0.02), (0.004, 0.025), (0.003, 0.03)):
        ball = pl.Sphere((0.07, 0.004, -radius - 0.008), radius, name="ball")
        sim = Simulation(robot, time_step=time_step, obstacles=[ball])
        for _ in range(20):
            moment = sim.step()
            pushing = moment.contact_force > 0.0
            gap = ball.distance(moment.contacts.position[pushing])[0].max(initial=0.0)
            assert moment.certificate.standoff == pytest.approx(max(gap, 0.0), abs=1e-12)
            assert gap < bound or moment.certificate.status in ("standing off", "too deep", "not converged")
