"""Part 9: bodies of every dimension against closed forms, and stiffness projected on rigid regions."""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.bodies import Beam, Circle, Membrane, Net, Shell, Solid, Stiffness, Strings
from pliant.contact import Samples, Surroundings
from pliant.mesh.lines import line
from pliant.robot import Row
from pliant.studies.duriez2024.compared import Compared
from pliant.studies.duriez2024.lab import TIGHT, Lab
from pliant.studies.study import Findings

ELEMENTS = {"tet4": ("tet", 1), "tet10": ("tet", 2), "hex8": ("hex", 1), "hex20": ("hex", 2)}


def dimensions(lab: Lab) -> Findings:
    """Thin in two directions, in one, in none; then rigid regions."""
    table = Compared("Strings, membranes, shells, beams, volumes")
    for add in (_string, _drum, _plate, _strip, _rods, _circle, _volumes):
        add(table, lab)
    return Findings("Bodies of every dimension, rigid regions", TEXT, [table.table, _projected().table])


def _string(table: Compared, lab: Lab) -> None:
    """A taut string with a weight in its middle."""
    length, stiffness, stretched, force = 0.2, 100.0, 1.1, 1e-4
    nodes = [[0, 0, 0], [length / 2, 0, 0], [length, 0, 0]]
    net = Net(nodes, Strings([[0, 1], [1, 2]], stiffness, prestretch=stretched), fixed=[0, 2])
    row = Row(pl.PointForce(net.node_points([1]), direction=(0, 0, 1)), pl.Known(effort=force))
    around = Surroundings(samples=Samples.around(net.node_points([1]), 1e-3))
    robot = pl.Robot(net, {"weight": row}, surroundings=around)
    sag = pl.static(robot, tolerance=TIGHT).displacement["weight"]
    tension = stiffness * (stretched - 1)
    table.add(
        "strings",
        "weight on a taut string, PL/4T",
        force * length / (4 * tension),
        sag,
        unit="m",
        allowed=1e-4,
    )


def _drum(table: Compared, lab: Lab) -> None:
    radius, thickness, stretched, pressure, law = 0.1, 5e-4, 1.1, 0.05, pl.Hooke(young=1e6, poisson=0.3)
    sheet = pl.mesh.disc_sheet(radius, around=32 * lab.setting.fine, rings=4 * lab.setting.fine)
    skin = Membrane(sheet, law, thickness, fixed=np.unique(sheet.rim), prestretch=stretched)
    tension = thickness * law.young / (1 - law.poisson) * (stretched - 1) / stretched
    expected = pressure * radius**2 / (4 * tension)
    table.add(
        "membrane",
        "drum under pressure, pR²/4N",
        expected,
        _pressed(skin, sheet, pressure),
        unit="m",
        allowed=0.02,
    )


def _plate(table: Compared, lab: Lab) -> None:
    radius, thickness, pressure, law = 0.1, 0.002, 1e-3, pl.Hooke(young=1e7, poisson=0.3)
    sheet = pl.mesh.disc_sheet(radius, around=32 * lab.setting.fine, rings=4 * lab.setting.fine)
    plate = Shell(sheet, law, thickness, fixed=np.unique(sheet.rim))
    bending = law.young * thickness**3 / (12 * (1 - law.poisson**2))
    expected = pressure * radius**4 / (64 * bending)
    table.add(
        "shell",
        "clamped plate under pressure, pR⁴/64D",
        expected,
        _pressed(plate, sheet, pressure),
        unit="m",
        allowed=0.02,
    )


def _pressed(body: Shell | Membrane, sheet: pl.mesh.Sheet, pressure: float) -> float:
    """How far the middle goes [m]."""
    row = Row(pl.SurfaceForce.on(body, sheet.surface), pl.Known(effort=pressure * sheet.area))
    middle = int(np.linalg.norm(sheet.nodes, axis=1).argmin())
    return float(pl.static(pl.Robot(body, {"pressure": row})).positions[middle, 2])


