"""A catheter-like rod that is pushed into a forked pipe and steered by four cables."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Beam, Circle, Prismatic, Rigid
from pliant.contact import ForkedPipe, Samples, Surroundings
from pliant.interactions import Cable, Position, Slider
from pliant.laws import Bounded, Target
from pliant.materials import Hooke
from pliant.mesh.lines import line
from pliant.robot import Robot, Row

SIDES = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))  # of the cables: +y, +z, −y, −z


def rod(
    *,
    length: float = 0.2,
    radius: float = 0.003,
    elements: int = 10,
    young: float = 2e6,
    poisson: float = 0.45,
    density: float = 1100.0,
    lever: float = 0.0025,
    front: float = 0.4,
    tension: float = 10.0,
    stroke: float = 0.16,
    samples: int = 47,
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Robot:
    """A soft rod along x whose base slides along x, inside the stem of a pipe that forks in front of it.

    After the rod of Coevoet et al., 'Optimization-based inverse model of soft robots with contact handling',
    RA-L 2017: a beam of 11 nodes, pushed in by "insertion", up to `stroke` [m], and steered by "cable 1" to
    "cable 4" towards +y, +z, −y and −z. They run `lever` [m] off the axis through the `front` share of its
    length, each with up to `tension` [N]. "tip" is its end. It touches the pipe of `fork` as a rod through
    balls at `samples` points of its axis.
    """
    body = Beam(
        line((-length, 0.0, 0.0), (0.0, 0.0, 0.0), elements=elements),
        Circle(radius),
        Hooke(young, poisson),
        density=density,
        rigid=Rigid([0], name="base", joint=Prismatic((1.0, 0.0, 0.0))),
        detail=(8, 4),  # the skin follows its bends as closely as the balls on its axis do
    )
    along = np.linspace((1.0 - front) * length, length, 4 * max(1, round(front * elements)) + 1)
    pull = Bounded(effort=(0.0, tension))
    rows = {
        f"cable {n + 1}": Row(Cable(body.at(along, offset=lever * np.array(side))), pull)
        for n, side in enumerate(SIDES)
    }
    base = body.region_points("base")[:1]
    rows["insertion"] = Row(Slider(base, (1.0, 0.0, 0.0)), Bounded(displacement=(0.0, stroke)))
    rows["tip"] = Row(Position(body.at([length])), Target(value=(0.0, 0.0, 0.0)))
    balls = Samples.around(body.at(np.linspace(0.0, length, samples)), radius)
    surroundings = Surroundings(obstacles=[fork(stem=length + 0.05)], samples=balls)
    return Robot(body, rows, gravity=gravity, name="rod", surroundings=surroundings)


def fork(
    *,
    stem: float = 0.25,
    reach: float = 0.04,
    branch: float = 0.12,
    angle: float = 35.0,
    radius: float = 0.008,
) -> ForkedPipe:
    """A pipe from x = −stem to x = reach [m] that forks there into two branches, ±`angle` [degrees] to x."""
    meeting = np.array([reach, 0.0, 0.0])
    turn = np.radians(angle)
    branches = [branch * np.array([np.cos(turn), side * np.sin(turn), 0.0]) for side in (1.0, -1.0)]
    trunk = [[-stem, 0.0, 0.0], meeting]
    return ForkedPipe([trunk, *([meeting, meeting + along] for along in branches)], radius, name="pipe")


def branch_path(side: int, depth: float, *, steps: int = 60, pipe: ForkedPipe | None = None) -> np.ndarray:
    """Targets (steps, 3) [m] for the tip: along the stem to the fork, then `depth` [m] into a branch."""
    stem, *branches = (fork() if pipe is None else pipe).branches
    branch = branches[0 if side > 0 else 1]
    first = float(np.linalg.norm(stem[1]))
    s = np.linspace(0.0, first + depth, steps + 1)[1:]
    direction = (branch[1] - branch[0]) / np.linalg.norm(branch[1] - branch[0])
    straight = np.minimum(s, first)[:, None] * stem[1] / first
    return straight + np.maximum(s - first, 0.0)[:, None] * direction
