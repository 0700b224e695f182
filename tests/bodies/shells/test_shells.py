"""Shells, membranes and nets as bodies: energy, forces, tangents, invariance, patch tests, mass, points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

import pliant as pl
from pliant.bodies import Membrane, Net, Rigid, Shell, Strings
from tests.bodies.shells.common import (
    BODIES,
    NONE,
    SOFT,
    carried,
    crumpled,
    dense,
    left,
    linear_answer,
    scales,
    turn,
    wiggled,
)

GRAVITY = np.array([0.3, -0.2, -9.81])


@pytest.fixture(params=BODIES)
def body(request):
    return BODIES[request.param]()


# Energy, forces, stiffness


def test_forces_are_the_gradient_of_the_energy(body, within):
    q = wiggled(body)
    _, r, _ = body.linearise(q, GRAVITY)
    rng = np.random.default_rng(5)
    for _ in range(3):
        d = rng.normal(size=body.ndof) * scales(body) * body.free
        energy = lambda s, d=d: body.linearise(body.retract(q, s * d), GRAVITY, tangent=False)[0]
        h = 1e-4
        slope = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
        within(slope / (-r @ d) - 1, 1e-6, "gradient")


def test_stiffness_is_the_hessian_of_the_energy(body, within):
    """Along q ⊕ s dq, for pairs of directions: rotations too, far from equilibrium too."""
    q = wiggled(body)
    K = dense(body, body.linearise(q, GRAVITY)[2])
    assert np.allclose(K, K.T, rtol=0, atol=1e-12 * np.abs(K).max())
    rng = np.random.default_rng(6)
    for _ in range(3):
        d, e = (rng.normal(size=body.ndof) * scales(body) * body.free for _ in range(2))

        def mixed(h, d=d, e=e):
            energy = lambda s, t: body.linearise(body.retract(q, s * d + t * e), GRAVITY, tangent=False)[0]
            return (energy(h, h) - energy(h, -h) - energy(-h, h) + energy(-h, -h)) / (4 * h * h)

        curvature = (4 * mixed(2e-3) - mixed(4e-3)) / 3
        scale = np.sqrt(abs(d @ K @ d) * abs(e @ K @ e))
        within((curvature - e @ K @ d) / scale, 2e-6, "Hessian")


def test_without_tangent_the_same_forces(body):
    q = wiggled(body)
    energy, r, _ = body.linearise(q, GRAVITY)
    other, same, nothing = body.linearise(q, GRAVITY, tangent=False)
    assert nothing is None and energy == pytest.approx(other, rel=1e-12)
    assert np.allclose(r, same, rtol=0, atol=1e-11 * np.abs(r).max())


def test_rest_is_unloaded(body):
    energy, r, _ = body.linearise(body.q0, NONE)
    stretched = body.energy(body.q0) > 1e-12
    free = scales(body) * np.abs(r)
    assert stretched or (abs(energy) < 1e-15 and free.max() < 1e-13)


def test_rigid_motion_changes_nothing(body, within):
    q, R, t = wiggled(body), turn(), np.array([0.3, -0.1, 0.2])
    moved = carried(body, q, R, t)
    within(body.energy(moved) / body.energy(q) - 1, 1e-10, "energy")
    force, other = (body.reactions(state) for state in (q, moved))
    within(np.abs(force @ R.T - other).max() / np.abs(force).max(), 1e-10, "forces")
    within(np.abs(force.sum(axis=0)).max() / np.abs(force).max(), 1e-10, "sum of forces")


def test_locked_coordinates_stay(body):
    q = body.retract(body.q0, np.ones(body.ndof))
    r, K = body.linearise(wiggled(body), GRAVITY)[1:]
    locked = ~body.free
    assert np.array_equal(body.positions(q)[body.fixed], body.mesh.nodes[body.fixed])
    assert not r[locked].any()
    K = dense(body, K)
    assert (np.diagonal(K)[locked] > 0).all() and not (K - np.diag(np.diagonal(K)))[locked].any()


@pytest.mark.parametrize("name", ["curved shell", "rubber shell", "shell with rigid cap"])
def test_predicted_strains_are_those_of_a_small_step(name, within):
    """After a small change the stiffness with predicted forces is the exact one, to second order."""
    body = BODIES[name]()
    q = wiggled(body)
    d = np.random.default_rng(7).normal(size=body.ndof) * scales(body) * body.free
    gap = []
    for s in (1e-1, 1e-2):
        moved, predicted = body.retract(q, s * d), body.predict(q, s * d)
        exact, other = (dense(body, body.linearise(moved, NONE, predicted=p)[2]) for p in (None, predicted))
        gap.append(np.abs((exact - other) * np.outer(scales(body), scales(body))).max())
    assert gap[1] > 0
    within(np.log10(gap[0] / gap[1]) - 2, 0.05, "order")


def test_a_corner_that_turns_too_far_is_inadmissible():
    shell = BODIES["flat shell"]()
    dq = np.zeros(shell.ndof)
    dq[-3] = 2.6
    assert shell.linearise(shell.retract(shell.q0, dq), NONE)[0] == np.inf
    squashed = shell.q0.copy()
    shell.positions(squashed)[:, 0] *= 1e-6
    assert shell.linearise(squashed, NONE) == (np.inf, None, None)


# Patch tests


def test_membrane_patch(within):
    """Any uniform stretch and rotation: no force inside, and the energy of plane stress."""
    sheet = crumpled(rise=0.0, cells=4)
    stretch = np.array([[1.1, 0.05, 0.0], [0.05, 0.97, 0.0], [0.0, 0.0, 1.0]])
    R = turn()
    rim = np.unique(sheet.rim)
    inside = np.setdiff1d(np.arange(len(sheet.nodes)), rim)
    C = SOFT.young / (1 - SOFT.poisson**2) * np.array([[1, 0.4, 0], [0.4, 1, 0], [0, 0, 0.3]])
    eps = np.array([0.1, -0.03, 0.1])
    expected = 0.5 * eps @ C @ eps * 0.002 * sheet.area
    for kind in (Shell, Membrane):
        body = kind(sheet, SOFT, 0.002)
        q = carried(body, body.q0, R, np.zeros(3))
        body.positions(q)[:] = sheet.nodes @ stretch.T @ R.T
        force = body.reactions(q)
        within(np.abs(force[inside]).max() / np.abs(force).max(), 1e-12, "forces inside")
        within(body.energy(q) / expected - 1, 1e-12, "energy")
        sigma = body.stress(q)
        within(np.ptp(sigma, axis=0).max() / np.abs(sigma).max(), 1e-10, "spread of stress")


@pytest.mark.parametrize("kappa", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, -0.4, 0.5)])
def test_bending_patch(kappa, within):
    """Constant curvature, w = ½(κ_x x² + κ_y y²) + ½κ_xy xy: no load inside, energy of Kirchhoff's plate."""
    sheet = crumpled(rise=0.0, cells=4)
    shell = Shell(sheet, SOFT, 0.002)
    x, y = sheet.nodes[:, 0], sheet.nodes[:, 1]
    a, b, c = kappa
    u = np.zeros((len(x), 6))
    u[:, 2] = 0.5 * (a * x**2 + b * y**2 + c * x * y)
    u[:, 3], u[:, 4] = b * y + 0.5 * c * x, -(a * x + 0.5 * c * y)  # slopes turn the nodes
    K = dense(shell, shell.linearise(shell.q0, NONE)[2])
    load, size = (K @ u.ravel()).reshape(-1, 6), (np.abs(K) @ np.abs(u.ravel())).max()
    inside = np.setdiff1d(np.arange(len(x)), np.unique(sheet.rim))
    within(np.abs(load[inside]).max() / size, 1e-14, "load inside")
    D = SOFT.young * 0.002**3 / 12 / (1 - 0.16) * np.array([[1, 0.4, 0], [0.4, 1, 0], [0, 0, 0.3]])
    k = -np.array([a, b, c])
    within(0.5 * np.vdot(u, load) / (0.5 * k @ D @ k * sheet.area) - 1, 1e-10, "energy")


