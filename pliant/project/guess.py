"""Start a project file from a mesh, an STL or a STEP part, with guesses to go on from."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pliant.bodies import Solid
from pliant.errors import InputError, PliantWarning
from pliant.materials import library
from pliant.mesh import Mesh, cavity_surfaces, inside_box, read, write
from pliant.mesh.files import FORMATS, SUFFIXES, UNITS, format_of, parse
from pliant.project.build import unit_doubt
from pliant.project.fit import keep, kept
from pliant.project.project import Project, load
from pliant.project.schema import FORMAT
from pliant.project.sizing import Told, described, finest
from pliant.project.toml import dumps

MATERIAL, POISSON = "dragon skin 30", 0.48
LONGEST = 5.0  # [m]: a part that would be longer was drawn in a smaller unit
DOUBTFUL = 0.5  # [m]: of a part that would be longer its size in other units is told
FLAT = 0.004  # of the length: how deep an end that is flat is held
END_SHARES = (0.02, 0.05, 0.1, 0.2)  # and any other
WHOLE = 0.9  # of the width at the first of these that a flat end has
OFFSETS = (0.6, 0.75, 0.85, 0.4)  # of the way from the axis to the skin, where a cable may run
SPANS = ((0.0, 0.98), (0.02, 0.98), (0.02, 0.9), (0.05, 0.85))  # of the length, along which it runs
VIA = 9  # points of a cable
NEAREST = "nearest"  # cell, for points on an end: another mesh of the part has its ends a little elsewhere
CHECKED = 6  # times as many must lie inside the body: a cable does not run through air
STRAIN = 0.2  # that a cable at its largest tension gives the body


def start(
    part: str | Path,
    path: str | Path,
    *,
    unit: str | None = None,
    size: float | None = None,
    lively: bool = False,
    fitted: bool = False,
    told: Told | None = None,
) -> Project:
    """Write a project file for a part and read it back.

    Guessed, and said so at the top of the file: its unit (metres, or millimetres or micrometres if it would
    be longer than 5 m), the end that is held (the lower one along its longest extent), the tip (the middle of
    the other end), its inner surfaces as pressure chambers, or cables along it where they fit inside (behind
    a # if it has chambers), and a silicone. `size` [m]: edges of the mesh of an STL or STEP part, which is
    written as tetrahedra next to the file.

    lively: without a size, that of the finest mesh that reaches 25 Hz here, in contact too
    (`project.sizing`); `told` hears the edges of each that is tried [m], and its rate [Hz]. fitted: the same,
    and how fast and how accurate it is stands in the head of the file.
    """
    part, path = Path(part), Path(path)
    if path.suffix != ".toml":
        raise InputError("project file", expected="a name that ends in .toml", got=path.name)
    if path.exists():
        raise InputError("project file", expected="one that does not exist yet", got=str(path))
    kind = format_of(part, SUFFIXES, "mesh file")
    step = kind == "step"  # such a file says its unit; `read` refuses another
    chosen = unit if step else unit or likely_unit(part, kind)
    solid = kind in FORMATS.values()
    figures, found = None, ()
    with _each_told_once(), TemporaryDirectory(prefix="pliant-") as folder:
        if (fitted or (lively and size is None)) and not solid:
            meshed = lambda edge: read(part, unit=chosen, size=edge)
            trial = finest(meshed, partial(_draft, path.stem), Path(folder), size, told)
            mesh = trial.mesh
            if fitted:
                figures, found = described(trial)
        else:
            mesh = read(part, unit=chosen, size=size)
    doubt = "" if step else unit_doubt(mesh, chosen)
    if doubt:
        warnings.warn(f"{part.name}: {doubt}", PliantWarning, stacklevel=2)
    extent = _millimetres(np.ptp(mesh.nodes, axis=0))
    taken = "in the unit that it states" if step else f"read in {chosen}"
    path.parent.mkdir(parents=True, exist_ok=True)
    if solid:
        name = Path(os.path.relpath(part, path.parent)).as_posix()
    else:
        name, chosen = write(mesh, path.with_suffix(".vtu")).name, "m"
    data, notes, more = _guesses(mesh, path.stem, name, str(chosen))
    other = _in_other_units(mesh, str(chosen)) if unit is None and not step else ""
    first = ("Guesses to begin with; SI units.", f"{part.name}, {taken}: {extent} mm.{other}")
    head = "".join(f"# {line}\n" for line in (*first, *notes, *found))
    text = dumps(data) + "".join(f"\n# {line}" if line else "\n#" for line in more.splitlines())
    text += "\n" if more else ""
    path.write_text(f"{head}\n{text}", encoding="utf-8")
    with _each_told_once():
        project = load(path)
        if fitted and solid:
            measured = kept(project)
            path.write_text(f"{head}# {measured}\n\n{text}", encoding="utf-8")
            project = load(path)
    if figures is not None and project.robot.by_role("actuator"):
        keep(project, figures)
    return project


@contextmanager
def _each_told_once() -> Iterator[None]:
    """Meshes are read several times: a warning is shown once, that of an unlikely size by `start`."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(wrong unit|Is the file in)", PliantWarning)
        show, shown = warnings.showwarning, set()

        def once(message: Warning | str, *where: Any, **more: Any) -> None:
            if str(message) not in shown:
                shown.add(str(message))
                show(message, *where, **more)

        warnings.showwarning = once
        yield


