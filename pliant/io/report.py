"""A folder that tells what a solve found: a page, a picture, curves, numbers, and the deformed mesh."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import InputError
from pliant.interactions import Position
from pliant.io import page
from pliant.io.facts import body_facts, certificate_words, material_text, result_data
from pliant.io.picture import DEFAULT_VIEW, View, picture
from pliant.io.plots import effort_plot, path_plot
from pliant.units import quantity

if TYPE_CHECKING:
    from pliant.laws import Known
    from pliant.result import Result


def report(
    results: Result | Sequence[Result],
    folder: str | Path,
    *,
    title: str = "",
    summary: str = "",
    laws: Mapping[str, Known] | None = None,
    view: View = DEFAULT_VIEW,
) -> Path:
    """Write a result, or the results along a load path, to a folder; returns its index.html.

    In the folder: index.html (complete in itself), picture.png, effort.svg, path.svg, result.json,
    deformed.vtu. `laws` are those of the solve, to say what was imposed.
    """
    path = list(results) if isinstance(results, Sequence) else [results]
    if not path:
        raise InputError("results of a report", expected="at least one", got="none")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    last = path[-1]
    title = title or last.robot.name.capitalize()
    (folder / "result.json").write_text(json.dumps(result_data(path), indent=1, ensure_ascii=False), "utf-8")
    meshes = _write_meshes(last, folder)
    image = picture(last, folder / "picture.png", trail=path[:-1], view=view)
    curves = _curves(path, folder, driven_rows(last, laws))
    parts = [
        page.heading(title, 1),
        page.paragraph(summary, "lead"),
        page.photo(image.read_bytes(), _caption(last)),
        page.paragraph(
            certificate_words(last.certificate, last.robot.length),
            "status" if last.certificate.converged else "status bad",
        ),
        *(page.paragraph(f"On the way it {event}.") for result in path for event in result.events),
        page.side_by_side(curves) if curves else "",
        *_rows_section(last, laws or {}),
        *_timings_section(path),
        *_facts_section(last),
        _footer(meshes),
    ]
    index = folder / "index.html"
    index.write_text(page.page(f"{title} · pliant", parts), "utf-8")
    return index


def driven_rows(result: Result, laws: Mapping[str, Any] | None) -> list[str]:
    """The rows worth a curve: those with a law for this solve, or else the actuators; one scalar each."""
    robot = result.robot
    names = list(laws) if laws else robot.by_role("actuator")
    return [name for name in names if robot.rows[name].interaction.size == 1]


def _curves(results: Sequence[Result], folder: Path, driven: list[str]) -> list[page.Markup]:
    robot, curves = results[-1].robot, []
    if len(results) < 2:
        return curves
    if driven:
        svg = effort_plot(results, driven)
        (folder / "effort.svg").write_text(svg, "utf-8")
        curves.append(page.drawing(svg, "Effort against displacement along the load path."))
    tips = [n for n in robot.by_role("effector") if isinstance(robot.rows[n].interaction, Position)]
    if tips and len(results[-1].displacement[tips[0]]) >= 3:
        svg = path_plot(results, tips[0])
        (folder / "path.svg").write_text(svg, "utf-8")
        curves.append(page.drawing(svg, f"Path of the {tips[0]} in the plane where it moves most."))
    return curves


def _rows_section(result: Result, laws: Mapping[str, Known]) -> list[page.Markup]:
    robot, rows = result.robot, []
    for name, row in robot.rows.items():
        interaction, at = row.interaction, result.displacement[name]
        if len(at) > 6:
            shown, effort = f"{len(at)} values", f"{len(at)} values"
        else:
            shown, effort = (
                quantity(at, interaction.unit),
                quantity(result.effort[name], interaction.effort_unit),
            )
        moved = ""
        if isinstance(interaction, Position):
            step = at - interaction.value(interaction.rest)
            moved = f"{1e3 * float(np.linalg.norm(step)):.4g} mm from rest"
        rows.append([name, type(interaction).__name__, imposed_text(laws.get(name)), shown, moved, effort])
    columns = ("row", "what", "imposed", "displacement δ", "", "effort λ")
    return [page.heading("Rows"), page.table(columns, rows, numbers=(3, 5))]


def imposed_text(law: Any) -> str:
    """What a law imposes, in a word."""
    if law is None:
        return ""
    return "effort" if getattr(law, "effort", None) is not None else "displacement"


def _timings_section(results: Sequence[Result]) -> list[page.Markup]:
    last = results[-1]
    stages = {k: float(v) for k, v in last.timings.items() if k != "total"}
    total = max(float(last.timings.get("total", sum(stages.values()))), 1e-12)
    rows = [[stage, f"{1e3 * t:.1f} ms", page.meter(t / total)] for stage, t in stages.items()]
    whole = sum(float(r.timings.get("total", 0.0)) for r in results)
    iterations = sum(r.certificate.iterations for r in results)
    note = f"The last step took {1e3 * total:.0f} ms"
    if len(results) > 1:
        note += f"; all {len(results)} steps {whole:.2f} s in {iterations} Newton iterations"
    return [
        page.heading("Time"),
        page.paragraph(note + "."),
        page.table(("stage", "last step", "share"), rows, numbers=(1,)),
    ]


def _facts_section(result: Result) -> list[page.Markup]:
    parts = [page.heading("Model")]
    for body in result.robot.bodies:
        facts = body_facts(body)
        size = " × ".join(f"{1e3 * x:.3g}" for x in facts["size"])
        mass = float(body.total_mass)
        rows = [
            ["mesh", f"{facts['cells']} cells of kind {facts['element']}, {facts['nodes']} nodes"],
            ["unknowns", str(facts["unknowns"])],
            ["size", f"{size} mm, {1e6 * facts['volume']:.4g} cm³"],
            ["material", material_text(body)],
        ]
        if np.isfinite(mass):
            rows.append(["mass", f"{1e3 * mass:.4g} g"])
        gravity = result.robot.gravity
        rows.append(["gravity", quantity(gravity, "m/s²") if gravity.any() else "none"])
        parts.append(page.table(("", ""), rows))
    return parts


def _caption(result: Result) -> str:
    words = "The deformed body coloured by von Mises stress; its shape at rest in grey"
    return words + ("." if result.certificate.converged else "; not an equilibrium.")


def _footer(meshes: Sequence[str]) -> page.Markup:
    links = [part for name in meshes for part in (", ", page.link(name))]
    return page.footer("Beside this page: ", page.link("result.json"), *links, ". SI units in the files.")


def _write_meshes(result: Result, folder: Path) -> list[str]:
    """The deformed bodies with displacement and stress at the nodes."""
    from pliant.mesh import write

    robot, names = result.robot, []
    for n, body in enumerate(robot.bodies):
        q, z = result.q[robot.q_spans[n]], result.state.internal[robot.z_spans[n]]
        x = np.array(body.positions(q))
        data = {
            "displacement": x - body.mesh.nodes,
            "von_mises": body.stress(q, "von_mises", at="nodes", z=z),
        }
        name = "deformed.vtu" if len(robot.bodies) == 1 else f"deformed-{n + 1}.vtu"
        write(body.mesh.with_nodes(x), folder / name, point_data=data)
        names.append(name)
    return names
