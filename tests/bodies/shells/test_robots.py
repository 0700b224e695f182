"""Sheets in robots: statics, compliance, inverse model, contact from both sides, sheets glued on blocks."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Beam, Circle, Membrane, Rigid, Shell
from pliant.contact import Plane, Samples, Sphere, Surroundings
from pliant.interactions.attachment import Attachment
from pliant.mesh.lines import line
from tests.bodies.shells.common import NONE, RUBBER, SOFT, left

SIDE, THICK, SILICONE = 0.2, 0.003, pl.Hooke(young=3e5, poisson=0.45)
MIDDLE = [[SIDE / 2, SIDE / 2, 0.0]]


def corners(x: np.ndarray) -> np.ndarray:
    """Patches of a centimetre at the four corners."""
    return (np.abs(x[:, :2] - SIDE / 2) > SIDE / 2 - 0.0101).all(axis=1)


def soft_sheet(cells: int = 20, **options) -> Shell:
    """A silicone sheet fixed at its four corners."""
    sheet = pl.mesh.sheet((SIDE, SIDE), cells=(cells, cells))
    return Shell(sheet, SILICONE, THICK, density=1100, fixed=corners, **options)


def test_sheet_sags_as_a_solid_does(within):
    """441 nodes of shell and 4643 of solid, under its own weight: 2 cm of sag, seven times its thickness."""
    shell = soft_sheet()
    sag = pl.static(
        pl.Robot(
            shell, {"m": pl.Row(pl.Position(shell.points(MIDDLE), directions="z"))}, gravity=(0, 0, -9.81)
        )
    )
    block = pl.mesh.box((SIDE, SIDE, THICK), cells=(20, 20, 1))
    solid = pl.Solid(block, SILICONE, density=1100, fixed=corners)
    middle = pl.Position(solid.points([[SIDE / 2, SIDE / 2, THICK / 2]]), directions="z")
    other = pl.static(pl.Robot(solid, {"m": pl.Row(middle)}, gravity=(0, 0, -9.81)))
    depth = float(other.displacement["m"][0]) - THICK / 2
    assert depth < -0.015
    within(sag.displacement["m"][0] / depth - 1, 0.015, "sag")


def test_compliance_is_the_slope_of_statics(within):
    shell = soft_sheet(10)
    push = pl.PointForce(shell.points([*MIDDLE, [0.05, 0.07, 0.001]]), direction=(0, 0, 1))
    robot = pl.Robot(shell, {"f": pl.Row(push)}, gravity=(0, 0, -9.81))
    rest = pl.static(robot)
    W = pl.compliance(robot, state=rest.state).matrix
    h = 1e-4
    for k in range(2):
        moved = [
            pl.static(robot, {"f": pl.Known(effort=s * h * np.eye(2)[k])}, state=rest.state).displacement["f"]
            for s in (-1, 1)
        ]
        within((moved[1] - moved[0]) / (2 * h) / W[:, k] - 1, 1e-5, f"column {k}")


def test_sheet_finds_the_forces_that_lift_it():
    """Four forces raise the middle by a centimetre; equal ones, as the sheet is symmetric."""
    shell = soft_sheet(12)
    places = [[x, y, 0.0] for x in (0.05, 0.15) for y in (0.05, 0.15)]
    rows = {
        f"lift {k}": pl.Row(pl.PointForce(shell.points([p]), direction=(0, 0, 1)), pl.Bounded(effort=(0, 2)))
        for k, p in enumerate(places)
    }
    rows["middle"] = pl.Row(pl.Position(shell.points(MIDDLE), directions="z"), pl.Target([0.01]))
    robot = pl.Robot(shell, rows, gravity=(0, 0, -9.81))
    inverse = pl.Inverse(robot)
    for _ in range(20):
        outcome = inverse.step()
    assert abs(outcome.error["middle"][0]) < 1e-5
    efforts = np.array([float(outcome.effort[f"lift {k}"][0]) for k in range(4)])
    assert np.ptp(efforts) < 0.02 * efforts.mean()
    again = pl.static(robot, {f"lift {k}": pl.Known(effort=e) for k, e in enumerate(efforts)})
    assert again.displacement["middle"][0] == pytest.approx(0.01, abs=2e-5)


def test_touched_on_both_sides(within):
    """A ball below or above: mirror images, half a thickness away; the contact carries part of the weight."""
    shell = soft_sheet(12)
    every = shell.node_points(np.arange(len(shell.mesh.nodes)))
    skin = Samples.around(every, shell.half_thickness(every))
    both_sides = []
    for side in (-1, 1):
        robot = pl.Robot(shell, gravity=(0, 0, 9.81 * side), surroundings=Surroundings(samples=skin))
        ball = Sphere(centre=(SIDE / 2, SIDE / 2, 0.07 * side), radius=0.06)
        result = pl.static(robot, obstacles=[ball])
        gap = np.linalg.norm(result.positions - ball.centre, axis=1).min() - 0.06
        within((gap - THICK / 2) / THICK, 1e-6, "gap")
        force = float(result.contact_force.sum())
        assert 0.1 * shell.total_mass * 9.81 < force < 0.9 * shell.total_mass * 9.81
        both_sides.append((force, result.positions))
    within(both_sides[0][0] / both_sides[1][0] - 1, 1e-6, "force")
    within((both_sides[0][1] * [1, 1, -1] - both_sides[1][1]) / THICK, 1e-6, "mirror image")


def test_membrane_lies_on_a_plane(within):
    sheet = pl.mesh.sheet((0.1, 0.1), cells=(10, 10))
    membrane = Membrane(sheet, SOFT, 0.001, density=1000, fixed=np.unique(sheet.rim), prestretch=1.001)
    every = membrane.node_points(np.arange(len(sheet.nodes)))
    skin = Samples.around(every, membrane.half_thickness(every))
    robot = pl.Robot(membrane, gravity=(0, 0, -9.81), surroundings=Surroundings(samples=skin))
    result = pl.static(robot, obstacles=[Plane(point=(0, 0, -0.0025), normal=(0, 0, 1))])
    assert (result.contact_force > 0).any()
    within((result.positions[:, 2].min() + 0.002) / 0.002, 1e-6, "lowest point")


def test_a_motor_turns_a_rigid_edge(within):
    """A sheet clamped on one side and turned by its rigid other side: torque D (1 − ν²) θ/L · width."""
    sheet = pl.mesh.sheet((0.1, 0.02), cells=(20, 4))
    fixed = np.zeros((len(sheet.nodes), 6), bool)
    fixed[left(sheet.nodes)] = True
    material = pl.Hooke(young=1e6, poisson=0.0)
    edge = Rigid(lambda x: x[:, 0] > 0.1 - 1e-9, name="edge")
    shell = Shell(sheet, material, 0.001, fixed=fixed, rigid=edge)
    motor = pl.Motor(shell.region_points("edge"), axis=(0, -1, 0))
    robot = pl.Robot(shell, {"motor": pl.Row(motor)})
    result = pl.static(robot, {"motor": pl.Known(displacement=np.pi / 2)})
    exact = material.young * 0.02 * 0.001**3 / 12 * (np.pi / 2) / 0.1
    within(result.effort["motor"][0] / exact - 1, 1e-4, "torque")
    R, centre = shell.pose(result.q, "edge")
    within(R @ [1, 0, 0] - [0, 0, 1], 1e-8, "direction")
    within(centre - np.array([0.2 / np.pi, 0.01, 0.2 / np.pi]), 1e-4, "place")


# Joined bodies


def test_sheet_glued_on_a_block(within):
    """A stiff skin glued on a soft beam: the bending stiffness of the composite, three times the beam's."""
    L, width, high, thin = 0.2, 0.02, 0.01, 0.001
    soft, stiff = pl.Hooke(young=1e5, poisson=0.0), pl.Hooke(young=2e6, poisson=0.0)
    box = pl.mesh.box((L, width, high), cells=(24, 2, 2), kind="hex")
    block = pl.Solid(box, soft, fixed=left)
    sheet = pl.mesh.sheet((L, width), cells=(24, 2)).transformed(translation=(0, 0, high + thin / 2))
    skin = Shell(sheet, stiff, thin)
    assert skin.rigid_modes() == 6
    where = sheet.nodes - [0, 0, thin / 2]  # its back, the block's top
    glue = Attachment(skin.points(where), block.points(where))
    tip = pl.PointForce(block.points([[L, width / 2, high / 2]]), direction=(0, 0, 1))
    rows = {"glue": pl.Row(glue, pl.Known(displacement=0.0)), "tip": pl.Row(tip)}
    robot = pl.Robot([block, skin], rows, surroundings=Surroundings(between_bodies=False))
    A, B = soft.young * width * high, stiff.young * width * thin
    axis = (A * high / 2 + B * (high + thin / 2)) / (A + B)
    steiner = A * (high / 2 - axis) ** 2 + B * (high + thin / 2 - axis) ** 2
    EI = soft.young * width * high**3 / 12 + stiff.young * width * thin**3 / 12 + steiner
    force = 1e-5
    result = pl.static(robot, {"tip": pl.Known(effort=force)})
    exact = force * L**3 / 3 / EI
    within(result.displacement["tip"][0] / exact - 1, 0.05, "deflection")
    assert exact < 0.35 * force * L**3 / 3 / (soft.young * width * high**3 / 12)
    # Bent by half its length, the two stay together, and the forces of the glue balance.
    result = pl.static(robot, {"tip": pl.Known(effort=0.02)})
    assert result.displacement["tip"][0] > 0.07
    within(result.displacement["glue"] / L, 1e-10, "glue")
    within(result.effort["glue"].reshape(-1, 3).sum(axis=0) / 0.02, 1e-6, "sum of the glue's forces")


