"""W = H K⁻¹ Hᵀ by row names: symmetric, and the derivative of what statics answers."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.compliance import Compliance, answers, compliance
from pliant.core.view import linearise
from tests.core.test_models import DOWN, bar, cables, linear_bar


@pytest.fixture(scope="module")
def robot() -> pl.Robot:
    return cables(gravity=DOWN)


@pytest.fixture(scope="module", params=["rest", "bent"])
def at(request, robot) -> tuple[pl.Result, Compliance]:
    """A state, and the compliance there: hanging, or bent by a taut cable."""
    laws = {} if request.param == "rest" else {"top": pl.Known(effort=3.0)}
    result = pl.static(robot, laws)
    return result, pl.compliance(robot, result.state)


def test_blocks_are_parts_of_one_symmetric_matrix(robot, at):
    _, W = at
    scale = np.abs(W.matrix).max()
    np.testing.assert_allclose(W.matrix, W.matrix.T, rtol=0, atol=1e-12 * scale)
    assert W.matrix.shape == (5, 5) and W.block("tip", "top").shape == (3, 1)
    np.testing.assert_array_equal(W["tip", "top"], W.block("tip", "top"))
    np.testing.assert_allclose(W["tip", "top"], W["top", "tip"].T, rtol=0, atol=1e-12 * scale)
    names = list(robot.rows)
    np.testing.assert_array_equal(np.block([[W[a, b] for b in names] for a in names]), W.matrix)
    assert np.linalg.eigvalsh(W.matrix).min() > 0


@pytest.mark.parametrize(("row", "index"), [("top", 0), ("bottom", 0), ("tip", 2)])
def test_compliance_is_the_derivative_of_displacements_by_efforts(robot, at, row, index):
    """With the geometric stiffness of the tension that the state carries."""
    result, W = at
    h = 1e-4
    sides = []
    for sign in (1, -1):
        effort = {name: value.copy() for name, value in result.effort.items()}
        effort[row][index] += sign * h + (h if row != "tip" else 0.0)  # a cable cannot push
        sides.append(pl.static(robot, {n: pl.Known(effort=e) for n, e in effort.items()}, state=result.state))
    for name in robot.rows:
        rate = (sides[0].displacement[name] - sides[1].displacement[name]) / (2 * h)
        np.testing.assert_allclose(
            rate, W[name, row][:, index], rtol=2e-3, atol=1e-3 * np.abs(W[name, row]).max()
        )


def test_jacobian_is_motion_per_imposed_displacement(robot, at):
    result, W = at
    actuators = ["top", "bottom"]
    J = W.jacobian("tip", actuators)
    assert J.shape == (3, 2)
    a = [0, 1]
    np.testing.assert_allclose(J @ W.matrix[np.ix_(a, a)], W.matrix[2:, :2], rtol=1e-9, atol=1e-12)
    alone, h = W.jacobian("tip", "top"), 1e-5
    length = result.displacement["top"][0] + h  # pulled a little, so that the cable is taut
    sides = [
        pl.static(robot, {"top": pl.Known(displacement=length + s * h)}, state=result.state).displacement[
            "tip"
        ]
        for s in (1, 0)
    ]
    np.testing.assert_allclose((sides[0] - sides[1]) / h, alone[:, 0], rtol=1e-2, atol=1e-2)
    assert alone.shape == (3, 1)


def test_jacobian_takes_names_in_any_order(at):
    _, W = at
    forward, backward = W.jacobian(["tip"], ["top", "bottom"]), W.jacobian(("tip",), ("bottom", "top"))
    np.testing.assert_allclose(forward, backward[:, ::-1], rtol=1e-9)
    stacked = W.jacobian(["top", "tip"], ["top"])
    assert stacked.shape == (4, 1) and stacked[0, 0] == pytest.approx(1.0)


def test_no_effectors_give_an_empty_jacobian(at):
    assert at[1].jacobian([], "top").shape == (0, 1)


def test_an_axial_bar_has_the_compliance_of_the_textbook():
    W = pl.compliance(linear_bar())
    assert W["push", "push"][0, 0] == pytest.approx(1 / 40.0, rel=1e-9)  # L/(E A)
    assert W["push", "load"][0, 0] == pytest.approx(1 / 40.0, rel=1e-9)
    assert abs(W["push", "lift"][0, 0]) < 1e-12


def test_rest_is_the_default(robot):
    np.testing.assert_array_equal(pl.compliance(robot).matrix, pl.compliance(robot, robot.rest).matrix)


def test_tension_changes_the_compliance():
    """A cable from the tip to a point 0.2 m away, behind the base, compresses the bar (length L) like a
    column.

    Sideways stiffness falls by T (6/5L − 1/0.2 m): what the compression takes, less what the cable's turning
    gives.
    """
    body = bar(cells=(8, 2, 2))
    end = body.points([[0.1, 0.01, 0.01]])
    rows = {
        "cable": pl.Row(pl.Cable(end, anchor=(-0.1, 0.01, 0.01))),
        "tip": pl.Row(pl.Position(end, directions="y")),
    }
    robot = pl.Robot(body, rows)
    stiffness = [
        1 / pl.compliance(robot, pl.static(robot, {"cable": pl.Known(effort=t)}).state)["tip", "tip"][0, 0]
        for t in (0.0, 0.2, 0.4)
    ]
    for tension, k in zip((0.2, 0.4), stiffness[1:]):
        assert stiffness[0] - k == pytest.approx(tension * (1.2 / 0.1 - 1 / 0.2), rel=0.1)


def test_unknown_names_suggest_the_nearest(at):
    _, W = at
    for ask in (
        lambda: W.block("topp", "tip"),
        lambda: W["tip", "topp"],
        lambda: W.jacobian("topp", ["tip"]),
        lambda: W.jacobian("tip", ["topp"]),
    ):
        with pytest.raises(pl.InputError, match=r"row 'topp'.*Did you mean 'top'"):
            ask()


def test_one_name_is_not_a_block(at):
    with pytest.raises(pl.InputError, match=r"row and column|two names"):
        at[1]["top"]


def test_rows_that_move_together_have_no_jacobian():
    """Two cables on one path: how they share a motion is not determined, which is said and not made up."""
    body = bar()
    path = body.points([[0.0, 0.01, 0.018], [0.1, 0.01, 0.018]])
    tip = pl.Position(body.points([[0.1, 0.01, 0.01]]))
    rows = {"a": pl.Row(pl.Cable(path)), "b": pl.Row(pl.Cable(path)), "tip": pl.Row(tip)}
    W = pl.compliance(pl.Robot(body, rows))
    with pytest.raises(pl.SingularError, match=r"'a'.*'b'"):
        W.jacobian("tip", ["a", "b"])


def test_a_state_of_another_robot_is_refused(robot):
    other = cables(cells=(2, 1, 1))
    with pytest.raises(pl.InputError, match="state"):
        pl.compliance(robot, other.rest)


def test_the_matrix_is_read_only(at):
    with pytest.raises(ValueError, match="read-only"):
        at[1].matrix[0, 0] = 1.0


def test_rows_that_hold_a_robot_do_not_give_way():
    """`answers` of a robot that joints hold, against W of the same rows."""
    robot = pl.robots.emio()
    names = robot.by_role("actuator")
    rest = robot.rest
    H = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity).H
    asked = np.concatenate([np.arange(robot.bundle.rows)[robot.named(name)] for name in names])
    W = compliance(robot)
    found = np.array([H.dot(dq) for dq in answers(robot, names)])
    assert robot.rigid_modes() and len(W.holding)
    np.testing.assert_allclose(found, W.matrix[asked], atol=1e-9 * np.abs(W.matrix).max())