def _strip(table: Compared, lab: Lab) -> None:
    """A sheet rolled up by motors at its end: finite rotations."""
    length, width, thickness, young = 0.1, 0.01, 1e-3, 1e6
    sheet = pl.mesh.sheet((length, width), cells=(16, 1))
    fixed = np.zeros((len(sheet.nodes), 6), bool)
    fixed[:, [1, 3, 5]] = True  # it bends in its plane
    fixed[sheet.nodes[:, 0] < 1e-9] = True
    shell = Shell(sheet, pl.Hooke(young=young, poisson=0.0), thickness, fixed=fixed)
    ends = np.flatnonzero(sheet.nodes[:, 0] > length - 1e-9)
    torque = 0.5 * young * width * thickness**3 / 12 * 2 * np.pi / length
    motors = [pl.Motor(shell.node_frame(int(n)), axis=(0, -1, 0), middle=np.pi) for n in ends]
    rows = {f"motor {k}": Row(motor, pl.Known(effort=torque)) for k, motor in enumerate(motors)}
    rolled = pl.static(pl.Robot(shell, rows)).positions[ends][:, [0, 2]]
    table.add(
        "shell",
        "strip rolled to a circle by 2πEI/L: ends meet",
        np.zeros((2, 2)),
        rolled,
        unit="m",
        allowed=1e-3,
        scale=length,
    )


def _rods(table: Compared, lab: Lab) -> None:
    """Shear-deformable and not."""
    length, force, section, law = 0.05, 1e-5, Circle(0.004), pl.Hooke(young=1e6, poisson=0.3)
    _, GA, _, _, EI, _ = section.stiffness(law)
    for model, shear in (("reissner", length / GA), ("kirchhoff", 0.0)):
        rod = Beam(line((0, 0, 0), (length, 0, 0), elements=4), section, law, fixed=0, model=model)
        row = Row(pl.PointForce(rod.at([length]), direction=(0, 0, 1)), pl.Known(effort=force))
        sag = pl.static(pl.Robot(rod, {"load": row}), tolerance=TIGHT).displacement["load"]
        expected = force * (length**3 / (3 * EI) + shear)
        table.add(
            f"beam, {model}",
            "end load, PL³/3EI" + (" + PL/GA" if shear else ""),
            expected,
            sag,
            unit="m",
            allowed=1e-4,
        )


def _circle(table: Compared, lab: Lab) -> None:
    """A rod rolled up by its end moment."""
    length, bending = 0.2, 1e-3
    section = Stiffness(EA=1e3, GJ=bending, EI=bending)
    fixed = np.zeros((9, 6), bool)
    fixed[:, [1, 3, 5]] = True  # in its plane: it would turn over at (π/2)√(EI GJ)/L
    fixed[0] = True
    rod = Beam(line((0, 0, 0), (length, 0, 0), elements=8), section, fixed=fixed)
    motor = pl.Motor(rod.region_points(8), (0, -1, 0), middle=np.pi)
    rows = {
        "end": Row(pl.Position(rod.at([length]))),
        "motor": Row(motor, pl.Known(effort=2 * np.pi * bending / length)),
    }
    end = pl.static(pl.Robot(rod, rows), tolerance=TIGHT).displacement["end"]
    table.add(
        "beam, geometrically exact",
        "rolled to a circle by 2πEI/L: ends meet",
        np.zeros(3),
        end,
        unit="m",
        allowed=1e-3,
        scale=length,
    )


