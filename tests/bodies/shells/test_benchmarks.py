"""Shells against known answers: the obstacle course of shell elements, plates, strips, inflated skins."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bench.validation import sheets
from pliant.bodies import Shell
from tests.bodies.shells.common import left, linear_answer, settled

pytestmark = pytest.mark.filterwarnings("ignore::pliant.errors.PliantWarning")  # benchmarks of many metres


def order(errors, ratio: float = 2.0) -> float:
    """Observed order of convergence of the last two errors, the mesh refined by `ratio`."""
    return float(np.log(abs(errors[-2] / errors[-1])) / np.log(ratio))


# The obstacle course (Belytschko et al. 1985; MacNeal and Harder 1985)


def scordelis_lo(n: int, **options) -> float:
    """A roof on two diaphragms under its weight: deflection in the middle of the free edge, 0.3024."""
    R, L, angle = 25.0, 50.0, np.radians(40)
    sheet = pl.mesh.mapped_sheet(
        lambda u, v: np.column_stack([R * np.sin(angle * u), L / 2 * v, R * np.cos(angle * u)]), cells=(n, n)
    )
    x, y, _ = sheet.nodes.T
    fixed = np.zeros((len(x), 6), bool)
    fixed[y < 1e-9] |= np.array([1, 0, 1, 0, 0, 0], bool)
    fixed[y > L / 2 - 1e-9] |= sheets.MIRROR["y"]
    fixed[x < 1e-9] |= sheets.MIRROR["x"]
    roof = Shell(sheet, pl.Hooke(young=4.32e8, poisson=0.0), 0.25, density=360.0, fixed=fixed, **options)
    sag = linear_answer(roof, roof.linearise(roof.q0, (0, 0, -1.0))[1]).reshape(-1, 6)
    return -sag[np.argmax(x + y), 2] / 0.3024 - 1


COURSE = {
    "Scordelis-Lo roof": scordelis_lo,
    "pinched cylinder": lambda n, **options: sheets.pinched_cylinder(n, **options).worst,
    "hemisphere": lambda n, **options: sheets.pinched_hemisphere(n, **options).worst,
}
ALLOWED = {  # for any strain up to 0.3, and for sheets that hardly stretch
    0.3: {8: (0.08, 0.12, 0.03), 16: (0.02, 0.02, 0.02)},
    0.01: {8: (0.01, 0.07, 0.05), 16: (0.01, 0.01, 0.01)},
}


@pytest.mark.parametrize("strain", list(ALLOWED))
@pytest.mark.parametrize("n", [8, 16])
def test_obstacle_course(strain, n, within):
    for (name, answer), allowed in zip(COURSE.items(), ALLOWED[strain][n]):
        within(answer(n, largest_strain=strain), allowed, f"{name}, {n} × {n}")


@pytest.mark.parametrize("theory", ["thin", "thick"])
@pytest.mark.parametrize("strain", [0.3, 0.01])
@pytest.mark.parametrize("thickness", [0.32, 0.0032])
def test_twisted_beam(thickness, strain, theory, within):
    """Facets that are warped against each other by five thicknesses of the thin one; no setting locks."""
    for cells, allowed in (((12, 2), 0.012), ((24, 4), 0.015)):
        answer = sheets.twisted_beam(cells, thickness, theory=theory, largest_strain=strain)
        within(answer.worst, allowed, f"{cells[0]} × {cells[1]}")


@pytest.mark.parametrize("pattern", ["alternating", "diagonal", "crossed"])
def test_thin_saddle(pattern, within):
    """z = x² − y², clamped on one side, under its weight (Bathe, Iosilevich and Chapelle 2000): 6.3941e-3.

    All bending, no stretch; whatever the diagonals and whatever strain is expected.
    """
    saddle = pl.mesh.mapped_sheet(
        lambda u, v: np.column_stack([u - 0.5, v - 0.5, (u - 0.5) ** 2 - (v - 0.5) ** 2]),
        cells=(16, 16),
        pattern=pattern,
    )
    clamped, steel = saddle.nodes[:, 0] < -0.5 + 1e-9, pl.Hooke(young=2e11, poisson=0.3)
    for strain in (0.3, 0.01):
        shell = Shell(saddle, steel, 1e-3, density=8000.0, fixed=clamped, largest_strain=strain)
        sag = linear_answer(shell, shell.linearise(shell.q0, (0, 0, -1.0))[1]).reshape(-1, 6)
        middle = np.argmin(np.linalg.norm(saddle.nodes - [0.5, 0, 0.25], axis=1))
        within(-sag[middle, 2] / 6.3941e-3 - 1, 0.035, pattern)


def test_hemisphere_far_from_linear(within):
    """Forces of 400 move their points by 4.067 out and 8.178 in, of a radius of 10 (Sze, Liu and Lo 2004)."""
    answer = sheets.pulled_hemisphere(32, largest_strain=0.01)
    within(answer.errors[::2], 0.01, "out")
    within(answer.errors[1::2], 0.015, "in")
    assert answer.iterations <= 4 * 8


def test_slit_annulus(within):
    """A lip lifted by 17.5 with rings of 6 to 10: rotations of a half turn and more."""
    within(sheets.slit_annulus((6, 36), largest_strain=0.01).errors, 0.035, "corners of the lip")


# Plates


def plate(n: int, support: str) -> float:
    """A square plate under pressure: deflection of its middle over p a⁴/D."""
    a, h, p, material = 0.1, 0.001, 1e-3, pl.Hooke(young=1e7, poisson=0.3)
    sheet = pl.mesh.sheet((a, a), cells=(n, n))
    edge = np.zeros(len(sheet.nodes), bool)
    edge[np.unique(sheet.rim)] = True
    mask = edge if support == "clamped" else np.outer(edge, [False, False, True])
    if support != "clamped":
        mask[0] = True
        mask[n, 0] = True  # and against turning in its plane
    shell = Shell(sheet, material, h, fixed=mask)
    middle = shell.points([[a / 2, a / 2, 0]])
    robot = pl.Robot(
        shell,
        {
            "pressure": pl.Row(pl.SurfaceForce.on(shell, sheet.surface), pl.Known(effort=p * a * a)),
            "sag": pl.Row(pl.Position(middle, directions="z")),
        },
    )
    D = material.young * h**3 / 12 / (1 - material.poisson**2)
    return float(pl.static(robot).displacement["sag"][0]) * D / (p * a**4)


@pytest.mark.parametrize("support, exact", [("clamped", 0.00126532), ("supported", 0.00406235)])
def test_square_plate_under_pressure(support, exact, within):
    """Timoshenko's series; the error falls with the square of the cells."""
    errors = [plate(n, support) / exact - 1 for n in (8, 16, 24)]
    within(errors[-1], 0.004, f"{support}, 24 × 24")
    assert order(errors, 1.5) > 1.7