def test_rod_embedded_in_silicone(within):
    """A thin stiff rod along the axis of a soft beam: their bending stiffnesses add up."""
    L, width, radius = 0.2, 0.02, 0.001
    soft, stiff = pl.Hooke(young=1e5, poisson=0.3), pl.Hooke(young=1e9, poisson=0.3)
    block = pl.Solid(pl.mesh.box((L, width, width), cells=(16, 4, 4), kind="hex"), soft, fixed=left)
    axis = line((0, width / 2, width / 2), (L, width / 2, width / 2), elements=16)
    rod = Beam(axis, Circle(radius), stiff, fixed=0)
    glue = Attachment(rod.points(axis.nodes[1:]), block.points(axis.nodes[1:]))
    tip = pl.PointForce(block.points([[L, width / 2, width / 2]]), direction=(0, 0, 1))
    rows = {"glue": pl.Row(glue, pl.Known(displacement=0.0)), "tip": pl.Row(tip, pl.Known(effort=1e-5))}
    robot = pl.Robot([block, rod], rows, surroundings=Surroundings(between_bodies=False))
    EI = soft.young * width**4 / 12 + stiff.young * np.pi * radius**4 / 4
    assert 1.5 * soft.young * width**4 / 12 < EI
    within(pl.static(robot).displacement["tip"][0] / (1e-5 * L**3 / 3 / EI) - 1, 0.01, "deflection")


