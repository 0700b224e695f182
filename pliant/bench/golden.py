"""Reference equilibria: a folder with `cases.json` and the meshes it names.

Units in the file: mm, kg, s, hence kPa and mN. Each case gives a mesh, its material, cables (imposed length
or tension), gravity, and the tip and tensions that two codes found: `polar_F_*` (rotation of each linear
tetrahedron from the polar factor of F, which is what we do) and `sofa_*` (another choice of rotation).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from pliant.algebra import factorise
from pliant.bench.inverse import inverse
from pliant.bench.public import public
from pliant.bench.self_contact import self_contact
from pliant.bodies import Solid
from pliant.core.view import linearise
from pliant.errors import ConvergenceError
from pliant.files import reading
from pliant.interactions import Cable, Position
from pliant.io.table import Table
from pliant.laws import Bounded, Known, Target
from pliant.materials import Hooke
from pliant.mesh import Mesh, inside_box, read
from pliant.robot import Robot, Row
from pliant.static import static
from pliant.timing import paired

MM = 1e-3
TIP_TOLERANCE = 1e-3  # of the tip's displacement, or of SMALLEST_SCALE
TENSION_TOLERANCE = 2e-3  # relative
SOFA_TOLERANCE = 2e-2  # of the robot's length: the other choice of rotation
SMALLEST_SCALE = 20.0  # [mm]: errors are relative to the tip's displacement, or to this if that is smaller


def golden(path: Path) -> list[Table]:
    """Solve every case of a folder, and time one step on its meshes."""
    with reading(path / "cases.json", "reference cases", "a folder with cases.json") as file:
        cases = json.loads(file.read_text(encoding="utf-8"))
    columns = (
        "case",
        "tip [mm]",
        "tip error",
        "tension error",
        "SOFA tip error",
        "iterations",
        "load steps",
        "check",
    )
    table = Table("Reference equilibria, linear corotational tetrahedra", columns)
    for case in cases:
        table.add(**check(case, path))
    table.notes.append(
        f"tip error: of the larger of tip displacement and {SMALLEST_SCALE:g} mm (≤ {TIP_TOLERANCE:.1%}); "
        f"tension ≤ {TENSION_TOLERANCE:.1%}; SOFA: of the robot's length (≤ {SOFA_TOLERANCE:.0%}; "
        "no check beyond it where no reference with our rotation is given)"
    )
    return [table, speed(cases, path), *_inverse(cases, path)]


def build(case: dict[str, Any], folder: Path) -> Robot:
    """The robot of a case."""
    mesh = read(folder / case["mesh"], unit="mm")
    lo, hi = np.array(case["fixed_box_mm"][:3]) * MM, np.array(case["fixed_box_mm"][3:]) * MM
    mass = np.full(len(mesh.nodes), case["total_mass_kg"] / len(mesh.nodes))
    material = Hooke(young=1e3 * case["young_kPa"], poisson=case["poisson"])
    clamp = inside_box(mesh, lo, hi)
    body = Solid(mesh, material, nodal_mass=mass, fixed=clamp, order=1)
    rows = {f"cable {n}": Row(_cable(body, cable), Bounded()) for n, cable in enumerate(case["cables"])}
    rows["tip"] = Row(Position(_points(body, [case["tip_rest_mm"]])), Target())
    return Robot(body, rows, gravity=np.array(case["gravity_mm_s2"]) * MM, name=case["name"])


def check(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    """One row of the table."""
    robot = build(case, folder)
    laws = {f"cable {n}": _law(cable) for n, cable in enumerate(case["cables"])}
    try:
        result = static(robot, laws)
    except ConvergenceError as error:
        return {"case": case["name"], "tip [mm]": str(error), "check": False}
    tip, rest = result.displacement["tip"] / MM, np.array(case["tip_rest_mm"])
    row: dict[str, Any] = {
        "case": case["name"],
        "tip [mm]": " ".join(f"{x:.3f}" for x in tip),
        "iterations": result.certificate.iterations,
        "load steps": result.certificate.load_steps,
    }
    length = float(np.ptp(robot.positions(robot.rest.q), axis=0).max()) / MM
    sofa = float(np.linalg.norm(tip - case["sofa_tip_mm"]))
    row["SOFA tip error"] = f"{sofa / length:.2%}"
    good: bool | None = sofa <= SOFA_TOLERANCE * length
    if not good and "polar_F_tip_mm" not in case and case["rotation"] == "large":
        good = None  # its edge-based frames depart from the polar factor as elements shear: no reference
    if "polar_F_tip_mm" in case:
        reference = np.array(case["polar_F_tip_mm"])
        scale = max(float(np.linalg.norm(reference - rest)), SMALLEST_SCALE)
        error = float(np.linalg.norm(tip - reference)) / scale
        row["tip error"] = f"{error:.3%}"
        tension = [1e3 * float(result.effort[f"cable {n}"][0]) for n in range(len(case["cables"]))]
        wrong = [abs(t - r) / r for t, r in zip(tension, case["polar_F_tension_mN"], strict=True)]
        row["tension error"] = f"{max(wrong):.3%}" if wrong else ""
        good = good and error <= TIP_TOLERANCE and max(wrong, default=0.0) <= TENSION_TOLERANCE
    row["check"] = good
    return row


def speed(cases: list[dict[str, Any]], folder: Path) -> Table:
    """One step (linearise, factorise, condense all rows) on each mesh with its cables and its tip."""
    limits = {"trunk.vtk": 0.024, "finger.vtk": 0.008}
    table = Table(
        "One step on the reference meshes", ("case", "nodes", "rows", "ms", "÷ dgemm(1500)", "asked", "check")
    )
    for name in dict.fromkeys(case["mesh"] for case in cases):
        case = max((c for c in cases if c["mesh"] == name), key=lambda c: len(c["cables"]))
        case = dict(case, cables=_eight(case["cables"], read(folder / name, unit="mm")))
        robot = build(case, folder)
        ms, ratio = paired(one_step(robot))
        limit = limits.get(name)
        check = None if limit is None else ratio <= limit
        nodes = len(robot.positions(robot.rest.q))
        table.add(
            case=name,
            nodes=nodes,
            rows=robot.bundle.rows,
            ms=ms,
            check=check,
            asked=limit,
            **{"÷ dgemm(1500)": ratio},
        )
    return table


def _inverse(cases: list[dict[str, Any]], folder: Path) -> list[Table]:
    """The inverse model on the trunk with its eight cables and on the other meshes that the folder has.

    And the finger in contact with itself.
    """
    of = lambda name: [case for case in cases if case["mesh"] == name]
    trunks, fingers = of("trunk.vtk"), of("finger.vtk")
    if not trunks:
        return []
    case = max(trunks, key=lambda c: len(c["cables"]))
    mesh = read(folder / case["mesh"], unit="mm")
    trunk = build(dict(case, cables=_eight(case["cables"], mesh)), folder)
    tables = [inverse(trunk, (0.024, 0.030))]
    bent = sorted(
        (c["polar_F_tip_mm"] for c in fingers if not any(c["gravity_mm_s2"]) and "polar_F_tip_mm" in c),
        key=lambda tip: tip[1],
    )
    if bent:
        finger = build(max((c for c in fingers if not any(c["gravity_mm_s2"])), key=_cables), folder)
        tips = MM * np.array([fingers[0]["tip_rest_mm"], *bent])
        tables += [public(finger, trunk, tips, folder), self_contact(finger)]
    return tables


def _cables(case: dict[str, Any]) -> int:
    return len(case["cables"])


def one_step(robot: Robot, tension: float = 0.2):
    """A step of the real-time loop as an action to time: everything from q and λ to W and the free motion."""
    lam = np.zeros(robot.bundle.rows)
    for name in robot.by_role("actuator"):
        lam[robot.named(name)] = tension
    state = robot.rest

    def action():
        linear = linearise(robot, state.q, lam, state.internal, robot.gravity)
        assert linear is not None and linear.K is not None
        factor = factorise(robot.symbolic, linear.K)
        free = factor.solve(linear.residual())
        return factor.compliance(linear.H), linear.delta + linear.H.dot(free)

    return action


def _eight(cables: list[dict[str, Any]], mesh: Mesh) -> list[dict[str, Any]]:
    """The trunk's eight cables: its longest one turned by quarter turns, and the same to half its length."""
    full = max(cables, key=lambda c: len(c["points_mm"]))
    if full["anchor_mm"] is not None:
        return cables
    path, turned = np.array(full["points_mm"]), []
    for count in (len(path), len(path) // 2):
        for quarter in range(4):
            c, s = np.cos(quarter * np.pi / 2), np.sin(quarter * np.pi / 2)
            turned.append(
                {"points_mm": path[:count] @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]), "anchor_mm": None}
            )
    return turned


def _points(body: Solid, where):
    return body.points(np.array(where, float) * MM, outside="nearest")


def _cable(body: Solid, cable: dict[str, Any]) -> Cable:
    anchor = cable["anchor_mm"]
    return Cable(_points(body, cable["points_mm"]), anchor=None if anchor is None else np.array(anchor) * MM)


def _law(cable: dict[str, Any]) -> Known:
    if "imposed_tension_mN" in cable:
        return Known(effort=cable["imposed_tension_mN"] * 1e-3)
    return Known(displacement=cable["imposed_displacement_mm"] * MM)
