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


def hand(
    thing: Body, half: float, *, jaws: int = 2, tilt: float = 0.0, friction=FRICTION, gravity=G
) -> pl.Robot:
    """Pads with rigid backs on radial slides round the z axis, their faces tilted to look up [rad]."""
    parts, rows = [thing], {"place": pl.things.place(thing), "pose": pl.things.pose(thing)}
    for n in range(jaws):
        turn = Rotation.from_euler("z", 2 * np.pi * n / jaws)
        lean = turn * Rotation.from_euler("y", -tilt)  # of a pad whose face looks along −x
        out = turn.apply([1.0, 0.0, 0.0])
        mesh = pl.mesh.box(
            (PAD, WIDE, WIDE), cells=(2, 3, 3), kind="hex", origin=(CLEAR, -WIDE / 2, -WIDE / 2)
        )
        back = pl.mesh.near_plane(mesh, (CLEAR + PAD, 0, 0), (1, 0, 0))
        mesh = mesh.transformed(lean, half * lean.apply([1.0, 0.0, 0.0]))
        rigid = pl.Rigid(back, name="back", joint=pl.Prismatic(-out), mass=0.01)
        pad = pl.Solid(mesh, pl.Hooke(1e6, 0.3), density=1000.0, rigid=rigid)
        parts.append(pad)
        rows[f"jaw {n + 1}"] = pl.Row(pl.Slider(pad.region_points("back"), -out), pl.Bounded(effort=(0, 10)))
    pairs = [(0, k + 1) for k in range(jaws)]
    around = Surroundings(friction=friction, between_bodies=pairs)
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
    weakest = g.weakest([(0, 0, -1), (0, 0, 1), (0, 1, 0)])
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


def test_what_holds_nothing_or_is_no_thing_is_said():
    g = pinched()
    with pytest.raises(pl.InputError, match="a body of 'hand', one of \\['box'"):
        pl.things.grasp(g.result, pl.things.sphere(0.01, density=1000.0))
    with pytest.raises(pl.InputError, match="a force or a torque other than zero"):
        g.limit()
    alone = pl.things.box((SIDE,) * 3, at=(0, 0, 0.1), density=1000.0)
    falling = pl.Simulation(pl.Robot(alone, gravity=(0, 0, -G)), time_step=1e-3).step()
    assert pl.things.grasp(falling, alone).slips
