"""The study of Duriez 2024 in its quick setting: every row of every table holds, and tables are complete."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.dynamics.schemes.registry import SCHEMES
from pliant.interactions import registry as interactions
from pliant.materials import registry as materials
from pliant.studies import study
from pliant.studies.duriez2024.block import closed_form
from pliant.studies.duriez2024.compared import Compared, shown
from pliant.studies.duriez2024.forward import enumerated
from pliant.studies.duriez2024.lab import FULL, QUICK, Lab
from pliant.studies.duriez2024.paper import JACOBIAN, WAA, WEA
from pliant.studies.duriez2024.pistons import ACTUATORS, EFFECTOR, Column, increment
from pliant.studies.setup import Setup

STUDY = study("duriez2024")


@pytest.fixture(scope="module")
def lab():
    return Lab(QUICK)


def rows(findings):
    return [row for table in findings.tables for row in table.rows]


@cache
def run(lab, name):
    """A part whose rows all hold; each is run once."""
    found = STUDY.parts[name](lab)
    assert not [row for row in rows(found) if not row["check"]]
    return found


def cases(findings):
    return {row["case"] for row in rows(findings)}


def test_full_is_finer_than_quick():
    assert FULL.fine > QUICK.fine and FULL.steps > QUICK.steps and set(FULL.bodies) > set(QUICK.bodies)


# The report's example


def test_a_block_from_its_dimensions_has_nearly_the_printed_compliances(lab):
    found = run(lab, "pistons")
    compared = [c for c in found.checks if c.kind == "comparison"]
    assert [c.paper for c in compared] == [shown(WAA), shown(WEA), shown(JACOBIAN)]
    here, beside = (np.concatenate([np.ravel(1e3 * w) for w in closed_form()]), np.ravel([*WAA, *WEA]))
    np.testing.assert_allclose(here, beside, rtol=2e-3)


def test_reduction_is_a_part_whose_draws_follow_the_seed():
    seen = [cases(run(Lab(QUICK, Setup(seed)), "reduction")) for seed in (0, 0, 1)]
    assert seen[0] == seen[1] != seen[2] and {"modal basis", "POD basis"} <= seen[0] & seen[2]


def test_the_reports_example_to_the_printed_digits(lab):
    """The fractions as they are printed, typed here once more."""
    found = run(lab, "pistons")
    assert [p.name for p in found.pictures] == ["pistons"]
    robot = Column.of(1e-3 * WAA, 1e-3 * WEA, 0.05).robot()
    W = pl.compliance(robot)
    J = W.jacobian(EFFECTOR, ACTUATORS)
    np.testing.assert_allclose(J, [[5 / 15, 5 / 15], [-12 / 15, 12 / 15]], rtol=1e-10)
    np.testing.assert_allclose(J @ [-5, -10], [-5, -4], rtol=1e-10)
    np.testing.assert_allclose(J @ [-7.5, -7.5], [-5, 0], atol=1e-10)
    effort, _ = increment(W.matrix[:2, :2], W.matrix[2:, :2], np.array([-5e-3, -10e-3]))
    np.testing.assert_allclose(effort, [0.0, -1.0], atol=1e-10)


@settings(max_examples=8)
@given(st.floats(0.02, 0.2), st.floats(0.3, 0.9), st.floats(1.0, 20.0), st.floats(0.2, 0.9))
def test_a_column_has_the_compliances_that_it_was_made_for(half_width, height, stretch, share):
    """Any robot of that kind, not only the report's."""
    turn = share * stretch
    Waa = 1e-3 * np.array([[stretch + turn, stretch - turn], [stretch - turn, stretch + turn]])
    across = 3e-3 * turn
    Wea = np.array([[1e-3 * height * stretch] * 2, [-across, across]])
    W = pl.compliance(Column.of(Waa, Wea, half_width).robot()).matrix
    np.testing.assert_allclose(W[:2, :2], Waa, rtol=1e-9)
    np.testing.assert_allclose(W[2:, :2], Wea, rtol=1e-9)


