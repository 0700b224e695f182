"""Bad input is refused by an error that names the thing, what was expected, what came and the way out.

Nothing is left half done: after any of these errors a robot answers as before, to the bit.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.result import Certificate
from tests.core.test_models import DOWN, SIZE, SOFT, bar, cables, plane

NAN, INF = float("nan"), float("inf")
BODY = bar()
ROBOT = cables(BODY, gravity=DOWN)
STRANGER = bar()
TETS = pl.mesh.box(SIZE, cells=(4, 1, 1))
TIP = [[0.1, 0.01, 0.01]]


def moved(index: int, to: Any) -> np.ndarray:
    """Nodes of the tetrahedra, one of them elsewhere."""
    nodes = TETS.nodes.copy()
    nodes[index] = to
    return nodes


def command(name: str, law: Any) -> Callable[[], Any]:
    return lambda: pl.static(ROBOT, {name: law})


def row(interaction: Any = None, law: Any = None) -> Callable[[], Any]:
    """A robot with one more row."""
    made = pl.Position(BODY.points(TIP)) if interaction is None else interaction
    return lambda: pl.Robot(BODY, {"tip": pl.Row(made, pl.Observed() if law is None else law)})


def state(**changes: Any) -> Callable[[], Any]:
    return lambda: pl.static(ROBOT, state=ROBOT.rest.with_(**changes))


# name: (what is tried, the offender, what was expected, what came, the way out or "")
MESHES = {
    "missing file": (lambda: pl.mesh.read("nowhere/robot.vtk"), "robot.vtk", "a file", "nothing there", ""),
    "unknown ending": (lambda: pl.mesh.read("robot.xyz"), "robot.xyz", "vtk", "xyz", ""),
    "non-finite node": (
        lambda: pl.mesh.Mesh(moved(3, NAN), TETS.cells),
        "mesh nodes",
        "finite coordinates",
        r"1 node .*node 3\b.*NaN",
        "",
    ),
    "infinite nodes": (
        lambda: pl.mesh.Mesh(moved([5, 7], INF), TETS.cells),
        "mesh nodes",
        "finite coordinates",
        r"2 nodes .*first is node 5\b",
        "",
    ),
    "inverted cells": (
        lambda: pl.mesh.Mesh(moved(-1, (-0.2, -0.02, -0.02)), TETS.cells),
        "mesh cells",
        "positive volume",
        r"\d+ cells .*first is cell \d+\) inverted",
        "repair",
    ),
    "flat cells": (
        lambda: pl.mesh.Mesh(TETS.nodes * (1, 1, 0), TETS.cells),
        "mesh cells",
        "cells with a volume",
        r"20 cells .*first is cell 0\) flat \(zero volume\)",
        "",
    ),
    "node out of range": (
        lambda: pl.mesh.Mesh(TETS.nodes, TETS.cells + 1),
        "mesh cells",
        "node indices from 0 to 19",
        r"first is cell \d+\) outside",
        "",
    ),
    "unused nodes": (
        lambda: pl.mesh.Mesh(np.vstack([TETS.nodes, TETS.nodes[:1]]), TETS.cells),
        "mesh nodes",
        "every node used",
        "1 unused",
        "compacted",
    ),
    "nodes in words": (lambda: pl.mesh.Mesh("nodes", TETS.cells), "mesh nodes", r"\(k, 3\)", "nodes", ""),
    "ragged nodes": (
        lambda: pl.mesh.Mesh([[0, 0], [1, 2, 3]], TETS.cells),
        "mesh nodes",
        r"\(k, 3\)",
        r"\[",
        "",
    ),
    "regions in words": (
        lambda: pl.mesh.Mesh(TETS.nodes, TETS.cells, regions="a"),
        "mesh regions",
        "one number for each",
        "a",
        "",
    ),
    "translation": (lambda: TETS.transformed(translation=(1, 2)), "translation", "three", r"\(2,\)", ""),
    "box of two sides": (lambda: pl.mesh.box((0.1, 0.02)), "size", "three", r"\(0.1, 0.02\)|2", ""),
    "box of negative size": (
        lambda: pl.mesh.box((0.1, -0.02, 0.02)),
        "size along y",
        "positive",
        "-0.02",
        "",
    ),
    "unknown unit": (
        lambda: pl.mesh.write(TETS, "box.vtk", unit="mn"),
        "unit 'mn'",
        "one of",
        "mn",
        "mean .*'mm'",
    ),
}

BODIES = {
    "Poisson's ratio one half": (
        lambda: pl.Hooke(young=1e5, poisson=0.5),
        "Hooke: poisson",
        "between -1 and 0.5",
        "0.5",
        "Incompressible",
    ),
    "Poisson's ratio above": (
        lambda: pl.NeoHookean(young=1e5, poisson=0.6),
        "NeoHookean: poisson",
        "between -1 and 0.5",
        "0.6",
        "Incompressible",
    ),
    "Poisson's ratio below": (lambda: pl.Hooke(young=1e5, poisson=-1.0), "poisson", "-1 and 0.5", "-1", ""),
    "negative modulus": (lambda: pl.Hooke(young=-1.0, poisson=0.3), "Hooke: young", "positive.*Pa", "-1", ""),
    "modulus in words": (lambda: pl.Hooke(young="soft", poisson=0.3), "young", "positive", "soft", ""),
    "negative density": (lambda: bar(density=-1.0), "density", r"not negative \[kg/m³\]", "-1", ""),
    "density of a slip": (lambda: bar(density=1e30), "density", r"1e\+09.*kg/m³", r"1e\+30", ""),
    "density in words": (lambda: bar(density="heavy"), "density", r"kg/m³", "heavy", ""),
    "density per cell": (lambda: bar(density=[1.0, 2.0]), "density", r"kg/m³", r"\[1.0, 2.0\]|\(2,\)", ""),
    "no density": (
        lambda: pl.static(cables(bar(density=None), gravity=DOWN)),
        "body",
        "density=",
        "neither",
        "density=0",
    ),
    "modulus for material": (lambda: bar(material=3e5), "material", "a Material", "float", ""),
    "missing region": (lambda: bar(material={1: SOFT}), "material", "for region 0", "1", ""),
    "nodes for mesh": (lambda: pl.Solid(TETS.nodes, SOFT), "mesh", "a pliant Mesh", "ndarray", ""),
    "mask of the wrong size": (lambda: bar(fixed=np.ones(3, bool)), "fixed", r"\(20,\)", r"\(3,\)", ""),
    "node that is not there": (lambda: bar(fixed=[99]), "fixed", "from 0 to 19", "99", ""),
    "fixed by a name": (lambda: bar(fixed=["base"]), "fixed", "mask, node indices", "U4", ""),
    "point outside": (
        lambda: BODY.points([[0.05, 0.01, 0.01], [0.12, 0.01, 0.01]]),
        r"point 1 at \[0.12, 0.01, 0.01\]",
        "inside the mesh",
        "0.02 m outside",
        'outside="nearest"',
    ),
    "several points outside": (
        lambda: BODY.points([[0.2, 0, 0], [0.05, 0.01, 0.01], [0.3, 0, 0]]),
        "point 2",
        "inside the mesh",
        "0.2 m outside, with 1 other",
        'outside="nearest"',
    ),
    "points in words": (lambda: BODY.points("tip"), "points", r"shape \(P, 3\)", "tip", ""),
    "ragged points": (lambda: BODY.points([[0, 0, 0], [1]]), "points", r"shape \(P, 3\)", r"\[", ""),
    "point that is not finite": (
        lambda: BODY.points([[NAN, 0, 0]]),
        "points",
        "finite",
        r"nan|not finite",
        "",
    ),
    "points in a plane": (lambda: BODY.points([[0.0, 0.0]]), "points", r"\(P, 3\)", r"\(1, 2\)", ""),
    "node points outside": (lambda: BODY.node_points([20]), "nodes", "from 0 to 19", "20", ""),
    "node mask": (lambda: BODY.node_points(np.ones(3, bool)), "nodes", r"\(20,\)", r"\(3,\)", ""),
    "unknown region": (
        lambda: pl.Solid(
            TETS, SOFT, order=1, rigid=pl.Rigid(plane(TETS, 0, 0.1), name="plate")
        ).region_points("palte"),
        "rigid region 'palte'",
        "one of",
        "palte",
        "mean 'plate'",
    ),
    "fixed rigid region": (
        lambda: bar(rigid=pl.Rigid(plane(BODY.mesh, 0, 0.0), name="base")),
        "rigid region 'base'",
        "free",
        "4 fixed",
        "joint=",
    ),
    "supports moved nowhere": (
        lambda: BODY.move_supports(BODY.q0, translation=(0, 0, NAN)),
        "translation",
        "three finite numbers",
        "nan",
        "",
    ),
    "supports turned inside out": (
        lambda: BODY.move_supports(BODY.q0, rotation=-np.eye(3)),
        "rotation",
        "rotation matrix",
        "-1",
        "",
    ),
}

INTERACTIONS = {
    "coincident points": (
        lambda: pl.Cable(BODY.points([[0, 0, 0], [0.05, 0, 0], [0.05, 0, 0]])),
        "Cable",
        "apart",
        "point 1 and point 2 coincide",
        "",
    ),
    "a cable of one point": (lambda: pl.Cable(BODY.points(TIP)), "points of a Cable", "at least 2", "1", ""),
    "coordinates for points": (
        lambda: pl.Cable([[0, 0, 0], [1, 0, 0]]),
        "points of a Cable",
        "material points",
        "list",
        "body.points",
    ),
    "nothing for points": (
        lambda: pl.Cable(None),
        "points of a Cable",
        "material points",
        "NoneType",
        "body.points",
    ),
    "open cavity": (
        lambda: pl.Cavity.on(BODY, BODY.mesh.surface.triangles[:-2]),
        "open cavity",
        "a closed surface",
        "4 open edges",
        'cap="flat"',
    ),
}

ROBOTS = {
    "an interaction for a row": (
        lambda: pl.Robot(BODY, {"tip": pl.Position(BODY.points(TIP))}),
        "row 'tip'",
        "a Row",
        "Position",
        "",
    ),
    "rows without names": (
        lambda: pl.Robot(BODY, [pl.Row(pl.Position(BODY.points(TIP)))]),
        "rows",
        "dictionary|mapping|names",
        "list",
        "",
    ),
    "a row of nothing": (row("cable"), "row 'tip'", "an? [Ii]nteraction", "str", ""),
    "a number for a law": (row(law=5.0), "law of 'tip'", "a law", "5.0|float", ""),
    "gravity in words": (lambda: pl.Robot(BODY, gravity="down"), "gravity", r"three.*\[m/s²\]", "down", ""),
    "gravity of two": (lambda: pl.Robot(BODY, gravity=(0, -9.81)), "gravity", "three", "-9.81", ""),
    "gravity of one": (lambda: pl.Robot(BODY, gravity=-9.81), "gravity", "three", "-9.81", ""),
    "gravity of a slip": (
        lambda: pl.Robot(BODY, gravity=(0, 0, 1e300)),
        "gravity",
        r"1e\+09",
        r"1e\+300",
        "",
    ),
    "gravity not finite": (lambda: pl.Robot(BODY, gravity=(0, 0, NAN)), "gravity", "finite", "nan", ""),
    "points of a stranger": (
        row(pl.Position(STRANGER.points(TIP))),
        "'tip'",
        "points of the robot's bod",
        "another body|not in this robot",
        "",
    ),
    "no body": (lambda: pl.Robot(()), "body", "at least one", "none|0", ""),
    "a mesh for a body": (lambda: pl.Robot(TETS), "body", "Solid|a body", "Mesh", "Solid"),
    "a body twice": (lambda: pl.Robot((BODY, BODY)), "body|bodies", "different|once", "twice|same", ""),
}

CALLS = {
    "unknown row": (command("topp", pl.Known(effort=1)), "row 'topp'", "one of", "topp", "mean 'top'"),
    "row number": (command(3, pl.Known(effort=1)), "row 3", "one of", "3", ""),
    "a number for a law": (command("top", 5.0), "law of 'top'", "Known", "5.0", ""),
    "a class for a law": (command("top", pl.Known), "law of 'top'", "Known", "Known", ""),
    "no law": (command("top", None), "law of 'top'", "Known", "None", ""),
    "laws in a list": (lambda: pl.static(ROBOT, ["top"]), "laws", "dictionary|mapping|by row", "list", ""),
    "NaN command": (command("top", pl.Known(effort=NAN)), "effort of 'top'", "finite", "nan", ""),
    "infinite command": (
        command("top", pl.Known(displacement=INF)),
        "displacement of 'top'",
        "finite",
        "inf",
        "",
    ),
    "a cable that pushes": (command("top", pl.Known(effort=-1)), "effort of 'top'", r"\[0, inf\]", "-1", ""),
    "two numbers for three": (
        command("tip", pl.Known(displacement=[1, 2])),
        "displacement of 'tip'",
        "3 numbers",
        r"\(2,\)",
        "",
    ),
    "two numbers for one": (
        command("top", pl.Known(effort=[1, 2])),
        "effort of 'top'",
        "1 number",
        r"\(2,\)",
        "",
    ),
    "target of the wrong size": (
        row(law=pl.Target(value=(0.1, 0.2))),
        "'tip'",
        "3 numbers",
        r"\(2,\)",
        "",
    ),
    "target in words": (row(law=pl.Target(value="there")), "'tip'", "3 numbers", "there", ""),
    "a body for a robot": (lambda: pl.static(BODY), "robot", "a Robot", "Solid", r"Robot\("),
    "a number for a tolerance": (
        lambda: pl.static(ROBOT, tolerance=1e-8),
        "tolerance",
        "Tolerance",
        "1e-08",
        "",
    ),
    "half a load step": (lambda: pl.static(ROBOT, load_steps=2.5), "load_steps", "integer|whole", "2.5", ""),
    "coordinates for a state": (
        lambda: pl.static(ROBOT, state=ROBOT.rest.q),
        "state",
        "a State",
        "ndarray",
        "",
    ),
    "a result for a state": (
        lambda: pl.static(ROBOT, state=pl.static(ROBOT)),
        "state",
        "a State",
        "Result",
        "state",
    ),
    "state of another robot": (
        lambda: pl.static(ROBOT, state=cables(bar(cells=(2, 1, 1))).rest),
        "state",
        "60",
        "36",
        "",
    ),
    "coordinates of a state not finite": (state(q=np.full(60, NAN)), "state", "finite", "nan|not finite", ""),
    "efforts of a state": (state(effort=np.zeros(2)), "state", "5 efforts", "2", ""),
    "efforts of a state not finite": (state(effort=np.full(5, NAN)), "state", "finite", "nan|not finite", ""),
    "gravity of a state": (state(gravity=np.zeros(2)), "state", "three|3", r"\(2,\)|2", ""),
}


def assert_says(error: pl.InputError, what: str, expected: str, got: str, hint: str) -> None:
    """Offender, expected and got stand in their fields and in the message; so does the way out."""
    for name, pattern in (("what", what), ("expected", expected), ("got", got), ("hint", hint)):
        value = str(getattr(error, name))
        assert re.search(pattern, value, re.DOTALL), f"{name} {value!r} lacks {pattern!r} in: {error}"
        assert value in str(error)
    assert len(str(error)) < 600, "an error is read, not scrolled"


def refused(case: tuple) -> None:
    attempt, *parts = case
    with pytest.raises(pl.InputError) as raised:
        attempt()
    assert_says(raised.value, *parts)
    assert isinstance(raised.value, pl.PliantError) and isinstance(raised.value, ValueError)


@pytest.mark.parametrize("case", list(MESHES))
def test_meshes_that_cannot_be_used(case):
    refused(MESHES[case])


@pytest.mark.parametrize("case", list(BODIES))
def test_bodies_that_cannot_be_made(case):
    refused(BODIES[case])


@pytest.mark.parametrize("case", list(INTERACTIONS))
def test_interactions_that_cannot_be_made(case):
    refused(INTERACTIONS[case])


@pytest.mark.parametrize("case", list(ROBOTS))
def test_robots_that_cannot_be_made(case):
    refused(ROBOTS[case])


@pytest.fixture(scope="module")
def answer() -> np.ndarray:
    return pl.static(ROBOT, {"top": pl.Known(effort=1.0)}).q


@pytest.mark.parametrize("case", list(CALLS))
def test_calls_that_cannot_be_answered_leave_the_robot_as_it_was(case, answer):
    refused(CALLS[case])
    np.testing.assert_array_equal(pl.static(ROBOT, {"top": pl.Known(effort=1.0)}).q, answer)


def test_a_failed_solve_leaves_the_robot_as_it_was(answer):
    with pytest.raises(pl.ConvergenceError):
        pl.static(ROBOT, {"top": pl.Known(effort=1e9)})
    np.testing.assert_array_equal(pl.static(ROBOT, {"top": pl.Known(effort=1.0)}).q, answer)


# Files and units


@pytest.mark.parametrize("ending", ["vtk", "vtu", "msh"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.97])
def test_a_truncated_file_is_refused(tmp_path, ending, share):
    path = pl.mesh.write(TETS, tmp_path / f"box.{ending}")
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(pl.MeshError, match=rf"box\.{ending}") as raised:
        pl.mesh.read(path)
    assert raised.value.expected and str(raised.value.got)


def test_a_robot_of_a_hundred_metres_is_a_warning(tmp_path):
    """A file in millimetres read as if in metres."""
    with pytest.warns(pl.PliantWarning, match=r"10\d m across.*unit"):
        pl.mesh.box((100, 20, 20), cells=(4, 1, 1))
    path = pl.mesh.write(TETS, tmp_path / "box.vtk", unit="mm")
    with pytest.warns(pl.PliantWarning, match="unit"):
        mesh = pl.mesh.read(path)
    assert mesh.size > 100  # a warning, not an error: it is as asked
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(pl.mesh.read(path, unit="mm").nodes, TETS.nodes, atol=1e-9)


def test_a_mesh_in_micrometres_is_a_warning_too():
    with pytest.warns(pl.PliantWarning, match="unit"):
        TETS.scaled(1e-6)


# What cannot be solved


def test_nothing_fixed_is_an_error():
    with pytest.raises(pl.SingularError, match=r"'bar'.*6 rigid mode.*fixed="):
        pl.static(cables(bar(fixed=None), gravity=DOWN))


def test_a_loose_piece_is_an_error():
    pieces = pl.mesh.join([TETS, TETS.transformed(translation=(0, 0, 0.05))])
    fixed = plane(pieces, 0, 0.0) & (pieces.nodes[:, 2] < 0.03)
    body = pl.Solid(pieces, SOFT, density=1000.0, fixed=fixed, order=1)
    with pytest.raises(pl.SingularError, match=r"6 rigid mode.*piece"):
        pl.static(pl.Robot(body, gravity=DOWN))


def test_a_load_that_cannot_be_carried_returns_the_best_state():
    with pytest.raises(pl.ConvergenceError, match=r"'bar'.*%.*residual.*error\.result") as raised:
        pl.static(ROBOT, {"top": pl.Known(displacement=0.5)})
    best = raised.value.result
    assert isinstance(best.certificate, Certificate) and not best.certificate.converged
    assert np.isfinite(best.q).all() and best.positions.shape == BODY.mesh.nodes.shape


# Any garbage at all

NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, -0.0, 1e-310, 1e300, NAN, INF, -INF]),
)
GARBAGE = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        NUMBERS,
        st.complex_numbers(),
        st.text(max_size=5),
        st.binary(max_size=5),
        st.sampled_from([object(), ..., np.float32(1), np.array("a"), np.datetime64("2020-01-01")]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=3), inner, max_size=2),
        st.lists(NUMBERS, min_size=3, max_size=3),
        st.lists(NUMBERS, max_size=4).map(lambda x: np.array(x, float)),
    ),
    max_leaves=6,
)
MANY = settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.generate),  # the first offender tells enough
)
SMALL = cables(bar(cells=(2, 1, 1)), gravity=DOWN)


def tried(attempt: Callable[[], Any]) -> Any:
    """What a call returns, or its PliantError; anything else is a failure of the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # overflow on the way to an error is no news
        try:
            return attempt()
        except pl.PliantError as error:
            assert str(error).strip()
            return error


