"""A manipulator with a compliant spine: three sections, nine tendons, and ribs that touch when it bends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.bodies import Beam, Circle, Rectangle, Rigid
from pliant.contact import Samples, Surroundings
from pliant.errors import InputError
from pliant.interactions import Cable, Position
from pliant.laws import Bounded, Target
from pliant.materials import Hooke
from pliant.mesh import Mesh
from pliant.mesh.generate.disc import disc, sweep
from pliant.mesh.generate.grid import at_least, positive, tensor_grid
from pliant.mesh.lines import Lines, curve, line, tree
from pliant.robot import Robot, Row
from pliant.robots.parts import GRAVITY

SIDES = 3  # ribs of a vertebra, tendons of a section
SPREAD = np.radians(32.0)  # half the angle that the pad of a rib spans
PAD = 0.88  # of a rib's reach, where its pad begins
LEVER = 0.55  # of a rib's reach, where tendons pass it
BESIDE = 0.03  # of a rib's reach, between the tendons of two sections
DRAFT = 0.04  # of a rib's reach: a pad's lower face is so much larger on all sides that points stay above it
ALARM = 0.6  # of the gap between pads


def manipulator(
    *,
    length: float = 0.8,
    sections: int = 3,
    vertebrae: int = 12,
    reach: tuple[float, float] = (0.048, 0.034),
    gap: float = 0.0026,
    backbone: tuple[float, float] = (0.0042, 0.0034),
    rib: tuple[float, float] = (0.012, 0.004),
    points: tuple[int, int] = (6, 2),
    young: float = 1.6e9,
    poisson: float = 0.4,
    density: float = 1000.0,
    tension: float = 50.0,
    contact: bool = True,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Robot:
    """A spine that hangs from its base along −z; tendons bend it until the ribs of its vertebrae touch.

    After the manipulator of Goury et al., 'Real-time simulation for control of soft robots with
    self-collisions', RA-L 2021 (built by Bieze et al. 2020): backbone and ribs are beams of printed nylon and
    carry a surface, 0.8 m long. Each of the three `sections` of `vertebrae` has three tendons, "tendon 1" to
    "tendon 9", of up to `tension` [N], which run through the ribs (at 0°, 120° and 240° about z) from the
    base to the last vertebra of their section. "tip" is its end.

    `reach` [m] is that of the ribs at the base and at the tip, `backbone` [m] its radius there. `rib` [m] are
    width and thickness of a rib, whose end widens to a pad; pads are `gap` [m] apart at rest. Each has
    `points` (around and outwards) on its upper face, which touch the pads of the vertebra above: 1296
    potential contacts by default, 4536 with (14, 3).
    `Contacts.sample` numbers them by vertebra from the base, side and place on the pad. contact=False leaves
    them out.
    """
    at_least(1, sections=sections, vertebrae=vertebrae)
    at_least(2, **{"points around": points[0], "points outwards": points[1]})
    spine = _Spine(length, sections * vertebrae, reach, gap, backbone, rib, points)
    spine.check()
    ends = vertebrae * np.arange(1, sections + 1)
    mesh, carriers, pads = spine.mesh()
    lines = spine.lines()
    body = Beam(
        lines,
        spine.sections(ends),
        Hooke(young, poisson),
        density=density,
        fixed=lines.nodes[:, 2] > -1e-3 * spine.spacing,
        rigid=spine.pads(),
        mesh=mesh,
        carriers=carriers,
    )
    rows = {}
    for n, end in enumerate(ends):
        for side in range(SIDES):
            path = spine.tendon(int(end), side, BESIDE * (sections - 1 - n))
            pull = Bounded(effort=(0.0, tension))
            rows[f"tendon {SIDES * n + side + 1}"] = Row(Cable(body.points(path)), pull)
    tip = (0.0, 0.0, -length)
    rows["tip"] = Row(Position(body.at([length])), Target(value=tip))
    surroundings = _ribs_that_touch(body, pads, gap) if contact else Surroundings()
    return Robot(body, rows, gravity=gravity, name="manipulator", surroundings=surroundings)


def _ribs_that_touch(body: Beam, pads: np.ndarray, gap: float) -> Surroundings:
    """Points on the upper faces of pads (from vertebra 1 on) against the lower faces of those above."""
    number = {tuple(sorted(facet)): k for k, facet in enumerate(body.surface.facets.tolist())}
    patch = lambda faces: body.surface.patch(
        np.array([number[tuple(sorted(facet))] for facet in faces.reshape(-1, 4).tolist()])
    )
    upper, lower = patch(pads[1:, :, 1]), patch(pads[:-1, :, 0])
    samples = Samples.on(body, upper, spacing=body.mesh.size)
    return Surroundings(samples=samples, self_contact=[(upper, lower)], alarm=ALARM * gap)


@dataclass(frozen=True)
class _Spine:
    """Where everything is: `count` vertebrae below that of the base, `spacing` apart; see `manipulator`."""

    length: float
    count: int
    ends: tuple[float, float]
    gap: float
    backbone: tuple[float, float]
    rib: tuple[float, float]
    points: tuple[int, int]

    def check(self) -> None:
        positive(length=self.length, gap=self.gap)
        for name, values in (("reach", self.ends), ("backbone", self.backbone), ("rib", self.rib)):
            if len(values) != 2:
                raise InputError(name, expected="two lengths [m]", got=values)
            positive(**{f"{name} {k}": value for k, value in enumerate(values)})
        if not self.gap < self.spacing:
            raise InputError(
                "gap", expected=f"below the spacing of vertebrae, {self.spacing:g} m", got=self.gap
            )

    @property
    def spacing(self) -> float:
        return self.length / self.count

    @property
    def reach(self) -> np.ndarray:
        """Of the ribs of each vertebra (count + 1,) [m]."""
        return np.linspace(*self.ends, self.count + 1)

    def lines(self) -> Lines:
        """Branch 0 is the backbone; then the ribs, vertebra by vertebra, of two elements: arm and pad."""
        rods = [line((0, 0, 0), (0, 0, -self.length), elements=self.count, up=(1, 0, 0))]
        for k, reach in enumerate(self.reach):
            hub = np.array([0.0, 0.0, -k * self.spacing])
            for side in range(SIDES):
                out = reach * _outwards(side)
                rods.append(curve([hub, hub + PAD * out, hub + out], up=(0, 0, 1)))
        return tree(rods)

    def pads(self) -> list[Rigid]:
        """The pads, from vertebra 1 on, each called by its vertebra and side: "pad 1.1" to "pad 36.3"."""
        number = self.count + 1 + 2 * np.arange(SIDES * (self.count + 1)).reshape(-1, SIDES)
        return [
            Rigid([n, n + 1], name=f"pad {k}.{side + 1}")
            for k, row in enumerate(number.tolist())
            for side, n in enumerate(row)
            if k
        ]

    def sections(self, ends: np.ndarray) -> dict[int, Any]:
        """By branch. Ribs of the vertebrae at `ends`, which tendons pull at, are twice as thick."""
        radius = lambda s: np.interp(s, [0.0, self.length], self.backbone)
        width, thickness = self.rib
        sections: dict[int, Any] = {0: lambda s: Circle(float(radius(s)))}
        for k, reach in enumerate(self.reach):
            arm = Rectangle(width, 2 * thickness if k in ends else thickness)
            pad = Rectangle(2 * np.sin(SPREAD) * reach, self.spacing - self.gap)
            sections |= {1 + SIDES * k + side: [arm, pad] for side in range(SIDES)}
        return sections

    def tendon(self, end: int, side: int, beside: float) -> np.ndarray:
        """Points (end + 1, 3) [m] where a tendon passes the ribs, from the base to vertebra `end`."""
        out = _outwards(side)
        across = np.cross((0.0, 0.0, 1.0), out)
        down = -self.spacing * np.arange(end + 1)[:, None] * [0.0, 0.0, 1.0]
        return down + self.reach[: end + 1, None] * (LEVER * out + beside * across)

    # What they carry

    def mesh(self) -> tuple[Mesh, np.ndarray, np.ndarray]:
        """The mesh of backbone and ribs, the element that carries each node, and the facets of the pads.

        Facets (count + 1, sides, 2, cells, 4) are those of the lower and of the upper face of every pad.
        """
        bar, hexahedra, carrier = self._backbone_mesh()
        nodes, cells, carriers, pads, first = [bar], [hexahedra], [carrier], [], len(bar)
        columns, rows = self.points
        for k in range(self.count + 1):
            for side in range(SIDES):
                own, hexahedra, faces = self._rib_mesh(k, side)
                nodes.append(own)
                cells.append(hexahedra + first)
                pads.append(faces + first)
                arm = self.count + 2 * (SIDES * k + side)
                carriers.append(np.repeat([arm, arm + 1], [4 * columns, 2 * rows * columns]))
                first += len(own)
        shape = (self.count + 1, SIDES, 2, -1, 4)
        mesh = Mesh(np.vstack(nodes), np.vstack(cells), "hex8")
        return mesh, np.concatenate(carriers), np.array(pads).reshape(shape)

    def _backbone_mesh(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Nodes, cells and elements of a round bar, thicker at every vertebra."""
        step = np.array([-0.3, -0.22, 0.22, 0.3])
        s = (np.arange(self.count + 1)[:, None] + step).ravel()[2:-2] * self.spacing
        radius = np.interp(s, [0.0, self.length], self.backbone) * np.tile([2.2, 1.0, 1.0, 2.2], self.count)
        points, quads = disc(8)
        nodes, cells = sweep(points, quads, -s)
        nodes[:, :2] *= np.repeat(radius, len(points))[:, None]
        return nodes, cells, np.repeat(np.arange(self.count), 4 * len(points))

    def _rib_mesh(self, k: int, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Nodes, cells and the pad's lower and upper facets (2, cells, 4) of one rib."""
        reach, (width, thickness), (columns, rows) = self.reach[k], self.rib, self.points
        height = self.spacing - self.gap
        _, cells, _ = tensor_grid(np.arange(2.0 + rows), np.arange(columns), np.arange(2))
        across = np.linspace(-0.5, 0.5, columns)
        stations = []
        for r in (0.12, 0.62):
            stations.append([[[r * reach, width * a, 0.5 * z * thickness] for z in (-1, 1)] for a in across])
        for row in np.linspace(0.0, 1.0, rows):
            place = lambda a, z, row=row: _on_pad(row, a, 0.0 if z > 0 else DRAFT)
            stations.append(
                [[[*(reach * place(a, z)), 0.5 * z * height] for z in (-1, 1)] for a in 2.0 * across]
            )
        out = _outwards(side)
        axes = np.array([out, np.cross((0.0, 0.0, 1.0), out), (0.0, 0.0, 1.0)])
        nodes = np.array(stations).reshape(-1, 3) @ axes - [0.0, 0.0, k * self.spacing]
        pad = cells.reshape(1 + rows, columns - 1, 8)[2:].reshape(-1, 8)
        return nodes, cells, np.stack([pad[:, :4], pad[:, 4:]])


def _on_pad(outwards: float, around: float, larger: float) -> np.ndarray:
    """A place (2,) on the face of a pad that reaches 1, from 0 to 1 outwards and from −1 to 1 around it.

    The face is `larger` on all sides than the one with the points.
    """
    first, last = (1.0 - DRAFT) * PAD - larger, 1.0 - DRAFT + larger
    r, angle = first + outwards * (last - first), around * (SPREAD + larger)
    return r * np.array([np.cos(angle), np.sin(angle)])


def _outwards(side: int) -> np.ndarray:
    angle = 2 * np.pi * side / SIDES
    return np.array([np.cos(angle), np.sin(angle), 0.0])
