"""Parts on joints against closed forms: pendulums, a parallelogram, forces that the joints carry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.bodies import Beam, Circle, RigidBody
from pliant.contact import Surroundings
from pliant.interactions import Joint, Travel, Turn
from pliant.joints import Frame, ball, hinge, slider, weld
from pliant.mesh.lines import line
from tests.bodies.shells.common import dense

G, LENGTH, SIDE = 9.81, 0.2, 0.02
DOWN = (0.0, 0.0, -G)
Y, Z = (0, 1, 0), (0, 0, 1)
MASS = 1000.0 * LENGTH * SIDE**2


def bar(at: Any = (0.0, 0.0, 0.0), turn: float = 0.0, **options: Any) -> RigidBody:
    """A bar of 200 mm along x from a place, turned about y."""
    mesh = pl.mesh.box((LENGTH, SIDE, SIDE), cells=(1, 1, 1), kind="hex", origin=(0, -SIDE / 2, -SIDE / 2))
    R = Rotation.from_euler("y", turn)
    return RigidBody(mesh.transformed(R, at), density=1000.0, **options)


def robot(parts: list[Any], rows: dict[str, pl.Row], gravity: Any = DOWN) -> pl.Robot:
    return pl.Robot(parts, rows, gravity=gravity, surroundings=Surroundings(between_bodies=False))


def double_pendulum() -> pl.Robot:
    upper, lower = bar(), bar((LENGTH, 0, 0))
    elbow = [Frame(part, at=(LENGTH, 0, 0), axis=Y) for part in (upper, lower)]
    shoulder = Frame(upper, at=(0, 0, 0), axis=Y), Frame.world((0, 0, 0), axis=Y)
    return robot(
        [upper, lower],
        {
            "shoulder": hinge(*shoulder),
            "elbow": hinge(*elbow),
            "shoulder angle": pl.Row(Turn(*reversed(shoulder))),
            "elbow angle": pl.Row(Turn(*elbow)),
        },
    )


def test_a_double_pendulum_keeps_its_energy(within):
    """To second order of the time step, by the scheme that keeps the energy of a single one."""
    arm = double_pendulum()

    def energy(state: pl.State) -> float:
        total = 0.0
        for body, q, v in zip(arm.bodies, arm.q_spans, arm.dq_spans, strict=True):
            kinetic = 0.5 * state.v[v] @ dense(body, body.mass(state.q[q])) @ state.v[v]
            total += kinetic + body.linearise(state.q[q], arm.gravity, tangent=False)[0]
        return total

    off, opened = [], []
    for step in (4e-3, 2e-3):
        simulation = pl.Simulation(arm, time_step=step, scheme="midpoint")
        most = gap = 0.0
        for _ in range(round(0.24 / step)):
            moment = simulation.step()
            most = max(most, abs(energy(simulation.state)))
            gap = max(gap, float(np.abs(moment.displacement["elbow"]).max()))
        off.append(most)
        opened.append(gap)
    fallen = MASS * G * LENGTH * 2
    assert off[1] < 5e-4 * fallen and off[1] < 0.35 * off[0]
    assert opened[1] < 1e-4 and opened[1] < 0.35 * opened[0]


def test_angles_imposed_on_hinges_carry_the_weight():
    """Two bars held at angles: torques are weights times levers, and the elbow carries a weight."""
    arm, a, b = double_pendulum(), -0.3, 0.5
    laws = {"shoulder angle": pl.Known(displacement=a), "elbow angle": pl.Known(displacement=b)}
    result = pl.static(arm, laws)
    x = lambda angle: LENGTH * np.cos(angle)  # turning about +y lowers what points along +x
    elbow = -MASS * G * 0.5 * x(a + b)
    shoulder = -MASS * G * (0.5 * x(a) + x(a) + 0.5 * x(a + b))
    assert result.effort["elbow angle"][0] == pytest.approx(elbow, rel=1e-9)
    assert result.effort["shoulder angle"][0] == pytest.approx(shoulder, rel=1e-9)
    joint = arm.rows["elbow"].interaction
    assert isinstance(joint, Joint)
    force, torque = joint.reaction(result.effort["elbow"])
    assert np.linalg.norm(force) == pytest.approx(MASS * G, rel=1e-9)
    assert np.abs(torque).max() < 1e-12
    W = pl.compliance(arm, result.state, laws)
    assert np.abs(W.matrix).max() < 1e-12  # held, it gives way nowhere
    assert W.jacobian("elbow angle", ["shoulder angle", "elbow angle"]) == pytest.approx(
        np.array([[0.0, 1.0]])
    )


def test_a_pendulum_hangs_where_nothing_but_its_weight_keeps_it():
    arm = bar(joint=pl.Hinge(Y, (0, 0, 0)))
    angle = pl.Row(pl.Motor(arm.region_points(), Y, middle=1.5))
    result = pl.static(pl.Robot(arm, {"angle": angle}, gravity=DOWN))
    assert result.displacement["angle"][0] == pytest.approx(np.pi / 2, abs=1e-7)


def test_a_box_on_springs_sinks_by_its_weight_over_their_stiffness():
    box, stiffness = bar(), 40.0
    corners = [[x, y, 0] for x in (0.0, LENGTH) for y in (-0.01, 0.01)]
    springs = pl.Row(pl.Position(box.points(corners)), pl.Elastic(stiffness, rest=np.ravel(corners)))
    result = pl.static(pl.Robot(box, {"springs": springs}, gravity=DOWN))
    sunk = result.displacement["springs"].reshape(4, 3)[:, 2]
    assert sunk == pytest.approx(np.full(4, -MASS * G / (4 * stiffness)), rel=1e-6)


def parallelogram() -> pl.Robot:
    """Three bars between four parallel hinges: three of their conditions follow from the others."""
    left, top, right = bar(turn=-np.pi / 2), bar((0, 0, LENGTH)), bar((LENGTH, 0, 0), turn=-np.pi / 2)
    place = lambda part, x, z: Frame(part, at=(x, 0, z), axis=Y)
    rows = {
        "A": hinge(place(left, 0, 0)),
        "B": hinge(place(left, 0, LENGTH), place(top, 0, LENGTH)),
        "C": hinge(place(top, LENGTH, LENGTH), place(right, LENGTH, LENGTH)),
        "D": hinge(place(right, LENGTH, 0)),
        "crank": pl.Row(Turn(Frame.world((0, 0, 0), axis=Y), place(left, 0, 0))),
    }
    return robot([left, top, right], rows)


def test_a_parallelogram_of_more_joints_than_needed_is_solved():
    """Its crank carries dV/dθ of V = 2 m g L cos θ; in time it falls with all hinges closed."""
    linkage, theta = parallelogram(), 0.3
    result = pl.static(linkage, {"crank": pl.Known(displacement=theta)})
    assert result.certificate.converged and result.certificate.status != "converged, unstable"
    assert result.effort["crank"][0] == pytest.approx(-2 * MASS * G * LENGTH * np.sin(theta), rel=1e-8)
    simulation = pl.Simulation(linkage, time_step=2e-3, state=result.state)
    for _ in range(30):
        moment = simulation.step({"crank": pl.Known(effort=0.0)})
    assert moment.displacement["crank"][0] > theta + 0.02
    assert max(np.abs(moment.displacement[n]).max() for n in "ABCD") < 1e-6


def test_a_slider_carries_sideways_and_lets_go_along():
    cart = bar()
    frame, rail = Frame(cart, at=(0.1, 0, 0), axis=(1, 0, 0)), Frame.world((0.1, 0, 0), axis=(1, 0, 0))
    rows = {"rail": slider(rail, frame), "drive": pl.Row(Travel(rail, frame))}
    result = pl.static(robot([cart], rows, (3.0, 0, -G)), {"drive": pl.Known(displacement=0.05)})
    assert result.effort["drive"][0] == pytest.approx(-3.0 * MASS, rel=1e-9)
    joint: Any = rows["rail"].interaction
    force, torque = joint.reaction(result.effort["rail"])
    assert np.linalg.norm(force) == pytest.approx(MASS * G, rel=1e-9)
    assert np.linalg.norm(torque) < 1e-9 + MASS * G * 0.051


def test_a_welded_rod_is_as_stiff_as_a_clamped_one_and_a_ball_does_not_bend_it():
    """A rod drawn turned and apart is mounted by its weld, and bends as one that was clamped there."""
    section, law, tip = Circle(0.004), pl.Hooke(young=5e6, poisson=0.45), 0.05
    options: dict[str, Any] = {"density": 1100.0}
    clamped = Beam(line((0, 0, 0), (0.2, 0, 0)), section, law, fixed=0, **options)
    pull = lambda rod, end: pl.Row(
        pl.PointForce(rod.points([end]), direction=(0, 0, -1)), pl.Known(effort=tip)
    )
    still = pl.static(pl.Robot(clamped, {"pull": pull(clamped, (0.2, 0, 0))}, gravity=DOWN))
    drawn = Beam(line((0.05, 0.1, 0), (0.05, 0.1, 0.2)), section, law, **options)  # upright, elsewhere
    base = Frame(drawn, 0, axes=Rotation.from_euler("y", -np.pi / 2).as_matrix())
    wall = Frame.world((0, 0, 0))
    mounted = pl.Robot(drawn, {"pull": pull(drawn, (0.05, 0.1, 0.2)), "wall": weld(wall, base)}, gravity=DOWN)
    result = pl.static(mounted)
    where = lambda robot, state, end: robot.body.points([end]).position(state.q)[0]
    np.testing.assert_allclose(
        where(mounted, result.state, (0.05, 0.1, 0.2)),
        where(still.robot, still.state, (0.2, 0, 0)),
        atol=1e-8,
    )
    joint: Any = mounted.rows["wall"].interaction
    force, _ = joint.reaction(result.effort["wall"])
    assert force == pytest.approx([0, 0, tip + clamped.total_mass * G], rel=1e-6, abs=1e-9)
    hung = pl.Robot(drawn, {"hook": ball(Frame.world((0, 0, 1)), Frame(drawn, 10))}, gravity=DOWN)
    rest = pl.static(hung)
    assert np.abs(drawn.section_forces(rest.state.q)[:, 3:]).max() < 1e-6
    assert where(hung, rest.state, (0.05, 0.1, 0.2)) == pytest.approx([0, 0, 1], abs=1e-9)


def test_what_is_no_joint_is_an_error_that_says_so():
    part, soft = bar(), pl.Solid(pl.mesh.box((0.1, 0.02, 0.02)), pl.Hooke(1e5, 0.4), density=1000.0)
    there = Frame.world((0, 0, 0))
    with pytest.raises(pl.InputError, match=r"rigid=pl\.Rigid"):
        Frame(soft)
    with pytest.raises(pl.InputError, match="fixed in space"):
        weld(there, there)
    with pytest.raises(pl.InputError, match="opposite"):
        weld(Frame(part), Frame.world((0, 0, 0), axes=np.diag([-1.0, -1.0, 1.0])))
    with pytest.raises(pl.InputError, match="right-handed"):
        Frame(part, axes=np.diag([1.0, 1.0, -1.0]))


@pytest.mark.parametrize("short", [0.05, -0.03])
def test_joints_that_cannot_be_closed_are_named_with_what_they_lack(short):
    """A rigid bar between two balls that are too far apart, or too near."""
    part = bar()
    rows = {
        "left": ball(Frame.world((0, 0, 0)), Frame(part, at=(0, 0, 0))),
        "right": ball(Frame.world((LENGTH + short, 0, 0)), Frame(part, at=(LENGTH, 0, 0))),
    }
    said = f"{500 * abs(short):.3g} mm"  # half of it at either end
    with pytest.raises(
        pl.ConvergenceError, match=f"cannot be mounted.*'(left|right)' by {said}.*' by {said}"
    ):
        pl.assemble(robot([part], rows))


def test_a_chain_is_drawn_straight_and_mounted_bent():
    """Two bars between hinges 0.316 m apart: the elbow is where two circles meet."""
    first, second = bar(), bar((LENGTH, 0, 0))
    end = np.array([0.3, 0, -0.1])
    rows = {
        "A": hinge(Frame(first, at=(0, 0, 0), axis=Y)),
        "B": hinge(*(Frame(part, at=(LENGTH, 0, 0), axis=Y) for part in (first, second))),
        "C": hinge(Frame.world(end, axis=Y), Frame(second, at=(2 * LENGTH, 0, 0), axis=Y)),
        "elbow": pl.Row(pl.Position(first.points([[LENGTH, 0, 0]]))),
    }
    elbow = pl.assemble(robot([first, second], rows)).displacement["elbow"]
    assert np.linalg.norm(elbow) == pytest.approx(LENGTH, abs=1e-9)
    assert np.linalg.norm(end - elbow) == pytest.approx(LENGTH, abs=1e-9)


def test_a_joint_between_frames_that_cannot_move_is_named_with_its_distance():
    still = bar(fixed=True)
    there = robot(
        [still], {"weld": weld(Frame(still, at=(LENGTH, 0, 0)), Frame.world((LENGTH + 0.02, 0, 0)))}
    )
    with pytest.raises(pl.InputError, match=r"joint 'weld': expected a frame that can move, .* by 20 mm"):
        pl.assemble(there)


def test_parts_that_overlap_when_mounted_are_named():
    half = pl.mesh.box((0.1, SIDE, SIDE), cells=(1, 1, 1), kind="hex", origin=(0, -SIDE / 2, -SIDE / 2))
    a, b = (RigidBody(half.transformed(None, (x, 0, 0)), density=1000.0) for x in (0.0, 0.15))
    rows = {
        "hold": weld(Frame(a, at=(0, 0, 0))),
        "weld": weld(Frame(a, at=(0.05, 0, 0)), Frame(b, at=(0.15, 0, 0))),
    }
    few = pl.Tolerance(iterations=10)
    with pytest.raises(pl.ConvergenceError, match=r"parts are in each other: bodies 0 and 1 .* got 10 mm"):
        pl.assemble(pl.Robot([a, b], rows, gravity=DOWN), tolerance=few)


def test_a_loop_of_rigid_parts_that_leaves_no_motion_names_its_joints():
    """A triangle of hinges stands by itself, and its motor cannot turn."""
    a, b = bar(), bar((LENGTH, 0, 0))
    ground = Frame(a, at=(0, 0, 0), axis=Y), Frame.world((0, 0, 0), axis=Y)
    rows = {
        "foot": hinge(*ground),
        "knee": hinge(Frame(a, at=(LENGTH, 0, 0), axis=Y), Frame(b, at=(LENGTH, 0, 0), axis=Y)),
        "rest": hinge(Frame(b, at=(0.3, 0, 0.01), axis=Y), Frame.world((0.3, 0, 0.01), axis=Y)),
        "motor": pl.Row(Turn(*reversed(ground)), pl.Bounded(displacement=(-1, 1))),
    }
    truss = robot([a, b], rows)
    assert pl.assemble(truss, {"motor": pl.Known(effort=0.0)}).certificate.converged
    with pytest.raises(
        pl.ConvergenceError, match=r"\['motor'\] would have to move, and .*'foot', 'knee', 'rest'"
    ):
        pl.assemble(truss, {"motor": pl.Known(displacement=0.3)})
