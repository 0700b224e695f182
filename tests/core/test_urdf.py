"""Arms from URDF files: forward kinematics, torques and inertia against what the file says."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.contact import Surroundings
from pliant.joints import Frame, weld

G = 9.81
ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"><visual><geometry><cylinder radius="0.05" length="0.04"/></geometry></visual></link>
  <link name="turret">
    <inertial><origin xyz="0 0 0.05"/><mass value="1.5"/>
      <inertia ixx="0.003" iyy="0.003" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.05"/><geometry><box size="0.06 0.06 0.1"/></geometry></collision>
  </link>
  <link name="boom">
    <inertial><origin xyz="0.1 0 0" rpy="0 0 0.2"/><mass value="0.8"/>
      <inertia ixx="0.0004" iyy="0.003" izz="0.003" ixy="0.0001" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0.1 0 0" rpy="0 1.5707963 0"/>
      <geometry><cylinder radius="0.02" length="0.2"/></geometry></collision>
  </link>
  <link name="slide">
    <inertial><mass value="0.3"/>
      <inertia ixx="0.0002" iyy="0.0002" izz="0.0002" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><sphere radius="0.015"/></geometry></visual>
  </link>
  <link name="tool0"/>
  <joint name="yaw" type="continuous"><parent link="base"/><child link="turret"/>
    <origin xyz="0.01 0.02 0.03" rpy="0 0 0.4"/><axis xyz="0 0 1"/></joint>
  <joint name="lift" type="revolute"><parent link="turret"/><child link="boom"/>
    <origin xyz="0 0 0.1" rpy="0.1 -0.2 0.3"/><axis xyz="0 1 0.2"/>
    <limit lower="-1.2" upper="1.2" effort="30"/></joint>
  <joint name="reach" type="prismatic"><parent link="boom"/><child link="slide"/>
    <origin xyz="0.2 0 0"/><axis xyz="1 0 0"/><limit lower="0" upper="0.1" effort="50"/></joint>
  <joint name="flange" type="fixed"><parent link="slide"/><child link="tool0"/>
    <origin xyz="0.03 0 0" rpy="0 0.5 0"/></joint>
</robot>
"""
AROUND = Surroundings(between_bodies=False)


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    path = tmp_path_factory.mktemp("urdf") / "arm.urdf"
    path.write_text(ARM)
    return pl.urdf.read(path)


def kinematics(joints: dict[str, float]) -> dict[str, np.ndarray]:
    """Poses (4, 4) of all links, by multiplying what the file says."""
    root = ElementTree.fromstring(ARM)
    out = {"base": np.eye(4)}
    for joint in root.findall("joint"):
        origin, axis = joint.find("origin"), joint.find("axis")
        T = np.eye(4)
        T[:3, 3] = [float(v) for v in origin.get("xyz").split()]
        T[:3, :3] = Rotation.from_euler(
            "xyz", [float(v) for v in origin.get("rpy", "0 0 0").split()]
        ).as_matrix()
        q, M = joints.get(joint.get("name"), 0.0), np.eye(4)
        if axis is not None:
            a = np.array([float(v) for v in axis.get("xyz").split()])
            a /= np.linalg.norm(a)
            if joint.get("type") == "prismatic":
                M[:3, 3] = q * a
            else:
                M[:3, :3] = Rotation.from_rotvec(q * a).as_matrix()
        out[joint.find("child").get("link")] = out[joint.find("parent").get("link")] @ T @ M
    return out


JOINTS = {"yaw": 0.7, "lift": -0.5, "reach": 0.04}


