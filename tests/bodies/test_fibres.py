"""Fibres: derivatives, sparsity, and the closed forms of braided and wound tubes."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Reduced, Rigid, Solid
from pliant.bodies.fibres import NEUTRAL, Fibres, braid, helix, rings, straight
from pliant.dynamics import Simulation
from pliant.mesh import tube
from tests.bodies.common import ELEMENTS, MATERIALS, NONE, Probe, distorted, left
from tests.reduction.test_body import polynomials

RADIUS, WALL = 0.01, 0.0004
WOUND = [
    *helix(0.01, 0.05, angle=0.8, count=2, start=(0.005, 0.015, 0.015), axis=(1, 0, 0)),
    *straight((0.001, 0.015, 0.02), (0.059, 0.012, 0.011), points=7),
]


def wound(element: str = "hex8", material: str = "neo-Hookean", **options) -> Solid:
    """A distorted block with a rigid plate, a prestretched helix and a thread."""
    kind, more = ELEMENTS[element]
    plate = Rigid(lambda x: x[:, 0] > 0.06 - 1e-9, name="plate")
    fibres = Fibres(WOUND, 30.0, prestretch=1.02, **options)
    mesh, law = distorted(kind), MATERIALS[material]
    return Solid(mesh, law, density=900.0, fixed=left, rigid=plate, fibres=fibres, **more)


# Energy, forces, tangent


@pytest.mark.parametrize("tension_only", [True, False])
@pytest.mark.parametrize("element", ["tet4", "tet10", "hex8", "hex20"])
def test_forces_and_tangent_are_derivatives_of_the_energy(element: str, tension_only: bool) -> None:
    probe = Probe.random(wound(element, tension_only=tension_only), 3e-4)
    probe.check()
    T = probe.body.fibre_tension(probe.q)
    assert (T > 0).any() and ((T == 0).any() if tension_only else (T < 0).any())


def test_a_reduced_body_has_all_of_them(within) -> None:
    """r = Φᵀr and K = ΦᵀKΦ of the full body."""
    body = wound("tet10", "hooke")
    small = Reduced(body, polynomials(body))
    a = small.retract(small.q0, 5e-4 * np.random.default_rng(3).normal(size=small.ndof))
    x = np.array(body.q0)
    x[: body.coordinates.pose] += (small.modes @ a).ravel()
    everywhere = Solid(body.mesh, body.material, fixed=left, fibres=[g.fibres for g in body.fibres])
    Phi = small.modes[: len(body.mesh.nodes)].reshape(-1, small.ndof)[everywhere.coordinates.moving]
    energy, r, K = small.linearise(a, NONE)
    full_energy, r_full, K_full = everywhere.linearise(x[: len(everywhere.q0)], NONE)
    within(energy / full_energy - 1, 1e-10, "energy")
    within(np.abs(r - r_full @ Phi).max() / np.abs(r).max(), 1e-9, "residual")
    free = np.ix_(small.free, small.free)
    projected = (Phi.T @ (everywhere.pattern.to_csr(K_full) @ Phi))[free]
    off = small.pattern.to_csr(K).toarray()[free] - projected
    within(np.abs(off).max() / np.abs(projected).max(), 1e-10, "stiffness")


def test_a_string_couples_the_nodes_of_the_cells_it_ends_in() -> None:
    """No row of K is dense, and threads along one cell after the other add little."""
    mesh = tube(0.009, 0.01, 0.06, around=16, across=1, along=24, kind="hex")
    bare, tied = (
        Solid(mesh, pl.Hooke(3e5, 0.4), fixed=lambda x: x[:, 2] < 1e-9, fibres=fibres)
        for fibres in ((), Fibres(braid(0.01, 0.06, angle=1.0, count=16, per_turn=16), 100.0))
    )
    degree = [np.bincount(np.concatenate([b.pattern.rows, b.pattern.cols])).max() for b in (bare, tied)]
    assert degree[1] <= 1.6 * degree[0]
    assert len(tied.pattern.rows) < 1.5 * len(bare.pattern.rows)


def test_threads_along_a_bar_share_its_load(within) -> None:
    """F = (E A + n EA) ε of a bar without contraction, its threads half loose of the nodes."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(5, 2, 2), kind="hex")
    load, EA = 0.5, 20.0
    threads = straight((0, 0.013, 0.012), (0.1, 0.013, 0.012), across=(0, 0.008, 0), count=2, points=8)
    threads += straight((0, 0.007, 0.008), (0.1, 0.007, 0.008), across=(0, 0.008, 0), count=2, points=8)
    body = Solid(
        mesh,
        pl.Hooke(2e5, 0.0, small_strain=True),
        fixed=left,
        rigid=Rigid(lambda x: x[:, 0] > 0.1 - 1e-9, name="end"),
        fibres=Fibres(threads, EA),
    )
    pull = pl.Row(pl.PointForce(body.points([[0.1, 0.01, 0.01]]), direction=(1, 0, 0)))
    robot = pl.Robot(body, {"pull": pull}, gravity=NONE)
    result = pl.static(robot, {"pull": pl.Known(effort=load)})
    strain = load / (2e5 * 4e-4 + 4 * EA)
    within(result.displacement["pull"][0] / 0.1 / strain - 1, 1e-9, "strain")
    within(body.fibre_tension(result.q) / (EA * strain) - 1, 1e-9, "tension")
    pushed = pl.static(robot, {"pull": pl.Known(effort=-load)})
    within(pushed.displacement["pull"][0] / 0.1 * 2e5 * 4e-4 / -load - 1, 1e-9, "strain of the bar alone")
    assert not body.fibre_tension(pushed.q).any()


