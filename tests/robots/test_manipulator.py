"""The spine manipulator: tendons bend it, ribs touch and stiffen it, and contacts keep their numbers."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Beam, Circle
from pliant.contact.detect import opponents
from pliant.contact.stiffness import add_levers
from pliant.dynamics import Rayleigh, Simulation
from pliant.dynamics.inertia import _product
from pliant.laws import Known
from pliant.robots import manipulator
from pliant.studies.goury2021.postures import bends

SECTIONS, SHORT = 3, {"length": 0.4, "vertebrae": 6}  # half as long, with as many ribs per metre
POINTS = 12  # on each pad
FORCE = 40.0  # [N]


def pull(*tendons: int, force: float = FORCE) -> dict[str, Known]:
    return {f"tendon {n}": Known(effort=force) for n in tendons}


def to(robot, laws, *, steps: int = 3):
    """The equilibrium under the laws, by load steps from rest."""
    return pl.static(robot, laws, load_steps=steps)


def bend(result) -> float:
    """Angle [degrees] that the tip has turned by."""
    R, _ = result.robot.body.pose(result.q, _last(result.robot))
    return float(np.degrees(np.arccos(np.clip(R[2, 2], -1, 1))))


def _last(robot) -> int:
    """Number of the node at the tip: the last of the backbone."""
    return int(np.flatnonzero(robot.body.lines.branch == 0).max()) + 1


def forces(result) -> np.ndarray:
    """λ (vertebrae, sides, points) [N] of all potential contacts: one for each sample, whatever touches."""
    out = np.zeros(len(result.robot.surroundings.samples))
    out[result.contacts.sample] = result.contact_force
    return out.reshape(-1, 3, POINTS)


@pytest.fixture(scope="module")
def bent():
    """All tendons of one side pulled alike, with and without contact of the ribs."""
    return {touch: to(manipulator(**SHORT, contact=touch), pull(1, 4, 7)) for touch in (True, False)}


def test_it_is_that_of_the_paper():
    robot = manipulator()
    assert robot.by_role("actuator") == [f"tendon {n}" for n in range(1, 10)]
    body = robot.body
    assert np.ptp(body.lines.nodes[:, 2]) == pytest.approx(0.8)
    detector = robot.surroundings.detector(robot)
    assert detector.cloud.size == 1296  # the paper's model has 1290
    assert len(detector.detect(robot.rest.q)) == 0  # straight, nothing is near
    near = detector.detect(robot.rest.q, 0.005)
    assert np.array_equal(near.sample, np.arange(1296)) and np.array_equal(near.index, near.sample)
    np.testing.assert_allclose(near.gap, 0.0026, atol=1e-9)  # every point is above the face that it can touch
    # Samples come vertebra by vertebra from the base, each facing the pad of its own side above.
    vertebra, side = np.divmod(np.arange(1296) // POINTS, 3)
    spacing = 0.8 / 36
    middle = -spacing * (vertebra + 1) + (spacing - 0.0026) / 2
    np.testing.assert_allclose(near.position[:, 2], middle, atol=1e-9)
    angle = np.degrees(np.arctan2(near.position[:, 1], near.position[:, 0])) - 120 * side
    assert np.abs((angle + 180) % 360 - 180).max() < 33
    touched = near.points.positions(robot.rest.q)[near.stencil.point.reshape(-1, 4)[:, 1:]]
    assert np.abs(touched[:, :, 2] - (middle + near.gap.min())[:, None]).max() < 1e-9


def test_it_rests_where_its_ribs_hold_it():
    """Pulled to any side with different forces it converges: no point slips over the rim of a face."""
    robot = manipulator(length=0.27, vertebrae=4)
    detector = robot.surroundings.detector(robot)
    for laws in bends(robot, 4, seed=1):
        sim = Simulation(robot, time_step=0.01, damping=Rayleigh(mass=10.0, stiffness=0.005))
        for share in np.minimum(np.arange(1, 151) / 60, 1.0):
            moment = sim.step({name: Known(effort=float(share * law.effort)) for name, law in laws.items()})
        assert (moment.contact_force > 0.0).sum() >= 8
        assert np.abs(robot.reach * sim.state.v).max() < 1e-3  # [m/s]
        assert detector.penetration(moment.q) < 1e-6


def test_straight_it_hangs_by_its_weight(within):
    robot = manipulator()
    result = pl.static(robot)
    base = robot.body.reactions(result.q, robot.gravity).sum(axis=0)
    within(base[2] / (9.81 * robot.body.total_mass) - 1, 1e-6, "weight")
    tip = result.displacement["tip"]
    assert np.abs(tip[:2]).max() < 1e-9 and -1e-4 < tip[2] + 0.8 < 0


@pytest.mark.parametrize("side", range(3))
def test_a_tendon_bends_its_section_to_its_side(side):
    """Behind the end of its section nothing is bent."""
    robot = manipulator(**SHORT, gravity=(0, 0, 0))
    result = pl.static(robot, pull(1 + side, force=12.0))
    moved = result.displacement["tip"][:2]
    angle = 2 * np.pi * side / 3
    assert moved @ [np.cos(angle), np.sin(angle)] > 0.99 * np.linalg.norm(moved) > 0.03
    spine = np.flatnonzero(robot.body.lines.branch == 0)
    curvature = np.linalg.norm(robot.body.strain(result.q)[spine, 4:], axis=1)
    assert curvature[:6].min() > 100 * curvature[6:].max()


def test_curvature_of_one_section_is_lever_times_force(within):
    """κ = T d / EI for a spine of one thickness; the chords of the tendon shorten the lever a little."""
    spine = {"length": 0.3, "sections": 1, "vertebrae": 12, "reach": (0.04, 0.04), "backbone": (0.004, 0.004)}
    robot = manipulator(**spine, contact=False, gravity=(0, 0, 0))
    result = pl.static(robot, pull(1, force=5.0))
    lever, stiffness = 0.55 * 0.04, 1.6e9 * np.pi / 4 * 0.004**4
    expected = 5.0 * lever / stiffness * 0.3
    within(np.radians(bend(result)) / expected - 1, 0.02, "bend")


def test_ribs_limit_the_bend(bent, within):
    """As in the paper's Fig. 11: the same forces, with and without self-contact."""
    touching, free = bent[True], bent[False]
    assert bend(free) > 100 and bend(touching) < 0.6 * bend(free)
    apart = np.linalg.norm(touching.displacement["tip"] - free.displacement["tip"])
    assert apart > 0.2 * 0.4  # the paper: 0.28 m for a length of 0.8 m
    detector = touching.robot.surroundings.detector(touching.robot)
    assert detector.penetration(free.q) > 1e-3  # what ignoring contact does
    for result in bent.values():
        assert result.certificate.converged and result.certificate.residual < 1e-8