def test_links_go_where_the_file_says(arm):
    tool = arm.carriers["tool0"].points([arm.places["tool0"].t])
    rows = {**arm.rows, "tool": pl.Row(pl.Position(tool))}
    robot = pl.Robot(arm.parts, rows, gravity=(0, 0, -G), surroundings=AROUND)
    result, there = pl.assemble(robot, arm.pose(JOINTS)), kinematics(JOINTS)
    assert np.allclose(result.displacement["tool"], there["tool0"][:3, 3], atol=1e-9)
    drawn = kinematics({})
    for body, span in zip(robot.bodies, robot.q_spans, strict=True):
        R, _ = body.pose(result.q[span])
        assert np.allclose(R @ drawn[body.name][:3, :3], there[body.name][:3, :3], atol=1e-8)


def test_the_motors_carry_the_weight_by_virtual_work(arm):
    """λ = ∂(potential)/∂joint, by differences of the file's own kinematics."""
    robot = pl.Robot(arm.parts, arm.rows, gravity=(0, 0, -G), surroundings=AROUND)
    result = pl.assemble(robot, arm.pose(JOINTS))
    masses = {"turret": (1.5, (0, 0, 0.05)), "boom": (0.8, (0.1, 0, 0)), "slide": (0.3, (0, 0, 0))}

    def potential(joints: dict[str, float]) -> float:
        T = kinematics(joints)
        return G * sum(m * (T[link] @ [*c, 1.0])[2] for link, (m, c) in masses.items())

    for name, row in arm.drives.items():
        up, down = ({**JOINTS, name: JOINTS[name] + s * 1e-5} for s in (1, -1))
        slope = (potential(up) - potential(down)) / 2e-5
        assert result.effort[row][0] == pytest.approx(slope, abs=1e-6)


def test_it_carries_a_soft_finger_and_moves_its_tip(arm):
    start = arm.places["tool0"]
    line = pl.mesh.line(start.t, start.t + 0.08 * start.R[:, 0], elements=6)
    finger = pl.Beam(line, pl.bodies.Circle(0.005), pl.Hooke(1e6, 0.45), density=1080)
    rows = {
        **arm.rows,
        "wrist": weld(arm.frame("tool0"), Frame(finger, 0, axes=start.R)),
        "tip": pl.Row(pl.Position(finger.at([0.08])), pl.Target()),
    }
    robot = pl.Robot([*arm.parts, finger], rows, gravity=(0, 0, -G), surroundings=AROUND)
    mounted = pl.assemble(robot, arm.pose({"reach": 0.05}))
    rigid = kinematics({"reach": 0.05})["tool0"] @ [0.08, 0, 0, 1]
    sag = mounted.displacement["tip"] - rigid[:3]
    assert -0.01 < sag[2] < -1e-4  # it hangs a little below where it would be if it were rigid
    controller = pl.Inverse(robot, state=mounted.state)
    target = mounted.displacement["tip"] + (0.0, 0.03, 0.02)
    for _ in range(40):
        outcome = controller.step(targets={"tip": target})
    assert np.abs(outcome.displacement["tip"] - target).max() < 1e-6


@pytest.mark.parametrize(
    "old, new, says",
    [
        ('<child link="boom"/>', '<child link="bom"/>', "child of joint 'lift'.*'bom'"),
        ('type="continuous"', 'type="planar"', "joint 'yaw'.*'planar'"),
        ('<mass value="0.3"/>', "", "link 'slide'.*mass"),
        ('lower="-1.2" upper="1.2"', 'lower="1.2" upper="-1.2"', "limit of joint 'lift'"),
        ('xyz="0 0 0.1"', 'xyz="0 0 up"', "origin of joint 'lift'.*three finite numbers"),
        ('<parent link="base"/>', '<parent link="boom"/>', "links: expected one tree"),
        ("</robot>", "", "URDF file"),
        ('<robot name="arm">', '<!DOCTYPE a []><robot name="arm">', "DOCTYPE"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, says):
    assert old in ARM
    (tmp_path / "arm.urdf").write_text(ARM.replace(old, new, 1))
    with pytest.raises(pl.errors.FileError, match=says):
        pl.urdf.read(tmp_path / "arm.urdf")