# Tubes under pressure


def closed_tube(angle: float, wind, law, stiffness: float, *, around: int, along: int, held: bool, **options):
    """A piece of a closed tube, its threads from corner to corner; its ends stay plane where `held`."""
    length = along * 2 * np.pi * RADIUS / around / np.tan(angle)
    mesh = tube(
        RADIUS - WALL / 2, RADIUS + WALL / 2, length, around=around, along=along, across=1, kind="hex"
    )
    x, y, z = mesh.nodes.T
    fixed = np.zeros((len(x), 3), bool)
    fixed[(z < 1e-9) | (held & (z > length - 1e-9)), 2] = True
    fixed[(z < 1e-9) & (abs(y) < 1e-9), 1] = fixed[(z < 1e-9) & (abs(x) < 1e-9), 0] = True
    threads = wind(RADIUS, length, angle=angle, count=around, per_turn=around)
    body = Solid(mesh, law, density=0, fixed=fixed, fibres=Fibres(threads, stiffness, **options))
    triangles = body.mesh.surface.triangles
    r = np.linalg.norm(body.mesh.nodes[:, :2], axis=1)
    inside = triangles[(r[triangles] < RADIUS).all(axis=1)]
    chamber = pl.Cavity.on(body, inside, cap="flat")
    robot = pl.Robot(body, {"chamber": pl.Row(chamber, pl.Bounded())}, gravity=NONE)
    return robot, length, np.unique(inside)


def pull_of(robot: pl.Robot, length: float, inner: np.ndarray, contraction: float, pressure: float) -> float:
    """What the ends have to be held with [N], its caps included."""
    body, chamber = robot.body, robot.rows["chamber"].interaction
    top = body.mesh.nodes[:, 2] > length - 1e-9
    q = body.move_supports(body.q0, translation=(0, 0, -contraction * length), nodes=top)
    result = pl.static(robot, {"chamber": pl.Known(effort=pressure)}, state=robot.rest.with_(q=q))
    push = np.zeros((len(top), 3))
    push[inner] = pressure * chamber.gradient(body.positions(result.q)[inner])
    return float((body.reactions(result.q)[:, 2] - push[:, 2])[top].sum())


@pytest.mark.parametrize("degrees, contraction", [(20, 0.0), (25, 0.2), (30, 0.1)])
def test_a_mckibben_muscle_pulls_as_its_closed_form(degrees: float, contraction: float, within) -> None:
    """F = π r² p (3 (1 − ε)²/tan² α − 1/sin² α), and the little that the wall resists.

    The polygon of 24 sides has 1.1 % less area than the circle.
    """
    angle, p, E = np.radians(degrees), 5e4, 5e4
    tube_of = closed_tube(angle, braid, pl.NeoHookean(E, 0.49), 1e4, around=24, along=4, held=True)
    force = pull_of(*tube_of, contraction, p)
    area = 12 * RADIUS**2 * np.sin(2 * np.pi / 24)
    ideal = area * p * (3 * (1 - contraction) ** 2 / np.tan(angle) ** 2 - 1 / np.sin(angle) ** 2)
    along = 1 - contraction
    around = np.sqrt(1 - (along * np.cos(angle)) ** 2) / np.sin(angle)
    slope = -along / np.tan(angle) ** 2 / around  # of what it is stretched around over along, by the threads
    wall = along - along**-3 * around**-2 + (around - around**-3 * along**-2) * slope
    ideal += E / 3 * 2 * np.pi * RADIUS * WALL * wall
    within(force / ideal - 1, 0.01, "force")


