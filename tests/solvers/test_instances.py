"""Instances of the inverse problem: recorded, kept in a file, solved again, compared with the best."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.bench.instances import instance, instances, load, recording, save, solve_reference
from pliant.bench.qpcc import recorded
from pliant.errors import InputError
from pliant.solvers import landscape, qpcc
from pliant.solvers.qpcc import descent


def solved(p, **options):
    return qpcc(*p.matrices, **p.limits, **options)


def test_recording_sees_every_problem_and_nothing_else():
    chosen = instances((2, 16), 3, hard=True)
    solved(chosen[0])
    with recording() as problems:
        found = [solved(p, rho=1e-3, previous=0.1 * p.effort[1], weights=[1.0, 2.0, 0.5]) for p in chosen]
        solved(chosen[0], method="decomposition")
    solved(chosen[1])
    assert len(problems) == 4
    for p, s in zip(problems, found):
        again = descent(p, 8)
        assert again.cost == s.cost
        np.testing.assert_array_equal(again.effort, s.effort)


def test_recorded_problems_own_their_numbers():
    p = instance(2, 16, seed=0)
    Wcc = p.Wcc.copy()
    with recording(limit=1) as problems:
        s = qpcc(*p.matrices[:4], Wcc, *p.matrices[5:], **p.limits)
        Wcc *= 2.0
        qpcc(*p.matrices[:4], Wcc, *p.matrices[5:], **p.limits)
    assert len(problems) == 1
    assert descent(problems[0], 8).cost == s.cost


def test_recording_ends_with_its_block():
    p = instance(2, 16, seed=0)
    with pytest.raises(InputError), recording() as problems:
        solved(p)
        solved(p, starts=0)
    solved(p)
    assert len(problems) == 2


def test_a_file_gives_back_the_same_problems(tmp_path):
    one, two = instance(2, 16, seed=1, limited=True), instance(5, 47, seed=1, limited=True)
    warm = solved(two)
    with recording() as problems:
        found = [solved(one, eps=1e-4), solved(two, warm=warm, rho=1e-2)]
        none = np.zeros((3, 0)), one.Waa, np.zeros((2, 0)), np.zeros((0, 0))
        found.append(qpcc(one.Wea, *none, one.de, one.da, [], **one.limits))
    save(tmp_path / "many.npz", problems)
    for p, s in zip(load(tmp_path / "many.npz"), found, strict=True):
        again = descent(p, 8)
        assert (p.ne, p.na, p.nc) == (3, len(s.effort), len(s.contact))
        assert again.cost == s.cost and again.certificate.eps == s.certificate.eps
    save(tmp_path / "none.npz", [])
    assert load(tmp_path / "none.npz") == []


def test_other_files_are_refused(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(InputError, match="save"):
        load(tmp_path / "other.npz")
    save(tmp_path / "cut.npz", [instance(2, 16, seed=0).problem])
    with np.load(tmp_path / "cut.npz") as file:
        parts = dict(file)
    parts["numbers"] = parts["numbers"][:-1]
    np.savez(tmp_path / "cut.npz", **parts)
    with pytest.raises(InputError, match="numbers"):
        load(tmp_path / "cut.npz")


def test_the_reference_is_proven_where_there_are_few_pieces():
    p = instance(2, 16, seed=9, hard=True, kind="random")
    cost, exact = solve_reference(p.problem, seconds=60.0)
    grid = np.stack(np.meshgrid(*(np.linspace(0, h, 40) for h in p.effort[1])), axis=-1).reshape(-1, 2)
    assert exact and cost <= landscape(grid, *p.matrices).cost.min()
    assert cost == pytest.approx(solved(p, starts=100).cost, rel=1e-6)


def test_the_reference_is_the_best_known_where_there_are_many():
    p = instance(5, 47, seed=2, hard=True, kind="random")
    cost, exact = solve_reference(p.problem, pieces=10, starts=30)
    assert not exact
    assert cost <= solved(p).cost * (1 + 1e-9)


def test_the_table_of_a_recorded_run(tmp_path):
    save(tmp_path / "run.npz", [p.problem for p in instances((2, 16), 6) + instances((2, 5), 6)])
    table = recorded(tmp_path / "run.npz")
    assert table.passed
    assert sum(row["instances"] for row in table.rows) == 12
    assert sum(row["proven"] for row in table.rows) == 12
    assert {row["what"] for row in table.rows} == {"2 actuators"}
