"""The crawler: friction and the order of its tendons make it travel, and it is driven to targets."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.dynamics import KelvinVoigt, Simulation
from pliant.inverse.moving import MovingInverse
from pliant.robots import crawl, crawler

DAMPING = KelvinVoigt(0.02)
ROBOT = crawler()
LENGTH = 0.12


def walk(robot: pl.Robot, **options) -> list:
    return list(crawl(robot, **options))


def settled(robot: pl.Robot = ROBOT, **options) -> pl.dynamics.Moment:
    """A crawler that has come to rest on the ground."""
    return next(crawl(robot, **options))


def travelled(log: list, time_step: float = 0.01) -> np.ndarray:
    """Of the centre of mass in the last cycle, (3,) [m]."""
    return log[-1].displacement["centre"] - log[-1 - round(1 / time_step)].displacement["centre"]


@pytest.fixture(scope="module")
def forwards() -> list:
    return walk(ROBOT)


def test_its_back_meets_what_falls_on_it():
    """Not only its feet: a ball that lies 1 mm deep in the middle of its back is seen, and pushes down."""
    q = ROBOT.rest.q
    top = ROBOT.positions(q)[:, 2].max()
    detector = ROBOT.surroundings.detector(ROBOT, pl.Sphere((0.0, 0.0, top + 0.004), 0.005, name="ball"))
    found = detector.detect(q)
    assert found.gap.min() == pytest.approx(-1e-3, abs=2e-5 * ROBOT.length)
    assert found.normal[found.gap.argmin(), 2] < -0.9
    assert detector.penetration(q) == pytest.approx(1e-3, abs=2e-5 * ROBOT.length)


def test_it_stands_on_its_feet():
    moment = settled()
    assert moment.contact_force.sum() == pytest.approx(9.81 * ROBOT.body.total_mass, rel=1e-6)
    assert np.abs(moment.v).max() < 1e-6
    feet = moment.contacts.position[moment.contact_force > 0, 0]
    assert feet.min() < -0.4 * LENGTH and feet.max() > 0.4 * LENGTH
    middle = np.abs(ROBOT.body.mesh.nodes[:, 0]) < 0.2 * LENGTH
    assert moment.positions[middle, 2].min() > 0.005  # the belly is off the ground


def test_the_gait_travels(forwards):
    way = travelled(forwards)
    assert way[0] > 0.03 * LENGTH
    assert abs(way[1]) < 1e-12  # straight ahead
    assert abs(way[2]) < 1e-4 * LENGTH  # and all over again


def test_the_order_of_the_tendons_is_the_direction(forwards):
    back = travelled(walk(ROBOT, lead=-0.25))
    assert back[0] == pytest.approx(-travelled(forwards)[0], rel=1e-3)
    together = walk(ROBOT, cycles=1, lead=0.0)
    assert abs(travelled(together)[0]) < 1e-9


def test_without_friction_it_does_not_travel(within):
    """No force along the ground, no motion of the centre of mass along it, however the tendons pull."""
    log = walk(crawler(friction=0.0), cycles=2)
    places = np.array([moment.displacement["centre"] for moment in log])
    within(places[:, :2] - places[0, :2], 1e-10, "centre of mass along the ground [m]")
    assert np.ptp(places[:, 2]) > 0.005  # although it arches its back


def test_coulomb_and_newton_on_the_way(forwards, within):
    """Feet stay on or above the ground, friction stays in its cone, and its work moves the centre of mass."""
    h, mass, left = 0.01, ROBOT.body.total_mass, []
    M = ROBOT.body.pattern.to_csr(ROBOT.body.mass())
    p = np.array([(M @ moment.v).reshape(-1, 3).sum(axis=0) for moment in forwards])  # momentum
    rates = {  # of momentum, by the scheme of a step
        "euler": lambda k: (p[k + 1] - p[k]) / h,
        "bdf2": lambda k: (3.0 * p[k + 1] - 4.0 * p[k] + p[k - 1]) / (2.0 * h),
    }
    for k in range(1, len(forwards) - 1):
        moment = forwards[k + 1]
        along = np.linalg.norm(moment.friction_force, axis=1)
        assert (along <= 0.6 * moment.contact_force + 1e-9).all()
        assert moment.positions[:, 2].min() > -1e-6
        if moment.certificate.load_steps == 1 and moment.certificate.scheme in rates:
            found = moment.contacts
            push = moment.contact_force @ found.normal
            push += np.einsum("kai,ka->i", found.tangents, moment.friction_force)
            rate = rates[moment.certificate.scheme](k)
            left.append(rate - push + np.array([0.0, 0.0, 9.81 * mass]))
    assert len(left) > 0.9 * len(forwards)
    within(np.array(left) / (9.81 * mass), 1e-6, "ṗ − F, relative to the weight")


def test_the_distance_does_not_depend_on_the_step(forwards, within):
    fine = travelled(walk(ROBOT, time_step=0.005), 0.005)
    within(fine[0] / travelled(forwards)[0] - 1.0, 0.1, "a cycle in steps of 10 and 5 ms, relative")


@pytest.mark.parametrize("speed", [0.01, -0.01])
def test_it_is_driven_by_its_centre_of_mass(speed):
    """Without a gait, the inverse model follows a target that moves along the ground, in both directions."""
    control = MovingInverse(ROBOT, damping=DAMPING, state=settled().state)
    start, places = control.step().displacement["ahead"][0], []
    for k in range(150):
        out = control.step({"ahead": start + speed * 0.01 * (k + 1)})
        places.append(out.displacement["ahead"][0] - start)
        pulls = np.concatenate([out.effort["rear"], out.effort["front"]])
        assert pulls.min() >= 0.0 and pulls.max() <= 4.0
    assert places[-1] == pytest.approx(1.5 * speed, abs=0.25 * abs(speed))  # it lags by its response
    late = np.polyfit(0.01 * np.arange(75), places[-75:], 1)[0]
    assert late == pytest.approx(speed, rel=0.15)


def test_it_jumps(within):
    """Both tendons at once, then let go: it leaves the ground and falls as anything does."""
    strong, h = crawler(tension=8.0), 0.002
    start, rubber = settled(strong).state, KelvinVoigt(0.005)
    sim = Simulation(strong, time_step=h, damping=rubber, state=start)
    for _ in range(30):
        sim.step({"rear": pl.Known(effort=8.0), "front": pl.Known(effort=8.0)})
    log = [sim.step() for _ in range(60)]
    high = np.array([moment.positions[:, 2].min() for moment in log])
    landed = next(k for k, low in enumerate(high) if low < 1e-3)
    flying = np.arange(landed)
    assert high.max() > 0.005 and len(flying) > 20
    fall = np.diff([log[k].displacement["centre"] for k in range(flying[0], flying[-1] + 1)], n=2, axis=0)
    rough = [k for k in flying[2:] if log[k].certificate.fallback]  # from here on the scheme gave way
    fall = fall[: min(rough, default=landed) - 2]
    assert len(fall) > 15
    within(fall / (9.81 * h * h) + np.array([0.0, 0.0, 1.0]), 1e-6, "flight, relative to g")