def test_at_the_neutral_angle_pressure_does_not_pull(within) -> None:
    law = pl.NeoHookean(5e4, 0.49)
    tube_of = closed_tube(NEUTRAL, braid, law, 1e4, around=24, along=4, held=True)
    within(pull_of(*tube_of, 0.0, 5e4) / (np.pi * RADIUS**2 * 5e4), 0.01, "force")


def test_it_lengthens_above_and_shortens_below() -> None:
    grown = []
    for degrees in (50, 60):
        robot, *_ = closed_tube(
            np.radians(degrees), braid, pl.Hooke(2e5, 0.45), 1e3, around=12, along=4, held=False
        )
        result = pl.static(robot, {"chamber": pl.Known(effort=1e3)})
        body = robot.body
        top = body.mesh.nodes[:, 2] > body.mesh.nodes[:, 2].max() - 1e-9
        grown.append(float((body.positions(result.q) - body.mesh.nodes)[top, 2].mean()))
    assert grown[0] < -1e-6 and grown[1] > 1e-6


def test_a_helix_alone_twists_the_tube(within) -> None:
    """Strains of a thin tube with a family of threads at α: ε = S(N − T f f), N = (½, 1, 0) p r.

    f·ε f = T/EA by their width gives T. Second order in the cells round the tube.
    """
    angle, p, E, nu, EA, n = NEUTRAL, 10.0, 1e6, 0.3, 50.0, 32
    robot, length, _ = closed_tube(
        angle, helix, pl.Hooke(E, nu), EA, around=n, along=12, held=False, tension_only=False
    )
    result = pl.static(robot, {"chamber": pl.Known(effort=p)})
    X = robot.body.mesh.nodes
    u = robot.body.positions(result.q) - X
    low, high = (np.abs(X[:, 2] - share * length) < 1e-6 for share in (1 / 3, 2 / 3))
    middle = np.abs(X[:, 2] - length / 2) < length / 6 + 1e-6
    turn = (X[:, 0] * u[:, 1] - X[:, 1] * u[:, 0]) / np.sum(X[:, :2] ** 2, axis=1)
    out = np.sum(u[:, :2] * X[:, :2], axis=1) / np.linalg.norm(X[:, :2], axis=1)
    found = [
        (u[high, 2].mean() - u[low, 2].mean()) / (length / 3),
        out[middle].mean() / RADIUS,
        RADIUS * (turn[high].mean() - turn[low].mean()) / (length / 3),
    ]
    inner, c, s = RADIUS - WALL / 2, np.cos(angle), np.sin(angle)
    S = np.array([[1, -nu, 0], [-nu, 1, 0], [0, 0, 2 * (1 + nu)]]) / (E * WALL)
    f = np.array([c * c, s * s, s * c])
    free = S @ [p * inner**2 / (2 * RADIUS), p * inner, 0] + nu * p / (2 * E) * np.array([1, 1, 0])
    T = f @ free / (f @ S @ f + 2 * np.pi * RADIUS * c / n / EA)
    expected = free - T * (S @ f)
    within(np.abs(found - expected).max() / np.abs(expected).max(), 0.01, "strains")
    assert expected[2] < -1.5 * expected[0] < 0  # a right-handed one winds up


# In motion and under control