def test_rectangles_bend_in_their_plane_at_any_aspect_ratio(within):
    """One layer of rectangles of two triangles, 4 to 16 times as long as high, under an end moment."""
    for aspect in (4, 16):
        n, high = 6, 0.01
        sheet = pl.mesh.sheet((aspect * high * n, high), cells=(n, 1), pattern="diagonal")
        x = sheet.nodes
        fixed = np.zeros((len(x), 6), bool)
        fixed[:, 2:5] = True
        fixed[left(x)] = [True, False, True, True, True, True]
        fixed[np.argmin(x.sum(axis=1)), 1] = True
        shell = Shell(sheet, pl.Hooke(young=1e6, poisson=0.0), 0.001, fixed=fixed, largest_strain=1e-4)
        end = x[:, 0] > x[:, 0].max() - 1e-9
        load = np.zeros((len(x), 6))
        load[end, 0] = np.where(x[end, 1] > high / 2, -1.0, 1.0)
        tip = linear_answer(shell, load.ravel()).reshape(-1, 6)[end, 1].mean()
        exact = high * (aspect * high * n) ** 2 / 2 / (1e6 * 0.001 * high**3 / 12)
        within(tip / exact - 1, 1e-3, f"aspect {aspect}")


@pytest.mark.parametrize("pattern", ["alternating", "diagonal", "crossed"])
@pytest.mark.parametrize("slenderness", [5, 20])
@pytest.mark.parametrize("theory", ["thin", "thick"])
def test_stretched_sheets_are_stable(pattern, slenderness, theory):
    """However thin: tension makes a sheet stiffer, up to the largest strain that it was made for."""
    side = 0.01
    sheet = pl.mesh.sheet((4 * side, 4 * side), cells=(4, 4), pattern=pattern)
    pinned = np.zeros((len(sheet.nodes), 3), bool)
    pinned[np.unique(sheet.rim)] = True
    made = {"fixed": pinned, "theory": theory}
    shell = Shell(sheet, SOFT, side / slenderness, largest_strain=0.3, **made)
    careless = Shell(sheet, SOFT, side / slenderness, largest_strain=1e-3, **made)
    soft = lambda body, q: np.linalg.eigvalsh(_open(body, q))[0]
    for across in (1.3, 1.0, 1 - 0.3 * SOFT.poisson):  # both ways, one way, pulled
        q = shell.q0.copy()
        x, pose = (
            q[: shell.coordinates.pose].reshape(-1, 3),
            q[shell.coordinates.pose :],
        )
        x *= [1.3, across, 1.0]
        pose.reshape(-1, 12)[:, :3] *= [1.3, across, 1.0]
        assert soft(shell, q) > 0
    assert slenderness < 20 or soft(careless, q) < 0


