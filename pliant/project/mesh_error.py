"""What a mesh costs in accuracy: the error of small motions, estimated with a mesh of half its edges.

A unit effort of an actuator moves nodes by u = K⁻¹Hᵀ. On edges of length h

    ‖u − u_h‖ ≈ ‖u_h/2 − u_h‖ / (1 − 2⁻ᵖ),      ‖u‖ = Σ Vₙ|uₙ|

over the nodes of the mesh of h, with the volume Vₙ about each. It is the mean of the body because the error
of a single point may vanish by chance: the pressure in a bellows moves its end out by the ends and in by the
waist, and a coarse mesh is too stiff in both. And it is not that of squares because around a point at which a
force acts the body yields the more, the finer its mesh is.
"""

from __future__ import annotations

import numpy as np

from pliant.bodies import Solid
from pliant.compliance import answers
from pliant.errors import InputError
from pliant.project.project import Project
from pliant.robot import Robot

# Between two meshes of edges h and h/2 an error of order p falls by (1 − 2⁻ᵖ) of itself. Clamps and notches
# have p near 1, smooth bodies more: with p = 1.5 the estimate is within 1.5 times the error.
ORDER = 1.5
LARGEST = 20_000  # coordinates of a robot whose refinement, of some eight times as many, is solved here
SMALL = 1e-6  # of the length: how far nodes move where their motions are those of coordinates


def discretisation_error(project: Project) -> float:
    """The error of a project's mesh, as a share of the motion: the largest of its actuators' motions."""
    coarse, fine, volume = on_two_meshes(project)
    return estimated(coarse, fine, volume)


def on_two_meshes(project: Project) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Motions (actuators, nodes, 3) of the nodes of a project's mesh, on it and on one of half its edges.

    And the volumes (nodes,) about these nodes. Refused is what has no such motions, or is too large.
    """
    robot = project.robot
    if not (robot.by_role("actuator") and robot.by_role("effector")):
        raise InputError("robot", expected="an actuator and an effector", got=list(robot.rows))
    if robot.ndof > LARGEST:
        raise InputError("robot", expected=f"at most {LARGEST} coordinates", got=robot.ndof)
    return field(robot), field(project.refined(), like=robot), volumes(robot)


def estimated(coarse: np.ndarray, fine: np.ndarray, volume: np.ndarray) -> float:
    """The largest error of motions on a mesh, as a share of each, from those on one of half its edges.

    Errors of the shape itself are not in it: the finer mesh has the same facets.
    """
    return difference(coarse, fine, volume) / (1.0 - 2.0**-ORDER)


def limit(coarse: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """u ≈ u_h/2 + (u_h/2 − u_h) / (2ᵖ − 1): what motions on two meshes lead to."""
    return fine + (fine - coarse) / (2.0**ORDER - 1.0)


def difference(coarse: np.ndarray, fine: np.ndarray, volume: np.ndarray | None = None) -> float:
    """The largest ‖fine − coarse‖ / ‖fine‖ of motions (actuators, nodes, 3) with volumes about the nodes.

    Without `volume` of motions (actuators, rows) of effectors.
    """

    def size(moved: np.ndarray) -> np.ndarray:
        lengths = np.linalg.norm(moved, axis=-1)
        return lengths if volume is None else lengths @ volume

    of = size(fine)
    moving = of > 0
    if not moving.any():
        raise InputError("robot", expected="actuators that move it at rest", got="none")
    return float((size(fine - coarse)[moving] / of[moving]).max())


def field(robot: Robot, like: Robot | None = None) -> np.ndarray:
    """How the nodes of its solids move by a unit effort of each actuator, (actuators, nodes, 3).

    Nodes are those that the mesh was given with. `like`: only its nodes, which are a refined robot's first.
    """
    rest, out = robot.rest.q, []
    for dq in answers(robot, robot.by_role("actuator")):
        stride = SMALL * robot.length / max(robot.farthest(dq), np.finfo(float).tiny)
        moved = robot.retract(rest, stride * dq)
        parts = [
            (body.positions(moved[span]) - body.positions(rest[span]))[: len(as_given.input_mesh.nodes)]
            for body, span, as_given in zip(robot.bodies, robot.q_spans, (like or robot).bodies, strict=True)
            if isinstance(as_given, Solid)
        ]
        out.append(np.concatenate([*parts, np.zeros((0, 3))]) / stride)
    return np.array(out)


def volumes(robot: Robot) -> np.ndarray:
    """The volume about each of these nodes [m³]: of its cells, shared by their nodes."""
    out: list[np.ndarray] = [np.zeros(0)]
    for body in robot.bodies:
        if isinstance(body, Solid):
            mesh = body.input_mesh
            share = np.repeat(mesh.cell_volumes / mesh.cells.shape[1], mesh.cells.shape[1])
            out.append(np.bincount(mesh.cells.ravel(), share, minlength=len(mesh.nodes)))
    return np.concatenate(out)