def test_contact_is_complementary_and_balanced(bent, within):
    result = bent[True]
    force, gap = result.contact_force, result.contacts.gap
    assert (force > 0).sum() > 20 and force.min() >= 0
    within(np.minimum(gap, 0), 1e-9, "gap [m]")
    within(force * gap / force.max(), 1e-9, "complementarity [m]")
    within(result.robot.surroundings.detector(result.robot).penetration(result.q), 1e-4, "penetration [m]")
    assert (forces(result)[:, 1:] == 0).all()  # the sides that open do not touch
    assert (forces(result)[:, 0].max(axis=1) > 0).sum() > 12  # most vertebrae touch on the inner side


def test_a_patch_alone_sees_what_the_whole_boundary_does(bent, monkeypatch):
    """Detection on the faces of the pads only: the same contacts, deep ones too."""
    robot = bent[True].robot
    part = robot.surroundings.detector(robot)
    monkeypatch.setattr(opponents, "SMALL_PATCH", 0.0)
    whole = robot.surroundings.detector(robot)
    for q in (bent[True].q, bent[False].q[: robot.nq]):
        few, many = part.detect(q, 0.004), whole.detect(q, 0.004)
        assert len(few) > 50 and np.array_equal(few.index, many.index)
        assert np.array_equal(few.gap, many.gap) and np.array_equal(few.normal, many.normal)
    assert many.gap.min() < -1e-3


