"""A mechanism for viewers and recordings: bodies as thin plates, cables as lines, a moment of it as a frame.

    with Recorder("run.mcap", stage_of(mech)) as recorder:
        recorder.write(frame_of(sim.step()))

The plane of the mechanism is x–y; plates are thin along z.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from pliant.frame import Frame, Touch
from pliant.membrane.bodies import At, Motor, PlanarBody
from pliant.membrane.mechanism import Mechanism
from pliant.membrane.moment import PlanarMoment
from pliant.membrane.shapes import Disc, Polygon, Shape, rotation
from pliant.stage import RowFacts, Stage

LINE_POINTS = 48  # points of a cable's polyline
PLATE_THICKNESS = 0.03  # of the size: thickness of plates, and half the width of bars


def stage_of(mechanism: Mechanism, *, summary: str = "") -> Stage:
    """What does not change: plates, and a row for every motor ("actuator") and cable ("sensor")."""
    plates = plates_of(mechanism)
    triangles, region, offset = [], [], 0
    for number, ring in enumerate(plates):
        triangles.append(_plate_triangles(len(ring)) + offset)
        region += [number] * (2 * len(ring))
        offset += 2 * len(ring)
    rest = nodes(mechanism, mechanism.poses(mechanism.q0), plates)
    motors = [
        RowFacts(name, "Motor", "actuator", 1, *_units(mechanism, k), (-motor.limit, motor.limit))
        for name, k, motor in motors_of(mechanism)
    ]
    cables = [
        RowFacts(c.name, type(c).__name__, "sensor", 1, "m", "N", (0.0, np.inf)) for c in mechanism.cables
    ]
    gravity = np.array([*mechanism.gravity, 0.0])
    strength = float(np.linalg.norm(gravity))
    return Stage(
        robot=mechanism.name,
        summary=summary,
        length=mechanism.size,
        up=-gravity / strength if strength else np.array([0.0, 1.0, 0.0]),
        rest=rest,
        vertices=np.arange(len(rest)),
        triangles=np.concatenate(triangles),
        region=np.array(region),
        rows=(*motors, *cables),
        cables=tuple((c.name, LINE_POINTS) for c in mechanism.cables),
        cavities=(),
    )


def frame_of(
    moment: PlanarMoment, *, step: int = 0, target: Mapping[str, np.ndarray] | None = None, words: str = ""
) -> Frame:
    """A moment as a frame.

    It has effort and angle (or slide) of the motors, tension and length of the cables, forces of skins on
    shapes.
    """
    mech, drive = moment.mechanism, moment.drive
    poses = np.array([moment.pose[body.name] for body in mech.bodies])
    effort, place, command = {}, {}, {}
    for name, k, motor in motors_of(mech):
        push = motor.stiffness * (drive.target[k] - moment.q[k]) + motor.damping * (
            drive.rate[k] - moment.v[k]
        )
        effort[name] = np.array([np.clip(push, -motor.limit, motor.limit)])
        place[name], command[name] = moment.q[k : k + 1], drive.target[k : k + 1]
    for name, tension in moment.tension.items():
        effort[name], place[name] = np.array([tension]), np.array([moment.length[name]])
    lines = [_resampled(moment.polyline(c.name)) for c in mech.cables]
    slack = tuple(name for name, tension in moment.tension.items() if tension == 0.0)
    return Frame(
        step=step,
        time=moment.t,
        mode="dynamic",
        positions=nodes(mech, poses, plates_of(mech)),
        lines=np.concatenate(lines) if lines else np.zeros((0, 3)),
        effort=effort,
        displacement=place,
        command=command,
        target=dict(target or {}),
        error={},
        touch=_touch(moment),
        status="moving",
        words=words,
        slack=slack,
        speed=float(np.abs(moment.v).max(initial=0.0)),
    )


def motors_of(mechanism: Mechanism) -> list[tuple[str, int, Motor]]:
    """Name, coordinate and motor of all motors.

    The name is that of the body, or of the coordinate if the body has several.
    """
    out = []
    for motor in mechanism.motors:
        b = mechanism.number[motor.body]
        k = int(mechanism.model.tree.dof[b]) + motor.coordinate
        single = mechanism.bodies[b].joint.size == 1
        out.append((motor.body if single else mechanism.coordinates[k], k, motor))
    return out


def plate(mechanism: Mechanism, body: PlanarBody) -> np.ndarray:
    """The outline (k, 2) [m] of a body in its frame: its shape, or a bar through joints and cables' ends."""
    if body.shape is not None and body.shape.perimeter > 0.0:
        return body.shape.outline()[:-1]
    width = PLATE_THICKNESS * mechanism.size
    points = [np.zeros(2)]
    points += [np.asarray(b.joint.at, float) for b in mechanism.bodies if b.joint.parent == body.name]
    for cable in mechanism.cables:
        points += [
            np.asarray(p.point, float) for p in cable.path if isinstance(p, At) and p.body == body.name
        ]
    return _bar(np.array(points), width).outline()[:-1]