def _millimetres(extent: np.ndarray) -> str:
    return " × ".join(f"{round(1e3 * length, 1):.12g}" for length in extent)


def _in_other_units(mesh: Mesh, unit: str) -> str:
    """Of a part that is long for a soft robot, how long it would be in others, as its unit was guessed."""
    longest = float(np.ptp(mesh.nodes, axis=0).max())
    if not DOUBTFUL < longest <= LONGEST:
        return ""
    told = [
        f"{1e3 * longest * UNITS[u] / UNITS[unit]:.4g} mm if drawn in {u}"
        for u in ("mm", "cm", "in")
        if u != unit
    ]
    return f" Not that long? It is {', '.join(told)}: say so with --unit."


def _draft(stem: str, mesh: Mesh, folder: Path) -> Project:
    """The project of a mesh, with the same guesses, in a folder that is thrown away."""
    write(mesh, folder / f"{stem}.vtu")
    data, *_ = _guesses(mesh, stem, f"{stem}.vtu", "m")
    if not data.keys() & {"cables", "cavities"}:
        data["forces"] = _pushes(data["effectors"]["tip"]["points"], mesh)
    (folder / f"{stem}.toml").write_text(dumps(data), encoding="utf-8")
    return load(folder / f"{stem}.toml")


def _pushes(points: list[list[float]], mesh: Mesh) -> dict[str, Any]:
    """Forces on a robot that nothing drives yet: something must move it where its speed is measured."""
    most = STRAIN * library[MATERIAL].young * float(np.ptp(mesh.nodes, axis=0).min()) ** 2 / 100.0
    return {
        f"push {axis}": {"points": points, "direction": direction, "effort": [-most, most]}
        for axis, direction in zip("xyz", np.eye(3).tolist(), strict=True)
    }


def likely_unit(part: Path, kind: str) -> str:
    """Metres, or what is smaller for a part that would be a very long robot."""
    points = np.asarray(parse(part, kind).points, float)
    extent = np.ptp(points, axis=0).max(initial=0.0) if len(points) else 0.0  # `read` says what is wrong
    return next((unit for unit in ("m", "mm", "um") if extent * UNITS[unit] <= LONGEST), "mm")


def _guesses(mesh: Mesh, stem: str, name: str, unit: str) -> tuple[dict[str, Any], list[str], str]:
    """The document of a project, what was guessed in sentences, and tables that it might have, too."""
    low, high = mesh.bounds
    axis = int(np.argmax(high - low))
    share, box = _fixed_end(mesh, axis)
    stuff = library[MATERIAL]
    body = Solid(mesh, stuff.hooke(POISSON), density=stuff.density, fixed=inside_box(mesh, *box))
    tip = _tip(body, axis)
    along = "xyz"[axis]
    end = f"lowest {100 * share:g} %" if share != FLAT else "face at the lower end"
    notes = [f"Held: its {end} along {along}. Tip: the middle of the other end."]
    one = {"mesh": name, "unit": unit, "fixed": [{"box": {"low": box[0], "high": box[1]}}]}
    one["materials"] = [{"library": MATERIAL, "poisson": POISSON}]
    data: dict[str, Any] = {"format": FORMAT, "name": stem, "gravity": [0.0, 0.0, -9.81], "bodies": [one]}
    limit = _rounded(STRAIN * stuff.young * mesh.volume / (high - low)[axis])
    chambers = {
        f"chamber {n + 1}": {"inner": n + 1, "effort": [0.0, _rounded(0.1 * stuff.young)]}
        for n in range(len(cavity_surfaces(body.mesh)))
    }
    cables = _cables(body, axis, limit)
    offered, cables = (cables, {}) if chambers else ({}, cables)
    if cables:
        data["cables"] = cables
        notes.append(f"Cables: along {along}, up to the tension that strains it by {100 * STRAIN:g} %.")
    if chambers:
        data["cavities"] = chambers
        notes.append("Chambers: its inner surfaces, up to a tenth of Young's modulus.")
    if offered:
        notes.append(f"Cables along {along} would fit, too: the last lines have them, behind a #.")
    pieces = len(body.mesh.surface.components()) - len(chambers)
    if pieces > 1:
        notes.append(f"It is {pieces} pieces, which nothing joins.")
    if not (cables or chambers):
        notes.append("No cable fits inside along a straight line, and it is not hollow: add an actuator.")
        notes.append("What is said of its mesh is measured with forces on its tip.")
    data["effectors"] = {"tip": {"points": [tip], "target": tip, "outside": NEAREST}}
    first = [{n: {"displacement": c["displacement"][1] / 4}} for n, c in cables.items()]
    first += [{n: {"effort": c["effort"][1] / 4}} for n, c in chambers.items()]
    if first:
        data["demonstration"] = {"commands": first[0]}
    return data, notes, dumps({"cables": offered}) if offered else ""


