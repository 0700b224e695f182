"""The study of Zhang 2018 in its quick setting: exact where the model is, proportional where it is wrong, and typed figures right."""

import numpy as np
import pytest

from pliant.studies import study
from pliant.studies.zhang2018 import paper
from pliant.studies.zhang2018.lab import FULL, QUICK, Lab

STUDY = study("zhang2018")


@pytest.fixture(scope="module")
def lab():
    return Lab(QUICK)


def test_figures_of_the_paper_are_complete_and_grow():
    assert len(paper.I_E) == len(paper.I_W) == 16
    for table in (paper.TABLE_II, paper.TABLE_III):
        for case, rows in table.items():
            first, second, third = np.array(rows)
            assert (first < second).all() and (second < third).all()
            assert first.shape == (6,)
            size = {"modulus": 3.0, "offset": 3.0, "tension": 2.0}[case]
            assert third / first == pytest.approx(np.full(6, size), rel=0.2)  # a digit typed wrong would show


def test_objects_have_the_papers_size():
    full = Lab(FULL)
    assert len(full.build("s").body.mesh.cells) == pytest.approx(4923, rel=0.02)
    assert len(full.build("r").body.mesh.cells) == pytest.approx(4147, rel=0.02)


def test_accurate_models_feel_exactly(lab):
    found = STUDY.parts["accurate"](lab)
    (table,) = found.tables
    assert len(table.rows) == 16 and found.passed
    assert sum(row["check"] is True for row in table.rows) >= 10
    assert all(row["converged [mN]"] < 0.01 for row in table.rows if row["I_w [N/mm]"] < 10)


def test_wrong_tensions_are_felt_in_proportion_and_found_when_doubted(lab):
    from pliant.studies.zhang2018.wrong import _error

    trusting = [_error(lab, "r7", "tension", k, "") for k in range(3)]
    assert trusting == pytest.approx(trusting[0] * np.array([1.0, 1.5, 2.0]), rel=0.05)
    told = [_error(lab, "r7", "tension", k, "one") for k in range(3)]
    assert max(told) < 0.05 * min(trusting)
    softer = [_error(lab, "s7", "modulus", k, "") for k in range(3)]
    scale = 800.0 * (1.0 - np.array(paper.MODULI) / paper.YOUNG)  # all forces, and no marker tells
    assert softer == pytest.approx(scale, rel=1e-6)
