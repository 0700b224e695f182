"""Balance of forces, work and energy, and compliance against finite differences, in strongly bent states."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

GRAVITY = np.array([2.0, -1.0, -9.81])
LENGTH = 0.1


@pytest.fixture(scope="module")
def arm() -> pl.Robot:
    """A bar with two cables and a void under pressure, bent by its weight: rows with geometric stiffness."""
    mesh = pl.mesh.block_with_cavity((LENGTH, 0.03, 0.03), radius=0.008, around=8, across=1)
    mesh = mesh.transformed(translation=-mesh.nodes.min(axis=0))
    body = pl.Solid(
        mesh,
        pl.Hooke(young=1e5, poisson=0.45),
        density=1000,
        fixed=pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0)),
    )
    line = lambda y, z: pl.Cable(body.points([[x, y, z] for x in np.linspace(0.0, LENGTH, 7)]))
    rows = {
        "upper": pl.Row(line(0.015, 0.027), pl.Bounded(effort=(0, 40))),
        "side": pl.Row(line(0.026, 0.006), pl.Bounded(effort=(0, 40))),
        "air": pl.Row(pl.Cavity.on(body, pl.mesh.cavity_surfaces(body.mesh)[0]), pl.Bounded()),
        "tip": pl.Row(pl.Position(body.points([[LENGTH, 0.015, 0.015]])), pl.Target()),
    }
    return pl.Robot(body, rows, gravity=GRAVITY, name="arm")


LOADS = {"upper": pl.Known(effort=8.0), "side": pl.Known(effort=4.0), "air": pl.Known(effort=8e3)}


@pytest.fixture(scope="module")
def bent(arm) -> pl.Result:
    result = pl.static(arm, LOADS)
    moved = result.displacement["tip"] - [LENGTH, 0.015, 0.015]
    assert np.linalg.norm(moved) > 0.25 * LENGTH
    return result


@pytest.mark.parametrize("kind", ["tet", "hex"])
def test_supports_carry_force_and_moment_of_the_weight(kind, within):
    """Σ reactions = −m g, and their moment is that of the weight about the origin in the bent state."""
    mesh = pl.mesh.box((LENGTH, 0.02, 0.02), cells=(6, 2, 2), kind=kind)
    clamp = pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    body = pl.Solid(mesh, pl.Hooke(young=1e5, poisson=0.4), density=1100, fixed=clamp)
    result = pl.static(pl.Robot(body, gravity=GRAVITY))
    assert np.linalg.norm(result.positions - body.mesh.nodes, axis=1).max() > 0.3 * LENGTH
    forces = body.reactions(result.q, GRAVITY)
    fixed = body.fixed.all(axis=1)
    weight = body.total_mass * GRAVITY
    within((forces[fixed].sum(axis=0) + weight) / np.linalg.norm(weight), 1e-8, "force")
    assert np.abs(forces[~fixed]).max() < 1e-7 * np.abs(forces).max()
    # The cells' own forces have no resultant moment, so reactions and weight balance about any point.
    moment = np.cross(result.positions, forces + body.node_mass[:, None] * GRAVITY).sum(axis=0)
    within(moment / (np.linalg.norm(weight) * LENGTH), 1e-7, "moment")


def stored(robot: pl.Robot, result: pl.Result) -> float:
    """Elastic energy less the work of gravity [J]."""
    return robot.body.linearise(result.q, robot.gravity, result.state.internal, tangent=False)[0]


@pytest.mark.parametrize(("row", "end"), [("upper", 0.012), ("air", 8e-7)])
def test_work_of_an_actuator_is_stored(arm, row, end, within):
    """dE = λ dδ along quasi-static motion: ∫ λ dδ (Gauss) is the difference of energies, with gravity's."""
    other_rows = {"side": pl.Known(effort=0.0)}
    node, weight = np.polynomial.legendre.leggauss(4)
    start = pl.static(arm, other_rows)
    begin = float(start.displacement[row][0])
    work, state = 0.0, start.state
    for x, w in zip(node, weight, strict=True):
        delta = begin + (end - begin) * (x + 1) / 2
        result = pl.static(arm, {**other_rows, row: pl.Known(displacement=delta)}, state=state)
        work, state = work + w / 2 * (end - begin) * float(result.effort[row][0]), result.state
    final = pl.static(arm, {**other_rows, row: pl.Known(displacement=end)}, state=state)
    within(work / (stored(arm, final) - stored(arm, start)) - 1, 1e-5, "work")


def test_work_does_not_depend_on_the_path(arm):
    """Upper cable first or side cable first: the same state, the same energy."""
    both = {"upper": pl.Known(displacement=0.006), "side": pl.Known(displacement=0.004)}
    ends = []
    for first in both:
        half = pl.static(arm, {first: both[first]})
        ends.append(pl.static(arm, both, state=half.state))
    np.testing.assert_allclose(ends[0].positions, ends[1].positions, atol=1e-8 * LENGTH)
    assert stored(arm, ends[0]) == pytest.approx(stored(arm, ends[1]), rel=1e-9)


def test_compliance_is_symmetric_and_the_derivative_of_equilibria(arm, bent, within):
    """W_ij = ∂δ_i/∂λ_j by central differences of static solutions under perturbed efforts."""
    W = pl.compliance(arm, bent.state)
    scale = np.sqrt(
        np.outer(W.matrix.diagonal(), W.matrix.diagonal())
    )  # metres, cubic metres and pascals alike
    within((W.matrix - W.matrix.T) / scale, 1e-10, "asymmetry")
    for row, step in (("upper", 1e-3), ("side", 1e-3), ("air", 2.0)):
        moved = []
        for sign in (1, -1):
            effort = LOADS[row].effort + sign * step
            laws = {**LOADS, row: pl.Known(effort=effort)}
            moved.append(pl.static(arm, laws, state=bent.state).displacement)
        for other in arm.rows:
            slope = (moved[0][other] - moved[1][other]) / (2 * step)
            column = W.block(other, row)[:, 0]
            within((slope - column) / np.abs(column).max(), 1e-4, f"∂{other}/∂{row}")


def test_jacobian_is_motion_per_imposed_displacement(arm, bent, within):
    """J = W_ea W_aa⁻¹ by central differences of static solutions under perturbed lengths and volume."""
    actuators = ["upper", "side", "air"]
    J = pl.compliance(arm, bent.state).jacobian("tip", actuators)
    at = {name: float(bent.displacement[name][0]) for name in actuators}
    for column, (name, step) in enumerate([("upper", 1e-6), ("side", 1e-6), ("air", 1e-10)]):
        tips = []
        for sign in (1, -1):
            laws = {k: pl.Known(displacement=v + sign * step * (k == name)) for k, v in at.items()}
            tips.append(pl.static(arm, laws, state=bent.state).displacement["tip"])
        slope = (tips[0] - tips[1]) / (2 * step)
        within((slope - J[:, column]) / np.abs(J[:, column]).max(), 1e-3, f"∂tip/∂{name}")