def _open(body: Shell, q: np.ndarray) -> np.ndarray:
    """K of the free coordinates, scaled."""
    scale = (scales(body) * body.free)[body.free]
    return dense(body, body.linearise(q, NONE)[2])[np.ix_(body.free, body.free)] * np.outer(scale, scale)


# Mass and weight


def test_mass_moves_as_it_weighs(body):
    M = dense(body, body.mass())
    assert np.allclose(M, M.T)
    q = wiggled(body)
    M = dense(body, body.mass(q))[np.ix_(body.free, body.free)]
    assert np.linalg.eigvalsh(M).min() > 0
    v = np.random.default_rng(8).normal(size=body.ndof) * scales(body) * body.free
    h = 1e-5
    speed = (body.positions(body.retract(q, h * v)) - body.positions(body.retract(q, -h * v))) / (2 * h)
    moving = 0.5 * (body.node_mass[:, None] * speed**2).sum()
    energy = 0.5 * v[body.free] @ M @ v[body.free]
    assert moving <= energy * (1 + 1e-6)  # rotary inertia comes on top
    if not len(body.region_block) or not hasattr(body, "thickness"):
        assert energy == pytest.approx(moving)
    assert body.weight(GRAVITY).sum(axis=0) == pytest.approx(body.total_mass * GRAVITY)


