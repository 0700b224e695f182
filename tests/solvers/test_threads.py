"""Solvers in several threads at once, and one after the other: what they return is not written to again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pliant.bench.instances import instances
from pliant.solvers import friction, lcp, qpcc


def solved(p):
    contact = lcp(p.Wcc, p.dc - 0.1 * np.abs(p.dc).max())
    return qpcc(*p.matrices, **p.limits, starts=3), contact


def test_threads_do_not_disturb_each_other():
    problems = [p for seed in range(4) for p in instances((4, 21), 3, first=10 * seed, hard=True)]
    alone = [solved(p) for p in problems]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(solved, problems * 5))
    for (inverse, contact), (expected, force) in zip(together, alone * 5, strict=True):
        np.testing.assert_array_equal(inverse.effort, expected.effort)
        np.testing.assert_array_equal(contact.effort, force.effort)
        assert inverse.certificate.path == expected.certificate.path


def test_a_later_call_leaves_earlier_solutions_as_they_were():
    one, two = instances((4, 21), 2, hard=True)
    first, contact = solved(one)
    rubbing = friction(np.eye(3), [-1.0, 0.2, 0.4], 0.5)
    kept = [x.copy() for x in (first.effort, first.contact, first.gap, contact.effort, rubbing.effort)]
    limits = {name: side.copy() for name, side in first.certificate.limits.items()}
    solved(two)
    friction(np.eye(3), [-2.0, 0.1, -0.4], 0.3)
    for now, before in zip((first.effort, first.contact, first.gap, contact.effort, rubbing.effort), kept):
        np.testing.assert_array_equal(now, before)
    for name, side in limits.items():
        np.testing.assert_array_equal(first.certificate.limits[name], side)
