"""A robot from what a project file says."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from inspect import isabstract
from typing import Any

import numpy as np

from pliant import materials
from pliant.bodies import Ball, Beam, Circle, Hinge, Prismatic, Rectangle, Rigid, Solid, fibres
from pliant.errors import PliantWarning, unknown_name
from pliant.files import read_arrays, reading
from pliant.materials import library
from pliant.materials.material import Material
from pliant.mesh import Mesh, inside_box, inside_cylinder, inside_sphere, near_plane, read
from pliant.mesh.files import UNITS
from pliant.mesh.lines import Lines, curve, line
from pliant.project.fault import Source
from pliant.project.schema_bodies import BodySpec, FibresSpec, MaterialSpec, RigidSpec, SelectionSpec
from pliant.units import parse, quantity

SMALLEST, LARGEST = 2e-3, 5.0  # [m]: a soft robot's longest extent; beyond, its unit is doubted
LAWS = {
    name: thing
    for name in materials.__all__
    if isinstance(thing := getattr(materials, name), type)
    and issubclass(thing, Material)
    and not isabstract(thing)
    and name not in ("Incompressible", "Mullins")  # wrap another law
}


def body_of(source: Source, spec: BodySpec, number: int, refine: bool = False) -> Any:
    """The body that is said in bodies[number]."""
    here = ("bodies", number)
    stuff, density = _materials(source, spec.materials, here)
    if spec.rods:
        return _beam(source, spec, here, stuff, density)
    with source.at(*here, "mesh"):
        mesh = _mesh(source, spec)
        mesh = mesh.refined() if refine else mesh
    fixed = _fixed_mask(source, spec.fixed, mesh, (*here, "fixed"))
    rigid = [_rigid(source, region, mesh, (*here, "rigid", k)) for k, region in enumerate(spec.rigid)]
    threads = [_fibres(source, said, mesh, (*here, "fibres", k)) for k, said in enumerate(spec.fibres)]
    with source.at(*here), _unit_doubted_once():
        return Solid(
            mesh,
            stuff,
            density=density,
            fixed=fixed,
            order=spec.order,
            rigid=rigid,
            support_layers=spec.support_layers,
            fibres=threads,
        )


def _fibres(source: Source, spec: FibresSpec, mesh: Mesh, here: tuple) -> fibres.Fibres:
    """Threads of a winding, or through the points that are said."""
    name = next(n for n in ("helix", "braid", "rings", "straight", "paths") if getattr(spec, n) is not None)
    said = getattr(spec, name)
    with source.at(*here, name):
        paths = said if name == "paths" else getattr(fibres, name)(**dict(said))
        made = fibres.Fibres(
            paths, spec.stiffness, prestretch=spec.prestretch, tension_only=spec.tension_only
        )
        fibres.glued(mesh, made)  # here it is known which of them are not
    return made


def _mesh(source: Source, spec: BodySpec) -> Mesh:
    with _unit_doubted_once():
        mesh = read(_beside(source, str(spec.mesh)), unit=spec.unit, size=spec.size, merge=spec.merge)
    doubt = unit_doubt(mesh, spec.unit)
    if doubt:
        line = source.line("bodies")
        warnings.warn(f"{source.path.name}, line {line}, {spec.mesh}: {doubt}", PliantWarning, stacklevel=2)
    return mesh


@contextmanager
def _unit_doubted_once() -> Iterator[None]:
    """Without the doubts of meshes about their size: `_mesh` says it, with the way out."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*wrong unit", PliantWarning)
        yield


def unit_doubt(mesh: Mesh, unit: str | None) -> str:
    """A sentence where a body is so large or so small that its file is rather in another unit; "" if not."""
    longest = float(np.ptp(mesh.nodes, axis=0).max())
    if unit is None or SMALLEST <= longest <= LARGEST:
        return ""
    better = [other for other, size in UNITS.items() if SMALLEST <= longest * size / UNITS[unit] <= LARGEST]
    likely = next((other for other in ("mm", "m", "cm", "in", "um") if other in better), "")
    return (
        f'it is {quantity(longest, "m")} long in {unit}. Is the file in {likely}? Then say unit = "{likely}".'
    )


def _beside(source: Source, name: str) -> Any:
    """A file next to the project file."""
    return source.path.parent / name


