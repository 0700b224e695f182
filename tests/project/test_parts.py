"""Assemblies and things in project files: the same robots as in Python; faults name line and key."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Beam, Circle, RigidBody
from pliant.contact import Surroundings
from pliant.joints import Frame, Turn, hinge, weld
from pliant.project import load
from tests.project.test_project import blame, mutations

ARM = """
format = 1
name = "arm"

[things.arm]
mesh = "arm.stl"
density = "1.2 g/cm³"

[[bodies]]
name = "finger"
path = [[0.2, 0, 0], [0.2, 0, 0.08]]
elements = 8
section = { radius = "5 mm" }
materials = [{ law = "Hooke", young = "1 MPa", poisson = 0.45, density = 1080 }]

[joints.shoulder]
kind = "hinge"
between = [{ at = [0, 0, 0], axis = [0, 1, 0] }, { body = "arm", at = [0, 0, 0], axis = [0, 1, 0] }]

[turns.motor]
joint = "shoulder"
angle = ["-120 deg", "120 deg"]

[joints.wrist]
kind = "weld"
between = [
    { body = "arm", at = [0.1, 0, 0] },
    { body = "finger", node = 0, axes = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]] },
]

[effectors.tip]
body = "finger"
along = { arc = [0.08] }

[contact]
between_bodies = false

[demonstration.commands.motor]
angle = "20 deg"
"""
LOOSE = """
format = 1
name = "things on a table"

[things.crate]
box = [0.03, 0.03, 0.03]
at = [0, 0, 0.015]
mass = 0.05

[things.ball]
sphere = 0.02
cells = 4
at = [0.1, 0, 0.02]
turn = [0, 0, 0.3]
material = { law = "Hooke", young = "0.3 MPa", poisson = 0.3, density = 1000 }

[things.can]
cylinder = [0.015, 0.04]
at = [0, 0.1, 0.02]
density = 500

[effectors.crate]
body = "crate"
kind = "pose"

[obstacles.table]
kind = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]

[contact]
friction = 0.5
"""


@pytest.fixture
def arm(tmp_path):
    shape = pl.mesh.box((0.1, 0.02, 0.02), cells=(1, 1, 1), kind="hex", origin=(0, -0.01, -0.01))
    write_stl(tmp_path / "arm.stl", shape.surface)
    (tmp_path / "arm.toml").write_text(ARM)
    return tmp_path / "arm.toml"


def write_stl(path, surface):
    faces = surface.nodes[surface.triangles]
    lines = [
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex " + " ".join(map(repr, map(float, v))) + "\n" for v in face)
        + "endloop\nendfacet"
        for face in faces
    ]
    path.write_text("solid arm\n" + "\n".join(lines) + "\nendsolid arm\n")


def test_an_arm_with_a_soft_finger_is_that_of_python(arm):
    project = load(arm)
    y = (0, 1, 0)
    shape = pl.mesh.box((0.1, 0.02, 0.02), cells=(1, 1, 1), kind="hex", origin=(0, -0.01, -0.01))
    rigid = RigidBody(shape, density=1200)
    rod = pl.mesh.line((0.2, 0, 0), (0.2, 0, 0.08), elements=8)
    finger = Beam(rod, Circle(0.005), pl.Hooke(1e6, 0.45), density=1080)
    shoulder = Frame.world((0, 0, 0), axis=y), Frame(rigid, at=(0, 0, 0), axis=y)
    rows = {
        "shoulder": hinge(*shoulder),
        "motor": pl.Row(Turn(*shoulder), pl.Bounded(displacement=(-2.1, 2.1))),
        "wrist": weld(
            Frame(rigid, at=(0.1, 0, 0)), Frame(finger, 0, axes=[[0, 0, -1], [0, 1, 0], [1, 0, 0]])
        ),
        "tip": pl.Row(pl.Position(finger.at([0.08])), pl.Target()),
    }
    robot = pl.Robot(
        [finger, rigid], rows, gravity=(0, 0, -9.81), surroundings=Surroundings(between_bodies=False)
    )
    mine = pl.assemble(robot, {"motor": pl.Known(displacement=np.radians(20))})
    read = pl.assemble(project.robot, project.laws)
    assert list(project.robot.rows) == ["shoulder", "motor", "wrist", "tip"]
    for name in rows:
        assert np.allclose(read.displacement[name], mine.displacement[name], atol=1e-9)
        assert np.allclose(read.effort[name], mine.effort[name], atol=1e-7)
    assert np.allclose(project.robot.rows["motor"].law.displacement, np.radians([-120, 120]))


def test_an_arm_with_a_soft_finger_is_learned_on(arm):
    """The action is the motor's angle: the tip goes where statics has it at the angle that it comes to."""
    pytest.importorskip("gymnasium")
    from pliant.learning import environment

    env = environment(arm)
    env.reset(seed=0)
    for _ in range(30):
        _, reward, _, _, said = env.step([0.25])
        assert not said["failed"] and reward < 0.0
    there = pl.static(env.robot, {"motor": pl.Known(displacement=0.25 * np.radians(120))})
    assert np.allclose(env.deltas()["tip"], there.displacement["tip"], atol=2e-3)


