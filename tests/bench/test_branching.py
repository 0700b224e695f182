"""Branch and bound on contacts, against the visit of every contact mode: two proofs that share nothing."""

import numpy as np
import pytest

from pliant.bench.branching import BEATEN, OPEN, PROVEN, Relaxation, prove
from pliant.bench.instances import instance
from pliant.solvers.qpcc import descent
from pliant.solvers.qpcc.enumeration import enumerate_modes

ALLOWED = 1e-6  # of the cost without effort


def problems(count):
    for seed in range(count):
        for kind in ("rod", "random"):
            yield instance(2, 8, seed=seed, kind=kind, hard=True, limited=seed % 2 == 1).problem


def test_it_proves_what_enumeration_proves():
    for p in problems(12):
        exact = enumerate_modes(p)
        assert exact.complete
        if exact.best.certificate.solved:
            proof = prove(p, exact.best.cost, ALLOWED * float(p.de @ p.de))
            assert proof.status == PROVEN


def test_it_refutes_a_local_minimum_and_says_how_much_better_one_can_be():
    refuted = 0
    for p in problems(20):
        exact, allowed = enumerate_modes(p), ALLOWED * float(p.de @ p.de)
        for worse in exact.minima[1:]:
            if worse.cost > exact.best.cost + 10 * allowed:
                proof = prove(p, worse.cost, allowed)
                assert proof.status == BEATEN
                assert exact.best.cost - allowed <= proof.best < worse.cost
                refuted += 1
    assert refuted > 5


def test_the_relaxation_costs_no_more_than_any_solution_and_as_much_where_contacts_are_decided():
    for p in problems(6):
        found = descent(p, 8)
        if not found.certificate.solved:
            continue
        relaxed = Relaxation(p)
        none = frozenset()
        pushing = frozenset(np.flatnonzero(found.contact > 0).tolist())
        slack = frozenset(range(p.nc)) - pushing
        size = float(p.de @ p.de)
        assert relaxed.solve(none, none)[0] <= found.cost + 1e-9 * size
        assert relaxed.solve(slack, pushing)[0] == pytest.approx(found.cost, abs=1e-7 * size)


def test_without_time_it_claims_nothing():
    p = instance(5, 30, seed=3, kind="random", hard=True).problem
    cost = descent(p, 8).cost
    proof = prove(p, cost, 0.0, programs=0)
    assert proof.status == OPEN and proof.programs == 1 and proof.best < cost
