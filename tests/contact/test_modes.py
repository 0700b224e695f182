"""Modes in compiled passes: curvature by differences, gaps that do not depend on what was looked at before, steps that leave nothing out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numba import njit

import pliant as pl
from pliant import reduction
from pliant.algebra import SparseRows
from pliant.arrays import frozen, frozen_view
from pliant.contact.candidates import planes
from pliant.contact.found import joined, parted
from pliant.contact.modes import Modes
from pliant.contact.packed import packed, piece, table
from pliant.contact.reduced import ReducedDetector
from pliant.contact.watch import Watch, watched
from pliant.dynamics import Rayleigh, Simulation, implicit
from pliant.dynamics.inertia import _product
from pliant.reduction import plans
from pliant.robots import manipulator

SIZE = {"length": 0.1, "sections": 1, "vertebrae": 4, "reach": (0.04, 0.04), "backbone": (0.003, 0.003)}


def laws(force: float) -> dict[str, pl.Known]:
    return {"tendon 1": pl.Known(effort=force)}


@pytest.fixture(scope="module")
def full():
    return manipulator(**SIZE, gap=0.0015)


@pytest.fixture(scope="module")
def shots(full):
    return reduction.collect(full, plans.trajectories(full, {"tendon 1": [5.0, 6.0, 7.0, 7.5, 8.0]}))


@pytest.fixture(scope="module")
def robot(full, shots):
    """With room in K for its contacts."""
    basis = reduction.contact_basis(full, shots, 2, fade=3e-5).basis
    around = replace(full.surroundings, basis=basis)
    return pl.Robot(full.bodies, full.rows, gravity=full.gravity, surroundings=around)


@pytest.fixture(scope="module")
def narrow(full, robot):
    """Without that room: tendons couple neighbouring ribs, so K is made to know of none of its blocks."""
    other = pl.Robot(full.bodies, full.rows, gravity=full.gravity, surroundings=robot.surroundings)
    detector = other.surroundings.detector(other)
    assert isinstance(detector, ReducedDetector)
    detector._points.pattern = tuple(frozen(0 * part, int) for part in detector._points.pattern)
    return detector


@pytest.fixture(scope="module")
def bent(robot):
    return pl.static(robot, laws(8.0))


def changed(robot, K, change, dq):
    """(K + UᵀCU) dq."""
    moved = _product(robot.pattern.rows, robot.pattern.cols, K, dq)
    if change is None:
        return moved
    U, C_inverse = change
    C_inverse = np.diag(C_inverse) if C_inverse.ndim == 1 else C_inverse
    return moved + U.transpose_dot(np.linalg.solve(C_inverse, U.dot(dq)))


def modes(detector, q) -> Modes:
    found = detector.detect(q)
    assert isinstance(found, Modes)
    return found


def test_curvature_of_modes_is_the_derivative_of_their_push(robot, bent, within):
    """−∂(Hᵀβ)/∂q by differences: shares change, facets turn, levers swing."""
    q, force = bent.q, bent.contact_force
    detector = robot.surroundings.detector(robot)
    found = detector.detect(q)
    assert force.max() > 0 and len(found) == len(force)
    K, change = detector.stiffness(np.zeros((len(robot.pattern.rows), 3, 3)), found, force, q, exact=True)

    def push(x):
        now = detector.detect(x)
        return now.rows(x).transpose_dot(now.carried(found, force))

    rng = np.random.default_rng(0)
    for _ in range(3):
        dq = rng.normal(size=robot.ndof) * robot.body.free / robot.reach
        h = 2e-8 / np.abs(robot.reach * dq).max()
        slope = (push(robot.retract(q, h * dq)) - push(robot.retract(q, -h * dq))) / (2 * h)
        within(
            np.linalg.norm(slope + changed(robot, K, change, dq)) / np.linalg.norm(slope), 5e-3, "curvature"
        )


def test_curvature_is_the_same_with_and_without_room(robot, narrow, bent, within):
    q, force, none = bent.q, bent.contact_force, np.zeros((len(robot.pattern.rows), 3, 3))
    detector = robot.surroundings.detector(robot)
    softenings, products = [], []
    dq = np.random.default_rng(1).normal(size=robot.ndof) * robot.body.free / robot.reach
    for finder in (detector, narrow):
        K, found = none.copy(), finder.detect(q)
        _, softening = found.stiffen(K, SparseRows.none(robot.ndof), force, q, exact=True)
        softenings.append(softening)
        products.append(changed(robot, K, softening.change(found.rows(q)), dq))
    several = np.diff(modes(detector, q).shares.ptr) > 1
    assert several.any() and softenings[0].rest is None  # nothing but the modes' own rows
    np.testing.assert_array_equal(softenings[0].own, np.flatnonzero(several & (force > 0)))
    assert len(softenings[1].own) == 0 and softenings[1].rest is not None
    within(np.linalg.norm(products[0] - products[1]) / np.linalg.norm(products[0]), 2e-2, "curvature")


def test_curvature_of_modes_with_room_for_some_of_their_contacts(robot, bent):
    """K knows nothing of the blocks of some rib: what it has no room for is a change of low rank, and both together are the same."""
    q, force, none = bent.q, bent.contact_force, np.zeros((len(robot.pattern.rows), 3, 3))
    dq, products, parts = np.random.default_rng(2).normal(size=robot.ndof), [], []
    whole = robot.surroundings.detector(robot)
    starts, cols = whole._points.pattern
    many = np.diff(modes(whole, q).shares.ptr) * (force > 0)
    force = np.where(np.arange(len(force)) == many.argmax(), force, 0.0)
    touched = np.unique(modes(whole, q).rows(q).indices // 3)
    for known in (robot.ndof, *touched[touched > touched[0]]):
        detector, K = robot.surroundings.detector(robot), none.copy()
        detector._points.pattern = frozen(np.minimum(starts, starts[min(known, len(starts) - 1)]), int), cols
        found = detector.detect(q)
        rows, softening = found.stiffen(K, SparseRows.none(robot.ndof), force, q, exact=True)
        products.append(changed(robot, K, softening.change(rows), dq))
        parts.append((len(softening.own) > 0, softening.rest is not None))
    some = [n for n, part in enumerate(parts) if part == (True, True)]
    assert parts[0] == (True, False) and some
    for n in some:
        np.testing.assert_allclose(products[n], products[0], atol=1e-9 * np.abs(products[0]).max())


def test_gaps_do_not_depend_on_what_was_looked_at_before(robot, shots):
    used = robot.surroundings.detector(robot)
    for q in (*shots.coordinates, *shots.coordinates[::-1], robot.rest.q, shots.coordinates[-1]):
        found, fresh = used.detect(q), robot.surroundings.detector(robot).detect(q)
        np.testing.assert_array_equal(found.index, fresh.index)
        np.testing.assert_array_equal(found.gap, fresh.gap)
        np.testing.assert_array_equal(found.inner.stencil.point, fresh.inner.stencil.point)
        np.testing.assert_array_equal(found.rows(q).data, fresh.rows(q).data)


@pytest.mark.parametrize("reach", [1e-5, 1e-4, 1e-3])
def test_modes_that_were_far_are_found_when_they_come_near(robot, reach):
    """A swing into contact and out of it, in steps much smaller than what modes were far by."""
    used, found = robot.surroundings.detector(robot), []
    sim = Simulation(robot, time_step=0.002, damping=Rayleigh(mass=1.0, stiffness=0.005))
    for force in (*np.linspace(0, 8, 40), *np.linspace(8, 0, 20)):
        q = sim.step(laws(force)).q
        now, fresh = used.detect(q, reach), robot.surroundings.detector(robot).detect(q, reach)
        np.testing.assert_array_equal(now.index, fresh.index)
        np.testing.assert_array_equal(now.gap, fresh.gap)
        np.testing.assert_array_equal(now.inner.index, fresh.inner.index)
        found.append(len(now))
    assert max(found) > 1 and min(found) == 0


def test_packed_arrays_are_the_same_arrays():
    """One piece of memory: what a kernel writes is seen in the views, and what must not change cannot be changed through them."""
    given = (np.arange(4), frozen(np.eye(3)), np.zeros(0), np.array([True, False]), np.full((2, 12), 0.5))
    known, views = packed(*given)
    for view, array in zip(views, given, strict=True):
        np.testing.assert_array_equal(view, array)
        assert view.flags.writeable == array.flags.writeable and np.shares_memory(
            view, known[view.dtype == float]
        ) == (view.size > 0)
    doubled(known)
    np.testing.assert_array_equal(views[0], 2 * given[0])
    np.testing.assert_array_equal(views[4], 2 * given[4])


@njit
def doubled(known):
    ints, reals, marks = known
    piece(ints, marks, 0)[:] *= 2
    table(reals, marks, 4, 12)[:] *= 2.0


def test_modes_can_be_taken_apart_and_put_together(robot, bent):
    modes = robot.surroundings.detector(robot).detect(bent.q)
    assert len(modes) > 1
    for one, other in zip(joined(*parted.py_func(*modes.found)), modes.found, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(modes.shares.mean(np.ones(len(modes.inner))), 1.0)
    last = modes.chosen(np.array([len(modes) - 1]))
    np.testing.assert_array_equal(
        last.rows(bent.q).to_csr().toarray(), modes.rows(bent.q).to_csr().toarray()[-1:]
    )
    np.testing.assert_allclose(last.position, modes.position[-1:])
    there = robot.retract(bent.q, 1e-6 * robot.body.free / robot.reach)
    moved = modes.rows(bent.q).dot(1e-6 * robot.body.free / robot.reach)
    np.testing.assert_allclose(
        modes.followed(bent.q, there).gap - modes.gap, moved, atol=1e-2 * np.abs(moved).max()
    )


def test_planes_tell_what_is_below_a_point():
    rng = np.random.default_rng(4)
    corner = rng.normal(size=(20, 3, 3))
    corner[7, 2] = 0.5 * (corner[7, 0] + corner[7, 1])  # without area
    found = planes(corner).reshape(-1, 3, 4)
    assert (found[7, 1:, :3] == 0.0).all() and (found[7, 1:, 3] < 0.0).all()
    for (a, b, c), plane in zip(np.delete(corner, 7, 0), np.delete(found, 7, 0), strict=True):
        weights, height = rng.dirichlet([1.0, 1.0, 1.0]), rng.normal()
        normal = np.cross(b - a, c - a) / np.linalg.norm(np.cross(b - a, c - a))
        point = weights @ [a, b, c] + height * normal
        np.testing.assert_allclose(plane[:, :3] @ point + plane[:, 3], [height, *weights[1:]], atol=1e-9)


def test_a_state_is_looked_at_once_until_something_changes(robot, monkeypatch):
    """The end of a step is the beginning of the next, unless an obstacle comes between."""
    sim, looks = Simulation(robot, damping=Rayleigh(mass=1.0, stiffness=0.005)), []
    find = sim.detector.detect
    monkeypatch.setattr(sim.detector, "detect", lambda *args: looks.append(args) or find(*args))
    sim.step(laws(0.1))
    assert len(looks) == 2
    sim.step(laws(0.1))
    assert len(looks) == 3
    sim.detector.add(pl.contact.Plane((0.0, 0.0, -1.0), (0.0, 0.0, 1.0), name="floor"))
    sim.step(laws(0.1))
    assert len(looks) == 5
    sim.state = sim.state.with_(q=np.array(sim.state.q))
    sim.step(laws(0.1))
    assert len(looks) == 7


@pytest.mark.parametrize("reduced", [False, True])
def test_contacts_that_seem_to_stay_open_are_left_out_of_no_solution(full, robot, monkeypatch, reduced):
    """A swing into contact and out of it, with all contacts condensed and with those that matter."""

    def swing():
        sim = Simulation(robot if reduced else full, damping=Rayleigh(mass=1.0, stiffness=0.005))
        return [sim.step(laws(force)) for force in (*np.linspace(0, 8, 12), 8, 8, *np.linspace(8, 0, 6))]

    monkeypatch.setattr(implicit, "FEW_CONTACTS", 0)
    found = swing()
    monkeypatch.setattr(implicit, "_staying_open", lambda _, here: None)
    every = swing()
    assert (
        max(len(m.contact_force) for m in found) > 1 and max((m.contact_force > 0).sum() for m in found) > 0
    )
    for one, other in zip(found, every, strict=True):
        np.testing.assert_allclose(one.q, other.q, atol=1e-8 * full.length)
        np.testing.assert_allclose(one.contact_force, other.contact_force, atol=1e-4)


def test_nothing_comes_nearer_than_what_is_watched(robot, bent):
    """Ribs in each other's frame, points on their own in space; a motion of the whole robot brings nothing nearer."""
    detector, rng = robot.surroundings.detector(robot), np.random.default_rng(2)
    points, c = detector._points, detector._candidates
    corner = c.corner_point[c.triangle]
    alone = Alone(points)
    for one in (points, alone):
        watch = Watch.over(one, c.point, c.ptr, corner)
        of = np.repeat(watch.of, np.diff(watch.start))
        assert (of > 0).mean() > 0.5 if one is points else not of.any()
        gone(watch, one, bent.q)
        before = watch.way.copy()
        gone(watch, one, bent.q)
        np.testing.assert_allclose(watch.way, before, atol=1e-15)
        for size in (1e-6, 1e-3, 0.1):
            there = robot.retract(bent.q, size * rng.normal(size=robot.ndof) * robot.body.free)
            x, y = points.positions(bent.q), points.positions(there)
            before = watch.way.copy()
            gone(watch, one, there)
            way = (watch.way - before)[of]
            assert way.max() <= (watch.way - before)[-1]
            for i in range(0, len(c.point), 7):
                far = lambda p, i=i: np.linalg.norm(
                    p[c.point[i]] - p[corner[c.ptr[i] : c.ptr[i + 1]]], axis=2
                )
                assert np.abs(far(y) - far(x)).max() <= way[i] * (1 + 1e-9)
            gone(watch, one, bent.q)