def test_things_lie_on_a_table_and_their_pose_is_an_effector(tmp_path):
    (tmp_path / "loose.toml").write_text(LOOSE)
    robot = load(tmp_path / "loose.toml").robot
    assert [body.name for body in robot.bodies] == ["crate", "ball", "can"]
    assert robot.rows["crate"].interaction.size == 6 and robot.by_role("effector") == ["crate"]
    crate, ball, can = robot.bodies
    assert crate.total_mass == 0.05 and isinstance(ball, pl.Solid)
    assert can.total_mass == pytest.approx(500 * np.pi * 0.015**2 * 0.04, rel=0.02)
    simulation = pl.Simulation(robot, time_step=5e-3)
    for _ in range(10):
        moment = simulation.step()
    assert np.abs(moment.displacement["crate"]).max() < 1e-5
    session = pl.session.Session(robot)
    assert session.mode == "dynamic"


@pytest.mark.parametrize(
    "old, new, key, says",
    [
        ('joint = "shoulder"', 'joint = "wrist"', "turns.motor.joint", "a hinge, one of ['shoulder']"),
        ('body = "arm", at = [0.1', 'body = "leg", at = [0.1', "joints.wrist.between[0].body", "leg"),
        ("node = 0", "node = 99", "joints.wrist.between[1]", "99"),
        ('density = "1.2 g/cm³"', "", "things.arm", "density, mass"),
        ('mesh = "arm.stl"', 'mesh = "leg.stl"', "things.arm.mesh", "leg.stl"),
        ('density = "1.2', 'cells = 3\ndensity = "1.2', "things.arm", "of a box or a sphere"),
        ('kind = "hinge"', 'kind = "screw"', "joints.shoulder.kind", "weld"),
        ("{ at = [0, 0, 0], axis", "{ axis", "joints.shoulder.between[0]", "place of the world"),
    ],
)
def test_faults_name_line_and_key(arm, old, new, key, says):
    assert old in ARM
    arm.write_text(ARM.replace(old, new, 1))
    with pytest.raises(pl.errors.FileError) as error:
        load(arm)
    said = re.match(r"arm\.toml, line (\d+), ", str(error.value))
    assert said and 0 <= ARM[: ARM.index(old)].count("\n") + 1 - int(said[1]) <= 3  # there, or its table's
    assert key in str(error.value) and says in str(error.value)


@pytest.mark.parametrize("text", [ARM, LOOSE], ids=["joints", "things"])
def test_dozens_of_wrong_files_name_key_and_line(arm, text):
    tried = mutations(text)
    assert len(tried) > 60
    blame(arm.parent, tried)
