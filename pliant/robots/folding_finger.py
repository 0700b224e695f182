"""A finger with joints whose two sides fold onto each other: one cable, and 495 possible contacts."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Solid
from pliant.contact import Samples, Surroundings
from pliant.errors import InputError
from pliant.interactions import Cable
from pliant.laws import Bounded
from pliant.materials import library
from pliant.mesh import Mesh, near_plane
from pliant.mesh.generate.finger import block_ends
from pliant.mesh.generate.grid import at_least, finish, middles, positive, tensor_grid, through, within
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY, tip

ACROSS, UP = 2, 5  # cells of a joint's side: across the finger and up from its valley
POINTS = (4, 2)  # parts that each of these is sampled in: 9 × 11 points on every side that touches
SAG = 0.005  # [m] that the hanging finger may pull out of a slack cable
GUIDE_INSET = 0.2  # of a block: how far inside it the cable's guides are, so that closed joints can be pulled
ALARM = 0.001  # [m]


def folding_finger(
    *,
    length: float = 0.15,
    width: float = 0.02,
    height: float = 0.02,
    spine: float = 0.005,
    joints: int = 5,
    valley: float = 0.003,
    opening: float = 0.007,
    cable: float = 0.8,
    material: str = "dragon skin 30",
    poisson: float = 0.45,
    pull: float = 0.04,
    tension: float = 80.0,
    contact: bool = True,
    gravity: tuple[float, float, float] = (GRAVITY, 0.0, 0.0),
) -> Robot:
    """A silicone finger along x, fixed at x = 0, whose cable folds its joints until their sides touch.

    After the finger of Goury et al., 'Real-time simulation for control of soft robots with self-collisions',
    RA-L 2021: one cable, pulled in by up to 40 mm, and 495 collision points, 99 on one side of each of the
    five `joints`, which touch the side across. A joint is a notch down to the `spine` [m], `valley` [m] wide
    at its ground and `opening` [m] wider at its top; it closes from the top, the last joint first. The
    "cable" runs through the blocks at the share `cable` of the height, between guides inside them; "tip" is
    the middle of the end face. contact=False lets the sides pass through each other.
    """
    positive(length=length, width=width, height=height, spine=spine, valley=valley)
    at_least(1, joints=joints)
    if not spine < height:
        raise InputError("spine", expected=f"thinner than the finger, {height:g} m", got=spine)
    blocks = block_ends(length, joints, valley)
    lean = _Lean(blocks, spine, height, opening)
    mesh = _mesh(lean, width)
    stuff = library[material]
    base = near_plane(mesh, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    body = Solid(mesh, stuff.hooke(poisson), density=stuff.density, fixed=base, support_layers=False)
    guides = blocks + GUIDE_INSET * np.ptp(blocks[0]) * np.array([1.0, -1.0])
    guides[0, 0] = 0.0
    line = np.column_stack(
        [guides.ravel(), np.full(guides.size, width / 2), np.full(guides.size, cable * height)]
    )
    drive = Bounded(effort=(0.0, tension), displacement=(-SAG, pull))
    rows = {
        "cable": Row(Cable(body.points(lean(line))), drive),
        "tip": tip(body, (length, width / 2, height / 2)),
    }
    surroundings = _sides_that_touch(body, lean, width) if contact else Surroundings()
    return Robot(body, rows, gravity=gravity, name="folding_finger", surroundings=surroundings)


class _Lean:
    """Blocks (n, 2) [m] with upright sides become blocks whose sides lean back from the joints."""

    def __init__(self, blocks: np.ndarray, spine: float, height: float, opening: float) -> None:
        self.blocks, self.spine, self.height = blocks, spine, height
        self.share = 0.5 * opening / (0.5 * np.ptp(blocks[0]))
        if not 0.0 <= self.share < 1.0:
            expected = f"from 0 to below {np.ptp(blocks[0]):g} m"
            raise InputError("opening", expected=expected, got=opening)

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Where points (n, 3) [m] of the upright finger are."""
        x, z = points[:, 0], points[:, 2]
        k = np.abs(x[:, None] - self.blocks.mean(axis=1)).argmin(axis=1)
        middle = self.blocks.mean(axis=1)[k]
        half = 0.5 * np.ptp(self.blocks, axis=1)[k]
        ends = (k == 0) & (x < middle) | (k == len(self.blocks) - 1) & (x > middle)
        up = np.clip((z - self.spine) / (self.height - self.spine), 0.0, 1.0)
        inside = np.clip((x - middle) / half, -1.0, 1.0)
        moved = points.copy()
        moved[:, 0] = x - np.where(ends, 0.0, self.share * half * up * inside)
        return moved


def _mesh(lean: _Lean, width: float) -> Mesh:
    blocks, spine, height = lean.blocks, lean.spine, lean.height
    x = through(blocks.ravel(), 0.5 * np.ptp(blocks[0]) * 1.01)
    y = np.linspace(0.0, width, ACROSS + 1)
    z = np.concatenate([np.linspace(0.0, spine, 2), np.linspace(spine, height, UP + 1)[1:]])
    solid = within(middles(x), blocks)[:, None, None] | (middles(z) < spine)
    mask = np.broadcast_to(solid, (len(x) - 1, len(y) - 1, len(z) - 1))
    nodes, cells, regions = tensor_grid(x, y, z, mask)
    return finish(lean(nodes), cells, kind="hex", order=1, regions=regions)


def _sides_that_touch(body: Solid, lean: _Lean, width: float) -> Surroundings:
    """Points on the sides that look to the base, against the sides across their joints."""
    surface = body.mesh.surface
    normal, centre = surface.normals[:: len(surface.triangles) // len(surface)], surface.centres
    inner = (centre[:, 2] > lean.spine) & (np.abs(normal[:, 1]) < 0.1) & (np.abs(normal[:, 0]) > 0.5)
    inner &= (centre[:, 0] > 1e-6) & (centre[:, 0] < lean.blocks[-1, 1] - 1e-6)
    number = np.abs(centre[:, 0, None] - lean.blocks.mean(axis=1)).argmin(axis=1)
    pairs = []
    for k in range(1, len(lean.blocks)):
        here = surface.patch(inner & (number == k) & (normal[:, 0] < 0))
        across = surface.patch(inner & (number == k - 1) & (normal[:, 0] > 0))
        pairs.append((here, across))
    looking = surface.patch(inner & (number > 0) & (normal[:, 0] < 0))
    spacing = 1.01 * max(width / ACROSS / POINTS[0], (lean.height - lean.spine) / UP / POINTS[1])
    samples = Samples.on(body, looking, spacing=spacing)
    return Surroundings(samples=samples, self_contact=pairs, alarm=ALARM)
