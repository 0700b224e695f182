"""From the problem's vector to the stacked, scaled rows that the compiled code works on."""

from __future__ import annotations

import numpy as np

from pliant.solvers.native import INTEGER, INTEGERS, NOTHING, REAL, REALS, at, native, row
from pliant.solvers.problem import THROUGH_CONTACT
from pliant.solvers.tableau import CONTACTS, DLO, LO, NA, NC, NE, SCALE, M, S

PAPER = 1e-3  # ε in units of `work_scale`, Coevoet et al. 2017
SOUND, CONTRADICTION, UNSOUND = range(3)


@native(NOTHING, REALS, REALS, INTEGER, INTEGER, INTEGER, INTEGERS, INTEGER, INTEGER, INTEGER)
def place(block, z, rows, columns, turned, j, first, own, column):
    """Put a block (rows, columns) at row `first`, column `column` of z, turned if so, scaled by what its rows there
    (from `own`) and columns are scaled by."""
    scale = row(z, j, SCALE)
    for i in range(rows):
        for k in range(columns):
            if turned:
                row(z, j, first + k)[column + i] = block[i * columns + k] * scale[own + k] * scale[column + i]
            else:
                row(z, j, first + i)[column + k] = block[i * columns + k] * scale[own + i] * scale[column + k]


@native(NOTHING, REALS, REALS, INTEGER, REALS, INTEGER, REAL)
def scales(scale, block, count, effects, rows, otherwise):
    """1/√Wᵢᵢ; where there is no compliance, what an actuator does to the effector tells, else `otherwise`."""
    most = 0.0
    for i in range(count):
        most = max(most, block[i * count + i])
    for i in range(count):
        own, effect = block[i * count + i], 0.0
        for e in range(rows):
            effect = max(effect, abs(effects[e * count + i]))
        if own > 1e-24 * most:
            scale[i] = 1.0 / np.sqrt(own)
        else:
            scale[i] = 1.0 / effect if effect > 0.0 else otherwise


@native(NOTHING, REALS, INTEGERS, REALS, REAL, REAL)
def effort_terms(z, j, previous, eps, rho):
    """Q and p, from the scaled W_aa."""
    na, last = j[NA], j[NC] + j[NE]
    fixed, Q = S + na, S + 4 * na + 1
    for i in range(na):
        pull = 0.0
        for k in range(na):
            work = 0.5 * (row(z, j, fixed + i)[last + k] + row(z, j, fixed + k)[last + i])
            row(z, j, Q + i)[k] = (eps + rho) * work
            pull += rho * work * previous[k] / row(z, j, SCALE)[last + k]
        row(z, j, Q + na)[i] = pull


@native(INTEGER, REALS, REALS, REALS, REALS, INTEGER, INTEGER)
def bound(lows, highs, low, scale, na, turned):
    """Scaled bounds from (2, na) numbers; says whether some contradict each other or are no bounds."""
    found = SOUND
    for i in range(na):
        s = 1.0 / scale[i] if turned else scale[i]
        least, most = s * low[i], s * low[na + i]
        if not (least < np.inf and most > -np.inf):
            found = UNSOUND
        if least > most:
            found = max(found, CONTRADICTION)
            least = most = 0.5 * (least + most)
        lows[i] = least
        highs[i] = most
    return found


@native(REAL, REALS, INTEGER, INTEGER, INTEGER)
def work(data, ne, na, nc):
    """`work_scale` in compiled form."""
    direct, compliance = 0.0, 0.0
    waa, wac = ne * (na + nc), ne * (na + nc) + na * na
    for i in range(na):
        total, effect = 0.0, 0.0
        for k in range(na):
            product = 0.0
            for e in range(ne):
                product += data[e * na + i] * data[e * na + k]
            total += abs(data[waa + i * na + k])
            effect += abs(product)
        compliance, direct = max(compliance, total), max(direct, effect)
    for c in range(nc):
        reach, total, most = 0.0, 0.0, 0.0
        own = data[wac + na * nc + c * nc + c]
        for e in range(ne):
            reach += data[ne * na + e * nc + c] * data[ne * na + e * nc + c]
        for i in range(na):
            push = abs(data[wac + i * nc + c])
            total, most = total + push, max(most, push)
        if own > 0.0:
            direct = max(direct, THROUGH_CONTACT * reach * total * most / (own * own))
    return direct / compliance if compliance > 0.0 else 0.0


@native(INTEGER, REALS, REALS, INTEGERS, REAL, REAL, REAL)
def load(data, z, j, eps, rho, shift):
    """Fill the scaled rows; says whether bounds contradict each other, or numbers are not finite.

    `shift` is added to the unit diagonal of W_cc: dependent contacts then share their effort. λ = scale · x; a contact
    that nothing moves has scale 0 and takes no part. Contradicting bounds lo > hi are replaced by their middle.
    """
    na, nc, ne, m = j[NA], j[NC], j[NE], j[M]
    last, fixed, C, scale = nc + ne, S + na, j[CONTACTS], row(z, j, SCALE)
    waa, wac = ne * (na + nc), ne * (na + nc) + na * na
    wcc, de = wac + na * nc, wac + na * nc + nc * nc
    weights, found = at(data, de + m), SOUND
    scales(at(scale, last), at(data, waa), na, data, ne, 1.0)
    scales(scale, at(data, wcc), nc, data, 0, 0.0)
    for e in range(ne):
        scale[nc + e] = np.sqrt(weights[e])
    scale[m] = 1.0
    place(data, z, ne, na, 1, j, fixed, last, nc)
    place(at(data, ne * na), z, ne, nc, 1, j, C, 0, nc)
    place(at(data, waa), z, na, na, 1, j, fixed, last, last)
    place(at(data, wac), z, na, nc, 0, j, fixed, last, 0)
    place(at(data, wac), z, na, nc, 1, j, C, 0, last)
    place(at(data, wcc), z, nc, nc, 0, j, C, 0, 0)
    place(at(data, de), z, 1, ne, 0, j, fixed + na, m, nc)
    place(at(data, de + ne), z, 1, na, 0, j, fixed + na, m, last)
    place(at(data, de + ne + na), z, 1, nc, 0, j, fixed + na, m, 0)
    for c in range(nc):
        row(z, j, C + c)[c] = 1.0 + shift
        if scale[c] == 0.0 and data[de + ne + na + c] < 0.0:
            found = CONTRADICTION
    effort_terms(z, j, at(weights, ne), eps, rho)
    bounds = at(weights, ne + 2 * na + nc)
    found = max(found, bound(row(z, j, LO), row(z, j, LO + 1), bounds, at(scale, last), na, 1))
    found = max(found, bound(row(z, j, DLO), row(z, j, DLO + 1), at(bounds, 2 * na), at(scale, last), na, 0))
    rest = 0.0
    for n in range(de + m + ne + 2 * na + nc):
        rest += 0.0 * data[n]  # NaN if anything is not finite
    return found if rest == 0.0 else UNSOUND