def test_frequencies(within):
    """A strip clamped on one side, ω = 3.516 √(EI/ρAL⁴); a square plate on its edges, ω = 2π² √(D/ρha⁴)."""
    E, rho, h, a = 1e6, 1000.0, 0.001, 0.1
    lowest = lambda body: np.sqrt(
        eigvals(*(_free(body, X) for X in (body.linearise(body.q0, NONE)[2], body.mass())))[0]
    )
    strip = Shell(pl.mesh.sheet((a, 0.01), cells=(20, 2)), pl.Hooke(E, 0.0), h, density=rho, fixed=left)
    within(lowest(strip) / (3.51602 * np.sqrt(E * h**2 / 12 / rho / a**4)) - 1, 0.005, "strip")
    sheet = pl.mesh.sheet((a, a), cells=(12, 12))
    fixed = np.zeros((len(sheet.nodes), 6), bool)
    fixed[np.unique(sheet.rim), 2] = fixed[:, [0, 1, 5]] = True
    plate = Shell(sheet, pl.Hooke(E, 0.3), h, density=rho, fixed=fixed)
    D = E * h**3 / 12 / (1 - 0.09)
    within(lowest(plate) / (2 * np.pi**2 * np.sqrt(D / rho / h / a**4)) - 1, 0.01, "plate")


def _free(body: Shell, X: np.ndarray) -> np.ndarray:
    return dense(body, X)[np.ix_(body.free, body.free)]


def eigvals(K: np.ndarray, M: np.ndarray) -> np.ndarray:
    return eigh(K, M, eigvals_only=True, subset_by_index=[0, 0])


def test_total_mass():
    sheet = crumpled()
    assert Shell(sheet, SOFT, 0.002, density=900).total_mass == pytest.approx(900 * 0.002 * sheet.area)
    net = Net(sheet.nodes, Strings(sheet.edges, 10.0, density=0.02))
    length = np.linalg.norm(np.diff(sheet.nodes[sheet.edges], axis=1), axis=2).sum()
    assert net.total_mass == pytest.approx(0.02 * length)


@pytest.mark.parametrize("name", ["free shell", "membrane with hub"])
def test_a_turning_rigid_region_pulls(name, within):
    """Gyroscopic forces are Jᵀ m ẍ of the nodes along a steady turn."""
    body = BODIES[name]()
    q, v = wiggled(body), np.zeros(body.ndof)
    region = body.coordinates.region({"free shell": "edge", "membrane with hub": "hub"}[name])
    v[3 * int(body.region_block[region]) + 3 :][:3] = (1.0, -2.0, 3.0)
    h = 1e-4
    x = lambda dq: body.positions(body.retract(q, dq))
    force = body.node_mass[:, None] * (x(h * v) - 2 * x(0 * v) + x(-h * v)) / h**2
    expected = [np.vdot(force, x(h * e) - x(-h * e)) / (2 * h) for e in np.eye(body.ndof)]
    pull = body.gyroscopic(q, v)
    within(np.abs(pull - expected).max() / np.abs(pull).max(), 1e-6, "pull")
    assert body.gyroscopic(q, 0 * v) is None


# Points


@pytest.mark.parametrize("name", ["curved shell", "shell with rigid cap", "membrane with hub"])
def test_points_move_as_their_jacobian_says(name, within):
    body = BODIES[name]()
    middle = body.mesh.centres[:6] + 0.01 * (body.mesh.nodes[body.mesh.cells[:6, 0]] - body.mesh.centres[:6])
    where = middle + (0.0008 * body.mesh.surface.normals[:6] if isinstance(body, Shell) else 0.0)
    points, q = body.points(where), wiggled(body)
    assert np.allclose(
        points.position(body.q0), where if isinstance(body, Shell) else points.rest, atol=1e-12
    )
    d = np.random.default_rng(9).normal(size=body.ndof) * scales(body)
    h = 1e-6
    moved = (points.position(body.retract(q, h * d)) - points.position(body.retract(q, -h * d))) / (2 * h)
    J = points.jacobian(q)
    parts = np.einsum("eij,ej->ei", J, (d * body.free).reshape(-1, 3)[points.block])
    expected = np.zeros_like(moved)
    np.add.at(expected, points.entry_point, parts)
    within(np.abs(moved - expected).max() / np.abs(expected).max(), 1e-7, "Jacobian")


