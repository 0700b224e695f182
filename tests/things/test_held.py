"""What a grasp holds, against closed forms: a box, a wedge and a ball between soft pads on slides."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.bodies.body import Body
from pliant.contact import Surroundings

SIDE, PAD, WIDE, CLEAR, FRICTION, G, PUSH = 0.02, 0.008, 0.024, 1e-5, 0.4, 9.81, 2.0
CLOSE = 0.01  # of a closed form
SOFT = pl.Hooke(1e6, 0.3)
RADIUS, BALL_PUSH = 0.02, 1.0


def hand(
    thing: Body,
    half: float,
    *,
    jaws: int = 2,
    tilt: float = 0.0,
    gravity: float = G,
    pad: tuple[float, float] = (PAD, WIDE),
    cells: tuple[int, int, int] = (2, 3, 3),
    stuff: pl.Hooke = SOFT,
) -> pl.Robot:
    """Pads with rigid backs on radial slides round the z axis, their faces tilted to look down [rad]."""
    thick, wide = pad
    parts, rows = [thing], {"place": pl.things.place(thing), "pose": pl.things.pose(thing)}
    for n in range(jaws):
        turn = Rotation.from_euler("z", 2 * np.pi * n / jaws)
        lean = turn * Rotation.from_euler("y", -tilt)  # of a pad whose face looks along −x
        out = turn.apply([1.0, 0.0, 0.0])
        mesh = pl.mesh.box((thick, wide, wide), cells=cells, kind="hex", origin=(CLEAR, -wide / 2, -wide / 2))
        back = pl.mesh.near_plane(mesh, (CLEAR + thick, 0, 0), (1, 0, 0))
        mesh = mesh.transformed(lean, half * lean.apply([1.0, 0.0, 0.0]))
        rigid = pl.Rigid(back, name="back", joint=pl.Prismatic(-out), mass=0.01)
        jaw = pl.Solid(mesh, stuff, density=1000.0, rigid=rigid)
        parts.append(jaw)
        rows[f"jaw {n + 1}"] = pl.Row(pl.Slider(jaw.region_points("back"), -out), pl.Bounded(effort=(0, 10)))
    pairs = [(0, k + 1) for k in range(jaws)]
    around = Surroundings(friction=FRICTION, between_bodies=pairs)
    return pl.Robot(parts, rows, gravity=(0, 0, -gravity), surroundings=around, name="hand")


def pushing(robot: pl.Robot, force: float) -> dict[str, pl.Known]:
    """All jaws push, or the first stays where it closed and the second pushes on it."""
    jaws = [name for name in robot.rows if name.startswith("jaw")]
    if len(jaws) == 2:
        return {"jaw 1": pl.Known(displacement=CLEAR), "jaw 2": pl.Known(effort=force)}
    return {name: pl.Known(effort=force) for name in jaws}


def held(robot: pl.Robot, force: float = PUSH):
    laws = pushing(robot, force)
    result = pl.static(robot, laws)
    assert result.certificate.converged
    return pl.things.grasp(result, robot.bodies[0], laws)


@cache
def pinched():
    return held(hand(pl.things.box((SIDE,) * 3, density=1000.0), SIDE / 2))


def test_a_pinched_box_resists_what_friction_leaves():
    """2μN less the weight downwards, with it upwards, and √((2μN)² − weight²) across."""
    g = pinched()
    weight, friction = float(np.linalg.norm(g.weight)), 2 * FRICTION * PUSH
    resisted = [g.limit(force=along).size for along in ((0, 0, -1), (0, 0, 1), (0, 1, 0))]
    closed = [friction - weight, friction + weight, np.sqrt(friction**2 - weight**2)]
    assert resisted == pytest.approx(closed, rel=CLOSE)
    weakest = g.weakest([(0, 0, -2), (0, 1, 0)])
    assert weakest.size == resisted[0] and weakest.force[2] == -resisted[0]
    just, beyond = (g.response(force=(0, 0, -share * resisted[0])) for share in (0.99, 1.01))
    assert just.holds and not beyond.holds
    elastic = g.compliance() @ (0, 0, -0.1 * resisted[0], 0, 0, 0)
    assert g.response(force=(0, 0, -0.1 * resisted[0])).moved[2] == pytest.approx(elastic[2], rel=0.02)


def test_contacts_balance_the_weight_and_the_margin_is_what_is_left_of_the_friction():
    g = pinched()
    weight = float(np.linalg.norm(g.weight))
    assert np.abs(g.wrench[:3] + g.weight).max() < 1e-6 * weight
    assert np.abs(g.wrench[3:]).max() < 1e-6 * weight * SIDE
    assert g.margin == pytest.approx(1 - weight / (2 * FRICTION * PUSH), rel=1e-3)
    assert not g.slips and g.squeeze == pytest.approx(2 * PUSH, rel=1e-3)


def wedge(angle: float) -> Body:
    """A box whose sides lean by an angle, wide below."""
    mesh = pl.mesh.box((SIDE,) * 3, cells=(2, 2, 2), kind="hex", origin=(-SIDE / 2,) * 3)
    x = mesh.nodes.copy()
    x[:, 0] *= 1 - 2 * np.tan(angle) * x[:, 2] / SIDE
    return pl.things.shape(mesh.with_nodes(x), density=1000.0, name="wedge")


def test_a_wedge_locks_itself_up_to_the_angle_of_friction():
    """Of two fingers that press with F sideways it is drawn by 2F tan(φ ∓ α): none is left at α = φ."""
    angle, cone = np.radians(18.0), np.arctan(FRICTION)
    g = held(hand(wedge(angle), SIDE / 2 * np.cos(angle), tilt=angle, gravity=0.0))
    assert g.margin == pytest.approx(1 - np.tan(angle) / FRICTION, rel=1e-3)
    thin, wide = (g.limit(force=(0, 0, s)).size for s in (-1, 1))
    assert thin == pytest.approx(2 * PUSH * np.tan(cone - angle), rel=CLOSE)
    assert wide == pytest.approx(2 * PUSH * np.tan(cone + angle), rel=CLOSE)


def held_ball(tilt: float, mass: float) -> pl.Robot:
    """A ball, turned anyhow, between three pads whose cells are finer than the patch that touches."""
    ball = pl.things.sphere(RADIUS, mass=mass, turn=Rotation.from_euler("xyz", [0.3, 0.5, 0.7]))
    stuff = pl.Hooke(2e6, 0.45)
    return hand(ball, RADIUS, jaws=3, tilt=tilt, pad=(0.003, 0.008), cells=(2, 6, 6), stuff=stuff)


def test_a_ball_between_three_fingers_resists_what_its_cones_do():
    """3F tan(φ ± α) ∓ weight, of pads whose faces look down by α: upwards, and downwards with the lower sign.

    By symmetry a third of the load is at each finger, and none of it sideways: its force is at the edge of
    the cone round the normal. Of the little that tan(φ − α) leaves, a tenth of a degree is 1.5 %: there it is
    1 % of the squeeze.
    """
    tilt, cone, total = np.radians(15.0), np.arctan(FRICTION), 3 * BALL_PUSH
    g = held(held_ball(tilt, mass=0.005), BALL_PUSH)
    weight = float(np.linalg.norm(g.weight))
    down, up = (g.limit(force=(0, 0, s)).size for s in (-1, 1))
    assert up == pytest.approx(total * np.tan(cone + tilt) + weight, rel=CLOSE)
    assert down == pytest.approx(total * np.tan(cone - tilt) - weight, abs=CLOSE * total)
    assert np.linalg.norm(g.position - g.centre, axis=1) == pytest.approx(RADIUS, rel=1e-3)  # it is round


def test_three_fingers_hold_a_ball_where_the_cone_says_so_and_drop_it_where_it_does_not():
    """The least squeeze of each finger is weight/3μ. With more it swings for a while, and rests."""
    robot = held_ball(0.0, mass=0.1)
    ball = robot.bodies[0]
    least = ball.total_mass * G / (3 * FRICTION)
    firm = pl.static(robot, pushing(robot, 2 * least))
    damping = pl.dynamics.Rayleigh(stiffness=1e-3)
    for share, steps in ((1.05, 12), (0.95, 8)):
        laws, heights = pushing(robot, share * least), []
        simulation = pl.Simulation(robot, time_step=0.01, state=firm.state, damping=damping)
        for _ in range(steps):
            moment = simulation.step(laws)
            heights.append(float(moment.displacement["place"][2]))
        grasp = pl.things.grasp(moment, ball, laws)
        assert (grasp.margin < 0.01) == (share < 1)
        if share > 1:
            assert grasp.response().holds and np.ptp(heights[-3:]) < 5e-9
            assert abs(heights[-1] - heights[0]) < 2e-6
        else:
            assert heights[0] - heights[-1] > 5e-4


def test_what_holds_nothing_or_is_no_thing_is_said():
    g = pinched()
    with pytest.raises(pl.InputError, match="a body of 'hand', one of \\['box'"):
        pl.things.grasp(g.result, pl.things.sphere(0.01, density=1000.0))
    with pytest.raises(pl.InputError, match="a force or a torque other than zero"):
        g.limit()
    alone = pl.things.box((SIDE,) * 3, at=(0, 0, 0.1), density=1000.0)
    falling = pl.Simulation(pl.Robot(alone, gravity=(0, 0, -G)), time_step=1e-3).step()
    assert pl.things.grasp(falling, alone).slips


def test_held_for_a_minute_where_the_cone_says_so_and_dropped_where_it_does_not():
    """2 % above the least squeeze the box is where it was to 0.1 µm after 60 s; 3 % below, it falls."""
    robot = hand(pl.things.box((SIDE,) * 3, density=1000.0), SIDE / 2)
    box = robot.bodies[0]
    least = box.total_mass * G / (2 * FRICTION)
    firm = pl.static(robot, pushing(robot, 2 * least))
    damping = pl.dynamics.Rayleigh(stiffness=1e-3)
    for share, seconds in ((1.02, 60.0), (0.97, 0.6)):
        options = {"time_step": 0.2, "scheme": "euler", "damping": damping}
        simulation, laws = pl.Simulation(robot, state=firm.state, **options), pushing(robot, share * least)
        moment = simulation.step(laws)
        start, holds = moment.displacement["place"], pl.things.grasp(moment, box, laws).response().holds
        while simulation.t < seconds - 1e-9:
            moment = simulation.step(laws)
        slip = float(np.linalg.norm(moment.displacement["place"] - start))
        assert holds == (share > 1) == (slip < 1e-7)
        if holds:
            weight = box.total_mass * G
            grasp = pl.things.grasp(moment, box, laws)
            assert np.abs(grasp.wrench[:3] + grasp.weight).max() < 1e-6 * weight
        else:
            assert slip > 0.01