def _materials(source: Source, specs: tuple[MaterialSpec, ...], here: tuple) -> tuple[Any, Any]:
    """One material and density, or one for each region."""
    made, densities = {}, {}
    for k, spec in enumerate(specs):
        path = (*here, "materials", k)
        if len(specs) > 1 and spec.region is None:
            raise source.fault(
                (*path, "region"), expected="the region of each of several materials", got="none"
            )
        if spec.region in made:
            raise source.fault((*path, "region"), expected="a region of its own", got=spec.region)
        law, weight = material_of(source, spec, path)
        if spec.softening is not None:
            with source.at(*path, "softening"):
                law = materials.Mullins(law, **dict(spec.softening))  # type: ignore[arg-type]
        made[spec.region], densities[spec.region] = law, weight
    if list(made) == [None]:
        return made[None], densities[None]
    if None in densities.values():
        return made, None
    return made, densities


def material_of(source: Source, spec: MaterialSpec, path: tuple) -> tuple[Material, float | None]:
    """A law and its density, if it has one."""
    numbers = {}
    for key, value in spec.numbers.items():  # text is a modulus with its unit: young = "0.6 MPa"
        with source.at(*path, key):
            numbers[key] = parse(value, "Pa", key) if isinstance(value, str) else value
    if spec.library is not None:
        with source.at(*path, "library"):
            record = library[spec.library]
        poisson = numbers.pop("poisson", 0.48)
        _no_more(source, numbers, path)
        with source.at(*path, "poisson"):
            law = record.material(poisson) if spec.large_strain else record.hooke(poisson)
        return law, record.density if spec.density is None else spec.density
    with source.at(*path, "law"):
        if spec.law not in LAWS:
            raise unknown_name("law", str(spec.law), LAWS)
    kind = LAWS[str(spec.law)]
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]  # every law is a dataclass
    _no_more(source, {key: v for key, v in numbers.items() if key not in known}, path)
    for name, field in known.items():
        if name not in numbers and field.default is MISSING and field.default_factory is MISSING:
            raise source.fault((*path, name), expected=f"a number of the law {spec.law}", got="nothing")
    with source.at(*path, _first_named(numbers, kind)):
        return kind(**numbers), spec.density


def _first_named(numbers: Mapping[str, Any], kind: type[Material]) -> str:
    """Which parameter the law refuses, if it can be told; found by what its message names."""
    try:
        kind(**numbers)
    except (ValueError, TypeError, ArithmeticError) as error:
        named = [key for key in numbers if key in str(error)]
        return named[0] if named else "law"
    return "law"


def _no_more(source: Source, numbers: Mapping[str, Any], path: tuple) -> None:
    for key in numbers:
        raise source.fault((*path, key), expected="no such key", got=repr(key))


def _fixed_mask(
    source: Source, specs: tuple[SelectionSpec, ...], mesh: Any, here: tuple
) -> np.ndarray | None:
    """Mask (k, 3) of the fixed components."""
    mask = np.zeros((len(mesh.nodes), 3), bool)
    for k, spec in enumerate(specs):
        chosen = _selected(source, spec, mesh, (*here, k))
        for axis in spec.axes:
            mask[chosen, "xyz".index(axis)] = True
    return mask if specs else None


def _selected(source: Source, spec: SelectionSpec, mesh: Any, here: tuple) -> np.ndarray:
    """Mask (k,) of the nodes; none is a fault."""
    nodes = mesh.nodes
    with source.at(*here):
        if spec.nodes is not None:
            if max(spec.nodes) >= len(nodes):
                raise source.fault(
                    (*here, "nodes"), expected=f"nodes from 0 to {len(nodes) - 1}", got=max(spec.nodes)
                )
            mask = np.zeros(len(nodes), bool)
            mask[list(spec.nodes)] = True
        elif spec.region is not None:
            mask = np.zeros(len(nodes), bool)
            mask[np.unique(mesh.cells[mesh.regions == spec.region])] = True
        elif spec.plane is not None:
            mask = near_plane(nodes, spec.plane.point, spec.plane.normal, spec.plane.tolerance)
        elif spec.box is not None:
            mask = inside_box(nodes, spec.box.low, spec.box.high)
        elif spec.sphere is not None:
            mask = inside_sphere(nodes, spec.sphere.centre, spec.sphere.radius)
        else:
            assert spec.cylinder is not None
            mask = inside_cylinder(nodes, spec.cylinder.start, spec.cylinder.end, spec.cylinder.radius)
    if not mask.any():
        low, high = np.round(nodes.min(axis=0), 6).tolist(), np.round(nodes.max(axis=0), 6).tolist()
        raise source.fault(here, expected=f"some nodes of the mesh, from {low} to {high} [m]", got="none")
    return mask