def test_round_plate_under_pressure(within):
    """Clamped: w = p R⁴/64D, everywhere along the radius (1 − r²/R²)²."""
    R, h, p, material = 0.1, 0.002, 1e-3, pl.Hooke(young=1e7, poisson=0.3)
    sheet = pl.mesh.disc_sheet(R, around=48, rings=8)
    shell = Shell(sheet, material, h, fixed=np.unique(sheet.rim))
    force = pl.SurfaceForce.on(shell, sheet.surface)
    result = pl.static(pl.Robot(shell, {"p": pl.Row(force, pl.Known(effort=p * sheet.area))}))
    D = material.young * h**3 / 12 / (1 - material.poisson**2)
    r = np.linalg.norm(sheet.nodes, axis=1)
    shape = p * R**4 / 64 / D * (1 - (r / R) ** 2) ** 2
    within((result.positions[:, 2] - shape) / shape.max(), 0.005, "deflection")
    _, moment = shell.resultants(result.q)
    r = np.linalg.norm(sheet.centres, axis=1)
    exact = 1.3 * p / 16 * (R**2 - 2 * r**2)  # mean of the two moments per width
    within((moment[:, :2].mean(axis=1) - exact) / np.abs(exact).max(), 0.03, "moment")


# Large rotations


def strip(n: int, thickness: float = 1e-3) -> tuple[Shell, np.ndarray]:
    """0.1 × 0.01 m, clamped on the left and bent in its plane, ν = 0; and the load (ndof,) for 1 rad."""
    sheet = pl.mesh.sheet((0.1, 0.01), cells=(n, 1))
    fixed = np.zeros((len(sheet.nodes), 6), bool)
    fixed[:, [1, 3, 5]] = True
    fixed[left(sheet.nodes)] = True
    shell = Shell(sheet, pl.Hooke(young=1e6, poisson=0.0), thickness, fixed=fixed)
    moment = np.zeros((len(sheet.nodes), 6))
    moment[sheet.nodes[:, 0] > 0.1 - 1e-9, 4] = -0.5 * 1e6 * 0.01 * thickness**3 / 12 / 0.1
    return shell, moment.ravel()


def rolled(n: int, angle: float) -> tuple[float, list[int]]:
    """A strip bent to an arc of `angle` in four steps: error of the tip over its length, iterations."""
    shell, moment = strip(n)
    q, counts = shell.q0, []
    for share in (0.25, 0.5, 0.75, 1.0):
        q, count = settled(shell, share * angle * moment, q=q)
        counts.append(count)
    tip = 0.1 / angle * np.array([np.sin(angle), 1 - np.cos(angle)])
    end = np.argmax(shell.mesh.nodes[:, 0])
    return float(np.linalg.norm(shell.positions(q)[end][[0, 2]] - tip)) / 0.1, counts


def test_strip_rolled_into_a_circle(within):
    """Second order, and a handful of iterations for every quarter turn."""
    errors, counts = zip(*(rolled(n, 2 * np.pi * 0.9) for n in (8, 16, 32)))
    within(errors[-1], 2e-4, "tip, 32 cells")
    assert order(errors) > 1.9 and max(map(max, counts)) <= 8
    within(rolled(16, 2 * np.pi)[0], 1e-5, "closed ring")  # symmetric: the ends meet