def test_pads_go_along_as_they_are(bent, within):
    """The nodes of a pad ride on its own element, not on the arm beside it: the pad keeps its shape."""
    body, nodes = bent[True].robot.body, bent[True].positions
    last = slice(-24, None)  # the pad of the last rib
    before, after = (np.linalg.norm(x[last, None] - x[None, last], axis=2) for x in (body.mesh.nodes, nodes))
    within((after - before) / before.max(), 1e-12, "shape")
    with pytest.raises(pl.InputError, match="carriers"):
        Beam(body.lines, Circle(0.004), pl.Hooke(1e9, 0.3), mesh=body.mesh, carriers=[0, 1])


def test_touching_ribs_stiffen_it(bent):
    """Five newtons more hardly bend it further."""
    more = {t: pl.static(r.robot, pull(1, 4, 7, force=45.0), state=r.state) for t, r in bent.items()}
    further = {touch: bend(more[touch]) - bend(bent[touch]) for touch in bent}
    assert abs(further[True]) < 0.2 * further[False]


def test_contact_forces_turn_with_the_robot(bent, within):
    """It has three equal sides: tendons of another side give the same forces, one side further."""
    robot = bent[True].robot
    here = forces(bent[True])
    there = forces(to(robot, pull(2, 5, 8)))
    within((np.roll(here, 1, axis=1) - there) / here.max(), 1e-4, "forces")


def test_stiffness_of_contact_on_ribs(bent, within):
    """−∂(Hᵀλ)/∂q by differences: facets turn (low rank) and the levers of pushes swing (on the pattern)."""
    result = bent[True]
    robot, q = result.robot, result.q
    detector = robot.surroundings.detector(robot)
    found = detector.detect(q)
    force = result.contacts.spread(result.contact_force)[found.index]
    K = np.zeros((len(robot.pattern.rows), 3, 3))
    add_levers(K, robot, found, force, q)
    U, C_inverse = detector.stiffness(np.zeros_like(K), found, force, q)[1]

    def push(x):
        now = detector.detect(x)
        return now.rows(x).transpose_dot(now.carried(found, force))

    rng = np.random.default_rng(0)
    for _ in range(3):
        dq = rng.normal(size=robot.ndof) * robot.body.free / robot.reach
        h = 1e-7 / np.abs(robot.reach * dq).max()
        change = (push(robot.retract(q, h * dq)) - push(robot.retract(q, -h * dq))) / (2 * h)
        turned = U.transpose_dot(np.linalg.solve(C_inverse, U.dot(dq)))
        swung = _product(robot.pattern.rows, robot.pattern.cols, K, dq)
        size = np.linalg.norm(change)
        assert np.linalg.norm(change + turned) > 3e-3 * size  # levers count
        within(np.linalg.norm(change + turned + swung) / size, 2e-3, "stiffness")


def test_it_comes_to_rest_where_statics_says(bent, within):
    """Tendons pulled within half a second, damped, lead to statics; ribs never pass through each other."""
    robot = bent[True].robot
    there = to(robot, pull(1, 4, 7, force=FORCE))
    sim = pl.Simulation(robot, time_step=0.01, damping=Rayleigh(mass=8.0, stiffness=0.005))
    deepest = 0.0
    for k in range(160):
        moment = sim.step(pull(1, 4, 7, force=FORCE * min(1.0, k / 50)))
        assert moment.contacts is not None
        deepest = min(deepest, moment.contacts.gap.min(initial=0.0))
    assert deepest > -1e-4
    within(
        moment.displacement["tip"] - there.displacement["tip"], 4e-4, "tip [m]"
    )  # a thousandth of its length
    within(moment.contact_force.sum() / there.contact_force.sum() - 1, 1e-3, "pushes")


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"gap": 0.03}, "gap"),
        ({"gap": 0.0}, "gap"),
        ({"vertebrae": 0}, "vertebrae"),
        ({"reach": (0.05,)}, "reach"),
        ({"backbone": (0.004, -0.003)}, "backbone"),
        ({"length": np.nan}, "length"),
    ],
)
def test_bad_input_is_named(wrong, what):
    with pytest.raises(pl.InputError, match=what):
        manipulator(**wrong)