def _fixed_end(mesh: Mesh, axis: int) -> tuple[float, tuple[list[float], list[float]]]:
    """The share of the lower end that is held, and its box: its face if it is flat, or else what has a width.

    A face is held alike on a finer mesh; of a thick end more nodes are then held.
    """
    wide = np.ptp(mesh.nodes[inside_box(mesh, *_end(mesh, axis, END_SHARES[0]))], axis=0).max()
    for share in (FLAT, *END_SHARES):
        box = _end(mesh, axis, share)
        held = mesh.nodes[inside_box(mesh, *box)]
        flat = share != FLAT or np.ptp(held, axis=0).max() >= WHOLE * wide
        if flat and len(held) >= 3 and np.linalg.matrix_rank(held - held[0], 1e-9) >= 2:
            return share, box
    return 1.0, box


def _end(mesh: Mesh, axis: int, share: float) -> tuple[list[float], list[float]]:
    """The box of a share of the lower end."""
    low, high = mesh.bounds
    bottom, top = [-float("inf")] * 3, [float("inf")] * 3
    top[axis] = float(np.round(low[axis] + share * (high - low)[axis], _digits(mesh) + 3))
    return bottom, top


def _tip(body: Solid, axis: int) -> list[float]:
    """The middle of the far end, or the node nearest to it."""
    nodes = body.mesh.nodes
    reach = nodes[:, axis]
    far = nodes[reach > reach.max() - 0.02 * np.ptp(reach)].mean(axis=0)
    far[axis] = reach.max()
    if not _inside(body, far[None]):
        far = nodes[np.argmin(np.linalg.norm(nodes - far, axis=1))]
    return _neat(far, body)


def _inside(body: Solid, places: np.ndarray) -> bool:
    try:
        body.points(places)
    except InputError:
        return False
    return True


def _cables(body: Solid, axis: int, limit: float) -> dict[str, Any]:
    """Straight cables inside the body along an axis, on up to four sides of its lower half."""
    nodes, (low, high), out = body.mesh.nodes, body.mesh.bounds, {}
    lower = nodes[nodes[:, axis] <= (low + high)[axis] / 2]
    middle, half = (lower.max(axis=0) + lower.min(axis=0)) / 2, np.ptp(lower, axis=0) / 2
    length = (high - low)[axis]
    for side in [s * np.eye(3)[k] for s in (1.0, -1.0) for k in range(3) if k != axis]:
        for offset, (begin, end) in product(OFFSETS, SPANS):
            path = np.tile(middle + offset * side * half, (CHECKED * (VIA - 1) + 1, 1))
            path[:, axis] = low[axis] + length * np.linspace(begin, end, len(path))
            if _inside(body, path):
                stroke = _rounded(0.2 * length)
                out[f"cable {len(out) + 1}"] = {
                    "through": _neat(path[::CHECKED], body),
                    "outside": NEAREST,
                    "effort": [0.0, limit],
                    "displacement": [-stroke, stroke],
                }
                break
    return out


def _neat(places: np.ndarray, body: Solid) -> list:
    """Rounded as a person would write them, but so that they are still inside the body."""
    rounded = [np.round(places, _digits(body.mesh) + digits) + 0.0 for digits in (3, 4, 5, 6)]
    return next((r for r in rounded if _inside(body, r.reshape(-1, 3))), rounded[-1]).tolist()


def _digits(mesh: Mesh) -> int:
    """The place after the decimal point that the size of a mesh begins at."""
    return -int(np.floor(np.log10(mesh.size)))


def _rounded(value: float) -> float:
    """To two digits: it is a guess."""
    return float(f"{value:.1e}")
