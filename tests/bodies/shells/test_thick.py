"""Shells with transverse shear: closed forms of thick plates, patch tests, limits, fields, warnings."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.linalg import eigh

import pliant as pl
from pliant.bench.validation import sheets
from pliant.bodies import Shell
from pliant.bodies.shells.law import shear_moduli
from pliant.materials import Orthotropic
from tests.bodies.shells.common import NONE, SOFT, crumpled, dense, left, linear_answer, settled

PLATES = [("round", "clamped"), ("round", "supported"), ("square", "clamped"), ("square", "supported")]


def thin_on_purpose(*args, **options):
    """A plate of thin theory that is too thick for it, without the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.PliantWarning)
        return sheets.plate(*args, **options)


# Plates


@pytest.mark.parametrize("slenderness", [1e-3, 0.1, 0.2])
@pytest.mark.parametrize("shape, support", PLATES)
def test_plates_of_any_thickness(shape, support, slenderness, within):
    """Reissner–Mindlin closed forms; no locking when thin."""
    cells = 16 if shape == "square" else 4
    within(sheets.plate(shape, support, cells, slenderness, theory="thick").worst, 0.01, "thick")


@pytest.mark.parametrize(
    "shape, support", [("round", "clamped"), ("round", "supported"), ("square", "supported")]
)
def test_second_order_on_thick_plates(shape, support):
    errors = [sheets.plate(shape, support, n, 0.2, theory="thick").worst for n in (4, 8)]
    assert np.log2(errors[0] / errors[1]) > 1.6


def test_thin_theory_is_too_stiff_for_thick_plates():
    assert thin_on_purpose("round", "clamped", 6, 0.1).worst < -0.15
    assert thin_on_purpose("round", "clamped", 6, 0.2).worst < -0.4


def test_frequency_of_a_thick_plate(within):
    """Supported, h/a = 0.1: ω² is the lower root of Mindlin's quadratic, with rotary inertia."""
    E, nu, rho, a, h = 1e6, 0.3, 1000.0, 0.1, 0.01
    sheet = pl.mesh.sheet((a, a), cells=(12, 12))
    fixed = sheets._edge(sheet, "square", "supported", a)
    fixed[:, [0, 1, 5]] = True
    plate = Shell(sheet, pl.Hooke(E, nu), h, density=rho, fixed=fixed, theory="thick")
    K, M = (
        dense(plate, X)[np.ix_(plate.free, plate.free)]
        for X in (plate.linearise(plate.q0, NONE)[2], plate.mass())
    )
    omega = np.sqrt(eigh(K, M, eigvals_only=True, subset_by_index=[0, 0])[0])
    D, S, I, k2 = (
        E * h**3 / 12 / (1 - nu**2),
        5 / 6 * E / 2 / (1 + nu) * h,
        rho * h**3 / 12,
        2 * (np.pi / a) ** 2,
    )
    # (S k² − ρhω²)(S + D k² − Iω²) = S² k²
    roots = np.roots([rho * h * I, -(S * k2 * I + rho * h * (S + D * k2)), D * S * k2**2])
    within(omega / np.sqrt(roots.min()) - 1, 0.01, "frequency")
    assert omega < 0.97 * np.sqrt(D * k2**2 / rho / h)  # Kirchhoff's


# Patch tests


@pytest.mark.parametrize("kappa", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, -0.4, 0.5)])
def test_bending_patch(kappa, within):
    """Constant curvature has no shear: no load inside and the energy of bending, however thick."""
    sheet = crumpled(rise=0.0, cells=4)
    x, y, _ = sheet.nodes.T
    a, b, c = kappa
    u = np.zeros((len(x), 6))
    u[:, 2] = 0.5 * (a * x**2 + b * y**2 + c * x * y)
    u[:, 3], u[:, 4] = b * y + 0.5 * c * x, -(a * x + 0.5 * c * y)
    inside = np.setdiff1d(np.arange(len(x)), np.unique(sheet.rim))
    for h in (0.0005, 0.01, 0.05):
        shell = Shell(sheet, SOFT, h, theory="thick")
        K = dense(shell, shell.linearise(shell.q0, NONE)[2])
        load, size = (K @ u.ravel()).reshape(-1, 6), (np.abs(K) @ np.abs(u.ravel())).max()
        within(np.abs(load[inside]).max() / size, 1e-12, "load inside")
        D = SOFT.young * h**3 / 12 / (1 - 0.16) * np.array([[1, 0.4, 0], [0.4, 1, 0], [0, 0, 0.3]])
        k = np.array(kappa)
        within(0.5 * np.vdot(u, load) / (0.5 * k @ D @ k * sheet.area) - 1, 1e-9, "energy")


