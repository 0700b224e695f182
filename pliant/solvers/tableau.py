"""The two work arrays of the inverse solver: what their rows mean.

Rows of the problem are stacked: contacts (nc), effectors (ne), actuators (na), m in all, scaled so that Wᵢᵢ = 1 for
contacts and actuators. With x the actuator efforts and λ the contact efforts, their values are f + S₀ᵀx + Cᵀλ.

Z, numbers. Columns of the vectors are stacked rows (m), actuators (na), contacts (nc) or held rows:

    VALUE, RESPONSE, OPEN, SLOPE, TARGET, WEIGHT, SCALE   (m)   values; scratch; what is wanted; scales
    LAM, ETA, MU                                          (m)   the best solution: efforts, multipliers of their bounds,
                                                                multipliers of the bounds of displacements and gaps
    X, LO, HI, DLO, DHI, G, D, SIT, Y, LEFT, RIGHT, BEST  (na)  efforts, their bounds, displacement bounds, gradient,
                                                                step, multipliers of the effort bounds, scratch, range
                                                                of starts, best efforts
    SOLVED, NU, KAPPA                                     (nc)  scratch; multipliers of gaps and of contact efforts
    LEVEL, SIGN, PUSH, LACK                                     of held rows: level, 1 if the value may grow, multiplier,
                                                                scratch
    then the blocks S (na), S₀ (na), f, H (na), its factor (na), Q and p (na + 1), the same of repairs (na + 1), basis
    and triangle of the held rows, C (nc), and the factor U of W_FF (nc)

J, integers: single ones (see below), then MEMBERS F, the contacts that push, in the order of U, their PLACE there (−1
for other contacts), TALLY of border crossings, SIDE of the bound an effort sits on (−1 lower, 1 upper, 0 free), HELD
rows, whether a row is HOLDING (m), FREE efforts, and the TRAIL of contacts that changed sides.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

(
    VALUE, RESPONSE, OPEN, SLOPE, TARGET, WEIGHT, SCALE, LAM, ETA, MU,
    X, LO, HI, DLO, DHI, G, D, SIT, Y, LEFT, RIGHT, BEST, SOLVED, NU, KAPPA, LEVEL, SIGN, PUSH, LACK, S,
) = range(30)  # fmt: skip
HEAD, MEMBERS, PLACE, TALLY, SIDE, HELD, HOLDING, FREE, TRAIL = range(9)
# of HEAD: length of rows, sizes, number of members, wanted rows FROM … TO, numbers of held rows and free efforts, steps
# without progress, length of the trail and of its beginning, first rows of C and U, what stopped a step, iterations,
# status, last random number
(
    WIDTH, NA, NC, NE, M, COUNT, FROM, TO, HOLDS, FREES, STUCK, MOVES, BEGAN, CONTACTS, FACTOR, STOP, ITERATIONS, STATE,
    SEED, SINGLE,
) = range(20)  # fmt: skip
MOST_MOVES = 400  # crossings that are remembered
KEPT = 200  # contacts up to which the arrays are kept for the next call


class Tableau(NamedTuple):
    """The work arrays."""

    Z: np.ndarray
    J: np.ndarray


def tableau(ne: int, na: int, nc: int) -> Tableau:
    """Work arrays, reused: the compiled code runs to its end, holding the interpreter lock, before any other call."""
    return _kept(ne, na, nc) if nc <= KEPT else new(ne, na, nc)


def new(ne: int, na: int, nc: int) -> Tableau:
    """Work arrays of one's own."""
    m, held = nc + ne + na, 2 * na + 2
    contacts, width = S + 6 * na + 3 + 2 * held, max(m + 1, held, SINGLE)
    J = np.zeros((TRAIL + 1 + (nc + MOST_MOVES) // width, width), np.int64)
    J[HEAD, : M + 1] = width, na, nc, ne, m
    J[HEAD, CONTACTS], J[HEAD, FACTOR] = contacts, contacts + nc
    J[PLACE] = -1
    return Tableau(np.zeros((contacts + 2 * nc, width)), J)


_kept = lru_cache(maxsize=64)(new)