def test_points_off_the_middle_turn_with_the_sheet(within):
    """A point on the front of a sheet rolled up stays half a thickness from the middle, along the normal."""
    sheet = pl.mesh.sheet((0.1, 0.02), cells=(20, 2))
    shell = Shell(sheet, SOFT, 0.004, fixed=left)
    q = shell.q0.copy()
    angle = sheet.nodes[:, 0] / 0.03
    R = np.zeros((len(angle), 3, 3))
    R[:, 0, 0] = R[:, 2, 2] = np.cos(angle)
    R[:, 2, 0], R[:, 0, 2], R[:, 1, 1] = np.sin(angle), -np.sin(angle), 1.0
    roll = np.column_stack([0.03 * np.sin(angle), sheet.nodes[:, 1], 0.03 * (1 - np.cos(angle))])
    pose = q[shell.coordinates.pose :][: 12 * len(roll)].reshape(-1, 12)
    pose[:, :3], pose[:, 3:] = roll, R.reshape(-1, 9)
    q = shell.retract(q, np.zeros(shell.ndof))
    within(shell.positions(q) - roll, 1e-12, "nodes")
    front = shell.points(sheet.nodes + np.array([0, 0, 0.002])).position(q)
    radius = np.hypot(front[:, 0], front[:, 2] - 0.03)
    within(radius - 0.028, 1e-12, "radius of the front")
    assert np.allclose(shell.half_thickness(shell.node_points(np.arange(5))), 0.002)


def test_points_far_off_are_refused_or_hung_on_an_arm():
    shell = BODIES["flat shell"]()
    with pytest.raises(pl.InputError, match="off it"):
        shell.points([[0.05, 0.05, 0.02]])
    far = shell.points([[0.05, 0.05, 0.02]], outside="nearest")
    assert np.allclose(far.position(shell.q0), [[0.05, 0.05, 0.02]])
    membrane = Membrane(shell.mesh, SOFT, 0.001)
    assert np.allclose(membrane.points([[0.05, 0.05, 0.02]], outside="nearest").rest, [[0.05, 0.05, 0.0]])
    with pytest.raises(pl.InputError, match="off it"):
        membrane.points([[0.05, 0.05, 0.02]])


def test_nodes_by_themselves_cost_as_little_as_on_a_solid():
    shell = BODIES["flat shell"]()
    points = shell.node_points([5, 6])
    assert not points.rotates and np.array_equal(points.block, [10, 12])


def test_supports_move_and_turn(within):
    shell = BODIES["flat shell"]()
    R, t = turn(), np.array([0.1, 0.0, -0.2])
    q = shell.move_supports(shell.q0, rotation=R, translation=t)
    fixed = shell.fixed.all(axis=1)
    within(shell.positions(q)[fixed] - (shell.mesh.nodes[fixed] @ R.T + t), 1e-12, "places")
    within(shell.rotations(q)[fixed] - R, 1e-12, "rotations")
    assert np.allclose(shell.positions(q)[~fixed], shell.mesh.nodes[~fixed])


# Supports and input


