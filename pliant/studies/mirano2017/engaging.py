"""Pulleys that meet a cable (§2.4): the ballast, Theorem 1 over random configurations, and Fig. 2-2."""

from __future__ import annotations

import numpy as np

from pliant.membrane.bodies import At, PlanarBody
from pliant.membrane.cable import Cable, Over
from pliant.membrane.drawing import draw_path
from pliant.membrane.joints import Free, Prismatic, Revolute, Translating
from pliant.membrane.mechanism import Mechanism
from pliant.membrane.shapes import Disc, Shape, regular, rotation
from pliant.membrane.simulation import Simulation
from pliant.membrane.wrapping import LEFT, Pulley, wrap
from pliant.studies.check import Check
from pliant.studies.figures import heading, line, new_figure
from pliant.studies.mirano2017.lab import Lab
from pliant.studies.study import Findings, Picture

L = 0.7  # [m] half the span of the example
BALLAST = (
    "A cable over two fixed points to a ballast that slides; a point mass meets it in the middle at (v_x, "
    "v_y). Just after, b̈ = −2 v_y²/l and the point is not accelerated. Equations of motion with the cable "
    "as a constraint, index-reduced; then the same in time."
)
THEOREM = (
    "Random polygons and discs that turn and move, random masses, a cable from a turning lever past the "
    "shape to a sliding ballast. The velocities satisfy the cable's constraint just before the shape "
    "touches it; the jump is what the constraint with the new contact asks of them."
)
HEXAGON = (
    "Three poses of a hexagon between two points, as in Fig. 2-2, and random ones, where the taut path is "
    "compared with the chain of the convex hull of the hexagon and the two points, which knows nothing of "
    "angles."
)


def ballast_scene(point: float, ballast: float) -> Mechanism:
    """Masses [kg] of the example."""
    bodies = [
        PlanarBody("point", Translating(), point, shape=Disc(0.0)),
        PlanarBody("ballast", Prismatic(at=(2.0 * L, 0.0)), ballast),
    ]
    path = [At("world", (-L, 0.0)), Over("point"), At("world", (L, 0.0)), At("ballast")]
    return Mechanism(bodies, cables=[Cable("rope", path)])


def ballast(lab: Lab) -> Findings:
    """b̈ = −2 v₀²/l."""
    rng, worst, still = lab.setup.rng("ballast"), 0.0, 0.0
    for _ in range(lab.setting.trials):
        mech = ballast_scene(*rng.uniform(0.1, 3.0, 2))
        v = np.array([*rng.normal(size=2), 0.0])
        a, _ = mech.acceleration([0.0, -1e-12, 0.0], v)
        exact = -2.0 * v[1] ** 2 / L
        worst = max(worst, abs(a[2] / exact - 1.0))
        still = max(still, float(np.abs(a[:2]).max()) / abs(exact))
    t, speed = _in_time()
    begin = int(np.argmax(speed < 0.0))
    slope = speed[begin + 1] / (t[begin + 1] - t[begin] + 0.5 * (t[begin] - t[begin - 1]))
    asked = -2.0 / L
    figure, axes = new_figure(6.4, 3.2)
    ax = axes[0, 0]
    ax.plot(1e3 * t, speed, **line(0), label="simulated")
    ax.plot(1e3 * t, np.minimum(asked * (t - t[begin]), 0.0), **line(10), label="−2 v²/l after contact")
    ax.set_xlabel("time [ms]")
    ax.set_ylabel("velocity of the ballast [m/s]")
    ax.legend(frameon=False, fontsize=8)
    checks = [
        Check.at_most("b̈ₓ against −2 v_y²/l, relative", worst, 1e-9, paper="equal"),
        Check.at_most("acceleration of the point, of b̈ₓ", still, 1e-9, paper="0"),
        Check.within("simulated b̈ₓ after contact, of −2 v_y²/l", slope / asked, 0.99, 1.01),
        Check.at_most(
            "velocity of the ballast in the step before contact",
            abs(float(speed[begin - 1])),
            1e-12,
            unit="m/s",
        ),
    ]
    picture = Picture(
        "ballast", "The ballast's velocity has a kink, not a jump, when the point touches the cable.", figure
    )
    return Findings("Cable, point and ballast (§2.4.2)", BALLAST, checks=checks, pictures=[picture])


def _in_time() -> tuple[np.ndarray, np.ndarray]:
    """Times and velocities of the ballast; the point moves at 1 m/s and meets the cable after 5.05 ms."""
    sim = Simulation(ballast_scene(0.5, 0.5), q=[0.0, 5.05e-3, 0.0], v=[0.0, -1.0, 0.0], time_step=1e-4)
    out = [(sim.t, sim.v[2])]
    for _ in range(120):
        sim.advance(1)
        out.append((sim.t, sim.v[2]))
    t, v = np.array(out).T
    return t, v


