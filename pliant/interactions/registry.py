"""One example of every interaction, so that a single suite of properties covers them all.

A new interaction joins by adding an entry here; a test fails while a public one is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.interactions.attachment import Attachment
from pliant.interactions.barycentre import Barycentre
from pliant.interactions.between_frames import Joint, Travel, Turn
from pliant.interactions.cable import Cable
from pliant.interactions.cavity import Cavity
from pliant.interactions.centre_of_mass import CentreOfMass
from pliant.interactions.combined import Combined
from pliant.interactions.curvature import Curvature
from pliant.interactions.frame import Frame
from pliant.interactions.interaction import Interaction
from pliant.interactions.magnet import Magnet
from pliant.interactions.motor import Motor
from pliant.interactions.orientation import Orientation
from pliant.interactions.point_force import PointForce
from pliant.interactions.position import Position
from pliant.interactions.slider import Slider
from pliant.interactions.stretch import Stretch
from pliant.interactions.surface_force import SurfaceForce
from pliant.points import Points


@dataclass(frozen=True)
class Specimen:
    """What a body offers to try interactions on."""

    line: Points  # five points or more, along a line that bends at each
    frame: Points  # a centre and the tips of three axes at it, (4,): the frame points of a rigid region
    skin: Points  # corners of a closed surface
    triangles: np.ndarray  # (t, 3) of the skin, outward

    @property
    def patch(self) -> np.ndarray:
        """The triangles around point 0 of the skin."""
        return self.triangles[(self.triangles == 0).any(axis=1)]

    @property
    def cup(self) -> np.ndarray:
        """All other triangles: a surface with one rim."""
        return self.triangles[(self.triangles != 0).all(axis=1)]


Factory = Callable[[Specimen], Interaction]
_X, _Y, _Z = np.eye(3)
_ASKEW = np.array([1.0, 2.0, -2.0]) / 3.0


def _combined(specimen: Specimen) -> Interaction:
    inner = Stretch(specimen.line)
    k = np.arange(inner.size)
    return Combined(inner, np.column_stack([np.ones(inner.size), k % 2]))


def _anchored(specimen: Specimen) -> Interaction:
    first, last = specimen.line.rest[0], specimen.line.rest[-1]
    reach = float(np.linalg.norm(last - first))
    return Cable(specimen.line, anchor=first + reach * _ASKEW, end=last - reach * _Y)


def _attached(specimen: Specimen) -> Interaction:
    line: Any = specimen.line
    a, b = (line, specimen.skin) if isinstance(line, Points) else tuple(line)  # of one body, or of two
    count = min(len(a), len(b))
    return Attachment(a[:count], b[:count])


def _frames(specimen: Specimen) -> tuple[Frame, Frame]:
    """The frame of a region, and a second one of four points of the line, as if these were its tips."""
    line: Any = specimen.line
    if isinstance(line, Points):
        both: tuple[Points, ...] = specimen.frame, line[[0, 4, 2, 3]]
    else:  # of two bodies
        both = tuple(part[[0, -1, 1, 2]] for part in line)
    frames = []
    for points in both:
        frame = Frame.world(points.rest[0])
        frame.points, frame.arm = points, float(np.linalg.norm(points.rest[1] - points.rest[0]))
        frames.append(frame)
    return frames[0], frames[1]


def _to_world(specimen: Specimen) -> tuple[Frame, Frame]:
    frame = _frames(specimen)[0]
    return frame, Frame.world(frame.origin + 0.1 * frame.arm, axis=-_ASKEW)


registry: list[tuple[str, Factory]] = [
    ("cable", lambda s: Cable(s.line)),
    ("cable, anchored", _anchored),
    ("cable, with friction", lambda s: Cable(s.line, friction=0.3, sheath=0.2, pulled="last")),
    ("cavity", lambda s: Cavity(s.skin, s.triangles)),
    ("cavity, capped", lambda s: Cavity(s.skin, s.cup, cap="flat")),
    ("cavity, liquid", lambda s: Cavity(s.skin, s.triangles, liquid_density=1000.0)),
    ("cavity, capped liquid", lambda s: Cavity(s.skin, s.cup, cap="flat", liquid_density=1000.0)),
    ("motor", lambda s: Motor(s.frame, _ASKEW)),
    ("magnet", lambda s: Magnet(s.frame, moment=_X, field=_ASKEW)),
    ("magnet, about an axis", lambda s: Magnet(s.frame, moment=_X, field=_X, axis=_Z)),
    ("magnet, alignment", lambda s: Magnet(s.frame, moment=_ASKEW, field=np.eye(3), measure="alignment")),
    ("slider", lambda s: Slider(s.frame, _ASKEW)),
    ("point force", lambda s: PointForce(s.line)),
    ("point force, one direction", lambda s: PointForce(s.line, direction=_ASKEW)),
    ("surface force", lambda s: SurfaceForce(s.skin, s.patch)),
    ("position", lambda s: Position(s.line)),
    ("position, some directions", lambda s: Position(s.frame, directions="zx", weights=[1.0, 2.0])),
    ("orientation", lambda s: Orientation(s.frame)),
    ("orientation, soft", lambda s: Orientation(s.line)),
    ("barycentre", lambda s: Barycentre(s.skin)),
    ("centre of mass", lambda s: CentreOfMass(s.skin, 1.0 + np.arange(len(s.skin)))),
    ("curvature", lambda s: Curvature(s.line)),
    ("curvature, signed", lambda s: Curvature(s.line, normal=_ASKEW)),
    ("stretch", lambda s: Stretch(s.line)),
    ("combined", _combined),
    ("attachment", _attached),
    ("weld", lambda s: Joint("weld", *_frames(s))),
    ("weld, to the world", lambda s: Joint("weld", *_to_world(s))),
    ("hinge", lambda s: Joint("hinge", *_frames(s))),
    ("hinge, to the world", lambda s: Joint("hinge", *_to_world(s))),
    ("slider joint", lambda s: Joint("slider", *_to_world(s))),
    ("ball", lambda s: Joint("ball", *_frames(s))),
    ("turn", lambda s: Turn(*_frames(s))),
    ("turn, to the world", lambda s: Turn(*_to_world(s), middle=1.0)),
    ("travel", lambda s: Travel(*_to_world(s))),
]
