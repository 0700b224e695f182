"""Rigid arms from URDF files: links as rigid bodies, joints as rows, to carry a soft part.

    arm = pl.urdf.read("arm.urdf")
    wrist = pl.joints.weld(arm.frame("tool0"), pl.joints.Frame(finger, 0))
    robot = pl.Robot([*arm.parts, finger], {**arm.rows, "wrist": wrist})
    pl.assemble(robot, arm.pose({"shoulder": 0.5}))

Links are drawn where all joints are at zero. The base does not move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from pliant.bodies import RigidBody
from pliant.errors import FileError, unknown_name
from pliant.files import reading
from pliant.interactions import Travel, Turn
from pliant.joints import Frame, hinge, slider, weld
from pliant.laws import Bounded, Known
from pliant.mesh import Mesh, Sheet, box, read_sheet, sphere_sheet, tube_sheet
from pliant.robot import Row

MARK = 0.01  # [m]: side of the cube that stands for a link without a shape
LARGEST_FILE = 20e6  # bytes
MOVING = ("revolute", "continuous", "prismatic")
TREE = "one tree of links and joints"


@dataclass(frozen=True)
class Place:
    """x = R X + t."""

    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    t: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, other: Place) -> Place:
        return Place(self.R @ other.R, self.R @ other.t + self.t)


@dataclass(frozen=True, eq=False)
class Arm:
    """A rigid arm: its parts, its rows, and where its links are drawn.

    rows: a joint of each name in the file; of those that move, also "NAME angle" or "NAME stroke", bounded as
    the file says. places: of each link, at rest; carriers: the body that each link moves with, None: none.
    """

    name: str
    parts: tuple[RigidBody, ...]
    rows: Mapping[str, Row]
    places: Mapping[str, Place]
    carriers: Mapping[str, RigidBody | None]
    drives: Mapping[str, str]  # row that drives a joint, by the joint's name

    def frame(self, link: str) -> Frame:
        """The frame of a link, to join something to."""
        if link not in self.places:
            raise unknown_name("link", link, self.places)
        return _frame(self.carriers[link], self.places[link])

    def pose(self, joints: Mapping[str, float]) -> dict[str, Known]:
        """Laws that impose joints' angles [rad] and strokes [m]; those not named stay at zero."""
        for name in joints:
            if name not in self.drives:
                raise unknown_name("joint", name, self.drives)
        return {row: Known(displacement=float(joints.get(n, 0.0))) for n, row in self.drives.items()}


def read(path: str | Path, *, at: Any = (0.0, 0.0, 0.0), turn: Any = None) -> Arm:
    """The arm in a URDF file, its base at a place (3,) [m] and turned by a rotation.

    Shapes are boxes, cylinders, spheres and meshes beside the file (STL, OBJ), for pictures and contact;
    masses and inertias are those of the file. Links without a mass move with what a fixed joint has them at.
    """
    with reading(path, "URDF file", "one complete robot in XML") as file:
        if file.stat().st_size > LARGEST_FILE:
            raise FileError(
                f"{file.name}", expected=f"at most {LARGEST_FILE:g} bytes", got=file.stat().st_size
            )
        text = file.read_bytes()
        if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
            raise FileError(
                file.name, expected="a robot without entities of its own", got="<!DOCTYPE or <!ENTITY"
            )
        root = ElementTree.fromstring(text)
    R = (
        np.eye(3)
        if turn is None
        else Rotation.from_matrix(turn).as_matrix()
        if np.ndim(turn)
        else turn.as_matrix()
    )
    return _Reading(file, root).arm(Place(R, np.asarray(at, float)))