def test_rigid_modes():
    sheet = crumpled()
    assert Shell(sheet, SOFT, 0.002).rigid_modes() == 6
    assert (
        Shell(sheet, SOFT, 0.002, fixed=[0]).rigid_modes() == 0
    )  # one clamped node fixes position and rotation
    assert Shell(sheet, SOFT, 0.002, fixed=np.eye(16, 3, dtype=bool)).rigid_modes() == 3
    pinned = np.zeros((16, 3), bool)
    pinned[0] = True
    assert Shell(sheet, SOFT, 0.002, fixed=pinned).rigid_modes() == 3
    assert Membrane(sheet, SOFT, 0.002).rigid_modes() == 3  # gravity and tension keep membranes from turning
    assert Membrane(sheet, SOFT, 0.002, fixed=[0]).rigid_modes() == 0
    assert (
        Membrane(sheet, SOFT, 0.002, fixed=np.eye(16, 3, dtype=bool) & [True, True, False]).rigid_modes() == 1
    )
    slide = Rigid(left, name="bar", joint=pl.Prismatic((1, 1, 0)))
    assert Membrane(sheet, SOFT, 0.002, rigid=slide).rigid_modes() == 1
    two = sheet.joined(sheet.transformed(translation=(0, 0, 0.1)))
    assert Shell(two, SOFT, 0.002, fixed=[0]).rigid_modes() == 6
    both = Rigid(lambda x: x[:, 0] < 1e-9, name="bar")
    assert Shell(two, SOFT, 0.002, rigid=both).rigid_modes() == 6  # the bar joins them


@pytest.mark.parametrize(
    "options, message",
    [
        ({"thickness": 0.0}, "thickness"),
        ({"thickness": -1e-3}, "thickness"),
        ({"thickness": np.nan}, "thickness"),
        ({"thickness": {1: 0.001}}, "region 0"),
        ({"thickness": [0.001, 0.002]}, "triangles"),
        ({"density": -1.0}, "density"),
        ({"prestretch": 0.0}, "prestretch"),
        ({"bending": -1.0}, "bending"),
        ({"largest_strain": 0.0}, "largest_strain"),
        ({"material": "silicone"}, "Material"),
        ({"material": {3: SOFT}}, "region 0"),
        ({"sheet": pl.mesh.box((0.1, 0.1, 0.1), cells=(1, 1, 1))}, "a Sheet"),
        ({"fixed": [99]}, "fixed"),
        ({"fixed": np.zeros((16, 2), bool)}, "fixed"),
        ({"rigid": Rigid([], name="none")}, "at least one node"),
        ({"rigid": [Rigid([0], name="a"), Rigid([0], name="b")]}, "another region"),
        ({"rigid": [Rigid([0], name="a"), Rigid([1], name="a")]}, "different name"),
        ({"rigid": Rigid([0], name="a"), "fixed": [0]}, "fixed"),
        ({"strings": Strings([[0, 99]], 1.0)}, "below 16"),
    ],
)
def test_unusable_shells(options, message):
    given = {"sheet": crumpled(), "material": SOFT, "thickness": 0.001, **options}
    with pytest.raises(pl.InputError, match=message):
        Shell(given.pop("sheet"), given.pop("material"), given.pop("thickness"), **given)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"pairs": [[0, 0]]}, "different nodes"),
        ({"pairs": [[0, 1, 2]]}, "indices"),
        ({"pairs": [[0, -1]]}, "indices"),
        ({"stiffness": 0.0}, "stiffness"),
        ({"stiffness": [1.0, 2.0]}, "stiffness"),
        ({"rest_length": -1.0}, "rest_length"),
        ({"density": -1.0}, "density"),
        ({"prestretch": 0.0}, "prestretch"),
    ],
)
def test_unusable_strings(options, message):
    with pytest.raises(pl.InputError, match=message):
        Strings(**{"pairs": [[0, 1]], "stiffness": 1.0, **options})


def test_unusable_nets():
    with pytest.raises(pl.InputError, match="string at every node"):
        Net(np.eye(3), Strings([[0, 1]], 1.0))
    with pytest.raises(pl.InputError, match="without length"):
        Net([[0, 0, 0], [0, 0, 0]], Strings([[0, 1]], 1.0))
    with pytest.raises(pl.InputError, match="coordinates"):
        Net([[0, 0], [1, 1]], Strings([[0, 1]], 1.0))


def test_weight_needs_a_density():
    with pytest.raises(pl.InputError, match="density"):
        Shell(crumpled(), SOFT, 0.001).linearise(Shell(crumpled(), SOFT, 0.001).q0, GRAVITY)
