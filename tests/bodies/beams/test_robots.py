"""Beams as bodies of robots: compliance, contact, sliding bases, the inverse model, pictures, a pipe."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Beam, Circle, Hinge, Prismatic, Rigid
from pliant.contact import Detector, Samples
from pliant.dynamics import Rayleigh
from pliant.dynamics.inertia import Inertia
from pliant.mesh.lines import line
from pliant.robots.rod import branch_path, fork, rod
from tests.bodies.beams.common import SOFT, fishbone, node

DOWN = (0.0, 0.0, -9.81)
LENGTH = 0.2


def bar(**options) -> Beam:
    """A rod along x, 200 mm long and 8 mm thick."""
    lines = line((0, 0, 0), (LENGTH, 0, 0), elements=options.pop("elements", 8))
    return Beam(lines, Circle(0.004), options.pop("material", SOFT), density=1000, **options)


def steered(beam: Beam, **options) -> pl.Robot:
    """With four cables through it and the position of its tip."""
    along, pull = np.linspace(0, LENGTH, 17), pl.Bounded(effort=(0, 10))
    rows = {
        f"cable {n}": pl.Row(pl.Cable(beam.at(along, offset=offset)), pull)
        for n, offset in enumerate([(0.003, 0), (0, 0.003), (-0.003, 0), (0, -0.003)])
    }
    rows["tip"] = pl.Row(pl.Position(beam.at([LENGTH])), pl.Target())
    return pl.Robot(beam, rows, **options)


def test_compliance_is_the_derivative_of_equilibria():
    robot = steered(bar(fixed=0), gravity=DOWN)
    pulled = lambda extra: pl.static(
        robot, {"cable 0": pl.Known(effort=0.3 + extra), "cable 1": pl.Known(effort=0.4)}
    )
    W = pl.compliance(robot, pulled(0.0).state)
    np.testing.assert_allclose(W.matrix, W.matrix.T, atol=1e-12)
    h = 1e-4
    slope = (pulled(h).displacement["tip"] - pulled(-h).displacement["tip"]) / (2 * h)
    np.testing.assert_allclose(W["tip", "cable 0"].ravel(), slope, rtol=1e-5)
    J = W.jacobian("tip", ["cable 0", "cable 1"])
    lengths = {n: pulled(0.0).displacement[n] for n in ("cable 0", "cable 1")}
    moved = pl.static(
        robot,
        {
            "cable 0": pl.Known(displacement=lengths["cable 0"] + 1e-6),
            "cable 1": pl.Known(displacement=lengths["cable 1"]),
        },
        state=pulled(0.0).state,
    )
    step = moved.displacement["tip"] - pulled(0.0).displacement["tip"]
    np.testing.assert_allclose(step, 1e-6 * J[:, 0], rtol=1e-3, atol=1e-12)


def test_the_inverse_model_reaches_targets_with_equilibria(within):
    robot = steered(bar(fixed=0, material=pl.Hooke(young=5e6, poisson=0.4)), gravity=DOWN)
    controller, goal = pl.Inverse(robot), [0.175, 0.05, 0.037]  # up and to the side; it hangs down by 80 mm
    for _ in range(50):
        out = controller.step(targets={"tip": goal})
    within(np.linalg.norm(out.error["tip"]), 1e-3, "tip [m]")
    again = pl.static(
        robot, {name: pl.Known(displacement=u) for name, u in out.command.items()}, state=out.state
    )
    within(np.linalg.norm(again.displacement["tip"] - out.displacement["tip"]), 1e-4, "commanded again [m]")


# Moving bases


def test_a_base_on_rails_is_held_by_its_slider():
    """Pushed in by 50 mm, the whole rod goes along; gravity across bends it as if it were clamped."""
    rails = Rigid(0, name="base", joint=Prismatic((1, 0, 0)))
    sliding, clamped = bar(rigid=rails), bar(fixed=0)
    rows = {"push": pl.Row(pl.Slider(sliding.region_points("base")[:1], (1, 0, 0)))}
    result = pl.static(pl.Robot(sliding, rows, gravity=DOWN), {"push": pl.Known(displacement=0.05)})
    still = pl.static(pl.Robot(clamped, gravity=DOWN))
    np.testing.assert_allclose(result.positions, still.positions + np.array([0.05, 0, 0]), atol=1e-9)
    assert result.effort["push"][0] == pytest.approx(0.0, abs=1e-6)


def test_a_motor_at_a_hinge_carries_the_rod():
    """Held level: the torque is the weight times its arm at the deflected shape."""
    beam = bar(rigid=Rigid(0, name="axle", joint=Hinge(axis=(0, 1, 0), centre=(0, 0, 0))))
    rows = {"motor": pl.Row(pl.Motor(beam.region_points("axle"), (0, 1, 0)))}
    result = pl.static(pl.Robot(beam, rows, gravity=DOWN), {"motor": pl.Known(displacement=0.0)})
    points, _ = beam.centreline(LENGTH / 400)
    x = points.position(result.q)[:, 0]
    centre = np.trapezoid(x[np.argsort(points.rest[:, 0])], dx=1.0) / (len(x) - 1)
    assert result.effort["motor"][0] == pytest.approx(-beam.total_mass * 9.81 * centre, rel=1e-4)


# Contact


def test_what_it_lies_on_carries_its_weight():
    """A spine with ribs on a floor: clamp and floor share the weight, and no point of its skin is below."""
    beam = Beam(fishbone(), Circle(0.003), SOFT, density=1000, fixed=0)
    robot = pl.Robot(beam, gravity=DOWN)
    floor = pl.Plane((0, 0, -0.01), (0, 0, 1))
    result = pl.static(robot, obstacles=[floor])
    clamp = beam.reactions(result.q, DOWN)[beam.numbering.node_region[0], 2]
    assert 0.1 * clamp < result.contact_force.sum()
    assert clamp + result.contact_force.sum() == pytest.approx(9.81 * beam.total_mass, rel=1e-9)
    assert result.positions[:, 2].min() > -0.01 - 1e-9


def test_balls_along_the_axis_touch_like_the_round_rod_does():
    """Balanced on a ball without friction, which is unstable."""
    beam = bar(fixed=0)
    robot, ball = pl.Robot(beam, gravity=DOWN), pl.Sphere((0.15, 0, -0.03), 0.02)
    detector = Detector(robot, [ball], samples=Samples.around(*beam.centreline(0.002)), alarm=0.1)
    gap = detector.detect(robot.rest.q).gap
    assert gap.min() == pytest.approx(0.03 - 0.02 - 0.004, abs=1e-12)
    results = [
        pl.static(robot, obstacles=[ball], unstable="keep"),
        pl.static(
            pl.Robot(
                beam,
                gravity=DOWN,
                surroundings=pl.contact.Surroundings(samples=Samples.around(*beam.centreline(0.002))),
            ),
            obstacles=[ball],
            unstable="keep",
        ),
    ]
    force = [float(f.contact_force.sum()) for f in results]
    assert force[0] == pytest.approx(force[1], rel=0.05) and force[1] > 0.01
    tips = [node(beam, f.q) for f in results]
    assert np.linalg.norm(tips[0] - tips[1]) < 1e-3


def test_reports_and_files(tmp_path):
    from pliant.io.report import report

    robot = steered(bar(fixed=0), gravity=DOWN, name="bar")
    result = pl.static(robot, {"cable 1": pl.Known(effort=0.3)})
    page = report(result, tmp_path, title="a rod")
    assert page.exists() and (tmp_path / "picture.png").stat().st_size > 10_000
    mesh = pl.mesh.read(tmp_path / "deformed.vtu")
    np.testing.assert_allclose(mesh.nodes, result.positions, atol=1e-9)


def test_stress_is_that_of_beam_theory(within):
    """Pure bending by a couple: σ = M r/I on the skin, 0 on the axis."""
    beam = bar(fixed=0)
    rows = {"motor": pl.Row(pl.Motor(beam.region_points(8), (0, 1, 0)))}
    result = pl.static(pl.Robot(beam, rows), {"motor": pl.Known(effort=1e-4)})
    stress = beam.stress(result.q, "von_mises", at="nodes")
    peak = 1e-4 * 0.004 / (np.pi / 4 * 0.004**4)
    within(stress.max() / peak - 1, 1e-6, "skin")
    within(stress[:9] / peak, 1e-6, "axis")


def test_elastic_stiffness_is_never_negative(within):
    """Beyond its critical load a rod has a negative stiffness, but not the part for damping."""
    beam = bar(fixed=0)
    q = beam.q0.copy()
    for _ in range(10):  # squeezed by 5 %, straight
        dq = np.zeros(beam.ndof)
        dq.reshape(-1, 6)[:, 0] = -0.005 * beam.lines.nodes[:, 0]
        q = beam.retract(q, dq)
    dense = lambda K: _dense(beam, K)[np.ix_(beam.free, beam.free)]
    whole = np.linalg.eigvalsh(dense(beam.linearise(q, np.zeros(3))[2]))
    part = np.linalg.eigvalsh(dense(beam.elastic_stiffness(q)))
    assert whole[0] < -1e-5 * whole[-1]
    assert part[0] > -1e-12 * part[-1]
    rest = dense(beam.linearise(beam.q0, np.zeros(3))[2])
    np.testing.assert_allclose(dense(beam.elastic_stiffness(beam.q0)), rest, atol=1e-12 * np.abs(rest).max())


def _dense(beam, K: np.ndarray) -> np.ndarray:
    out = np.zeros((beam.ndof, beam.ndof))
    for i, j, block in zip(beam.pattern.rows, beam.pattern.cols, K, strict=True):
        out[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = block
        out[3 * j : 3 * j + 3, 3 * i : 3 * i + 3] = block.T if i != j else block
    return out


# The rod of the gallery


@pytest.fixture(scope="module")
def inserted() -> dict[int, Any]:
    """The rod steered 60 mm into either branch of its pipe, then left to settle."""
    outcomes = {}
    for side in (1, -1):
        controller = pl.Inverse(rod())
        path = branch_path(side, 0.06, steps=50)
        for target in [*path, *[path[-1]] * 15]:
            outcomes[side] = controller.step(targets={"tip": target})
    return outcomes


def test_the_rod_is_that_of_the_paper():
    robot = rod()
    assert robot.ndof == 66 and robot.rigid_modes() == 1
    assert robot.by_role("actuator") == ["cable 1", "cable 2", "cable 3", "cable 4", "insertion"]
    contacts = robot.surroundings.detector(robot).detect(robot.rest.q, 0.01)
    assert len(contacts) == 47


@pytest.mark.parametrize("side", [1, -1])
def test_the_rod_enters_both_branches(inserted, side, within):
    out = inserted[side]
    assert side * out.displacement["tip"][1] > 0.03
    within(np.linalg.norm(out.error["tip"]), 1e-3, "tip [m]")
    within(out.certificate.penetration, 2e-4, "penetration [m]")
    assert out.displacement["insertion"][0] > 0.08
    gaps = fork().distance(out.contacts.position)[0] - 0.003
    assert gaps.min() > -2e-4  # nothing sticks through the wall
    mirror = inserted[-side]
    np.testing.assert_allclose(out.displacement["tip"], mirror.displacement["tip"] * [1, -1, 1], atol=2e-4)


def test_mass_asks_for_poses_only():
    """M where a step leads, without carrying the rod's mesh along."""
    robot = steered(bar(fixed=0))
    q, inertia = robot.rest.q, Inertia(robot, [Rayleigh()])
    dq = 0.1 * np.random.default_rng(0).normal(size=robot.ndof) * robot.body.free
    pose, there = inertia.pose(q, dq), robot.retract(q, dq)
    np.testing.assert_allclose(inertia.mass(pose), inertia.mass(there), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(robot.positions(pose), robot.positions(q))
    assert np.abs(robot.positions(there) - robot.positions(q)).max() > 0.01