@MANY
@given(st.sampled_from(["top", "tip"]), st.sampled_from(["effort", "displacement"]), GARBAGE)
def test_any_command_gives_a_result_or_an_error_of_ours(name, what, value):
    answer = tried(lambda: pl.static(SMALL, {name: pl.Known(**{what: value})}))
    assert isinstance(answer, (pl.Result, pl.PliantError))
    if isinstance(answer, pl.Result):
        assert answer.certificate.converged and np.isfinite(answer.q).all()


@MANY
@given(GARBAGE)
def test_any_laws_give_a_result_or_an_error_of_ours(laws):
    for given_laws in (laws, {"top": laws}, {"tip": pl.Elastic(stiffness=1.0, rest=0.0), "top": laws}):
        assert isinstance(tried(lambda: pl.static(SMALL, given_laws)), (pl.Result, pl.PliantError))  # noqa: B023


@MANY
@given(
    st.sampled_from(
        [
            lambda g: pl.Bounded(effort=g),
            lambda g: pl.Bounded(displacement=g),
            lambda g: pl.Bounded(speed=g),
            lambda g: pl.Unknown(effort=g),
            lambda g: pl.Elastic(stiffness=g),
            lambda g: pl.Target(weight=g),
            lambda g: pl.Measured(value=g),
            lambda g: pl.Hooke(young=g, poisson=0.3),
            lambda g: pl.Hooke(young=1e5, poisson=g),
            lambda g: pl.NeoHookean(young=g),
            lambda g: pl.Tolerance(residual=g),
            lambda g: pl.Tolerance(iterations=g),
        ]
    ),
    GARBAGE,
)
def test_any_number_for_a_law_or_material_is_used_or_refused(make, value):
    tried(lambda: make(value))