def _rigid(source: Source, spec: RigidSpec, mesh: Any, here: tuple) -> Rigid:
    chosen = [_selected(source, s, mesh, (*here, "where", k)) for k, s in enumerate(spec.where)]
    joint: Any = None
    with source.at(*here):
        if spec.hinge is not None:
            joint = Hinge(spec.hinge.axis, spec.hinge.centre)
        elif spec.slide is not None:
            joint = Prismatic(spec.slide)
        elif spec.ball is not None:
            joint = Ball(spec.ball)
    return Rigid(np.flatnonzero(np.any(chosen, axis=0)), spec.name, centre=spec.centre, joint=joint)


def _beam(source: Source, spec: BodySpec, here: tuple, stuff: Any, density: Any) -> Beam:
    carried: dict[str, Any] = {}
    if spec.mesh is not None:
        with source.at(*here, "mesh"):
            carried["mesh"] = _mesh(source, spec)
    if spec.path is not None:
        lines, section = _rods(source, spec, here), _section(spec)
    else:
        with source.at(*here, "lines"):
            lines, section, carriers = read_lines(_beside(source, str(spec.lines)))
        if "mesh" in carried and carriers is not None:
            carried["carriers"] = carriers
        section = _section(spec) if spec.section is not None else section
        if section is None:
            raise source.fault((*here, "section"), expected="a section for the rods", got="nothing")
    fixed = _fixed_mask(source, spec.fixed, lines, (*here, "fixed"))
    clamped = None if fixed is None else fixed.all(axis=1)
    rigid = [_rigid(source, region, lines, (*here, "rigid", k)) for k, region in enumerate(spec.rigid)]
    with source.at(*here):
        return Beam(
            lines, section, stuff, density=density, fixed=clamped, rigid=rigid, model=spec.model, **carried
        )


def _rods(source: Source, spec: BodySpec, here: tuple) -> Lines:
    assert spec.path is not None
    up = {} if spec.up is None else {"up": spec.up}
    with source.at(*here, "path"):
        if len(spec.path) == 2:
            return line(*spec.path, elements=spec.elements, **up)
        return curve(spec.path, **up)


def _section(spec: BodySpec) -> Any:
    given = spec.section
    assert given is not None
    if given.radius is not None:
        return Circle(given.radius, given.inner)
    return Rectangle(given.width, given.height)  # type: ignore[arg-type]


def read_lines(path: Any) -> tuple[Lines, Any, np.ndarray | None]:
    """Rods from an .npz file of `write_lines`: lines, a section for each element, carriers of a mesh."""
    with reading(path, "file of rods", "one that pliant wrote") as file:
        data = read_arrays(file)
        lines = Lines(*(data[name] for name in ("nodes", "elements", "frames", "branch", "arc")))
        sections = [Circle(a, b) if round_ else Rectangle(a, b) for round_, a, b in data["sections"].tolist()]
        carriers = data.get("carriers")
    same = len(set(sections)) == 1
    return lines, (sections[0] if same else sections) if sections else None, carriers


def write_lines(path: Any, body: Beam) -> None:
    """The rods of a beam, to the last digit."""
    lines = body.lines
    sections = [
        (1.0, s.radius, s.inner) if isinstance(s, Circle) else (0.0, s.width, s.height)  # type: ignore[attr-defined]
        for s in body.sections
    ]
    arrays: Mapping[str, Any] = {
        name: getattr(lines, name) for name in ("nodes", "elements", "frames", "branch", "arc")
    }
    np.savez(path, **arrays, sections=np.array(sections), carriers=body.places.element)


__all__ = ["LAWS", "body_of", "material_of", "read_lines", "write_lines"]
