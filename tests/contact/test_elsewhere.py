"""Obstacles are met by all of the skin, also where samples are given for pairs of patches only."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant import contact
from pliant.contact import Samples, Sphere, Surroundings
from pliant.robots import folding_finger, manipulator, tower, two_bodies
from tests.contact.common import deformed
from tests.contact.test_depth import TOLD, brute_depth, mobile

MAKERS = {f.__name__: f for f in (tower, two_bodies, folding_finger, manipulator)}
PIECES = 10  # of the side of a facet, for the brute-force measure
PUSHED = 0.4  # of the alarm distance: how deep balls are


@pytest.fixture(scope="module", params=sorted(MAKERS))
def robot(request) -> pl.Robot:
    return MAKERS[request.param]()


def outside(robot: pl.Robot, detector: contact.Detector, rng: np.random.Generator, count: int):
    """Places on facets away from all patches with samples, with the outward normals there."""
    found, surfaces = [], [Samples.on(body).surface for body in robot.bodies]
    moves = [mobile(robot, body) for body in robot.bodies]
    while len(found) < count:
        b = int(rng.integers(len(robot.bodies)))
        surface = surfaces[b]
        assert surface is not None
        f = int(rng.integers(len(surface)))
        nodes = surface.facets[f]
        mine = detector.cloud.samples[detector.cloud.bodies.index(b)].surface
        assert mine is not None
        if moves[b][nodes].all() and not np.isin(nodes, mine.vertices).any():
            weights = rng.dirichlet(np.full(len(nodes), 4.0))
            found.append((weights @ surface.nodes[nodes], surface.facet_normals[f]))
    return found


def test_balls_anywhere_on_the_skin_are_seen_as_deep_as_they_are(robot):
    detector = robot.surroundings.detector(robot)
    rng = np.random.default_rng(7)
    q = deformed(robot, 3, 2e-5)
    radius = 0.02 * robot.length
    facets = [b.mesh.nodes[b.mesh.surface.facets] for b in robot.bodies]
    widest = max(float(np.linalg.norm(np.ptp(x, axis=1), axis=1).max()) for x in facets)
    for place, normal in outside(robot, detector, rng, 2):
        deep = PUSHED * detector.alarm
        ball = Sphere(place + (radius - deep) * normal, radius, name="ball")
        (detector.replace if "ball" in detector.obstacles else detector.add)(ball)
        measured, brute = detector.penetrations(q)["ball"], brute_depth(robot, ball, q, PIECES)
        assert measured >= brute - TOLD * robot.length
        assert measured <= brute + 2.0 * (widest / PIECES) ** 2 / (8.0 * radius)  # between the brute points
        found = detector.detect(q)
        mine = found.opponent == detector.opponents.index("ball")
        assert found.gap[mine].min() == pytest.approx(-measured, abs=4e-4 * robot.length)
        assert detector.depth(q, found) == pytest.approx(measured, abs=1e-12)


def test_indices_and_forces_of_self_contact_stay(robot):
    """Without obstacles nothing changes, and an obstacle that comes keeps keys and indices of what was."""
    detector = robot.surroundings.detector(robot)
    alone = detector.size
    given = robot.surroundings.samples
    count = len(given) if isinstance(given, Samples) else sum(map(len, given))
    assert detector.cloud.size == count and alone == count * len(detector.opponents)
    q, reach = robot.rest.q, 3.0 * detector.alarm
    before = detector.detect(q, reach)
    force = np.ones(len(before))
    place, _ = outside(robot, detector, np.random.default_rng(1), 1)[0]
    detector.add(Sphere(place, 0.01 * robot.length, name="ball"))
    after = detector.redetect(q, before, force, reach)
    bodies = ~after.rigid
    np.testing.assert_array_equal(after.key[bodies], before.key)
    np.testing.assert_array_equal(after.index[bodies], before.index)
    assert after.rigid.any() and (after.index[after.rigid] >= alone).all()
    assert detector.size == alone + detector.outer.size > after.index.max()
    carried = after.carried(before, force)
    assert carried[bodies].all() and not carried[after.rigid].any()
    np.testing.assert_array_equal(after.spread(carried)[:alone], before.spread(force))


def slit_block() -> tuple[pl.Robot, list[Samples], list]:
    """Two blocks above each other whose facing sides may touch."""
    meshes = [
        pl.mesh.box((0.02, 0.02, 0.02), cells=(2, 2, 2), kind="hex", origin=(0, 0, z)) for z in (0, 0.021)
    ]
    bodies = [pl.Solid(m, pl.Hooke(1e5, 0.4), fixed=np.abs(m.nodes[:, 0]) < 1e-9) for m in meshes]
    patch = lambda b, z: b.mesh.surface.patch(np.abs(b.mesh.surface.centres[:, 2] - z) < 1e-9)
    pairs = [(patch(bodies[0], 0.02), patch(bodies[1], 0.021))]
    samples = [Samples.on(bodies[0], pairs[0][0]), Samples.on(bodies[1], pairs[0][1])]
    return pl.Robot(bodies), samples, pairs


def test_one_may_ask_for_a_patch_only():
    robot, samples, pairs = slit_block()
    ball = Sphere((0.02 + 0.0048, 0.01, 0.01), 0.005, name="ball")
    options = {"samples": samples, "self_contact": pairs, "between_bodies": False}
    everywhere = Surroundings(**options).detector(robot, ball)
    patch = Surroundings(**options, against_obstacles=samples).detector(robot, ball)
    assert everywhere.penetration(robot.rest.q) == pytest.approx(2e-4, abs=1e-6)
    assert patch.penetration(robot.rest.q) == 0.0
    assert not patch.detect(robot.rest.q).rigid.any() and everywhere.detect(robot.rest.q).rigid.any()


def test_a_ball_pushes_where_there_are_no_samples_of_pairs():
    """Statics: the ball carries what it is pushed with, and lies on the skin, not in it."""
    robot, samples, pairs = slit_block()
    around = Surroundings(samples=samples, self_contact=pairs, between_bodies=False)
    robot = pl.Robot(robot.bodies, surroundings=around)
    result = pl.static(robot, obstacles=Sphere((0.02 + 0.0046, 0.0093, 0.0087), 0.005, name="ball"))
    assert result.certificate.converged and result.certificate.penetration < 1e-4
    push = result.touch("ball").force
    assert push[0] < -1e-3 and np.abs(push[1:]).max() < 0.2 * abs(push[0])