@MANY
@given(
    st.sampled_from(
        [
            lambda g: BODY.points(g),
            lambda g: BODY.node_points(g),
            lambda g: bar(density=g),
            lambda g: bar(fixed=g),
            lambda g: bar(material=g),
            lambda g: pl.mesh.Mesh(g, TETS.cells),
            lambda g: pl.mesh.Mesh(TETS.nodes, g),
            lambda g: pl.mesh.Mesh(TETS.nodes, TETS.cells, regions=g),
            lambda g: BODY.move_supports(BODY.q0, translation=g),
            lambda g: BODY.move_supports(BODY.q0, rotation=g),
            lambda g: pl.Cable(g),
            lambda g: pl.Cable(BODY.points(TIP), anchor=g),
            lambda g: pl.Cavity(BODY.points(TIP), g),
            lambda g: pl.Position(BODY.points(TIP), directions=g),
            lambda g: pl.Position(BODY.points(TIP), weights=g),
            lambda g: pl.Slider(BODY.points(TIP), g),
            lambda g: pl.Row(g),
            lambda g: pl.Robot(g),
            lambda g: pl.Robot(BODY, g),
            lambda g: pl.Robot(BODY, {"a": g}),
            lambda g: pl.Robot(BODY, gravity=g),
            lambda g: pl.static(SMALL, state=g),
            lambda g: pl.static(SMALL, tolerance=g),
            lambda g: pl.compliance(SMALL, g),
            lambda g: pl.compliance(SMALL).block(g, "tip"),
            lambda g: pl.compliance(SMALL).jacobian(g, "top"),
        ]
    ),
    GARBAGE,
)
def test_any_argument_is_used_or_refused(make, value):
    tried(lambda: make(value))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.floats(-1e-3, 4e-3), st.floats(0, 5), st.floats(-0.05, 0.05))
def test_sensible_commands_are_answered(length, tension, force):
    """The other side of the coin: what is within reason converges."""
    laws = {
        "top": pl.Known(displacement=length),
        "bottom": pl.Known(effort=tension / 5),
        "tip": pl.Known(effort=(0, force, 0)),
    }
    assert pl.static(SMALL, laws).certificate.converged