def test_motion_keeps_its_energy(within) -> None:
    """A bar with a slack and a taut thread is let go; the midpoint rule."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(4, 1, 1), kind="hex")
    threads = straight((0, 0.01, 0.018), (0.1, 0.01, 0.018), points=5)
    threads += straight((0, 0.01, 0.002), (0.1, 0.01, 0.002), points=5)
    body = Solid(mesh, pl.Hooke(3e5, 0.3), density=1100, fixed=left, fibres=Fibres(threads, 30.0))
    load = pl.Row(pl.PointForce(body.points([[0.1, 0.01, 0.01]]), direction=(0, 0, 1)))
    robot = pl.Robot(body, {"load": load}, gravity=NONE)
    start = pl.static(robot, {"load": pl.Known(effort=0.5)})
    sim = Simulation(robot, scheme="midpoint", time_step=2e-3, state=start.state)
    first, kinetic, slack = sim.energy.total, 0.0, set()
    for _ in range(60):
        sim.step()
        kinetic = max(kinetic, sim.energy.kinetic)
        slack |= set(np.flatnonzero(body.fibre_tension(sim.state.q) == 0.0).tolist())
    within((sim.energy.total - first) / kinetic, 1e-9, "change of energy")
    assert kinetic > 0.5 * first and slack == set(range(8))  # each was slack, on one side of the swing


def test_the_inverse_model_knows_them() -> None:
    """It finds the pressure that had brought a bender's tip there, and W is that of finite differences."""
    robot = pl.robots.fibre_bender(around=8, along=12, gravity=NONE)
    there = pl.static(robot, {"chamber": pl.Known(effort=20e3)})
    more = pl.static(robot, {"chamber": pl.Known(effort=20.2e3)}, state=there.state)
    W = pl.compliance(robot, there.state)["tip", "chamber"].ravel()
    np.testing.assert_allclose(
        more.displacement["tip"] - there.displacement["tip"], 200 * W, rtol=0.03, atol=1e-7
    )
    controller = pl.Inverse(robot)
    for _ in range(60):
        out = controller.step({"tip": there.displacement["tip"]})
    assert out.effort["chamber"][0] == pytest.approx(20e3, rel=1e-3)


# Windings and what is refused


def test_windings_are_as_long_as_they_should_be(within) -> None:
    """L/cos α of helices, 2πr of rings, by points that are 4° apart."""
    angle = 0.6
    threads = Fibres(helix(0.01, 0.1, angle=angle, count=3, per_turn=90), 1.0)
    within(threads.length / (3 * 0.1 / np.cos(angle)) - 1, 1e-3, "length of helices")
    pitch = 2 * np.pi * 0.01 / np.tan(angle)
    by_pitch = helix(0.01, 0.1, pitch=pitch, count=3, per_turn=90)
    np.testing.assert_allclose(np.concatenate(by_pitch), np.concatenate(threads.paths), atol=1e-15)
    hoops = rings(0.01, 0.1, count=3, per_turn=90, axis=(1, 1, 0))
    within(Fibres(hoops, 1.0).length / (6 * np.pi * 0.01) - 1, 1e-3, "length of rings")
    assert all(np.allclose(hoop[0], hoop[-1]) for hoop in hoops)
    right, mirrored = braid(0.01, 0.1, angle=angle)
    np.testing.assert_allclose(mirrored * [1, -1, 1], right, atol=1e-15)
    assert np.cross(right[0], right[1])[2] > 0  # right-handed: it turns with the axis


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Fibres([], 1.0), "at least one thread"),
        (lambda: Fibres([[0, 0, 0]], 1.0), "points"),
        (lambda: Fibres(np.zeros((2, 3)), 1.0), "the same point twice"),
        (lambda: Fibres(np.eye(3), -1.0), "stiffness of fibres"),
        (lambda: Fibres(np.eye(3), 1.0, prestretch=0.0), "prestretch"),
        (lambda: Fibres([["a", 0, 0]], 1.0), "points"),
        (lambda: helix(0.01, 0.1), "angle or a pitch"),
        (lambda: helix(0.01, 0.1, angle=2.0), "between 0 and π/2"),
        (lambda: helix(0.01, 0.1, pitch=0.01, hand=2), "hand"),
        (lambda: helix(0.01, 0.1, pitch=0.01, axis=(0, 0, 0)), "axis"),
        (lambda: rings(0.01, 0.1, count=0), "count of rings"),
        (lambda: rings(0.01, 0.1, count=2, per_turn=2), "per_turn"),
        (lambda: straight((0, 0, 0), (0, 0, 1), count=2), "across"),
        (lambda: straight((0, 0, 0), (0, 0, 1), points=1), "points"),
        (lambda: Solid(distorted("hex8"), MATERIALS["hooke"], fibres=[1]), "Fibres"),
        (lambda: Solid(distorted("hex8"), MATERIALS["hooke"], fibres=Fibres(np.eye(3), 1.0)), "glued"),
    ],
)
def test_refused(make, message: str) -> None:
    with pytest.raises(pl.InputError, match=message):
        make()
