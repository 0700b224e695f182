"""Depth is that of the surfaces as they are: against a brute-force measure, for obstacles of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant import contact
from pliant.contact.obstacles import KINDS
from pliant.contact.stack import Stack
from pliant.mesh.elements import shape
from tests.contact.common import (
    OBSTACLES,
    SOFT,
    bar,
    block,
    brute_distance,
    deformed,
    fork,
    leaning,
    placed,
    plated,
    winding,
)

PIECES = 40  # of the side of a facet
TOLD = 2e-5  # of the length: how well a depth is known


def mobile(robot: pl.Robot, body) -> np.ndarray:
    """Which nodes (k,) of a body something can move."""
    return Stack(robot, [body.node_points(np.arange(len(body.mesh.nodes)))]).mobile


def brute_depth(robot: pl.Robot, obstacle: contact.Obstacle, q: np.ndarray, pieces: int = PIECES) -> float:
    """Depth [m] of the deepest of many points on every facet that moves, 0 if none is inside."""
    deepest = 0.0
    for body, span in zip(robot.bodies, robot.q_spans, strict=True):
        surface, X = body.mesh.surface, body.positions(q[span])
        i, j = (k.ravel() for k in np.meshgrid(np.arange(pieces + 1), np.arange(pieces + 1)))
        if surface.element.corners == 3:
            inside = i + j <= pieces
            xi = np.column_stack([i, j])[inside] / pieces
        else:
            xi = 2.0 * np.column_stack([i, j]) / pieces - 1.0
        facets = surface.facets[mobile(robot, body)[surface.facets].any(axis=1)]
        p = np.einsum("pk,fki->fpi", shape(surface.kind, xi), X[facets]).reshape(-1, 3)
        deepest = max(deepest, -obstacle.distance(p)[0].min(initial=0.0))
    return deepest


ROBOTS = {
    "hex": lambda: pl.Robot(bar()),
    "tet": lambda: pl.Robot(bar(kind="tet")),
    "tet10": lambda: pl.Robot(bar(kind="tet", order=2)),
    "hex20": lambda: pl.Robot(bar(kind="hex", order=2)),
    "plate": plated,
}
BUILT = {name: make() for name, make in ROBOTS.items()}


def test_every_kind_is_measured():
    assert {o.kind for o in OBSTACLES.values()} == set(KINDS)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(OBSTACLES)),
    st.sampled_from(sorted(ROBOTS)),
    st.integers(0, 99),
    st.tuples(*[st.floats(-0.5, 0.5)] * 3),
    st.tuples(*[st.floats(-1.0, 1.0)] * 3),
)
def test_depth_is_what_brute_force_finds(kind, which, seed, turn, aside):
    robot = BUILT[which]
    obstacle = OBSTACLES[kind]
    middle = np.array([0.03, 0.01, 0.01])
    place = middle + np.array([0.03, 0.03, 0.03]) * aside
    obstacle = obstacle.moved(rotation=Rotation.from_rotvec(turn).as_matrix(), translation=place)
    detector = contact.Detector(robot, [obstacle], samples=contact.Samples.on(robot.body))
    q = deformed(robot, seed, 2e-4)
    name = next(iter(detector.obstacles))
    measured, brute = detector.penetrations(q)[name], brute_depth(robot, obstacle, q)
    core = obstacle.core
    if core is None or measured < brute + TOLD * robot.length + 1e-3 or not _inside(robot, core, q):
        cell = 0.017 / PIECES  # between lattice points a corner may be as much deeper
        assert brute - TOLD * robot.length <= measured <= brute + cell


def bumpy_floor() -> contact.TriangleMesh:
    """A slab whose top, at z = 0, has a small pyramid: concave edges at its foot, flat all around."""
    n, size, foot, top = 9, 0.16, 0.004, 0.003
    xy = np.linspace(-size / 2, size / 2, n)
    mesh = pl.mesh.box((size, size, 0.02), cells=(n - 1, n - 1, 1), kind="hex")
    X = mesh.surface.nodes - [size / 2, size / 2, 0.02]
    middle = (np.abs(X[:, :2]).max(axis=1) < 1e-9) & (X[:, 2] > -1e-9)
    ring = (np.abs(X[:, :2]).max(axis=1) < 1.1 * (xy[1] - xy[0])) & (X[:, 2] > -1e-9) & ~middle
    X = X.copy()
    X[ring, :2] *= foot / (xy[1] - xy[0])
    X[middle, 2] = top
    return contact.TriangleMesh(X, mesh.surface.triangles, name="floor")


RIMMED = {
    "open pipe": contact.Pipe([(0, 0, 0), (0, 0, 0.06)], 0.03, name="pipe"),
    "bent pipe": contact.Pipe([(0, 0, 0), (0, 0, 0.03), (0.02, 0, 0.06)], 0.03, name="bent"),
    "fork": contact.ForkedPipe(
        [[(0, 0, 0), (0, 0, 0.05)], [(0, 0, 0.05), (0.03, 0, 0.09)]], 0.03, name="fork"
    ),
    "floor with a pyramid": bumpy_floor(),
}


@pytest.mark.parametrize("kind", sorted(RIMMED))
@pytest.mark.parametrize("which", sorted(ROBOTS))
def test_depth_at_rims_and_concave_edges_is_what_brute_force_finds(kind, which):
    """Facets that span a rim or a foot: nothing between nodes may hide, in the measure and in the rows."""
    robot, rng = BUILT[which], np.random.default_rng(sorted(ROBOTS).index(which))
    bound, deep = contact.depth_bound(robot.length), 0
    for _ in range(30):
        middle = np.array([0.03, 0.01, 0.01])
        rim = (
            middle
            + rng.uniform(-0.012, 0.012, 3)
            - (0.0 if kind.startswith("floor") else 0.03) * _across(rng)
        )
        turn = Rotation.from_rotvec(rng.normal(size=3) * (0.15 if kind.startswith("floor") else 1.0))
        obstacle = RIMMED[kind].moved(rotation=turn.as_matrix(), translation=rim)
        q, target = deformed(robot, int(rng.integers(99)), 2e-4), rng.uniform(2e-4, 1.5e-3)
        X, moves = robot.positions(q), mobile(robot, robot.body)
        for _ in range(8):  # drawn back until it is about as deep
            gap, normal = obstacle.distance(X[moves])
            deepest = gap.argmin()
            obstacle = obstacle.moved(translation=(gap[deepest] + target) * normal[deepest])
        if obstacle.distance(X[~moves])[0].min(initial=0.0) < 0.0:
            continue  # points that nothing can move do not count, but those right beside them do
        detector = contact.Detector(robot, [obstacle], samples=contact.Samples.on(robot.body))
        measured, brute = detector.penetration(q), brute_depth(robot, obstacle, q)
        assert brute - TOLD * robot.length <= measured <= brute + 0.017 / PIECES
        if not 1e-4 < brute < 2e-3:
            continue
        deep += 1
        contacts = detector.detect(q)
        assert brute - bound <= -(contacts.gap + contacts.margin).min(initial=0.0)
    assert deep > 0


def _across(rng: np.random.Generator) -> np.ndarray:
    """A random unit vector (3,)."""
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def _inside(robot: pl.Robot, p: np.ndarray, q: np.ndarray) -> bool:
    """Whether p lies in the bar, which is convex but for what little it is deformed."""
    surface = robot.body.mesh.surface
    X = robot.body.positions(q)
    T = surface.triangles
    n = np.cross(X[T[:, 1]] - X[T[:, 0]], X[T[:, 2]] - X[T[:, 0]])
    return bool((np.einsum("ti,ti->t", n, p - X[T[:, 0]]) < 0).all())


@pytest.mark.parametrize("which", sorted(ROBOTS))
def test_a_needle_is_measured_between_all_samples(which):
    """As deep as its tip is behind the skin, wherever it stands and however far the samples are apart."""
    robot = BUILT[which]
    samples = contact.Samples.on(robot.body, spacing=1.0)
    for x, y in ((0.0173, 0.0041), (0.0311, 0.0122), (0.0499, 0.0157)):
        needle = contact.Capsule((x, y, -0.02), (x, y, -1e-4), 3e-4, name="needle")  # 0.2 mm inside
        detector = contact.Detector(robot, [needle], samples=samples)
        if which == "plate" and y < 1e-9:
            continue
        assert detector.penetration(robot.rest.q) == pytest.approx(2e-4, abs=TOLD * robot.length)


def test_the_edges_of_a_mesh():
    """A plate and a post, whose edges stand in the bar between samples."""
    lower = block((0.04, 0.04, 0.01), (0.03, 0.01, -0.0098))
    upper = block((0.004, 0.04, 0.01), (0.031, 0.01, -0.0047))
    for vertices, triangles in (lower, upper):
        mesh = contact.TriangleMesh(vertices, triangles)
        robot = BUILT["hex"]
        detector = contact.Detector(robot, [mesh], samples=contact.Samples.on(robot.body, spacing=1.0))
        brute = brute_depth(robot, mesh, robot.rest.q)
        assert detector.penetration(robot.rest.q) == pytest.approx(brute, abs=2e-5)


# Bodies in each other, and in themselves

SOLIDS = {"tet4": ("tet", 1), "tet10": ("tet", 2), "hex8": ("hex", 1), "hex20": ("hex", 2)}
AROUND = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, 9)] * 2), axis=-1).reshape(-1, 2)


def solid(kind: str, cells: tuple[int, int, int], low: float) -> pl.Solid:
    shape_, order = SOLIDS[kind]
    quadratic = 2 if kind == "hex20" else 1
    mesh = pl.mesh.box((0.02, 0.02, 0.01), cells=cells, kind=shape_, origin=(0, 0, low), order=quadratic)
    return pl.Solid(mesh, SOFT, order=order)


def lattice(surface: pl.mesh.Surface, pieces: int) -> tuple[np.ndarray, np.ndarray]:
    """Places ξ (n, 2) on a facet, and triangles between them."""
    i, j = (k.ravel() for k in np.meshgrid(*[np.arange(pieces + 1)] * 2, indexing="ij"))
    T = Delaunay(np.column_stack([i, j + 1e-3 * i])).simplices  # all diagonals alike
    xi = np.column_stack([i, j]) / pieces
    if surface.element.corners == 3:
        T = T[(xi.sum(axis=1) < 1 + 1e-9)[T].all(axis=1)]
        xi = np.minimum(xi, 1.0)
        return xi, _turned(xi, T)
    return 2.0 * xi - 1.0, _turned(xi, T)


def _turned(xi: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Triangles that all turn the same way."""
    a, b = xi[T[:, 1]] - xi[T[:, 0]], xi[T[:, 2]] - xi[T[:, 0]]
    return np.where((a[:, 0] * b[:, 1] > a[:, 1] * b[:, 0])[:, None], T, T[:, ::-1])