def _volumes(table: Compared, lab: Lab) -> None:
    """Every element: a stretch, exactly; and bending, where it does not lock."""
    size, young, force = (0.1, 0.01, 0.01), 1e6, 1e-4
    EA, EI = young * 1e-4, young * 1e-8 / 12
    bent = force * (size[0] ** 3 / (3 * EI) + size[0] * 1.2 * 2 / EA)  # shear: G = E/2, 5/6 of the area
    for name, (kind, order) in ELEMENTS.items():
        mesh = pl.mesh.box(size, cells=(12 * lab.setting.fine, 2, 2), kind=kind, order=order)
        end = pl.Rigid(lambda x: x[:, 0] > size[0] - 1e-9, name="end")
        law = pl.Hooke(young=young, poisson=0.0)
        body = Solid(mesh, law, fixed=lambda x: x[:, 0] < 1e-9, rigid=end, order=order)
        centre = body.region_points("end")[:1]
        rows = {"along": Row(pl.Slider(centre, (1, 0, 0))), "across": Row(pl.Slider(centre, (0, 0, 1)))}
        robot = pl.Robot(body, rows)
        drawn = pl.static(robot, {"along": pl.Known(effort=force)}, tolerance=TIGHT).displacement["along"]
        table.add(f"volume, {name}", "bar pulled, FL/EA", force * size[0] / EA, drawn, unit="m", allowed=1e-8)
        if name != "tet4":  # it locks in bending, as is well known
            sag = pl.static(robot, {"across": pl.Known(effort=force)}).displacement["across"]
            table.add(f"volume, {name}", "bar bent, PL³/3EI + 6PL/5GA", bent, sag, unit="m", allowed=0.02)


def _projected() -> Compared:
    """W with a rigid region against (29): K of the soft body projected on the region's motion by J, dense."""
    table = Compared("Stiffness projection: rigid regions, K_q = Jᵀ K J")
    mesh = pl.mesh.box((0.1, 0.03, 0.03), cells=(4, 2, 2), kind="hex")
    law, fixed = pl.Hooke(young=1e5, poisson=0.3), mesh.nodes[:, 0] < 1e-9
    chosen = (mesh.nodes[:, 0] > 0.04) & (mesh.nodes[:, 0] < 0.08)
    soft = Solid(mesh, law, fixed=fixed)
    stiff = Solid(mesh, law, fixed=fixed, rigid=pl.Rigid(chosen, name="middle"))
    _, _, blocks = soft.linearise(soft.q0, np.zeros(3))
    assert blocks is not None
    K = soft.pattern.to_csr(blocks).toarray()
    J = _rigid_motion(soft, mesh.nodes, chosen)
    where = [int(np.linalg.norm(mesh.nodes - p, axis=1).argmin()) for p in ([0.1, 0, 0], [0.05, 0.03, 0.03])]
    H = np.zeros((6, soft.ndof))
    for k, node in enumerate(where):
        H[3 * k : 3 * k + 3, 3 * soft.node_block[node] + np.arange(3)] = np.eye(3)
    expected = H @ J @ np.linalg.solve(J.T @ K @ J, J.T @ H.T)
    W = pl.compliance(pl.Robot(stiff, {"points": Row(pl.PointForce(stiff.node_points(where)))})).matrix
    table.add("rigid region", "W of two points, in full matrices", expected, W, unit="m/N", allowed=1e-9)
    return table


def _rigid_motion(body: Solid, nodes: np.ndarray, region: np.ndarray) -> np.ndarray:
    """J (ndof, free + 6): nodes outside the region move by themselves, those in it by u + ω × (X − c)."""
    blocks, centre = body.node_block, nodes[region].mean(axis=0)
    outside = np.flatnonzero(~region & (blocks >= 0))
    J = np.zeros((body.ndof, 3 * len(outside) + 6))
    for k, node in enumerate(outside):
        J[3 * blocks[node] + np.arange(3), 3 * k + np.arange(3)] = 1.0
    for node in np.flatnonzero(region):
        x, y, z = nodes[node] - centre
        turn = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])
        J[3 * blocks[node] + np.arange(3), -6:] = np.hstack([np.eye(3), turn])
    return J


TEXT = (
    "One closed form for each kind of body that the report distinguishes by its dimension, small loads "
    "where the formula is of first order. Rigid regions are compared with the projection of the report "
    "carried out in full matrices."
)