def test_attachment_needs_as_many_points_on_both_sides():
    shell = soft_sheet(4)
    with pytest.raises(pl.InputError, match="either side"):
        Attachment(shell.node_points([0]), shell.node_points([1, 2]))


def test_attachment_can_be_a_spring(within):
    """δ counts from rest; with an Elastic law the two nodes hang on a spring."""
    shell = soft_sheet(10)
    ends = shell.points([[0.05, 0.1, 0.0]]), shell.points([[0.15, 0.1, 0.0]])
    spring = Attachment(*ends)
    push = pl.PointForce(ends[0], direction=(0, 0, 1))
    rows = {"spring": pl.Row(spring, pl.Elastic(stiffness=10.0)), "push": pl.Row(push, pl.Known(effort=0.05))}
    result = pl.static(pl.Robot(shell, rows))
    apart = ends[1].position(result.q) - ends[0].position(result.q) - [0.1, 0, 0]
    within(result.displacement["spring"] - apart.ravel(), 1e-12, "δ")
    within(result.effort["spring"] + 10.0 * apart.ravel(), 1e-9, "force")


# Outputs


def test_stress_of_a_bent_strip(within):
    """σ = ±E κ h/2 on the faces, none in the middle; von Mises reports the worse face."""
    sheet = pl.mesh.sheet((0.1, 0.02), cells=(10, 2))
    shell = Shell(sheet, pl.Hooke(1e6, 0.0), 0.002, fixed=left)
    kappa = 0.5
    q = shell.q0.copy()
    angle = kappa * sheet.nodes[:, 0]
    pose = q[shell.coordinates.pose :][: 12 * len(angle)].reshape(-1, 12)
    pose[:, 0], pose[:, 2] = np.sin(angle) / kappa, (1 - np.cos(angle)) / kappa
    pose[:, [3, 11]], pose[:, 9], pose[:, 5] = np.cos(angle)[:, None], np.sin(angle), -np.sin(angle)
    q = shell.retract(q, np.zeros(shell.ndof))
    front, back = shell.stress(q, side="front"), shell.stress(q, side="back")
    along = np.einsum("eii->e", front)
    within(along / (-1e6 * kappa * 0.001) - 1, 0.01, "front is pressed")
    within(np.einsum("eii->e", back) / (1e6 * kappa * 0.001) - 1, 0.01, "back is pulled")
    within(np.abs(shell.stress(q)).max() / 500.0, 0.01, "middle")
    within(shell.stress(q, "von_mises", at="nodes") / 500.0 - 1, 0.01, "von Mises at nodes")
    within(
        shell.couples(q)[left(sheet.nodes)].sum(axis=0)[1] / (1e6 * 0.02 * 0.002**3 / 12 * kappa) - 1,
        0.01,
        "couple",
    )
    for wrong in ({"measure": "biot"}, {"at": "edges"}, {"side": "top"}):
        with pytest.raises(pl.InputError):
            shell.stress(q, **wrong)