def cut(surface: pl.mesh.Surface, X: np.ndarray, pieces: int) -> tuple[np.ndarray, np.ndarray]:
    """Facets cut finely: points and triangles."""
    xi, T = lattice(surface, pieces)
    p = np.einsum("pk,fki->fpi", shape(surface.kind, xi), X[surface.facets])
    return p.reshape(-1, 3), (T + len(xi) * np.arange(len(surface.facets))[:, None, None]).reshape(-1, 3)


def brute_depth_in(surface: pl.mesh.Surface, X: np.ndarray, Y: np.ndarray, T: np.ndarray) -> float:
    """Depth [m] of the deepest point of facets in a closed surface: dense places, finer round the best."""

    def depths(facet: np.ndarray, xi: np.ndarray) -> np.ndarray:
        p = np.einsum("nk,nki->ni", shape(surface.kind, xi), X[surface.facets[facet]])
        deep, near = np.zeros(len(p)), np.flatnonzero(((p > Y.min(axis=0)) & (p < Y.max(axis=0))).all(axis=1))
        for part in np.array_split(near, 1 + len(near) * len(T) // 10**6):
            inside = part[winding(p[part], Y, T) > 0.5]
            deep[inside] = brute_distance(p[inside], Y, T)
        return deep

    triangular, width = surface.element.corners == 3, 0.1
    xi = lattice(surface, 10)[0]
    xi = xi[xi.sum(axis=1) < 1 + 1e-9] if triangular else xi
    facet, xi = np.repeat(np.arange(len(surface)), len(xi)), np.tile(xi, (len(surface), 1))
    deep = depths(facet, xi)
    deepest = deep.max()
    for _ in range(5):
        best = np.argsort(-deep)[:4]
        facet, xi = np.repeat(facet[best], 81), (xi[best][:, None] + width * AROUND).reshape(-1, 2)
        xi = np.clip(xi, 0.0 if triangular else -1.0, 1.0)
        if triangular:
            xi -= 0.5 * np.maximum(xi.sum(axis=1) - 1.0, 0.0)[:, None]
            xi = np.clip(xi, 0.0, 1.0)
        deep, width = depths(facet, xi), width / 4
        deepest = max(deepest, deep.max())
    return float(deepest)


@pytest.mark.parametrize(
    ("kinds", "seed"),
    [(("tet4", "tet4"), 0), (("tet4", "tet4"), 1), (("tet10", "tet4"), 0), (("hex8", "hex20"), 0)],
)
def test_depth_of_bodies_is_what_brute_force_finds(kinds, seed):
    """Corners, edges and faces of skins of every kind, in faces that are flat, twisted or curved.

    Flat ones are met to what the depth is known to; on others brute force has chords, and the foot of a point
    is that of the facet nearest by chords.
    """
    rng = np.random.default_rng(seed)
    first, second = solid(kinds[0], (2, 2, 1), 0.0), solid(kinds[1], (1, 2, 1), 0.01)
    robot = pl.Robot([first, second])
    X, Y = (b.mesh.nodes + 5e-5 * rng.normal(size=b.mesh.nodes.shape) for b in robot.bodies)
    turn, middle = Rotation.from_rotvec(rng.uniform(-0.15, 0.15, 3)).as_matrix(), Y.mean(axis=0)
    Y = (Y - middle) @ turn.T + middle + rng.uniform(-1, 1, 3) * (0.004, 0.004, 0.0003) - (0, 0, 0.0003)
    measured = contact.Detector(robot).penetration(placed(robot, np.vstack([X, Y])))
    brute = 0.0
    for mine, at, other, there in ((first, X, second, Y), (second, Y, first, X)):
        surface = other.mesh.surface
        fine = cut(surface, there, 1 if surface.kind == "tri3" else 4)
        brute = max(brute, brute_depth_in(mine.mesh.surface, at, *fine))
    assert brute > 1e-4
    about = 0.0 if kinds == ("tet4", "tet4") else 0.02 * brute
    assert brute - 1e-6 - about <= measured <= brute + 1e-5 + about


@pytest.mark.parametrize("kind", sorted(SOLIDS))
def test_faces_that_coincide_are_no_depth(kind):
    """Also where they are curved: facets are measured as they are, not their chords."""
    robot = pl.Robot([solid(kind, (4, 4, 2), -0.01), solid(kind, (4, 4, 2), 0.0)])
    X = robot.positions(robot.rest.q).copy()
    X[:, 2] += 1e-3 * np.sin(150 * X[:, 0]) * np.cos(200 * X[:, 1])
    assert contact.Detector(robot).penetration(placed(robot, X)) < 1e-12


@pytest.mark.parametrize("seed", range(2))
def test_depth_in_itself_is_what_brute_force_finds(seed):
    """Two prongs of a fork that lean into each other, one of them turned: a corner goes in first."""
    rng = np.random.default_rng(seed)
    body = fork()
    robot = pl.Robot(body)
    rest, surface = body.mesh.nodes, body.mesh.surface
    X = leaning(rest, rng.uniform(0.056, 0.062)) + 2e-5 * rng.normal(size=rest.shape)
    right = rest[:, 0] > 0.0119
    X[right, 1] += 0.1 * rng.uniform(-1, 1) * (rest[right, 2] - 0.004)
    prong = (rest[surface.triangles][:, :, 2] > 0.0039).all(axis=1)
    side = right[surface.triangles].all(axis=1)
    brute = 0.0
    b = np.array([(i, j, 8 - i - j) for i in range(9) for j in range(9 - i)]) / 8
    for mine in (side, ~side):
        T = surface.triangles[prong & mine]
        n = np.cross(X[T[:, 1]] - X[T[:, 0]], X[T[:, 2]] - X[T[:, 0]])
        n /= np.linalg.norm(n, axis=1)[:, None]
        p = np.einsum("pa,tai->tpi", b, X[T])
        # A little within its triangle: on an edge there is no telling on which side of the skin a place is.
        p += 1e-3 * (p.mean(axis=1, keepdims=True) - p)
        other = surface.triangles[prong & ~mine]
        low, high = X[other].min(axis=(0, 1)), X[other].max(axis=(0, 1))
        near = ((p > low) & (p < high)).all(axis=2)
        q, normal = p[near], np.repeat(n, len(b), axis=0)[near.ravel()]
        twice = winding(q - 1e-7 * normal, X, surface.triangles) > 1.5
        brute = max(brute, brute_distance(q[twice], X, other).max(initial=0.0))
    measured = contact.Detector(robot, self_contact=True, alarm=0.003).penetration(placed(robot, X))
    assert 5e-5 < brute < measured + 2e-6
    assert measured < brute + 6e-5  # a lattice of brute force is as fine as that


@pytest.mark.parametrize("kind", sorted(SOLIDS))
@pytest.mark.parametrize("angle", [2.0, 5.5])
def test_neighbours_over_an_edge_are_no_depth(kind, angle):
    """A strip bent until its ends nearly meet: its corners close, and nothing overlaps."""
    shape_, order = SOLIDS[kind]
    quadratic = 2 if kind == "hex20" else 1
    mesh = pl.mesh.box((0.1, 0.01, 0.01), cells=(12, 1, 1), kind=shape_, order=quadratic)
    robot = pl.Robot(pl.Solid(mesh, SOFT, order=order))
    X = robot.positions(robot.rest.q).copy()
    radius, turn = 0.1 / angle, X[:, 0] * angle / 0.1
    height = X[:, 2] - 0.005
    X[:, 0], X[:, 2] = (radius - height) * np.sin(turn), radius - (radius - height) * np.cos(turn)
    detector = contact.Detector(robot, self_contact=True)
    assert detector.penetration(placed(robot, X)) == 0.0
    turn *= 6.6 / angle  # beyond a full turn the ends are in each other
    X[:, 0], X[:, 2] = (radius - height) * np.sin(turn), radius - (radius - height) * np.cos(turn)
    if angle > 5.0:
        assert detector.penetration(placed(robot, X)) > 0.001


@pytest.mark.parametrize("seed", [0, 6, 13, 41])
def test_no_sample_is_taken_for_deeper_than_the_surfaces_are(seed):
    """Not even above a face that is ruled out for it, beside the edge of another that is not."""
    rng = np.random.default_rng(seed)
    robot = pl.Robot(fork())
    rest = robot.body.mesh.nodes
    X = leaning(rest, rng.uniform(0.054, 0.058)) + 2e-5 * rng.normal(size=rest.shape)
    right = rest[:, 0] > 0.0119
    X[right, 1] += 0.2 * rng.uniform(-1, 1) * (rest[right, 2] - 0.004)
    X[right, 2] += 1e-3 * rng.uniform(-1, 1)
    detector, q = contact.Detector(robot, self_contact=True, alarm=0.003), placed(robot, X)
    assert 1e-5 < -detector.detect(q).gap.min() < detector.penetration(q) + 2e-6