def engagement(lab: Lab) -> Findings:
    """Theorem 1."""
    rng = lab.setup.rng("engagement")
    jumps, met = np.transpose([jump(rng) for _ in range(4 * lab.setting.trials)])
    figure, axes = new_figure(6.4, 2.8)
    ax = axes[0, 0]
    ax.hist(np.log10(np.maximum(jumps, 1e-18)), bins=40, color=line(1)["color"])
    ax.axvline(-9.0, color="black", linewidth=1.0, linestyle="--")
    ax.set_xlabel("log₁₀ of the jump of velocity, of the speed")
    ax.set_ylabel("configurations")
    checks = [
        Check("configurations", len(jumps)),
        Check.holds("the shape is on the cable afterwards", bool(met.all())),
        Check.at_most("largest jump of velocity, of the speed", float(jumps.max()), 1e-9, paper="0"),
    ]
    picture = Picture("engagement", "Jumps of velocity at engagement; dashed: what is asked.", figure)
    return Findings("Engagement is not impulsive (Theorem 1)", THEOREM, checks=checks, pictures=[picture])


def jump(rng: np.random.Generator) -> tuple[float, bool]:
    """The jump of velocity at a random engagement, over the largest velocity, and whether it touched."""
    shape: Shape = (
        Disc(rng.uniform(0.02, 0.3))
        if rng.random() < 0.3
        else regular(int(rng.integers(3, 9)), rng.uniform(0.05, 0.3))
    )
    bodies = [
        PlanarBody(
            "kite",
            Free(),
            rng.uniform(0.1, 3.0),
            rng.uniform(0.01, 0.3),
            tuple(0.05 * rng.normal(size=2)),
            shape,
        ),
        PlanarBody("ballast", Prismatic(at=(2.0 * L, 0.0)), rng.uniform(0.1, 3.0)),
        PlanarBody(
            "lever", Revolute(at=(-L, -0.3), angle=np.pi / 2), rng.uniform(0.1, 3.0), 0.05, (0.1, 0.0)
        ),
    ]
    path = [At("lever", (0.3, 0.0)), Over("kite"), At("world", (L, 0.0)), At("ballast")]
    mech = Mechanism(bodies, cables=[Cable("rope", path)])
    turn = rng.uniform(0.0, 2.0 * np.pi)
    lowest = rotation(turn) @ shape.support((-np.sin(turn), -np.cos(turn)))
    at = np.array([rng.uniform(-0.5, 0.5) * L, 0.0]) - lowest
    gap = 2e-13  # [m]
    rows = [mech.cable_rows([at[0], at[1] + y, turn, 0.0, 0.0])[1][0] for y in (gap, -gap)]
    M = mech.mass([*at, turn, 0.0, 0.0])
    project = lambda J, v: v - np.linalg.solve(M, J) * (J @ v) / (J @ np.linalg.solve(M, J))
    v = project(rows[0], rng.normal(size=mech.ndof))
    change = np.abs(project(rows[1], v) - v).max() / np.abs(v).max()
    return float(change), bool(np.any(rows[0] != rows[1]))


def hexagon(lab: Lab) -> Findings:
    """Fig. 2-2."""
    shape, start, end = regular(6, 0.2), (-0.6, 0.0), (0.6, 0.0)
    poses = [((0.0, 0.25, 0.3), end), ((0.0, -0.05, 0.3), end), ((-0.05, -0.1, 0.3), (0.2, 0.3))]
    figure, axes = new_figure(9.6, 2.8, 1, 3)
    counts = []
    for ax, (pose, last) in zip(axes[0], poses, strict=True):
        path = wrap(start, last, [Pulley(shape, pose, LEFT)])
        draw_path(ax, path, [(shape, pose)])
        counts.append(len(path.polyline()) - 2)
        heading(ax, f"{counts[-1]} wrap points")
    rng, worst = lab.setup.rng("hexagon"), 0.0
    for _ in range(4 * lab.setting.trials):
        one = regular(int(rng.integers(3, 10)), rng.uniform(0.05, 0.3))
        pose = np.array([rng.uniform(-0.25, 0.25), rng.uniform(-0.3, 0.3), rng.uniform(0.0, 6.0)])
        length = wrap(start, end, [Pulley(one, pose, LEFT)]).length
        worst = max(worst, abs(length / by_hull(one, pose, np.array(start), np.array(end)) - 1.0))
    checks = [
        Check.holds("wrap points of the three poses", counts == [0, 2, 3], measured=str(counts)),
        Check.at_most("length against the convex hull, relative", worst, 1e-12),
    ]
    picture = Picture(
        "hexagon", "The pose decides which corners the cable turns at, and in what order.", figure
    )
    return Findings("Which corners a cable turns at (Fig. 2-2)", HEXAGON, checks=checks, pictures=[picture])


def by_hull(shape: Shape, pose: np.ndarray, start: np.ndarray, end: np.ndarray) -> float:
    """Length [m] of the lower chain of the convex hull of two points and a polygon's corners below them."""
    from scipy.spatial import ConvexHull

    corners = shape.corners @ rotation(pose[2]).T + pose[:2]
    below = corners[corners[:, 1] < 0.0]
    points = np.vstack([start, end, below])
    if not len(below):
        return float(np.linalg.norm(end - start))
    ring = points[ConvexHull(points).vertices]
    edges = np.linalg.norm(np.roll(ring, -1, axis=0) - ring, axis=1)
    return float(edges.sum() - np.linalg.norm(end - start))
