"""Rigid regions: projected forces and stiffness, joints, frame points, masses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.bodies import Ball, Hinge, Prismatic, Rigid, Solid
from pliant.materials import Hooke
from pliant.mesh import box
from pliant.points import Points
from tests.bodies.common import ELEMENTS, GRAVITY, MATERIALS, NONE, Probe, distorted, equilibrium, left


def between(lo: float, hi: float):
    return lambda x: (x[:, 0] > lo) & (x[:, 0] < hi)


TIP = between(0.05, 1.0)
JOINTS = {
    "free": (None, 6),
    "hinge": (Hinge((0, 1, 0.2), (0.07, 0.01, 0.0)), 1),
    "prismatic": (Prismatic((1, 1, 0)), 1),
    "ball": (Ball((0.08, 0.0, 0.0)), 3),
}


def bar(kind: str = "tet4", **options) -> Solid:
    mesh = distorted(kind, (5, 2, 2), (0.075, 0.02, 0.02), 0.1)
    return Solid(mesh, options.pop("material", Hooke(3e5, 0.45)), density=1000, **options)


@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("element", ["tet4", "tet10", "hex8", "hex20"])
def test_projected_forces_and_tangent_are_derivatives(element: str, joint: str) -> None:
    kind, options = ELEMENTS[element]
    body = bar(kind, fixed=left, rigid=Rigid(TIP, "tip", joint=JOINTS[joint][0]), **options)
    assert body.free[-6:].sum() == JOINTS[joint][1]
    Probe.random(body, 1e-4).check(directions=4)


@pytest.mark.parametrize("material", ["hooke", "neo-Hookean", "incompressible"])
def test_several_regions_and_rollers(material: str) -> None:
    rollers = np.zeros((len(distorted("tet4", (5, 2, 2)).nodes), 3), bool)
    mesh = distorted("tet4", (5, 2, 2), (0.075, 0.02, 0.02), 0.1)
    rollers[left(mesh.nodes)] = True
    rollers[(mesh.nodes[:, 0] > 0.01) & (mesh.nodes[:, 0] < 0.02) & (mesh.nodes[:, 2] < 1e-9), 2] = True
    regions = [
        Rigid(between(0.025, 0.035), "slice"),
        Rigid(between(0.04, 0.05), "next", joint=JOINTS["prismatic"][0]),
        Rigid(TIP, "tip", joint=JOINTS["hinge"][0]),
    ]
    body = Solid(mesh, MATERIALS[material], density=1000, fixed=rollers, rigid=regions)
    Probe.random(body, 2e-5, turn=0.02).check(directions=4)
    assert body.rigid_modes() == 0


@pytest.mark.parametrize("joint", JOINTS)
def test_rigid_modes_left_by_a_joint(joint: str) -> None:
    assert bar(rigid=Rigid(TIP, joint=JOINTS[joint][0])).rigid_modes() == JOINTS[joint][1]
    assert bar(rigid=Rigid(TIP, joint=JOINTS[joint][0]), fixed=left).rigid_modes() == 0


def test_region_moves_as_one_and_cells_inside_it_store_nothing() -> None:
    body = bar(fixed=left, rigid=Rigid(TIP, "tip", joint=Ball((0.07, 0.0, 0.0))))
    dq = np.zeros(body.ndof)
    dq[-3:] = 0.2, -0.1, 0.3
    q = body.retract(body.q0, dq)
    R, centre = body.pose(q, "tip")
    np.testing.assert_allclose(R, Rotation.from_rotvec([0.2, -0.1, 0.3]).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(centre, [0.07, 0.0, 0.0], atol=1e-15)
    rigid = body.node_region[: len(body.mesh.nodes)] == 0
    expected = (body.mesh.nodes[rigid] - centre) @ R.T + centre
    np.testing.assert_allclose(body.positions(q)[rigid], expected, atol=1e-14)
    inside = rigid[body.mesh.cells].all(axis=1)
    assert inside.any() and not body.stress(q)[inside].any() and body.stress(q)[~inside].any()
    two = body.retract(body.retract(body.q0, 0.5 * dq), 0.5 * dq)
    np.testing.assert_allclose(two, q, atol=1e-14)


def test_a_region_without_stiffness_around_it_matches_a_stiff_part() -> None:
    """A rigid tip is the limit of a stiff one: the deflections agree to the ratio of the moduli."""
    mesh = box((0.1, 0.02, 0.02), cells=(5, 2, 2), kind="hex")
    part = mesh.with_regions((mesh.centres[:, 0] > 0.06).astype(int))
    soft, stiff = Hooke(3e5, 0.3), Hooke(3e11, 0.3)
    tip = [[0.1, 0.01, 0.01]]
    moved = []
    for body in (
        Solid(part, {0: soft, 1: stiff}, density=1000, fixed=left),
        Solid(mesh, soft, density=1000, fixed=left, rigid=Rigid(lambda x: x[:, 0] > 0.059)),
    ):
        q = equilibrium(body, (0, 0, -9.81))
        moved.append(body.points(tip).position(q)[0])
        np.testing.assert_allclose(
            body.reactions(q, (0, 0, -9.81))[left(body.mesh.nodes)].sum(0)[2], 0.04 * 9.81, rtol=1e-7
        )
    np.testing.assert_allclose(moved[0], moved[1], atol=2e-6 * abs(moved[1][2] - 0.01) + 1e-8)
    assert moved[1][2] < 0.009


def _jacobian(body: Solid, points: Points, q: np.ndarray) -> np.ndarray:
    """∂p/∂dq as a dense array (P, 3, ndof)."""
    J = np.zeros((len(points), 3, body.ndof))
    blocks = points.jacobian(q)
    for i in range(len(points)):
        for k in range(points.ptr[i], points.ptr[i + 1]):
            J[i, :, 3 * points.block[k] : 3 * points.block[k] + 3] += blocks[k]
    return J


def test_points_follow_regions() -> None:
    body = bar(fixed=left, rigid=Rigid(TIP, "tip", joint=Hinge((0, 1, 0.2), (0.07, 0.01, 0.0))))
    probe = Probe.random(body, 1e-4)
    sets = {
        "frame": body.region_points("tip"),
        "attached": body.attached_points("tip", [[0.2, 0.1, -0.3], [0.07, 0.01, 0.0]]),
        "cells": body.points([[0.049, 0.005, 0.006], [0.07, 0.01, 0.013], [0.02, 0.01, 0.01]]),
        "nodes": body.node_points([0, 20, 40]),
    }
    d = np.random.default_rng(5).normal(size=body.ndof) * body.free
    for points in sets.values():
        np.testing.assert_allclose(points.position(body.q0), points.rest, atol=1e-15)
        plus, minus = (points.position(body.retract(probe.q, s * d)) for s in (1e-6, -1e-6))
        np.testing.assert_allclose(_jacobian(body, points, probe.q) @ d, (plus - minus) / 2e-6, atol=1e-7)
    R, centre = body.pose(probe.q, "tip")
    attached = sets["attached"]
    np.testing.assert_allclose(
        attached.position(probe.q), (attached.rest - [0.07, 0.01, 0.0]) @ R.T + centre, atol=1e-14
    )
    frame = sets["frame"].rest
    np.testing.assert_allclose(frame[0], [0.07, 0.01, 0.0])
    axes = (frame[1:] - frame[0]) / np.linalg.norm(frame[1:] - frame[0], axis=1)[:, None]
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(axes[2], np.array([0, 1, 0.2]) / np.hypot(1, 0.2), atol=1e-14)


def test_flat_regions_have_a_frame_too() -> None:
    body = bar(fixed=left, rigid=Rigid(lambda x: x[:, 0] > 0.0749, "end"))
    assert np.linalg.matrix_rank(body.region_points("end").rest[1:] - body.region_points("end").rest[0]) == 3


@pytest.mark.parametrize("element", ["tet4", "tet10", "hex8", "hex20"])
@pytest.mark.parametrize("kind", ["lumped", "consistent"])
def test_mass_of_rigid_motion(element: str, kind: str) -> None:
    """½ vᵀMv of a translation is ½ m v², of a rotation ½ ω I ω, with and without regions."""
    shape, options = ELEMENTS[element]
    mesh = distorted(shape, (3, 2, 2), (0.06, 0.03, 0.02))
    whole = Solid(mesh, Hooke(1e5, 0.3), density=1200, mass=kind, **options)
    part = Solid(
        mesh, Hooke(1e5, 0.3), density=1200, mass=kind, rigid=Rigid(between(0.03, 1.0), "r"), **options
    )
    assert whole.total_mass == pytest.approx(1200 * 0.06 * 0.03 * 0.02)
    v, omega = np.array([0.3, -0.2, 0.5]), np.array([0.4, 1.0, -0.7])
    X = whole.mesh.nodes
    turning = (v + np.cross(omega, X)).ravel()
    energies = []
    for body in (whole, part):
        own = body.node_block[: len(X)] >= 0
        M = body.pattern.to_csr(body.mass())
        dq = np.zeros(body.ndof)
        for field in (np.tile(v, len(X)), turning):
            dq[: 3 * own.sum()] = field.reshape(-1, 3)[own].ravel()
            if len(body.region_block):
                centre = body.coordinates.region_centre[0]
                spin = field is turning
                dq[-6:] = np.concatenate(
                    [v + np.cross(omega, centre) if spin else v, omega if spin else NONE]
                )
            energies.append(0.5 * dq @ (M @ dq))
        np.testing.assert_allclose(energies[-2], 0.5 * body.total_mass * v @ v, rtol=1e-12)
        values = np.linalg.eigvalsh(M.toarray())
        assert values[0] > 0
    assert energies[1] == pytest.approx(energies[3], rel=1e-12)
    if kind == "consistent":  # exact: the fields are linear and the quadrature integrates their square
        centre, size = np.array([0.03, 0.015, 0.01]), np.array([0.06, 0.03, 0.02])
        inertia = whole.total_mass / 12 * ((size**2).sum() * np.eye(3) - np.diag(size**2))
        speed = v + np.cross(omega, centre)
        expected = 0.5 * whole.total_mass * speed @ speed + 0.5 * omega @ inertia @ omega
        assert energies[1] == pytest.approx(expected, rel=1e-10)


def test_free_fall_is_uniform() -> None:
    """M⁻¹ r = g at rest, for every mass: gravity and inertia act on the same masses."""
    for kind in ("lumped", "consistent"):
        body = bar(mass=kind)
        _, r, _ = body.linearise(body.q0, GRAVITY)
        acceleration = np.linalg.solve(body.pattern.to_csr(body.mass()).toarray(), r)
        np.testing.assert_allclose(
            acceleration.reshape(-1, 3), np.tile(GRAVITY, (body.ndof // 3, 1)), rtol=1e-7
        )