def test_shear_patch(within):
    """A sheet tilted against its normals, w = γ·x: the energy of uniform shear, to second order in ℓ/h.

    Between nodes normals are free to turn, as those of a Timoshenko beam are: the shear is exact where sides
    are short against the thickness.
    """
    sheet, gamma = crumpled(rise=0.0, cells=4), np.array([0.7, -0.4])
    u = np.zeros((len(sheet.nodes), 6))
    u[:, 2] = sheet.nodes[:, :2] @ gamma
    errors = []
    for h in (0.5, 1.0, 2.0):
        shell = Shell(sheet, SOFT, h, theory="thick")
        K = dense(shell, shell.linearise(shell.q0, NONE)[2])
        exact = 0.5 * 5 / 6 * SOFT.shear_modulus * h * gamma @ gamma * sheet.area
        errors.append(0.5 * u.ravel() @ K @ u.ravel() / exact - 1)
    within(errors[-1], 1e-3, "energy")
    within(np.log2(errors[-2] / errors[-1]) - 2, 0.02, "order")


@pytest.mark.parametrize("pattern", ["alternating", "diagonal", "crossed"])
def test_strip_under_end_force_is_a_timoshenko_beam(pattern, within):
    """w = FL³/3EI + FL/S and constant shear, ν = 0, h/L = 0.25."""
    L, width, h, E = 0.1, 0.05, 0.025, 1e6
    sheet = pl.mesh.sheet((L, width), cells=(16, 4), pattern=pattern)
    fixed = np.zeros((len(sheet.nodes), 6), bool)
    fixed[:, [1, 3, 5]] = True
    fixed[left(sheet.nodes)] = True
    shell = Shell(sheet, pl.Hooke(E, 0.0), h, fixed=fixed, theory="thick")
    end = np.flatnonzero(sheet.nodes[:, 0] > L - 1e-9)
    share = np.where(np.abs(sheet.nodes[end, 1] - width / 2) > width / 2 - 1e-9, 0.5, 1.0)
    load = np.zeros((len(sheet.nodes), 6))
    load[end, 2] = 1e-3 * share / share.sum()
    dq = linear_answer(shell, load.ravel())
    bend, shear = L**3 / 3 / (E * width * h**3 / 12), L / (5 / 6 * 0.5 * E * width * h)
    within(dq.reshape(-1, 6)[end, 2].mean() / (1e-3 * (bend + shear)) - 1, 0.002, "tip")
    Q = shell.shear_forces(shell.retract(shell.q0, dq))
    along = np.einsum("ei,eji,j->e", Q, shell.triangles.frame[:, :, :2], [1.0, 0, 0])
    within(np.average(along, weights=sheet.areas) * width / 1e-3 - 1, 0.01, "shear force")


# Limits


def test_thin_sheets_are_the_same_in_both_theories(within):
    """The difference falls with (h/ℓ)²."""
    sheet, gap = crumpled(rise=0.003), []
    for h in (1e-3, 1e-4):
        K, other = (
            dense(body, body.linearise(body.q0, NONE)[2])
            for body in (Shell(sheet, SOFT, h, theory=theory) for theory in ("thin", "thick"))
        )
        bend = np.arange(len(K)) % 6 // 3 == 1
        gap.append(np.abs(K - other)[np.ix_(bend, bend)].max() / h**3)
    within(np.log10(gap[0] / gap[1]) - 2, 0.05, "order")


def test_a_thick_strip_bends_far_as_a_rod_does(within):
    """h/L = 0.2, the tip turned by more than a radian, against a Cosserat rod with the same sections."""
    L, width, h, material = 0.1, 0.02, 0.02, pl.Hooke(1e6, 0.0)
    sheet = pl.mesh.sheet((L, width), cells=(20, 2))
    shell = Shell(sheet, material, h, fixed=left, theory="thick")
    end = sheet.nodes[:, 0] > L - 1e-9
    force = 2.5 * material.young * width * h**3 / 12 / L**2
    load = np.zeros((len(sheet.nodes), 6))
    load[end, 2] = force / end.sum()
    q, count = settled(shell, load.ravel())
    lines = pl.mesh.lines.line((0, 0, 0), (L, 0, 0), elements=16)
    rod = pl.Beam(lines, pl.bodies.Rectangle(width, h), material, fixed=0)
    tip = pl.PointForce(rod.node_points([16]), direction=(0, 0, 1))
    bent = pl.static(pl.Robot(rod, {"tip": pl.Row(tip, pl.Known(effort=force))}))
    expected = bent.positions[16] - [L, 0, 0]
    moved = (shell.positions(q) - sheet.nodes)[end].mean(axis=0)
    assert count <= 15 and expected[2] > 0.5 * L
    within((moved - expected)[[0, 2]] / L, 0.003, "tip")