def test_a_robot_that_swings_as_a_whole_brings_nothing_nearer(robot, bent):
    detector = robot.surroundings.detector(robot)
    watch, points, body = detector._watch, detector._points, robot.body
    gone(watch, points, bent.q)
    before = watch.way.copy()
    turned = np.array(bent.q)
    R = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    poses = turned[body.coordinates.pose :].reshape(-1, 12)
    poses[:, :3], poses[:, 3:] = poses[:, :3] @ R.T, (R @ poses[:, 3:].reshape(-1, 3, 3)).reshape(-1, 9)
    gone(watch, points, turned)
    assert (watch.way - before)[1:].max() < 1e-12
    turned[watch.first[0]] = np.nan
    assert not gone(watch, points, turned) and not watch.way.any()


class Alone:
    """The same points, as if nothing were rigid."""

    def __init__(self, points) -> None:
        self.rows, self.located = points.rows, points.located
        self.posed = np.full(points.size, -1), np.zeros((points.size, 3))


def gone(watch, points, q) -> bool:
    return _gone(frozen_view(q), points.located(q), watch)


@njit
def _gone(q, X, watch):
    return watched(q, X, watch)


def test_steps_in_which_a_mode_is_led_astray_are_taken_in_parts(robot, monkeypatch):
    """Ribs that are let go and pulled together at once: the shares of a mode change altogether within a step."""

    def struck() -> list:
        sim = Simulation(robot, damping=Rayleigh(mass=1.0, stiffness=0.002))
        return [sim.step(laws(force)) for force in [*[9.0] * 6, *[0.0] * 4, *[9.0] * 10]]

    off = lambda m: m.contacts is not None and m.contacts.astray(m.contact_force, np.inf)
    found = struck()
    assert all(m.certificate.load_steps >= 4 for m in found if off(m))
    assert any(m.certificate.load_steps > 1 for m in found)
    monkeypatch.setattr(Modes, "astray", lambda *_: False)
    whole = struck()
    monkeypatch.undo()
    assert any(off(m) and m.certificate.load_steps == 1 for m in whole)