def test_pictures_of_sheets(tmp_path):
    from pliant.io.picture import picture

    shell = soft_sheet(6)
    result = pl.static(pl.Robot(shell, gravity=(0, 0, -9.81)))
    for field in ("stress", "displacement"):
        assert (
            picture(result, tmp_path / f"{field}.png", field=field, size=(2, 2), dpi=40).stat().st_size > 1000
        )


def test_rubber_shell_and_membrane_agree_where_bending_is_small(within):
    """Inflated by a quarter, thin: what large stretch does is the same."""
    sheet = pl.mesh.disc_sheet(0.05, around=24, rings=4)
    rim = np.unique(sheet.rim)
    pinned = np.zeros((len(sheet.nodes), 3), bool)
    pinned[rim] = True
    heights = []
    for body in (Membrane(sheet, RUBBER, 5e-4, fixed=rim), Shell(sheet, RUBBER, 5e-4, fixed=pinned)):
        push = pl.SurfaceForce.on(body, sheet.surface)
        result = pl.static(pl.Robot(body, {"p": pl.Row(push, pl.Known(effort=4e3 * sheet.area))}))
        heights.append(result.positions[:, 2].max())
        assert np.isfinite(body.linearise(result.q, NONE)[0])
    assert heights[0] > 0.01
    within(heights[1] / heights[0] - 1, 0.01, "height")
