"""Two soft bodies, not glued: pushing a wall moves a point of the organ behind it."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Solid
from pliant.contact import Samples, Surroundings
from pliant.interactions import Combined, PointForce, Position
from pliant.laws import Bounded, Target
from pliant.materials import Hooke
from pliant.mesh import Mesh, box, near_plane
from pliant.robot import Robot, Row

# Grade of the meshes: cells in the middle, where the bodies meet, are a third of those outside.
FINER_INSIDE = ((0.33, 0.33), (0.33, 0.33), 1.0)


def two_bodies(
    *,
    wall: tuple[float, float, float] = (0.0384, 0.0384, 0.0044),
    wall_cells: tuple[int, int, int] = (12, 12, 2),
    organ: tuple[float, float, float] = (0.0252, 0.0252, 0.0162),
    organ_cells: tuple[int, int, int] = (8, 8, 5),
    dome: float = 0.6,
    place: tuple[float, float, float] = (0.003, 0.0021, 0.1),
    gap: float = 0.0004,
    kind: str = "hex",
    wall_young: float = 60e3,
    organ_young: float = 20e3,
    poisson: float = 0.45,
    density: float = 1000.0,
    probe: float = 0.008,
    push: float = 1.0,
    aside: float = 1.0,
    spacing: float = 0.004,
    alarm: float = 0.00018,
) -> Robot:
    """A soft wall, fixed at its rim, and below it a softer organ, fixed at its foot; nothing is glued.

    After the two colliding bodies of Coevoet et al., 'Optimization-based inverse model of soft robots with
    contact handling', RA-L 2017: how to push the wall of one body so that a point of the other goes where it
    should, as with an ultrasound probe. Sizes along x, y, z are in metres. The organ's top is a `dome` whose
    rim is that share of its height lower, `gap` [m] below the wall; `place` is where its axis stands and how
    far it is turned about it, x, y [m] and angle [rad]. There is no weight: each body rests in its bed.
    Contact is looked for at points `spacing` [m] apart, nearer than `alarm` [m].

    Rows: "force", with which a square `probe` of that width presses on the middle of the wall, up to `push`
    [N]; "force x" and "force y", with which it pulls there sideways, up to ±`aside` [N]; "tip", the place of
    the point of the organ's axis at five sixths of its height.
    """
    material = lambda young: Hooke(young=young, poisson=poisson)
    corner = (-wall[0] / 2, -wall[1] / 2, gap)
    plate = box(wall, cells=wall_cells, kind=kind, origin=corner, grade=FINER_INSIDE)
    rim = np.any(np.abs(plate.nodes[:, :2]) > (0.5 - 1e-6) * np.array(wall[:2]), axis=1)
    first = Solid(plate, material(wall_young), density=density, fixed=rim)
    c, n = np.cos(place[2]), np.sin(place[2])
    axis = np.array([place[0], place[1], 0.0])
    hill = _organ(organ, organ_cells, dome, kind).transformed(
        rotation=np.array([[c, -n, 0.0], [n, c, 0.0], [0.0, 0.0, 1.0]]), translation=axis
    )
    foot = near_plane(hill, (0.0, 0.0, -organ[2]), (0.0, 0.0, 1.0))
    second = Solid(hill, material(organ_young), density=density, fixed=foot)
    point = axis - (0.0, 0.0, organ[2] / 6)
    along = lambda direction: _probe(first, probe, gap + wall[2], direction)
    rows = {
        "force": Row(along((0.0, 0.0, -1.0)), Bounded(effort=(0.0, push))),
        "force x": Row(along((1.0, 0.0, 0.0)), Bounded(effort=(-aside, aside))),
        "force y": Row(along((0.0, 1.0, 0.0)), Bounded(effort=(-aside, aside))),
        "tip": Row(Position(second.points([point])), Target(value=point)),
    }
    surroundings = _meeting(first, second, gap, spacing, alarm)
    return Robot([first, second], rows, name="two bodies", surroundings=surroundings)


def _organ(size: tuple[float, float, float], cells: tuple[int, int, int], dome: float, kind: str) -> Mesh:
    """A block with a domed top at z = 0 in the middle, and its foot at z = −height."""
    corner = (-size[0] / 2, -size[1] / 2, -size[2])
    block = box(size, cells=cells, kind=kind, origin=corner, grade=FINER_INSIDE)
    x = block.nodes.copy()
    out = ((2.0 * x[:, :2] / np.array(size[:2])) ** 2).sum(axis=1) / 2.0  # 0 on the axis, 1 at the corners
    x[:, 2] -= dome * out * (x[:, 2] + size[2])
    return block.with_nodes(x)


def _probe(body: Solid, width: float, height: float, direction: tuple[float, float, float]) -> Combined:
    """One force, shared by nine points of the wall."""
    at = 0.5 * width * np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])
    points = body.points(np.column_stack([at, np.full(len(at), height)]))
    return Combined(PointForce(points, direction=direction), np.full((len(at), 1), 1.0 / len(at)))


def _meeting(first: Solid, second: Solid, gap: float, spacing: float, alarm: float) -> Surroundings:
    """Contact of points of the organ's top with the wall's underside.

    One side is enough: where surfaces cross, both are inside. The wall needs samples to be touched at all;
    those of one corner of it, which touch nothing, are enough.
    """
    top = second.mesh.surface.patch(second.mesh.surface.facet_normals[:, 2] > 0.7)
    skin = first.mesh.surface
    under = skin.patch(np.abs(skin.centres[:, 2] - gap) < 1e-6 * first.mesh.size)
    samples = [
        Samples.on(first, under.patch(np.array([0])), spacing=1.0),
        Samples.on(second, top, spacing=spacing),
    ]
    return Surroundings(samples=samples, self_contact=[(top, under)], between_bodies=False, alarm=alarm)
