"""Beams: energy → force → tangent, rigid motion, mass, supports, what they carry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.bodies import Beam, Circle, Prismatic, Rectangle, Rigid, Stiffness
from pliant.bodies.beams.element import coefficients, rotation_vector
from pliant.errors import InputError, MeshError
from pliant.mesh.lines import curve, helix, line, tree
from tests.bodies.beams.common import (
    BEAMS,
    NONE,
    SOFT,
    bent,
    carried,
    fishbone,
    node,
    settled,
    tip_force,
    wiggled,
)
from tests.bodies.common import Probe

EVERY = pytest.mark.parametrize("name", list(BEAMS))
turns = st.floats(-3.0, 3.0)


@pytest.fixture(scope="module")
def beams() -> dict[str, Beam]:
    return {name: build() for name, build in BEAMS.items()}


# Energy


@EVERY
def test_forces_and_tangent_are_derivatives_of_the_energy(beams, name):
    beam = beams[name]
    Probe(beam, wiggled(beam), beam.z0).check()


@EVERY
def test_nothing_is_strained_at_rest(beams, name):
    beam = beams[name]
    energy, r, K = beam.linearise(beam.q0, NONE)
    assert energy < 1e-20 and np.abs(r).max() < 1e-9
    A = beam.pattern.to_csr(K).toarray()
    values = np.linalg.eigvalsh(A / np.sqrt(np.outer(np.diag(A), np.diag(A))))
    assert (values < 1e-9).sum() == beam.rigid_modes() and values[0] > -1e-9


@given(st.tuples(turns, turns, turns), st.tuples(turns, turns, turns))
def test_rigid_motion_costs_nothing(turn, shift):
    beam = FREE
    R, q = Rotation.from_rotvec(turn).as_matrix(), wiggled(beam)
    moved = carried(beam, q, R, np.array(shift))
    energy, r, _ = beam.linearise(q, NONE)
    after, r_after, _ = beam.linearise(moved, NONE)
    assert after == pytest.approx(energy, rel=1e-9)
    assert np.abs(beam.section_forces(moved) - beam.section_forces(q)).max() < 1e-9
    twist = Rotation.from_matrix(R)  # forces turn with it, couples stand in axes that do
    np.testing.assert_allclose(
        r_after.reshape(-1, 2, 3)[:, 0], twist.apply(r.reshape(-1, 2, 3)[:, 0]), atol=1e-8
    )
    np.testing.assert_allclose(r_after.reshape(-1, 2, 3)[:, 1], r.reshape(-1, 2, 3)[:, 1], atol=1e-9)


FREE = Beam(fishbone(), Rectangle(0.01, 0.006), SOFT)


@EVERY
def test_internal_forces_are_in_balance(beams, name):
    """Their sum and their moment vanish: what supports take is what loads bring."""
    beam = beams[name]
    q = wiggled(beam)
    force = beam.reactions(q)
    centre = np.array([beam.pose(q, name)[1] for name in beam.coordinates.region_names])
    scale = np.abs(force).max()
    assert np.abs(force[:, :3].sum(axis=0)).max() < 1e-9 * scale
    assert np.abs((np.cross(centre, force[:, :3]) + force[:, 3:]).sum(axis=0)).max() < 1e-9 * scale


def test_the_way_there_does_not_matter():
    """Loaded along y then z, or z then y, a rod that turns by more than a right angle ends the same."""
    beam = Beam(bent(8), Rectangle(0.01, 0.006), SOFT, fixed=0)
    y, z = tip_force(beam, (0, 0.03, 0)), tip_force(beam, (0, 0, 0.02))
    one = settled(beam, y + z, q=settled(beam, y)[0])[0]
    other = settled(beam, y + z, q=settled(beam, z)[0])[0]
    assert np.linalg.norm(node(beam, one) - beam.lines.nodes[-1]) > 0.05
    assert np.abs(node(beam, one) - node(beam, other)).max() < 1e-10
    assert beam.energy(one) == pytest.approx(beam.energy(other), rel=1e-9)


def test_an_element_that_turns_too_far_is_inadmissible():
    beam = BEAMS["straight"]()
    dq = np.zeros(beam.ndof)
    dq[-1] = 3.05
    energy, r, K = beam.linearise(beam.retract(beam.q0, dq), NONE)
    assert energy == np.inf and r is None and K is None


@pytest.mark.parametrize("angle", [1e-9, 1e-4, 0.3, 1.9, 2.1, 2.9, 3.1415])
def test_rotation_vectors(angle):
    for axis in (*np.eye(3), [0.6, -0.48, 0.64]):
        theta = np.empty(3)
        size = rotation_vector(Rotation.from_rotvec(angle * np.array(axis)).as_matrix(), theta)
        assert size == pytest.approx(angle, abs=1e-12)
        np.testing.assert_allclose(theta, angle * np.array(axis), atol=1e-12)


@given(st.floats(0.0, 9.0))
def test_coefficients_of_the_logarithm(s):
    """c = (1 − ½θ cot ½θ)/θ², and its derivatives by θ²; the series and the formula meet at θ = 2."""
    c, d, e = coefficients(s)
    if s > 1e-3:
        half = 0.5 * np.sqrt(s)
        assert c == pytest.approx((1 - half / np.tan(half)) / s, rel=1e-10)
    h = 1e-5
    plus, minus = coefficients(s + h), coefficients(abs(s - h)) if s > h else coefficients(0.0)
    gap = s + h - (abs(s - h) if s > h else 0.0)
    assert (plus[0] - minus[0]) / gap == pytest.approx(d, rel=1e-4)
    assert (plus[1] - minus[1]) / gap == pytest.approx(e, rel=1e-4)


# Newton with the forces that a step is to bring


def test_predicted_forces_are_the_forces_of_a_small_step():
    beam = BEAMS["bent"]()
    q = wiggled(beam)
    dq = 1e-7 * np.random.default_rng(0).normal(size=beam.ndof)
    moved, predicted = beam.retract(q, dq), beam.predict(q, dq)
    exact, with_prediction = (beam.linearise(moved, NONE, predicted=p)[2] for p in (None, predicted))
    assert np.abs(exact - with_prediction).max() < 1e-9 * np.abs(exact).max()


def test_predicted_forces_without_a_step_are_the_section_forces():
    beam = BEAMS["tree"]()
    q = wiggled(beam)
    predicted = beam.predict(q, np.zeros(beam.ndof)).reshape(-1, 6)
    forces = beam.section_forces(q)
    np.testing.assert_allclose(predicted, forces, atol=1e-9 * np.abs(forces).max())


@pytest.mark.parametrize("EA", [1e4, 1e6, 1e8])
def test_newton_does_not_mind_how_thin_a_rod_is(EA, within):
    """A load FL²/EI = 10 that bends it by more than 80°, all at once."""
    beam = Beam(line((0, 0, 0), (1, 0, 0), elements=20), Stiffness(EA=EA, GJ=1.0, EI=1.0), fixed=0)
    _, count = settled(beam, tip_force(beam, (0, 0, 10.0)))
    within(count, 16, f"iterations at EA L²/EI = {EA:.0e}")


# Mass


def gauss(beam: Beam):
    """Points all over the rods and the mass at each, exact for the consistent mass of rectangles."""
    s, w = np.polynomial.legendre.leggauss(5)
    s, w = (s + 1) / 2, w / 2
    y, v = np.polynomial.legendre.leggauss(2)
    section = beam.sections[0]
    arc, offset, mass = [], [], []
    for a, b in beam.lines.arc:
        for si, wi in zip(s, w):
            for yi, vi in zip(y, v):
                for zi, ui in zip(y, v):
                    arc.append(a + si * (b - a))
                    offset.append([0.5 * section.width * yi, 0.5 * section.height * zi])
                    mass.append(beam.total_mass * (b - a) / beam.lines.length * wi * vi * ui / 4)
    return beam.at(np.array(arc), offset=np.array(offset)), np.array(mass)


def dense_jacobian(beam: Beam, points, q: np.ndarray) -> np.ndarray:
    J = np.zeros((len(points), 3, beam.ndof))
    blocks = points.jacobian(q)
    for e, b, p in zip(range(len(blocks)), points.block, points.entry_point):
        J[p, :, 3 * b : 3 * b + 3] += blocks[e]
    return J


def test_mass_is_that_of_all_its_points():
    lines = line((0, 0, 0), (0.12, 0.05, 0), elements=2)
    beam = Beam(lines, Rectangle(0.02, 0.01), SOFT, density=1000)
    q = wiggled(beam)
    points, m = gauss(beam)
    J = dense_jacobian(beam, points, q)
    M = beam.pattern.to_csr(beam.mass(q)).toarray()
    np.testing.assert_allclose(M, np.einsum("p,pia,pib->ab", m, J, J), rtol=0, atol=1e-12 * np.abs(M).max())
    v, h = np.random.default_rng(3).normal(size=beam.ndof), 1e-4
    x = [points.position(beam.retract(q, s * h * v)) for s in (-1, 0, 1)]
    pull = np.einsum("p,pia,pi->a", m, J, (x[0] - 2 * x[1] + x[2]) / h**2)
    np.testing.assert_allclose(beam.gyroscopic(q, v), pull, atol=1e-5 * np.abs(pull).max())


@EVERY
def test_supports_carry_the_weight(beams, name):
    beam, down = beams[name], np.array([0.0, 0.0, -9.81])
    weight = beam.reactions(beam.q0, down)[:, :3].sum(axis=0)
    np.testing.assert_allclose(weight, -beam.total_mass * down, atol=1e-12)


def test_total_mass():
    lines = fishbone()
    beam = Beam(lines, Circle(0.003, inner=0.002), SOFT, density=1000)
    assert beam.total_mass == pytest.approx(1000 * np.pi * (0.003**2 - 0.002**2) * lines.length)
    push = np.tile([0.3, -0.2, 0.5, 0, 0, 0], len(lines.nodes))
    kinetic = push @ (beam.pattern.to_csr(beam.mass()) @ push)
    assert kinetic == pytest.approx(beam.total_mass * (0.3**2 + 0.2**2 + 0.5**2))


def test_a_rod_that_spins_about_its_end_is_pulled_inwards():
    """∫ρẍ = −mω²L/2 towards the end, and the kinetic energy is that of its moment of inertia."""
    length, radius, speed = 0.2, 0.004, 3.0
    beam = Beam(line((0, 0, 0), (length, 0, 0), elements=4), Circle(radius), SOFT, density=1000)
    omega, X, mass = np.array([0.0, 0.0, speed]), beam.lines.nodes, beam.total_mass
    v = np.hstack([np.cross(omega, X), np.tile(omega, (5, 1))]).ravel()
    M = beam.pattern.to_csr(beam.mass())
    assert v @ (M @ v) == pytest.approx(mass * (length**2 / 3 + radius**2 / 4) * speed**2, rel=1e-12)
    inward = np.hstack([np.cross(omega, np.cross(omega, X)), np.zeros((5, 3))]).ravel()
    pull = (M @ inward + beam.gyroscopic(beam.q0, v)).reshape(-1, 6)[:, :3].sum(axis=0)
    np.testing.assert_allclose(pull, [-mass * speed**2 * length / 2, 0, 0], atol=1e-12)


def test_weight_needs_a_density():
    beam = Beam(bent(), Circle(0.004), SOFT, fixed=0)
    with pytest.raises(InputError, match="density"):
        beam.linearise(beam.q0, (0, 0, -9.81))
    with pytest.raises(InputError, match="density"):
        beam.mass()


# Supports


def test_rigid_modes():
    lines = bent()
    free = lambda **options: Beam(lines, Circle(0.004), SOFT, **options).rigid_modes()
    pinned = np.zeros((6, 3), bool)
    pinned[0] = True
    assert free() == 6 and free(fixed=0) == 0 and free(fixed=lambda x: x[:, 0] < 1e-9) == 0
    assert free(fixed=pinned) == 3  # a ball joint
    assert free(rigid=Rigid(0, joint=Prismatic((1, 0, 0)))) == 1
    both = tree([lines, line((1, 0, 0), (2, 0, 0), elements=1)])
    assert Beam(both, Circle(0.004), SOFT, fixed=0).rigid_modes() == 6
    assert Beam(both, Circle(0.004), SOFT, fixed=0, rigid=Rigid([5, 6], name="link")).rigid_modes() == 0


def test_moved_supports_carry_the_rod_along():
    beam = BEAMS["tree"]()
    turn, q = np.array([0.4, -0.9, 1.2]), beam.q0
    for share in (0.25, 0.5, 0.75, 1.0):
        q = beam.move_supports(
            q, rotation=Rotation.from_rotvec(share * turn), translation=share * np.array([0.01, 0.02, 0.03])
        )
        assert np.allclose(node(beam, q, 0), share * np.array([0.01, 0.02, 0.03]))
        q, _ = settled(beam, q=q)
    R = Rotation.from_rotvec(turn)
    np.testing.assert_allclose(
        beam.positions(q), beam.mesh.nodes @ R.as_matrix().T + [0.01, 0.02, 0.03], atol=1e-10
    )
    assert beam.energy(q) < 1e-15
    turned, centre = beam.pose(q, 3)
    np.testing.assert_allclose(turned, R.as_matrix(), atol=1e-10)
    np.testing.assert_allclose(centre, node(beam, q, 3), atol=1e-12)


def test_a_rigid_hub_keeps_its_shape():
    beam = BEAMS["hub"]()
    q = wiggled(beam)
    before, after = (beam.positions(x)[[3, 4]] for x in (beam.q0, q))
    assert np.linalg.norm(after[1] - after[0]) == pytest.approx(np.linalg.norm(before[1] - before[0]))
    axle = beam.attached_points("axle", [[0.02, 0.0, 0.01]])
    pivot = np.array([0.01, 0.01, 0.0])
    along = np.array([1, 2, 3]) / np.sqrt(14)
    arm = axle.position(q)[0] - pivot
    assert np.linalg.norm(arm) == pytest.approx(np.linalg.norm(axle.rest[0] - pivot))
    assert arm @ along == pytest.approx((axle.rest[0] - pivot) @ along)


# What it carries, and points on it


@EVERY
def test_the_skin_follows_the_sections(beams, name):
    beam = beams[name]
    k, q = len(beam.lines.nodes), wiggled(beam)
    np.testing.assert_allclose(beam.mesh.nodes[:k], beam.lines.nodes, atol=1e-15)
    every = beam.node_points(np.arange(len(beam.mesh.nodes)))
    np.testing.assert_allclose(every.position(q), beam.positions(q), atol=1e-15)
    h, d = 1e-6, np.random.default_rng(5).normal(size=beam.ndof)
    plus, minus = (beam.positions(beam.retract(q, s * h * d)) for s in (1, -1))
    rate = np.einsum("pia,a->pi", dense_jacobian(beam, every, q), d)
    np.testing.assert_allclose((plus - minus) / (2 * h), rate, atol=1e-7)


def test_points_between_nodes_lie_on_the_arc():
    """A quarter of a circle in three elements: the centreline is off by 1e-4 R, the skin by cos θ/2."""
    angle = np.linspace(0, np.pi / 2, 4)
    beam = Beam(
        curve(0.1 * np.column_stack([np.sin(angle), 0 * angle, 1 - np.cos(angle)])), Circle(0.01), SOFT
    )
    assert beam.lines.length == pytest.approx(0.05 * np.pi, rel=1e-12)
    points = beam.at(np.linspace(0, 0.05 * np.pi, 13))
    assert np.abs(np.linalg.norm(points.rest - [0, 0, 0.1], axis=1) - 0.1).max() < 2e-5
    outside = np.linalg.norm(
        beam.at(np.linspace(0, 0.05 * np.pi, 13), offset=(0, -0.01)).rest - [0, 0, 0.1], axis=1
    )
    assert (
        outside.max() == pytest.approx(0.11, rel=1e-3)
        and outside.min() > 0.11 - 0.01 * (1 - np.cos(np.pi / 12)) - 1e-4
    )


@given(st.integers(0, 2**31))
def test_points_near_the_rods_stay_where_they_are_told(seed):
    beam = POINTED
    rng = np.random.default_rng(seed)
    where = beam.mesh.nodes[rng.integers(0, len(beam.mesh.nodes), 6)] + 0.01 * rng.normal(size=(6, 3))
    points = beam.points(where)
    np.testing.assert_allclose(points.position(beam.q0), where, atol=1e-12)
    R, t = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
    np.testing.assert_allclose(points.position(carried(beam, beam.q0, R, t)), where @ R.T + t, atol=1e-9)


POINTED = Beam(fishbone(), Circle(0.003), SOFT)


def test_points_along_a_branch():
    beam = BEAMS["tree"]()
    rib = beam.at([0.0, 0.03], branch=1)
    assert np.allclose(rib.rest[0], beam.lines.nodes[1])
    direction = np.array([0.01, 0.06, 0.02]) / np.linalg.norm([0.01, 0.06, 0.02])
    assert np.allclose(rib.rest[1], beam.lines.nodes[1] + 0.03 * direction)
    nearest = beam.points([[0.12, 0.001, 0.004]], branch=0)
    assert set(nearest.region) <= set(
        beam.numbering.node_region[beam.lines.elements[beam.lines.branch == 0]].ravel()
    )
    points, radius = beam.centreline()
    assert len(points) == len(beam.lines.nodes) + len(beam.lines.elements) and (radius == 0.003).all()
    fine, _ = beam.centreline(0.005, branch=0)
    assert (
        np.linalg.norm(np.diff(np.sort(fine.rest[:, 0]))) > 0
        and np.diff(np.sort(fine.rest[:, 0])).max() <= 0.005 + 1e-12
    )


def test_a_mesh_of_ones_own_goes_along():
    plates = pl.mesh.box((0.02, 0.05, 0.05), cells=(1, 2, 2), origin=(0.09, -0.025, -0.025))
    beam = Beam(line((0, 0, 0), (0.2, 0, 0), elements=4), Circle(0.004), SOFT, fixed=0, mesh=plates)
    assert beam.mesh is plates
    R = Rotation.from_rotvec([0.2, 0.5, -0.3])
    q = beam.move_supports(beam.q0, rotation=R)
    q, _ = settled(beam, q=q)
    np.testing.assert_allclose(beam.positions(q), plates.nodes @ R.as_matrix().T, atol=1e-10)


# Errors


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: line((0, 0, 0), (0, 0, 0)), "same place"),
        (lambda: curve([[0, 0, 0], [1, 0, 0], [0, 0, 0]]), "half turns"),
        (lambda: curve([[0, 0, 0], [1, 0, 0]], up=(1, 0, 0)), "across the rod"),
        (lambda: line((0, 0, 0), (1, 0, 0), elements=0), "integer"),
        (lambda: tree([line((0, 0, 0), (1, 0, 0), elements=2)], weld=2.0), "weld"),
        (lambda: Circle(-1.0), "positive"),
        (lambda: Circle(0.01, inner=0.02), "inner"),
        (lambda: Rectangle(0.01, 0.0), "positive"),
        (lambda: Stiffness(EA=1.0, GJ=1.0, EI=(1, 2, 3)), "two"),
        (lambda: Beam(bent(), Circle(0.004)), "isotropic"),
        (lambda: Beam(bent(), "round", SOFT), "Section"),
        (lambda: Beam(bent(), [Circle(0.004)] * 3, SOFT), "each element"),
        (lambda: Beam(fishbone(), {0: Circle(0.004)}, SOFT), "branch 1"),
        (lambda: Beam(np.zeros((3, 3)), Circle(0.004), SOFT), "Lines"),
        (lambda: Beam(bent(), Circle(0.004), SOFT, model="cubic"), "kirchhoff"),
        (lambda: Beam(bent(), Circle(0.004), SOFT, fixed=9), "from 0 to 5"),
        (lambda: Beam(bent(), Circle(0.004), SOFT, fixed=0, rigid=Rigid(0)), "fixed"),
        (lambda: Beam(bent(), Circle(0.004), SOFT, rigid=[Rigid(0), Rigid(1)]), "different name"),
        (lambda: Beam(bent(), Circle(0.004), SOFT, density=-1.0), "density"),
        (lambda: Beam(helix(radius=0.01, pitch=0.01, turns=1, elements=12), Circle(0.02), SOFT), "thick"),
        (lambda: Beam(helix(radius=0.01, pitch=0.01, turns=1, elements=2), Circle(0.001), SOFT), "turns"),
        (lambda: POINTED.at([0.5]), "from 0 to"),
        (lambda: POINTED.at([0.1], branch=7), "branch"),
        (lambda: POINTED.points([[9, 9, 9]]), "near its rods"),
        (lambda: POINTED.region_points("elbow"), "elbow"),
        (lambda: POINTED.stress(POINTED.q0, "cauchy"), "von_mises"),
    ],
)
def test_errors_name_the_thing(build, words):
    with pytest.raises((InputError, MeshError), match=words):
        build()
