"""A tripod on three motors: its hub rises, sinks and tilts."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Hinge, Rigid, Solid
from pliant.interactions import Motor
from pliant.laws import Bounded
from pliant.materials import library
from pliant.mesh import tripod as tripod_mesh
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY, tip


def tripod(
    *,
    reach: float = 0.06,
    width: float = 0.018,
    thickness: float = 0.006,
    rise: float = 0.025,
    clamp: float = 0.008,
    arm: float = 0.02,
    along: int = 9,
    layers: int = 2,
    across: int = 4,
    material: str = "smooth-sil 950",
    poisson: float = 0.48,
    angle: float = np.pi / 3,
    torque: float = 0.5,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Robot:
    """Three silicone legs that meet in a hub; their ends are clamped to the arms of three servo motors.

    After the tripod of the SOFA soft-robotics tutorials. Arm n turns about a horizontal axis across its leg,
    `arm` [m] outside the leg's end; a positive angle lifts the end. Rows: "motor 1" to "motor 3", the angles,
    within ±`angle` [rad] and ±`torque` [N·m]; "tip", the middle of the hub's upper side.
    """
    mesh = tripod_mesh(
        reach,
        width=width,
        thickness=thickness,
        rise=rise,
        clamp=clamp,
        across=across,
        layers=layers,
        along=along,
    )
    stuff = library[material]
    turn = 2 * np.pi * np.arange(3) / 3
    outward = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(3)])
    axes = np.cross([0.0, 0.0, 1.0], outward)  # turning about it lifts what is on the inner side of the hinge
    regions = []
    for n in range(3):
        nodes = np.unique(mesh.cells[mesh.regions == n + 1])
        hinge = Hinge(tuple(axes[n]), tuple((reach + arm) * outward[n]))
        regions.append(Rigid(nodes, f"arm {n + 1}", joint=hinge))
    body = Solid(mesh, stuff.hooke(poisson), density=stuff.density, rigid=regions)
    drive = Bounded(effort=(-torque, torque), displacement=(-angle, angle))
    rows = {
        f"motor {n + 1}": Row(Motor(body.region_points(f"arm {n + 1}"), axes[n]), drive) for n in range(3)
    }
    rows["tip"] = tip(body, (0.0, 0.0, rise + thickness / 2))
    return Robot(body, rows, gravity=gravity, name="tripod")