# Parts


def test_every_interaction_on_every_body(lab):
    found = run(lab, "kinematics")
    for table in found.tables:
        assert {row["case"] for row in table.rows} == {name for name, _ in interactions}
        assert len(table.rows) == 2 * len(interactions)
    assert len(found.tables) == len(QUICK.bodies)


def test_a_wrong_jacobian_is_noticed(lab, monkeypatch):
    """W a hundred-thousandth too large: the differences disagree."""
    from pliant.studies.duriez2024 import kinematics

    subject = lab.subjects["beam"]
    table = Compared("x")
    true, off = (
        pl.compliance,
        np.array([1.0, *[1.0 + 1e-5] * 9]),
    )  # the drive, then nine coordinates of the effector
    monkeypatch.setattr(pl, "compliance", lambda *a: replace(c := true(*a), matrix=c.matrix * off))
    kinematics._tried(table, "slider", dict(interactions)["slider"](subject.specimen), subject)
    assert [row["check"] for row in table.table.rows] == [True, False]


def test_actuators_by_effort_and_by_displacement(lab):
    found = run(lab, "actuators")
    assert len(rows(found)) == 2 * len(cases(found))
    assert cases(found) >= {
        "cable",
        "cavity, solid",
        "motor",
        "slider",
        "point force",
        "surface force",
        "magnet",
    }


def test_sensors_on_every_kind_of_body(lab):
    found = run(lab, "sensors")
    wanted = {
        "position",
        "orientation",
        "curvature",
        "stretch",
        "cable length",
        "cavity volume",
        "contact force",
    }
    assert len(found.tables) == 3
    for table in found.tables:
        assert {row["case"] for row in table.rows} >= wanted, table.title


def test_every_interaction_is_an_effector(lab):
    found = run(lab, "effectors")
    assert [row["case"] for row in rows(found)] == [name for name, _ in interactions]
    assert all(row["what"].startswith("reached") for row in rows(found))


@pytest.mark.parametrize("part", ["forward", "inverse", "dimensions"])
def test_models_agree_with_their_closed_forms(lab, part):
    assert len(rows(run(lab, part))) >= 12


def test_every_law_of_the_registry(lab):
    found = run(lab, "constitutive")
    blocks = [row for row in found.tables[1].rows if row["what"].startswith("P = ")]
    assert len(blocks) == len(materials)


def test_every_scheme_and_viscous_law(lab):
    found = run(lab, "motion")
    assert cases(found) >= {
        *SCHEMES,
        "central",
        "Kelvin–Voigt",
        "Maxwell",
        "standard linear solid",
        "Rayleigh",
    }


# What rows are made of


@given(st.floats(0.1, 10.0), st.floats(-0.2, 0.2))
def test_a_row_holds_when_its_error_is_small(expected, error):
    table = Compared("x")
    good = table.add("a", "b", expected, expected * (1 + error), allowed=0.1)
    assert good is (abs(error) <= 0.1 * (1 + 1e-12)) or abs(abs(error) - 0.1) < 1e-12
    assert table.table.rows[0]["error"] == pytest.approx(abs(error), abs=1e-12)


def test_what_is_no_number_or_of_another_shape_fails():
    table = Compared("x")
    assert not table.add("a", "b", 1.0, np.nan, allowed=1e3)
    assert not table.add("a", "b", [1.0, 2.0], [1.0], allowed=1e3)
    assert not table.table.passed


def test_numbers_are_shown_short():
    assert shown(np.array([1.0, -0.5, 1e-17])) == "1, −0.5, 0"
    assert shown(np.arange(9.0)) == "9 numbers up to 8"


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_enumeration_solves_complementarity(seed, n):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n + 1))
    W, q = A @ A.T + 0.1 * np.eye(n), rng.normal(size=n)
    lam = enumerated(W, q)
    gap = W @ lam + q
    assert lam.min() >= 0 and gap.min() > -1e-9 and abs(lam @ gap) < 1e-9