def test_statics_roll_a_strip_up_in_one_go(within):
    """A whole circle from flat, by motors on the two end nodes."""
    shell, _ = strip(16)
    ends = np.flatnonzero(shell.mesh.nodes[:, 0] > 0.1 - 1e-9)
    torque = 0.5 * 1e6 * 0.01 * 1e-9 / 12 * 2 * np.pi / 0.1
    motors = {f"motor {n}": pl.Motor(shell.node_frame(n), axis=(0, -1, 0), middle=np.pi) for n in ends}
    rows = {name: pl.Row(motor, pl.Known(effort=torque)) for name, motor in motors.items()}
    result = pl.static(pl.Robot(shell, rows))
    assert result.certificate.load_steps == 1 and result.certificate.iterations <= 40
    within(result.positions[ends][:, [0, 2]] / 0.1, 1e-5, "closed ring")


def test_predicted_forces_save_iterations():
    """A quarter turn of a thin strip, where the exact tangent wanders."""
    shell, moment = strip(16, 5e-4)
    assert settled(shell, np.pi / 2 * moment)[1] <= 8
    with pytest.raises(AssertionError, match="not settled"):
        settled(shell, np.pi / 2 * moment, predicted=False, most_steps=16)


def test_strip_lifted_by_its_end(within):
    """The cantilever of Sze, Liu and Lo (2004), 10 × 1 × 0.1: 6.698 up and 3.286 back under F = 4 EI/L²."""
    sheet = pl.mesh.sheet((10.0, 1.0), cells=(16, 1))
    shell = Shell(sheet, pl.Hooke(young=1.2e6, poisson=0.0), 0.1, fixed=left)
    end = sheet.nodes[:, 0] > 10.0 - 1e-9
    load = np.zeros((len(sheet.nodes), 6))
    load[end, 2] = 4.0 / end.sum()
    q, count = settled(shell, load.ravel())
    moved = (shell.positions(q) - sheet.nodes)[end].mean(axis=0)
    within(moved[2] / 6.698 - 1, 0.005, "up")
    within(moved[0] / -3.286 - 1, 0.005, "back")
    assert count <= 15


# Inflated shells


def test_inflated_sphere(within):
    """Membrane stress pR/2h in a closed shell under the pressure of its cavity; second order."""
    R, h, p, material = 0.05, 5e-4, 2.0, pl.Hooke(young=1e6, poisson=0.3)
    errors, grown = [], []
    for cells in (4, 8):
        sheet = pl.mesh.sphere_sheet(R, cells=cells)
        fixed = np.zeros((len(sheet.nodes), 3), bool)
        low, high, side = (
            np.argmin(sheet.nodes[:, 2]),
            np.argmax(sheet.nodes[:, 2]),
            np.argmax(sheet.nodes[:, 0]),
        )
        fixed[low], fixed[high, :2], fixed[side, 1] = True, True, True
        shell = Shell(sheet, material, h, fixed=fixed)
        robot = pl.Robot(shell, {"p": pl.Row(pl.Cavity.on(shell, sheet.surface), pl.Known(effort=p))})
        result = pl.static(robot)
        forces, _ = shell.resultants(result.q)
        errors.append(forces[:, :2].mean() / (p * R / 2) - 1)
        growth = 4 * np.pi * R**2 * p * R**2 * (1 - 0.3) / (2 * material.young * h)
        grown.append(float(result.displacement["p"][0]) / growth - 1)
    within(errors[-1], 0.004, "stress")
    within(grown[-1], 0.012, "volume")
    assert order(errors) > 1.7 and order(grown) > 1.6


def test_closed_tube_under_pressure(within):
    """Away from its ends: pR/h around and pR/2h along; the pressure acts on the caps."""
    R, L, h, p = 0.02, 0.12, 5e-4, 5.0
    sheet = pl.mesh.tube_sheet(R, L, around=32, along=36, caps=True)
    bottom = np.argmin(np.linalg.norm(sheet.nodes, axis=1))
    shell = Shell(sheet, pl.Hooke(young=1e6, poisson=0.3), h, fixed=[bottom])
    robot = pl.Robot(shell, {"p": pl.Row(pl.Cavity.on(shell, sheet.surface), pl.Known(effort=p))})
    result = pl.static(robot)
    sigma = shell.stress(result.q)
    x = sheet.centres
    middle = (np.hypot(x[:, 0], x[:, 1]) > 0.95 * R) & (np.abs(x[:, 2] - L / 2) < 0.01)
    around = np.column_stack([-x[:, 1], x[:, 0], 0 * x[:, 0]]) / np.hypot(x[:, 0], x[:, 1])[:, None]
    hoop = np.einsum("ei,eij,ej->e", around, sigma, around)[middle]
    within(hoop.mean() / (p * R / h) - 1, 0.01, "around")
    within(sigma[middle, 2, 2].mean() / (p * R / 2 / h) - 1, 0.01, "along")
