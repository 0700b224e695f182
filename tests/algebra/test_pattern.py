"""Sparsity patterns against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.algebra import Pattern
from pliant.errors import InputError

quick = settings(deadline=None, max_examples=40, derandomize=True)


@st.composite
def pairs(draw, largest=8):
    size = draw(st.integers(1, largest))
    index = st.integers(0, size - 1)
    drawn = draw(st.lists(st.tuples(index, index), max_size=20))
    i, j = np.array(drawn, np.int64).reshape(-1, 2).T
    return size, i, j


@quick
@given(pairs(), st.sampled_from([1, 2, 3]))
def test_a_pattern_holds_its_pairs_once_and_the_diagonal(problem, block):
    size, i, j = problem
    pattern = Pattern.from_pairs(size, i, j, block=block)
    coupled = np.eye(size, dtype=bool)
    coupled[i, j] = coupled[j, i] = True
    rows, cols = np.nonzero(np.tril(coupled))
    np.testing.assert_array_equal(pattern.rows, rows)
    np.testing.assert_array_equal(pattern.cols, cols)
    np.testing.assert_array_equal(pattern.rows[pattern.diagonal], np.arange(size))
    np.testing.assert_array_equal(pattern.cols[pattern.diagonal], np.arange(size))
    assert pattern.ndof == size * block


@quick
@given(pairs())
def test_find_answers_for_every_pair_of_the_matrix(problem):
    size, i, j = problem
    pattern = Pattern.from_pairs(size, i, j)
    a, b = np.divmod(np.arange(size * size), size)
    k, flipped = pattern.find(a, b)
    there = k >= 0
    np.testing.assert_array_equal(flipped, a < b)
    np.testing.assert_array_equal(pattern.rows[k[there]], np.maximum(a, b)[there])
    np.testing.assert_array_equal(pattern.cols[k[there]], np.minimum(a, b)[there])
    assert there.sum() == 2 * len(pattern.rows) - size
    assert pattern.find([-1, 0, size], [0, size, size])[0].tolist() == [-1, -1, -1]


@quick
@given(pairs(), st.integers(0, 2**32 - 1), st.sampled_from([1, 3]))
def test_to_csr_mirrors_the_lower_half(problem, seed, block):
    size, i, j = problem
    pattern = Pattern.from_pairs(size, i, j, block=block)
    rng = np.random.default_rng(seed)
    data = rng.normal(size=pattern.zeros().shape)
    data[pattern.diagonal] += data[pattern.diagonal].transpose(0, 2, 1)
    dense = np.zeros((pattern.ndof, pattern.ndof))
    for k, (a, b) in enumerate(zip(pattern.rows, pattern.cols)):
        dense[block * a : block * (a + 1), block * b : block * (b + 1)] = data[k]
        dense[block * b : block * (b + 1), block * a : block * (a + 1)] = data[k].T
    np.testing.assert_array_equal(pattern.to_csr(data).toarray(), dense)


@quick
@given(pairs(), pairs())
def test_union_and_concatenation_keep_every_coupling(first, second):
    a = Pattern.from_pairs(*first)
    more = second[1] % a.size, second[2] % a.size
    union = a.union(*more)
    assert np.all(union.find(a.rows, a.cols)[0] >= 0)
    assert np.all(union.find(*more)[0] >= 0)
    b = Pattern.from_pairs(*second)
    both = Pattern.concatenate([a, b])
    expected = np.zeros((both.size, both.size))
    for pattern, offset in ((a, 0), (b, a.size)):
        expected[pattern.rows + offset, pattern.cols + offset] = 1
    present = np.zeros_like(expected)
    present[both.rows, both.cols] = 1
    np.testing.assert_array_equal(present, expected)


def test_a_pattern_cannot_be_changed_or_wrong():
    pattern = Pattern.from_pairs(3, [0], [2])
    with pytest.raises(ValueError):
        pattern.rows[0] = 1
    with pytest.raises(InputError, match="indices from 0 to 2"):
        Pattern.from_pairs(3, [0], [3])
    with pytest.raises(InputError, match="as many i as j"):
        Pattern.from_pairs(3, [0, 1], [2])
    with pytest.raises(InputError, match="from_pairs"):
        Pattern(2, np.array([0, 0, 1]), np.array([0, 1, 1]))  # an upper pair
    with pytest.raises(InputError, match="from_pairs"):
        Pattern(2, np.array([1]), np.array([0]))  # no diagonal
    with pytest.raises(InputError, match="block size"):
        Pattern.concatenate([pattern, Pattern.from_pairs(1, [], [], block=2)])
    with pytest.raises(InputError, match="4 blocks"):
        pattern.to_csr(np.zeros((2, 3, 3)))