# Laws and fields


def test_shear_moduli_of_a_fabric():
    """σ₁₃ = G₁₃ γ₁₃, turned with the axes."""
    fabric = Orthotropic(
        young=(2e6, 1e6, 5e5), poisson=(0.3, 0.1, 0.1), shear=(4e5, 3e5, 2e5), axes=np.eye(3)
    )
    G = shear_moduli(fabric, np.array([np.eye(3), [[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]]))
    assert np.allclose(G[0], np.diag([G[0, 0, 0], G[0, 1, 1]])) and np.allclose(
        G[1], np.diag(np.diag(G[0])[::-1])
    )
    assert {3e5, 2e5} == {round(float(g)) for g in np.diag(G[0])}
    iso = shear_moduli(SOFT, np.eye(3)[None])[0]
    assert np.allclose(iso, SOFT.shear_modulus * np.eye(2))


def test_stress_of_a_sheared_sheet(within):
    """3/2 Q/h in the middle, across the sheet; none on its faces, and rotated with it."""
    sheet = pl.mesh.sheet((0.01, 0.01), cells=(4, 4))
    shell = Shell(sheet, SOFT, 0.05, theory="thick")
    q = shell.q0.copy()
    x = q[: shell.coordinates.pose].reshape(-1, 3)
    pose = q[shell.coordinates.pose :].reshape(-1, 12)
    pose[:, 2] += 1e-4 * pose[:, 0]
    x[: len(sheet.nodes), 2] += 1e-4 * sheet.nodes[:, 0]
    sigma = shell.stress(q, side="middle")
    tau = 1.5 * 5 / 6 * SOFT.shear_modulus * 1e-4
    within(sigma[:, 0, 2] / tau - 1, 0.01, "shear stress")
    within(shell.stress(q, "von_mises", side="middle") / (np.sqrt(3) * tau) - 1, 0.01, "von Mises")
    assert np.abs(shell.stress(q, side="front")[:, 2, 2]).max() < 1e-3 * tau
    thin = Shell(pl.mesh.sheet((0.1, 0.1), cells=(2, 2)), SOFT, 0.001)
    with pytest.raises(pl.InputError, match="thick"):
        thin.shear_forces(thin.q0)


# Robots


def test_a_thick_sheet_is_pulled_and_touched(within):
    """A slab, clamped on one side, is pulled onto a ball by a cable at its edge: half its thickness apart."""
    sheet = pl.mesh.sheet((0.1, 0.06), cells=(10, 6))
    slab = Shell(sheet, SOFT, 0.012, density=1000, fixed=left, theory="thick")
    every = slab.node_points(np.arange(len(sheet.nodes)))
    skin = pl.contact.Samples.around(every, slab.half_thickness(every))
    edge = slab.points([[0.1, 0.03, -0.006]])
    cable = pl.Cable(edge, anchor=(0.1, 0.03, -0.1))
    robot = pl.Robot(slab, {"cable": pl.Row(cable)}, surroundings=pl.contact.Surroundings(samples=skin))
    ball = pl.Sphere(centre=(0.05, 0.03, -0.028), radius=0.02)
    law = {"cable": pl.Known(displacement=0.02)}
    free, bent = pl.static(robot, law), pl.static(robot, law, obstacles=[ball])
    gap = np.linalg.norm(bent.positions - ball.centre, axis=1).min() - 0.02
    within((gap - 0.006) / 0.006, 1e-4, "gap")
    assert bent.effort["cable"][0] > 1.2 * free.effort["cable"][0] and bent.contact_force.sum() > 0.01


# Warnings


def test_walls_too_thick_for_their_theory_warn():
    flat = pl.mesh.sheet((0.1, 0.1), cells=(4, 4))
    with pytest.warns(pl.PliantWarning, match='theory="thick"'):
        Shell(flat, SOFT, 0.01)
    tube = pl.mesh.tube_sheet(0.01, 0.1, around=16, along=8)
    with pytest.warns(pl.PliantWarning, match="Solid"):
        Shell(tube, SOFT, 0.003)
    Shell(flat, SOFT, 0.01, theory="thick")  # silent
    Shell(flat, SOFT, 0.004)
    Shell(tube, SOFT, 0.001)
    folded = pl.mesh.pillow_sheet((0.1, 0.1))
    Shell(folded, SOFT, 0.002)
    with pytest.raises(pl.InputError, match="thin"):
        Shell(flat, SOFT, 0.001, theory="thik")