class _Reading:
    """A file while it is read."""

    def __init__(self, file: Path, root: Any) -> None:
        self.file = file
        if root.tag != "robot":
            raise self.fault("robot", expected="<robot>", got=f"<{root.tag}>")
        self.name = root.get("name", file.stem)
        self.links = {self.named(link, "link"): link for link in root.findall("link")}
        self.joints = {self.named(joint, "joint"): joint for joint in root.findall("joint")}

    def fault(self, what: str, *, expected: str, got: Any, hint: str = "") -> FileError:
        return FileError(f"{self.file.name}, {what}", expected=expected, got=got, hint=hint)

    def named(self, element: Any, kind: str) -> str:
        if not element.get("name"):
            raise self.fault(kind, expected="a name", got="none")
        return element.get("name")

    def arm(self, base: Place) -> Arm:
        """Link by link from the base."""
        below: dict[str, list[str]] = {link: [] for link in self.links}
        children = set()
        for name in self.joints:
            parent, child = (self.end(name, end) for end in ("parent", "child"))
            if child in children:
                raise self.fault(f"joint {name!r}", expected=TREE, got=f"a second joint to {child!r}")
            below[parent].append(name)
            children.add(child)
        bases = [link for link in self.links if link not in children]
        if len(bases) != 1:
            raise self.fault("links", expected=f"{TREE}, with one base", got=f"bases {bases}")
        places, carriers = {bases[0]: base}, {bases[0]: self.body(bases[0], base, fixed=True)}
        rows: dict[str, Row] = {}
        drives: dict[str, str] = {}
        waiting = [bases[0]]
        while waiting:
            parent = waiting.pop(0)
            for name in below[parent]:
                child = self.end(name, "child")
                places[child] = places[parent] @ self.origin(self.joints[name], f"joint {name!r}")
                carriers[child] = self.join(name, child, places[child], carriers[parent], rows, drives)
                waiting.append(child)
        lost = [link for link in self.links if link not in places]
        if lost:
            raise self.fault("links", expected=TREE, got=f"{lost} that the base does not reach")
        parts = {id(body): body for body in carriers.values() if body is not None}
        return Arm(self.name, tuple(parts.values()), rows, places, carriers, drives)

    def join(
        self,
        name: str,
        child: str,
        place: Place,
        parent: RigidBody | None,
        rows: dict[str, Row],
        drives: dict[str, str],
    ) -> RigidBody | None:
        """The body that a link moves with; its joint becomes rows."""
        joint, kind = self.joints[name], self.joints[name].get("type", "")
        body = self.body(child, place)
        if kind == "fixed":
            if body is None:
                return parent
            rows[name] = weld(_frame(parent, place), _frame(body, place))
            return body
        if kind not in MOVING:
            raise self.fault(f"joint {name!r}", expected=f"fixed, {', '.join(MOVING)}", got=repr(kind))
        if body is None:
            hint = "Give it an <inertial>."
            raise self.fault(
                f"link {child!r}", expected="a mass > 0, as a joint moves it", got="none", hint=hint
            )
        axis = self.numbers(joint.find("axis"), "xyz", (1.0, 0.0, 0.0), f"axis of joint {name!r}")
        if not np.linalg.norm(axis) > 0:
            raise self.fault(f"axis of joint {name!r}", expected="a direction", got=axis.tolist())
        along = (place.R @ axis / np.linalg.norm(axis)).tolist()
        ends = [_frame(part, place, axis=along) for part in (parent, body)]
        limits = self.limits(name, kind)
        if kind == "prismatic":
            rows[name], drives[name] = slider(*ends), f"{name} stroke"
            rows[drives[name]] = Row(Travel(*ends), limits)
        else:
            rows[name], drives[name] = hinge(*ends), f"{name} angle"
            rows[drives[name]] = Row(Turn(*ends), limits)
        return body

    def limits(self, name: str, kind: str) -> Bounded:
        limit = self.joints[name].find("limit")
        number = lambda key, usual: (
            usual if limit is None else self.number(limit, key, usual, f"joint {name!r}")
        )
        effort = number("effort", np.inf) or np.inf  # files say 0 for none
        low, high = (
            (-np.inf, np.inf) if kind == "continuous" else (number("lower", 0.0), number("upper", 0.0))
        )
        if not low <= high:
            raise self.fault(
                f"limit of joint {name!r}", expected="lower ≤ upper", got=f"{low:g} and {high:g}"
            )
        return Bounded(effort=(-effort, effort), displacement=(low, high))

    def body(self, link: str, place: Place, *, fixed: bool = False) -> RigidBody | None:
        """The rigid body of a link; None without a mass, unless it is fixed and has a shape."""
        element, what = self.links[link], f"link {link!r}"
        inertial, shape = element.find("inertial"), self.shape(element, what)
        if inertial is None and (shape is None or not fixed):
            return None
        mass, at, tensor = 1.0, Place(), np.eye(3)
        if inertial is not None:
            at = self.origin(inertial, f"inertia of {what}")
            given, moments = inertial.find("mass"), inertial.find("inertia")
            mass = 0.0 if given is None else self.number(given, "value", 0.0, f"mass of {what}")
            if moments is not None:
                xx, xy, xz, yy, yz, zz = (
                    self.number(moments, k, 0.0, what) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
                )
                tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if shape is None:
            shape = box((MARK,) * 3, cells=(1, 1, 1), kind="hex", origin=(-MARK / 2,) * 3)
            shape = shape.transformed(None, at.t)
        middle = place @ at
        try:
            made = RigidBody(
                shape.transformed(place.R, place.t),
                mass=mass,
                centre=middle.t.tolist(),
                inertia=middle.R @ tensor @ middle.R.T,
                fixed=fixed,
            )
        except ValueError as error:
            raise self.fault(
                what, expected="a mass > 0 and an inertia of a real body", got=str(error)
            ) from error
        made.name = link
        return made

    def shape(self, link: Any, what: str) -> Mesh | Sheet | None:
        """The first collision shape of a link, or the first that is seen."""
        for kind in ("collision", "visual"):
            element = link.find(kind)
            geometry = None if element is None else element.find("geometry")
            if geometry is None or not len(geometry):
                continue
            at, made = self.origin(element, f"{kind} of {what}"), self.geometry(geometry[0], what)
            return made.transformed(at.R, at.t)
        return None

    def geometry(self, element: Any, what: str) -> Mesh | Sheet:
        number = lambda key: self.number(element, key, np.nan, f"{element.tag} of {what}")
        if element.tag == "box":
            size = self.numbers(element, "size", None, f"box of {what}")
            return box(tuple(size), cells=(1, 1, 1), kind="hex", origin=tuple(-size / 2))
        if element.tag == "sphere":
            return sphere_sheet(number("radius"), cells=4)
        if element.tag == "cylinder":
            long = number("length")
            tube = tube_sheet(number("radius"), long, around=24, along=1, caps=True)
            return tube.transformed(None, (0, 0, -long / 2))
        if element.tag != "mesh":
            raise self.fault(what, expected="a box, a cylinder, a sphere or a mesh", got=f"<{element.tag}>")
        name = element.get("filename", "").split("://")[-1]
        scale = self.numbers(element, "scale", (1.0, 1.0, 1.0), f"scale of {what}")
        sheet = read_sheet(self.file.parent / name)
        return Sheet(sheet.nodes * scale, sheet.cells)

    def end(self, joint: str, end: str) -> str:
        element = self.joints[joint].find(end)
        link = None if element is None else element.get("link")
        if link not in self.links:
            raise self.fault(f"{end} of joint {joint!r}", expected="a link of the file", got=repr(link))
        return link

    def origin(self, element: Any, what: str) -> Place:
        """<origin xyz rpy> of an element: roll, pitch, yaw about fixed axes."""
        origin = element.find("origin")
        t = self.numbers(origin, "xyz", (0.0, 0.0, 0.0), f"origin of {what}")
        angles = self.numbers(origin, "rpy", (0.0, 0.0, 0.0), f"origin of {what}")
        return Place(Rotation.from_euler("xyz", angles).as_matrix(), t)

    def numbers(self, element: Any, key: str, usual: Any, what: str) -> np.ndarray:
        """Three finite numbers of an attribute."""
        text = None if element is None else element.get(key)
        if text is None and usual is not None:
            return np.array(usual, float)
        try:
            found = np.array([float(part) for part in (text or "").split()])
        except ValueError:
            found = np.zeros(0)
        if found.shape != (3,) or not np.isfinite(found).all():
            raise self.fault(what, expected=f"three finite numbers in {key}", got=repr(text))
        return found

    def number(self, element: Any, key: str, usual: float, what: str) -> float:
        """A finite number of an attribute."""
        text = element.get(key)
        if text is None and not np.isnan(usual):
            return float(usual)
        try:
            found = float(text or "")
        except ValueError:
            found = np.nan
        if not np.isfinite(found):
            raise self.fault(what, expected=f"a finite number in {key}", got=repr(text))
        return found


def _frame(body: RigidBody | None, place: Place, axis: Any = None) -> Frame:
    where: dict[str, Any] = {"axes": place.R} if axis is None else {"axis": axis}
    return Frame.world(place.t, **where) if body is None else Frame(body, at=place.t, **where)
