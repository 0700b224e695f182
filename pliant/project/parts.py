"""Things, joints and drives on joints, from what a project file says."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from pliant import joints, things
from pliant.interactions import Joint, Travel, Turn
from pliant.mesh import read, read_sheet
from pliant.project.build import material_of
from pliant.project.fault import Source
from pliant.project.schema_parts import DriveSpec, FrameSpec, JointSpec, ThingSpec, TurnSpec
from pliant.robot import Row

KINDS = {"weld": joints.weld, "hinge": joints.hinge, "slider": joints.slider, "ball": joints.ball}
SURFACES = (".stl", ".ply", ".obj")


def thing_of(source: Source, name: str, said: ThingSpec) -> Any:
    """The body that is said in [things.name]."""
    here = ("things", name)
    options: dict[str, Any] = {"name": name, "turn": Rotation.from_rotvec(said.turn)}
    options |= {} if said.at is None else {"at": said.at}
    if said.material is not None:
        law, density = material_of(source, said.material, (*here, "material"))
        options |= {"material": law, "density": density}
    else:
        for key in ("density", "mass", "centre", "inertia"):
            if getattr(said, key) is not None:
                options[key] = getattr(said, key)
        options |= {"fixed": True} if said.fixed else {}
    cells = {} if said.cells is None else {"cells": said.cells}
    with source.at(*here):
        if said.box is not None:
            return things.box(said.box, **options, cells=None if said.cells is None else (said.cells,) * 3)
        if said.sphere is not None:
            return things.sphere(said.sphere, **options, **cells)
        if said.cylinder is not None:
            return things.cylinder(*said.cylinder, **options)
    with source.at(*here, "mesh"):
        path, unit = source.path.parent / str(said.mesh), said.unit or "m"
        mesh = read_sheet(path, unit=unit) if path.suffix in SURFACES else read(path, unit=unit)
    with source.at(*here):
        if said.at is None:  # where the file has it
            x = mesh.nodes
            options["at"] = options["turn"].apply(0.5 * (x.min(axis=0) + x.max(axis=0)))
        return things.shape(mesh, **options)


def joint_of(source: Source, said: JointSpec, bodies: Any, here: tuple[str, ...]) -> Row:
    """The row of a joint."""
    a, b = (_frame(source, f, bodies, (*here, "between", k)) for k, f in enumerate(said.between))
    with source.at(*here):
        return KINDS[said.kind](a, b)


def drive_of(source: Source, said: DriveSpec, made: dict[str, Row], here: tuple[str, ...]) -> Turn | Travel:
    """The angle or the stroke of a joint that has been made."""
    kind, needs = (Turn, "hinge") if isinstance(said, TurnSpec) else (Travel, "slider")
    row = made.get(said.joint)
    joint = None if row is None else row.interaction
    if not isinstance(joint, Joint) or joint.kind != needs:
        named = [
            n for n, r in made.items() if isinstance(r.interaction, Joint) and r.interaction.kind == needs
        ]
        raise source.fault((*here, "joint"), expected=f"a {needs}, one of {named}", got=repr(said.joint))
    with source.at(*here):
        return kind(joint.a, joint.b)


def _frame(source: Source, said: FrameSpec, bodies: Any, here: tuple[Any, ...]) -> joints.Frame:
    axes = None if said.axes is None else np.column_stack(said.axes)
    where = {"axis": said.axis, "axes": axes}
    if said.body is None:
        with source.at(*here):
            return joints.Frame.world(said.at, **where)
    body = bodies.get(said.body, here)
    region = said.node if said.node is not None else said.region
    with source.at(*here):
        return joints.Frame(body, region, at=said.at, **where)