@lru_cache(maxsize=8)
def plates_of(mechanism: Mechanism) -> tuple[np.ndarray, ...]:
    """The outlines of all bodies, kept for the mechanisms shown last."""
    return tuple(plate(mechanism, body) for body in mechanism.bodies)


def nodes(mechanism: Mechanism, poses: np.ndarray, plates: Sequence[np.ndarray]) -> np.ndarray:
    """Both faces of all plates at poses (b, 3), (k, 3) [m]."""
    half, out = 0.5 * PLATE_THICKNESS * mechanism.size, []
    for pose, ring in zip(poses, plates, strict=True):
        flat = ring @ rotation(pose[2]).T + pose[:2]
        out += [np.column_stack([flat, np.full(len(flat), z)]) for z in (-half, half)]
    return np.concatenate(out)


def _bar(points: np.ndarray, width: float) -> Shape:
    """Everything within `width` of the hull of points."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return Polygon(points[ConvexHull(points).vertices], radius=width)
    except (QhullError, ValueError):  # on a line, or one point
        middle = points.mean(axis=0)
        far = points[np.argmax(np.linalg.norm(points - middle, axis=1))] - middle
        reach = float(np.linalg.norm(far))
        if reach <= width:
            return Disc(width, centre=tuple(middle))
        along = far / reach
        ends = np.array([(points - middle) @ along]).ravel()
        across = 0.2 * width * np.array([-along[1], along[0]])
        a, b = middle + ends.min() * along, middle + ends.max() * along
        return Polygon([a - across, b - across, b + across, a + across], radius=0.8 * width)


def _plate_triangles(k: int) -> np.ndarray:
    """Triangles of a plate with k corners: its faces as fans, its rim as quads."""
    i = np.arange(k)
    after = (i + 1) % k
    fan = np.column_stack([np.zeros(k - 2, int), i[1:-1], i[2:]])
    rim = np.concatenate([np.column_stack([i, after, after + k]), np.column_stack([i, after + k, i + k])])
    return np.concatenate([fan[:, ::-1], fan + k, rim])


def _resampled(line: np.ndarray) -> np.ndarray:
    """A polyline as LINE_POINTS points (LINE_POINTS, 3), its corners kept as far as they fit."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    corners = along[1:-1][: LINE_POINTS - 2]
    even = np.linspace(0.0, along[-1], LINE_POINTS - len(corners))
    at = np.sort(np.concatenate([even, corners]))
    flat = np.column_stack([np.interp(at, along, line[:, k]) for k in range(2)])
    return np.column_stack([flat, np.zeros(LINE_POINTS)])


def _touch(moment: PlanarMoment) -> Touch:
    """Forces of the skins on the shapes they touch."""
    where, force, names = [], [], []
    mech = moment.mechanism
    for cable in mech.cables:
        for name, state in moment.contact(cable.name).items():
            push = moment.wrench(cable.name, name)[:2]
            if state in ("touching", "inside") and np.hypot(*push) > 0.0:
                pose = moment.pose[name]
                where.append([pose.x, pose.y, 0.0])
                force.append([*push, 0.0])
                names.append(cable.name)
    if not names:
        return Touch.none()
    return Touch(np.array(where), np.array(force), tuple(names))


def _units(mechanism: Mechanism, k: int) -> tuple[str, str]:
    """Units of a coordinate and its effort."""
    return ("rad", "N·m") if mechanism.coordinates[k].endswith(" angle") else ("m", "N")
