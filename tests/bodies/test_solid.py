"""Solid bodies: energy, forces and tangent agree; constant strain is exact; physics comes out right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.bodies import Beam, Circle, Membrane, Rigid, Shell, Solid
from pliant.bodies.overstress import Overstress
from pliant.bodies.sampling import sample
from pliant.errors import PliantWarning
from pliant.materials import Hooke, Incompressible, NeoHookean
from pliant.mesh import Mesh, box, join
from tests.bodies.common import ELEMENTS, GRAVITY, MATERIALS, NONE, Probe, distorted, equilibrium, left

# Forces and tangents are checked on meshes that nobody would bend with.
pytestmark = pytest.mark.filterwarnings("ignore::pliant.errors.PliantWarning")
TURN = Rotation.from_rotvec([0.9, -1.3, 0.4]).as_matrix()


@pytest.mark.parametrize("material", MATERIALS)
@pytest.mark.parametrize("element", ELEMENTS)
def test_forces_and_tangent_are_derivatives_of_the_energy(element: str, material: str) -> None:
    kind, options = ELEMENTS[element]
    body = Solid(distorted(kind), MATERIALS[material], density=1000, fixed=left, **options)
    Probe.random(body, 2e-4).check()


@pytest.mark.parametrize("bent", [1.0, 1.5, 1.65])
def test_a_hexahedron_bent_until_it_is_flat_on_one_side_resists(bent: float) -> None:
    """Its forces stay derivatives of its energy; at √3 the volume is zero at a point of Gauss."""
    body = Solid(box((0.02, 0.02, 0.02), cells=(1, 1, 1), kind="hex"), NeoHookean(3e5, 0.4))
    X, rng = body.mesh.nodes, np.random.default_rng(1)
    way = np.zeros_like(X)
    way[:, 0] = -(X[:, 0] - 0.01) * (X[:, 2] - 0.01) / 0.01
    at, step = X + bent * way + 1e-5 * rng.normal(size=X.shape), 1e-6
    _, force, K = body.linearise(at.ravel(), NONE)
    for direction in (way, 0.01 * rng.normal(size=X.shape)):
        ahead, behind = (body.linearise((at + s * direction).ravel(), NONE) for s in (step, -step))
        assert -force @ direction.ravel() == pytest.approx((ahead[0] - behind[0]) / (2 * step), rel=1e-6)
        change = (behind[1] - ahead[1]) / (2 * step)
        tangent = body.pattern.to_csr(K) @ direction.ravel()
        np.testing.assert_allclose(tangent, change, atol=1e-6 * np.abs(change).max())


def test_a_hexahedron_flat_at_a_point_resists_more_than_its_hourglasses_do() -> None:
    """Bending alone has an energy ∝ bent² until a fifth of the volume is left at a point, then a wall."""
    body = Solid(box((0.02, 0.02, 0.02), cells=(1, 1, 1), kind="hex"), NeoHookean(3e5, 0.4))
    X = body.mesh.nodes
    way = np.zeros_like(X)
    way[:, 0] = -(X[:, 0] - 0.01) * (X[:, 2] - 0.01) / 0.01
    energy = {bent: body.linearise((X + bent * way).ravel(), NONE)[0] for bent in (0.5, 1.0, 1.38, 1.7)}
    assert energy[1.0] == pytest.approx(4 * energy[0.5], rel=1e-9)
    assert energy[1.38] == pytest.approx(1.38**2 * energy[1.0], rel=1e-9)
    assert energy[1.7] > 1.05 * 1.7**2 * energy[1.0]
    assert body.linearise((X + 1.74 * way).ravel(), NONE)[1] is None


@pytest.mark.parametrize("material", ["hooke", "neo-Hookean", "St Venant", "incompressible"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_rigid_motion_changes_nothing(element: str, material: str) -> None:
    kind, options = ELEMENTS[element]
    body = Solid(distorted(kind), MATERIALS[material], **options)
    x = body.positions(Probe.random(body, 2e-4).q)
    moved = np.ascontiguousarray(x @ TURN.T + [0.1, -0.2, 0.3]).ravel()
    here, there = (body.linearise(y, NONE, tangent=False) for y in (x.ravel(), moved))
    assert there[0] == pytest.approx(here[0], rel=1e-9)
    f, g = here[1].reshape(-1, 3), there[1].reshape(-1, 3)
    np.testing.assert_allclose(g, f @ TURN.T, atol=1e-9 * np.abs(f).max())
    # No net force and no net torque.
    np.testing.assert_allclose(f.sum(0), 0.0, atol=1e-10 * np.abs(f).max())
    np.testing.assert_allclose(np.cross(x, f).sum(0), 0.0, atol=1e-11 * np.abs(f).max())
    turned = body.linearise((body.mesh.nodes @ TURN.T).ravel(), NONE, tangent=False)
    assert np.abs(turned[1]).max() < 1e-9 * np.abs(f).max()


@pytest.mark.parametrize("material", ["hooke", "neo-Hookean"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_constant_strain_is_exact(element: str, material: str) -> None:
    """Patch test: under an affine map inner nodes of a distorted mesh feel no force; stress is uniform."""
    kind, options = ELEMENTS[element]
    body = Solid(distorted(kind, (3, 3, 3), (0.03, 0.03, 0.03), 0.2), MATERIALS[material], **options)
    X = body.mesh.nodes
    stretch = TURN @ np.array([[1.06, 0.05, -0.03], [0.02, 0.95, 0.04], [0.01, -0.06, 1.03]])
    q = np.ascontiguousarray(X @ stretch.T + [0.01, 0.0, -0.02]).ravel()
    _, r, _ = body.linearise(q, NONE, tangent=False)
    r = r.reshape(-1, 3)
    inner = ((X > 1e-9) & (X < 0.03 - 1e-9)).all(axis=1)
    assert np.abs(r[inner]).max() < 1e-10 * np.abs(r).max()
    stress = body.stress(q)
    F, law = stretch, MATERIALS[material]
    np.testing.assert_allclose(stress, stress[:1].repeat(len(stress), 0), atol=1e-9 * np.abs(stress).max())
    np.testing.assert_allclose(stress[0], law.stress(F) @ F.T / np.linalg.det(F), rtol=1e-9)
    np.testing.assert_allclose(body.strain(q)[0], 0.5 * (F.T @ F - np.eye(3)), atol=1e-12)
    np.testing.assert_allclose(
        body.deformation_gradient(q), np.broadcast_to(F, (*body.deformation_gradient(q).shape,)), atol=1e-12
    )


@pytest.mark.parametrize("material", ["hooke", "neo-Hookean"])
@pytest.mark.parametrize("element", ELEMENTS)
def test_tangent_at_rest_has_six_rigid_modes_and_no_other(element: str, material: str) -> None:
    kind, options = ELEMENTS[element]
    body = Solid(distorted(kind, (2, 2, 2)), MATERIALS[material], **options)
    assert body.rigid_modes() == 6
    _, _, K = body.linearise(body.q0, NONE)
    values = np.linalg.eigvalsh(body.pattern.to_csr(K).toarray())
    assert np.abs(values[:6]).max() < 1e-9 * values[-1]
    assert values[6] > 1e-5 * values[-1]
    body = Solid(distorted(kind, (2, 2, 2)), MATERIALS[material], fixed=left, **options)
    _, _, K = body.linearise(body.q0, NONE)
    assert body.rigid_modes() == 0
    assert np.linalg.eigvalsh(body.pattern.to_csr(K).toarray())[0] > 0


@pytest.mark.parametrize("element", ["tet4", "tet10", "hex8"])
def test_clamped_tangent_stays_positive(element: str) -> None:
    kind, options = ELEMENTS[element]
    body = Solid(distorted(kind), MATERIALS["hooke"], fixed=left, **options)
    q = (body.mesh.nodes * [0.6, 1.0, 1.0]).ravel() + 1e-3 * np.random.default_rng(3).normal(
        size=len(body.q0)
    )
    exact, clamped = (body.linearise(q, NONE, clamp=clamp) for clamp in (False, True))
    np.testing.assert_array_equal(exact[1], clamped[1])
    lowest = [np.linalg.eigvalsh(body.pattern.to_csr(K).toarray())[0] for K in (exact[2], clamped[2])]
    assert lowest[0] < 0 < lowest[1] + 1e-9 * np.abs(clamped[2]).max()


@pytest.mark.parametrize("kind", ["tet10", "hex8"])
@pytest.mark.parametrize("stretch", [(0.7, 1.0, 1.0), (1.3, 1.3, 1.0), (1.4, 1.0, 1.0)])
def test_clamped_neo_hookean_tangent_stays_positive(stretch: tuple[float, ...], kind: str) -> None:
    body = Solid(distorted(kind, (6, 2, 2)), NeoHookean(3e5, 0.495), fixed=left)
    q = (body.mesh.nodes * stretch).ravel()
    tangents = [body.pattern.to_csr(body.linearise(q, NONE, clamp=c)[2]).toarray() for c in (False, True)]
    lowest = [np.linalg.eigvalsh(K)[0] for K in tangents]
    assert lowest[0] < 0 < lowest[1]


def test_corotated_cells_survive_inversion_and_neo_hookean_ones_refuse() -> None:
    for kind, options in (ELEMENTS["tet4"], ELEMENTS["tet10"], ELEMENTS["hex8"]):
        mesh = distorted(kind)
        mirrored = (mesh.nodes * [1.0, 1.0, -0.7]).ravel() + 2e-4 * np.random.default_rng(4).normal(
            size=mesh.nodes.size
        )
        body = Solid(mesh, MATERIALS["hooke"], density=1000, **options)
        assert (np.linalg.det(body.deformation_gradient(mirrored)) < 0).all()
        Probe(body, mirrored, body.z0).check()
        body = Solid(mesh, MATERIALS["neo-Hookean"], density=1000, **options)
        assert body.linearise(mirrored, GRAVITY) == (np.inf, None, None)


@pytest.mark.parametrize("material", ["hooke", "neo-Hookean", "Mooney–Rivlin", "incompressible"])
def test_what_hexahedra_remember_is_their_stress(material: str) -> None:
    """Half of the stress with the other half remembered has the elastic forces, which turn with the body."""
    body = Solid(distorted("hex8"), MATERIALS[material])
    probe = Probe.random(body, 5e-4)
    half = Overstress(0.5, 0.5 * body.stress_memory(probe.q, probe.z))
    elastic = body.linearise(probe.q, NONE, probe.z, tangent=False)[1]
    for R in (np.eye(3), TURN):
        q = np.ascontiguousarray(body.positions(probe.q) @ R.T).ravel()
        r = body.linearise(q, NONE, probe.z, tangent=False, viscous=half)[1]
        expected = (elastic.reshape(-1, 3) @ R.T).ravel()
        np.testing.assert_allclose(r, expected, atol=1e-9 * np.abs(elastic).max())


@pytest.mark.parametrize("material", ["hooke", "neo-Hookean", "incompressible"])
def test_weighted_hexahedra_have_the_forces_of_the_body(material: str) -> None:
    """All cells apart, each with weight three: three times the energy, and the forces of the cells add up."""
    body = Solid(distorted("hex8"), MATERIALS[material])
    probe = Probe.random(body, 5e-4)
    cells = sample(body.assembly, body.mesh.nodes, weights=np.full(len(body.mesh.cells), 3.0))
    x = body.positions(probe.q)[cells.nodes].ravel()
    apart = cells.assembly.linearise(x, 0 * probe.z, np.zeros(x.size), tangent=False, clamp=False)
    whole = body.linearise(probe.q, NONE, 0 * probe.z, tangent=False)
    assert apart[0] == pytest.approx(3.0 * whole[0], rel=1e-12)
    total = np.zeros(body.mesh.nodes.shape)
    np.add.at(total, cells.nodes, apart[1].reshape(*cells.nodes.shape, 3))
    np.testing.assert_allclose(total.ravel(), 3.0 * whole[1], atol=1e-10 * np.abs(whole[1]).max())


@pytest.mark.filterwarnings("error::pliant.errors.PliantWarning")
def test_poor_elements_warn_and_name_the_way_out() -> None:
    soft, bar = (
        Hooke(3e5, 0.49),
        lambda kind, grade: box((0.1, 0.02, 0.02), cells=(6, 1, 2), kind=kind, grade=(grade, 1, 1)),
    )
    with pytest.warns(PliantWarning, match="linear tetrahedra lock .* order=1"):
        Solid(bar("tet", 1.0), soft, fixed=left, order=1)
    for law in (soft, NeoHookean(3e5, 0.4999), Incompressible(NeoHookean(3e5))):
        with pytest.warns(PliantWarning, match="16.7 mm deep.* grade the mesh"):
            Solid(bar("hex", 1.0), law, fixed=left)
        Solid(bar("hex", 1.0), law, fixed=left, support_layers=False)
        Solid(bar("hex", 10.0), law, fixed=left)
        Solid(bar("hex", 1.0), law)
        Solid(bar("tet", 1.0), law, fixed=left)
    Solid(bar("hex", 1.0), Hooke(3e5, 0.45), fixed=left)


def test_several_materials_in_series() -> None:
    """A bar of two halves, ν = 0, pulled: u = F l/A (1/E₁ + 1/E₂), to first order."""
    for kind in ("tet", "hex"):
        mesh = box((0.1, 0.02, 0.02), cells=(6, 2, 2), kind=kind)
        mesh = mesh.with_regions((mesh.centres[:, 0] > 0.05).astype(int) * 7)
        soft, stiff = 1e5, 4e5
        body = Solid(mesh, {0: Hooke(soft, 0.0), 7: Hooke(stiff, 0.0)}, fixed=left)
        end = np.flatnonzero(body.mesh.nodes[:, 0] > 0.1 - 1e-9)
        area, force = 4e-4, 1e-4
        share = np.zeros(len(body.mesh.nodes))
        area_of = _face_weights(body.mesh, end)
        share[end] = force * area_of / area_of.sum()
        load = np.zeros(body.ndof)
        load[3 * body.node_block[end]] = share[end]
        q = equilibrium(body, load=load)
        move = body.positions(q)[end, 0] - 0.1
        np.testing.assert_allclose(move, force / area * 0.05 * (1 / soft + 1 / stiff), rtol=1e-4)
        assert body.stress(q)[:, 0, 0] == pytest.approx(force / area, rel=1e-4)
        one = Solid(mesh, {0: Hooke(soft, 0.3), 7: Hooke(soft, 0.3)}, fixed=left)
        same = Solid(mesh, Hooke(soft, 0.3), fixed=left)
        assert one.energy(q) == pytest.approx(same.energy(q), rel=1e-12)


def _face_weights(mesh: Mesh, end: np.ndarray) -> np.ndarray:
    """∫ N_a dA over the end face, up to a factor: the nodal forces of a uniform traction."""
    body = Solid(mesh, Hooke(1.0, 0.0), order=mesh.element.order)
    q = (mesh.nodes * [1.0 + 1e-6, 1.0, 1.0]).ravel()
    return -body.linearise(q, NONE, tangent=False)[1].reshape(-1, 3)[end, 0]


@pytest.mark.parametrize(
    ("kind", "cells", "tolerance"),
    [("tet", (7, 2, 2), 0.006), ("hex", (10, 2, 2), 0.018)],
    ids=["tet10", "hex8"],
)
def test_cantilever_deflection(kind: str, cells: tuple, tolerance: float) -> None:
    """A beam under its own weight against converged deflections of other codes.

    The grading is one that suits this beam, and the tolerances sit just above the errors it gives: this
    guards against change, it does not measure the elements. docs/bodies.md has the errors of an even mesh.
    """
    for poisson, reference in ((0.3, -13.635e-3), (0.45, -13.38e-3), (0.49, -13.28e-3)):
        mesh = box((0.1, 0.02, 0.02), cells=cells, kind=kind, grade=(8.0, 1.0, 1.0))
        body = Solid(mesh, Hooke(3e5, poisson), density=1100, fixed=left)
        q = equilibrium(body, (0, 0, -9.81))
        tip = body.points([[0.1, 0.01, 0.01]]).position(q)[0, 2] - 0.01
        assert tip == pytest.approx(reference, rel=tolerance)
        total = body.reactions(q, (0, 0, -9.81)).sum(0)
        np.testing.assert_allclose(total, [0, 0, body.total_mass * 9.81], atol=1e-8)


def test_incompressible_update_removes_the_volume_error() -> None:
    mesh = box((0.06, 0.02, 0.02), cells=(3, 2, 2), kind="tet")
    body = Solid(mesh, Incompressible(NeoHookean(1e5)), density=1100, fixed=left)
    assert len(body.z0) == len(mesh.cells)
    gravity, z, errors = (0, 0, -9.81), body.z0, []
    q = body.q0
    for _ in range(4):
        q = equilibrium(body, gravity, q, z)
        errors.append(np.abs(body.volume_error(q)).max())
        z = body.update_internal(q, z)
    assert errors[-1] < 1e-3 * errors[0]
    assert np.abs(z).max() > 10.0
    stress = body.stress(q, z=z)
    assert stress.shape == (len(mesh.cells), 3, 3)


def test_moved_supports_carry_the_body() -> None:
    body = Solid(distorted("tet4"), Hooke(3e5, 0.45), fixed=left)
    turn = Rotation.from_rotvec([0.1, 0, 0])
    start = body.move_supports(body.q0, rotation=turn, translation=(-2e-3, 0, 0))
    assert body.energy(start) > 0
    q = equilibrium(body, q=start)
    expected = body.mesh.nodes @ turn.as_matrix().T + [-2e-3, 0, 0]
    np.testing.assert_allclose(body.positions(q), expected, atol=1e-9)
    one = np.flatnonzero(body.fixed.all(axis=1))[:1]
    part = body.move_supports(body.q0, translation=(0, 0, 1e-3), nodes=one)
    assert np.count_nonzero(part != body.q0) == 1


def test_rollers_hold_only_their_components() -> None:
    """A block between two smooth planes, squeezed by its own supports: uniaxial stress E ε."""
    mesh = box((0.02, 0.02, 0.02), cells=(2, 2, 2), kind="tet")
    X, fixed = mesh.nodes, np.zeros((len(mesh.nodes), 3), bool)
    fixed[:, 0] = (X[:, 0] < 1e-9) | (X[:, 0] > 0.02 - 1e-9)
    fixed[:, 1], fixed[:, 2] = X[:, 1] < 1e-9, X[:, 2] < 1e-9
    body = Solid(mesh, Hooke(2e5, 0.3), fixed=fixed)
    assert body.rigid_modes() == 0 and not body.free.all()
    q = body.move_supports(body.q0, translation=(2e-6, 0, 0), nodes=lambda x: x[:, 0] > 0.02 - 1e-9)
    q = equilibrium(body, q=q)
    _, r, K = body.linearise(q, NONE)
    assert not r[~body.free].any()
    A = body.pattern.to_csr(K).toarray()
    locked = A[~body.free][:, body.free]
    assert not locked.any() and (np.diag(A) > 0).all()
    stress = body.stress(q)
    np.testing.assert_allclose(stress[:, 0, 0], 2e5 * 1e-4, rtol=1e-3)
    assert np.abs(stress[:, 1:, 1:]).max() < 1e-3 * 20


def test_pieces_are_counted_apart() -> None:
    mesh = box((0.02, 0.02, 0.02), cells=(1, 1, 1), kind="tet")
    two = join([mesh, mesh.transformed(translation=(0.05, 0, 0))])
    law = Hooke(1e5, 0.3)
    assert Solid(two, law).rigid_modes() == 12
    assert Solid(two, law, fixed=left).rigid_modes() == 6
    assert Solid(mesh, law, fixed=[0]).rigid_modes() == 3
    corner = np.argsort(np.linalg.norm(mesh.nodes, axis=1))[:1]
    far = np.argsort(-np.linalg.norm(mesh.nodes, axis=1))[:1]
    assert Solid(mesh, law, fixed=np.concatenate([corner, far]), order=1).rigid_modes() == 1
    joined = Rigid(lambda x: np.abs(x[:, 0] - 0.035) < 0.016, "bridge")
    assert Solid(two, law, rigid=joined).rigid_modes() == 6
    assert Solid(two, law, rigid=joined, fixed=left).rigid_modes() == 0


def test_outputs_of_a_stretched_block() -> None:
    mesh = box((0.02, 0.02, 0.02), cells=(2, 2, 2), kind="tet")
    body = Solid(mesh, NeoHookean(2e5, 0.3))
    F = np.diag([1.2, 0.95, 0.95])
    q = (body.mesh.nodes @ F.T).ravel()
    P = NeoHookean(2e5, 0.3).stress(F)
    cauchy = P @ F.T / np.linalg.det(F)
    for at, count in (("cells", len(mesh.cells)), ("nodes", len(body.mesh.nodes))):
        np.testing.assert_allclose(body.stress(q, at=at), np.tile(cauchy, (count, 1, 1)), atol=1e-6)
        np.testing.assert_allclose(body.stress(q, "pk1", at=at), np.tile(P, (count, 1, 1)), atol=1e-6)
        np.testing.assert_allclose(
            body.stress(q, "pk2", at=at), np.tile(np.linalg.solve(F, P), (count, 1, 1)), atol=1e-6
        )
        np.testing.assert_allclose(body.stress(q, "von_mises", at=at), cauchy[0, 0] - cauchy[1, 1])
        np.testing.assert_allclose(
            body.strain(q, "hencky", at=at)[0], np.diag(np.log(np.diag(F))), atol=1e-12
        )
        np.testing.assert_allclose(body.strain(q, "small", at=at)[0], F - np.eye(3), atol=1e-12)
    assert body.energy(q) == pytest.approx(NeoHookean(2e5, 0.3).energy(F) * mesh.volume)


def test_bodies_say_what_they_are_made_of() -> None:
    """ρ of every cell, whose integral is the mass; nothing where nobody said."""
    import pliant as pl

    mesh = box((0.2, 0.1, 0.1), cells=(2, 1, 1), kind="hex")
    halves = Mesh(mesh.nodes, mesh.cells, mesh.kind, regions=[0, 1])
    solid = Solid(halves, Hooke(1e5, 0.3), density={0: 1000.0, 1: 500.0}, fixed=left)
    np.testing.assert_array_equal(solid.density, [1000.0, 500.0])
    assert solid.weighs and solid.total_mass == pytest.approx((1000.0 + 500.0) * 1e-3)
    rod = Beam(
        pl.mesh.lines.line((0, 0, 0), (1, 0, 0), elements=4), Circle(0.01), Hooke(1e6, 0.3), density=1200.0
    )
    assert rod.density is not None and rod.density.tolist() == [1200.0] * 4
    assert rod.total_mass == pytest.approx(1200.0 * np.pi * 0.01**2)
    sheet = pl.mesh.sheet((0.1, 0.2), cells=(2, 3))
    for kind in (Shell, Membrane):
        thin = kind(sheet, Hooke(1e6, 0.3), 1e-3, density=900.0)
        assert thin.density is not None and len(thin.density) == len(sheet.cells)
        assert float(thin.density @ (thin.thickness * sheet.areas)) == pytest.approx(thin.total_mass)
        assert kind(sheet, Hooke(1e6, 0.3), 1e-3).density is None
    heavy = Solid(mesh, Hooke(1e5, 0.3), nodal_mass=0.01)
    assert heavy.density is None and heavy.weighs and not Solid(mesh, Hooke(1e5, 0.3)).weighs
