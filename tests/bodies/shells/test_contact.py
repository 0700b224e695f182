"""Sheets against soft bodies: nodes of the sheet on facets of the body, samples of the body on the sheet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.bodies import Membrane, Shell
from pliant.contact import Detector, Samples, Surroundings

SIDE, THICK, HIGH = 0.06, 0.002, 0.03
RUBBER, FOAM = pl.Hooke(young=3e5, poisson=0.45), pl.Hooke(young=3e4, poisson=0.45)
SHEET, BLOCK = 0, 1  # body numbers, and slots of the opponents


def block(cells=(6, 6, 3), *, up: float = 0.0, hangs: bool = False, material=FOAM, **options) -> pl.Solid:
    """A soft block whose top is at z = 0, or whose bottom is at z = up if it hangs from its top."""
    shift = (-SIDE / 2, -SIDE / 2, up if hangs else -HIGH)
    mesh = pl.mesh.box((SIDE, SIDE, HIGH), cells=cells, **{"kind": "hex", **options})
    fixed = lambda x: np.isclose(x[:, 2], up + HIGH if hangs else -HIGH)
    return pl.Solid(mesh.transformed(translation=shift), material, density=1000, fixed=fixed)


def sheet(cells: int = 8, *, side: float = SIDE, z: float = THICK / 2, kind=Shell, fixed=None, turn=None):
    nodes = pl.mesh.sheet((side, side), cells=(cells, cells)).transformed(
        translation=(-side / 2, -side / 2, 0)
    )
    return kind(
        nodes.transformed(rotation=turn, translation=(0, 0, z)), RUBBER, THICK, density=1100, fixed=fixed
    )


def fixed_in_its_plane(x: np.ndarray) -> np.ndarray:
    """x and y of the middle, y of the middle of a side: no motion in the plane is left, without stretch."""
    mask = np.zeros((len(x), 3), bool)
    middle = np.linalg.norm(x[:, :2], axis=1).argmin()
    mask[middle, :2] = mask[np.linalg.norm(x[:, :2] - [SIDE / 2, 0], axis=1).argmin(), 1] = True
    return mask


def force_on_sheet(result) -> np.ndarray:
    """What the contacts put on the sheet (3,) [N], of both ways."""
    vector = result.contact_force[:, None] * result.contacts.normal
    return np.where(result.contacts.opponent[:, None] == BLOCK, vector, -vector).sum(axis=0)


@pytest.mark.parametrize(("cells", "options"), [(8, {}), (6, {"kind": "tet", "order": 2})])
def test_block_carries_the_weight_of_a_sheet_laid_on_it(cells, options, within):
    """Three corners keep their height: they and the block carry the weight; what is lower presses on it."""
    cover, foam = sheet(cells, fixed=fixed_in_its_plane), block(**options)
    corners = [[s * SIDE / 2, t * SIDE / 2, THICK / 2] for s, t in ((1, 1), (1, -1), (-1, 1))]
    height = pl.Known(displacement=[THICK / 2] * 3)
    corners_up = pl.Row(pl.Position(cover.points(corners), directions="z"), height)
    robot = pl.Robot([cover, foam], {"corners": corners_up}, gravity=(0, 0, -9.81))
    result = pl.static(robot)
    weight = 9.81 * cover.total_mass
    up = force_on_sheet(result)
    within((up[2] + result.effort["corners"].sum()) / weight - 1, 1e-7, "weight")
    assert up[2] > 0.9 * weight and np.abs(up[:2]).max() < 1e-3 * weight
    assert result.contacts is not None
    assert {SHEET, BLOCK} == set(result.contacts.opponent[result.contact_force > 0])  # both ways push
    force, gap = result.contact_force, result.contacts.gap
    assert force.min() >= 0 and np.abs(force * gap).max() < 1e-9 * weight * robot.length
    assert gap.min() > -1e-9
    assert robot.surroundings.detector(robot).penetration(result.q) < 0.01 * THICK


def pressed(kind, side: int, *, cells: int = 12, depth: float = 0.0015, samples=lambda *bodies: None):
    """A foot above (side = 1) or below a sheet fixed at its rim, moved into it by `depth` [m], at rest."""
    rim = lambda x: np.abs(x[:, :2]).max(axis=1) > 0.0499
    trampoline = sheet(cells, side=0.1, z=0.0, kind=kind, fixed=rim)
    mesh = pl.mesh.box((0.03, 0.03, 0.02), cells=(3, 3, 2), kind="hex")
    mesh = mesh.transformed(translation=(-0.015, -0.015, THICK / 2 if side > 0 else -0.02 - THICK / 2))
    far = mesh.nodes[:, 2] > 0.02 if side > 0 else mesh.nodes[:, 2] < -0.02
    foot = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.4), density=1000, fixed=far)
    robot = pl.Robot([trampoline, foot], surroundings=Surroundings(samples=samples(trampoline, foot)))
    moved = foot.move_supports(foot.q0, translation=(0, 0, -depth * side))
    start = robot.rest.with_(q=np.concatenate([trampoline.q0, moved]))
    return robot, pl.static(robot, state=start)


@pytest.mark.parametrize("kind", [Shell, Membrane])
def test_a_foot_presses_a_sheet_from_either_side_alike(kind, within):
    """Above and below are mirror images; the push is that of the sheet on its rim, straight up or down."""
    pushes = []
    for side in (1, -1):
        robot, result = pressed(kind, side)
        up = force_on_sheet(result)
        assert np.sign(up[2]) == -side and np.abs(up[:2]).max() < 0.02 * abs(up[2])
        assert robot.surroundings.detector(robot).penetration(result.q) < 0.05 * THICK
        middle = result.positions[np.linalg.norm(robot.bodies[SHEET].mesh.nodes[:, :2], axis=1).argmin(), 2]
        assert -0.0025 < side * middle < -0.0012  # it bows on beyond the edges of the foot
        pushes.append((up[2], middle))
    within(np.abs(np.sum(pushes, axis=0) / pushes[0]), 0.02, "mirror image")


def test_the_corner_of_a_block_does_not_pass_between_the_nodes_of_a_sheet():
    """An edge of a foot finer than the sheet; it would be millimetres inside without samples of the foot."""
    robot, result = pressed(Shell, 1, cells=3, depth=0.004)
    detector = Detector(robot)
    assert detector.penetration(result.q) < 0.05 * THICK
    assert result.contacts is not None
    assert (result.contacts.opponent[result.contact_force > 0] == SHEET).any()
    only = lambda cover, foot: [Samples.on(cover), Samples.around(foot.node_points([0]), 0.0)]
    _, blind = pressed(Shell, 1, cells=3, depth=0.004, samples=only)
    assert detector.penetration(blind.q) > 0.2 * THICK


@settings(max_examples=25)
@given(
    shift=st.tuples(*[st.floats(-0.02, 0.02)] * 2),
    height=st.floats(-0.0004, 0.004),
    angle=st.floats(0.0, 6.28),
    side=st.sampled_from([1, -1]),
)
def test_gaps_of_a_block_over_a_flat_sheet(shift, height, angle, side):
    """Samples of the face towards the sheet have a gap of their height less half a thickness."""
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    flat = sheet(5, side=0.2, z=0.0, turn=turn)
    mesh = pl.mesh.box((0.03, 0.03, 0.02), cells=(2, 2, 1), kind="hex")
    low = height if side > 0 else -0.02 - height
    foot = pl.Solid(mesh.transformed(translation=(*shift, low)), FOAM)
    robot = pl.Robot([flat, foot])
    contacts = Detector(robot, alarm=0.005).detect(robot.rest.q)
    on_sheet = contacts.opponent == SHEET
    facing = np.isclose(contacts.position[:, 2], side * height) & on_sheet
    assert facing.sum() == on_sheet.sum() >= 9
    np.testing.assert_allclose(contacts.gap[facing], height - THICK / 2, atol=1e-12)
    np.testing.assert_allclose(contacts.normal[facing], np.tile([0, 0, side], (facing.sum(), 1)), atol=1e-9)
    opening = contacts.rows(robot.rest.q).dot(_lifted(robot, side))
    np.testing.assert_allclose(opening[on_sheet], 1.0, atol=1e-9)


def _lifted(robot, side):
    """dq of the block moved away from the sheet by one."""
    dq = np.zeros(robot.ndof)
    dq[robot.dq_spans[BLOCK]].reshape(-1, 3)[:, 2] = side
    return dq


def test_a_ball_beyond_the_rim_of_a_sheet_touches_its_edge():
    flat = sheet(4, side=0.1, z=0.0)
    foot = block()
    ball = Samples.around(foot.points([[0.0, 0.0, -0.001]])[:1], 0.003)
    robot = pl.Robot([flat, foot], surroundings=Surroundings(samples=[Samples.on(flat), ball]))
    q = np.concatenate([flat.q0, foot.q0 + np.tile([0.055, 0.0, 0.001], len(foot.mesh.nodes))])
    contacts = robot.surroundings.detector(robot, ()).detect(q, 0.01)
    on_sheet = contacts.opponent == SHEET
    assert on_sheet.sum() == 1
    np.testing.assert_allclose(contacts.normal[on_sheet], [[1, 0, 0]], atol=1e-9)
    np.testing.assert_allclose(contacts.gap[on_sheet], 0.005 - 0.003 - THICK / 2, atol=1e-12)
