"""From the problem's vector to the stacked, scaled rows that the compiled code works on."""

from __future__ import annotations

import numpy as np

from pliant.solvers.newton import DLO, LO
from pliant.solvers.pieces import FIXED, inner
from pliant.solvers.problem import THROUGH_CONTACT, offsets

PAPER = 1e-3  # ε in units of `work_scale`, Coevoet et al. 2017


@inner
def _work_scale(data, ne, na, nc, at):
    """`work_scale` in compiled form."""
    direct, compliance = 0.0, 0.0
    for i in range(na):
        total, effect = 0.0, 0.0
        for j in range(na):
            product = 0.0
            for e in range(ne):
                product += data[at.Wea + e * na + i] * data[at.Wea + e * na + j]
            total += abs(data[at.Waa + i * na + j])
            effect += abs(product)
        compliance, direct = max(compliance, total), max(direct, effect)
    for c in range(nc):
        reach, total = 0.0, 0.0
        largest, own = 0.0, data[at.Wcc + c * nc + c]
        for e in range(ne):
            reach += data[at.Wec + e * nc + c] ** 2
        for i in range(na):
            push = abs(data[at.Wac + i * nc + c])
            total, largest = total + push, max(largest, push)
        if own > 0.0:
            direct = max(direct, THROUGH_CONTACT * reach * total * largest / own**2)
    return direct / compliance if compliance > 0.0 else 0.0


@inner
def load(data, ne, na, nc, eps, rho, shift, M, A, Q, scale):
    """Fill the scaled arrays of `pieces` and `newton`.

    `shift` is added to the unit diagonal of W_cc: dependent contacts then share their effort.
    `scale` (na + nc,): λ_j = scale_j x_j; a contact that nothing moves has scale 0 and takes no part.
    Contradicting bounds lo > hi are replaced by their middle. Returns (ε, whether there were such, sound input).
    """
    at, fixed = offsets(ne, na, nc), na + FIXED
    contacts, last = 2 * na + FIXED + 1, nc + ne
    start = M[2 * na + FIXED]
    if eps < 0.0:
        eps = PAPER * _work_scale(data, ne, na, nc, at)
    _scales(data, ne, na, nc, at, scale)
    for c in range(nc):
        s, row, first = scale[na + c], M[contacts + c], at.Wcc + c * nc
        for i in range(nc):
            row[i] = s * scale[na + i] * data[first + i]
        row[c] = 1.0 + shift
        start[c] = s * data[at.dc + c]
        for j in range(na):
            row[last + j] = M[fixed + j, c] = s * scale[j] * data[at.Wac + j * nc + c]
    for e in range(ne):
        s = np.sqrt(data[at.weights + e])
        start[nc + e] = s * data[at.de + e]
        for c in range(nc):
            M[contacts + c, nc + e] = s * scale[na + c] * data[at.Wec + e * nc + c]
        for j in range(na):
            M[fixed + j, nc + e] = s * scale[j] * data[at.Wea + e * na + j]
    for i in range(na):
        start[last + i] = scale[i] * data[at.da + i]
        Q[na, i] = 0.0
        for j in range(na):
            work = scale[i] * 0.5 * (data[at.Waa + i * na + j] + data[at.Waa + j * na + i])
            Q[i, j] = (eps + rho) * work * scale[j]
            Q[na, i] += rho * work * data[at.previous + j]
            M[fixed + j, last + i] = scale[i] * scale[j] * data[at.Waa + i * na + j]
    contradiction, sound = _load_bounds(data, at.bounds, scale, A)
    return eps, contradiction, sound


@inner
def _load_bounds(data, begin, scale, A):
    na, contradiction, sound = A.shape[1], False, 0.0
    for n in range(begin):
        sound += 0.0 * data[n]  # NaN if anything is not finite
    for j in range(na):
        for low in (LO, DLO):
            s = 1.0 / scale[j] if low == LO else scale[j]
            least, most = s * data[begin + (low - LO) * na + j], s * data[begin + (low + 1 - LO) * na + j]
            if not (least < np.inf and most > -np.inf):
                sound = np.nan
            if least > most:
                contradiction = True
                least = most = 0.5 * (least + most)
            A[low, j], A[low + 1, j] = least, most
    return contradiction, sound == 0.0


@inner
def _scales(data, ne, na, nc, at, scale):
    """1/√Wᵢᵢ; actuators without compliance of their own are scaled by what they do to the effector."""
    largest = 0.0
    for j in range(na):
        largest = max(largest, data[at.Waa + j * na + j])
    for j in range(na):
        own, effect = data[at.Waa + j * na + j], 0.0
        for e in range(ne):
            effect = max(effect, abs(data[at.Wea + e * na + j]))
        if not own > 1e-24 * largest:
            own = effect**2 if effect > 0.0 else 1.0
        scale[j] = 1.0 / np.sqrt(own)
    largest = 0.0
    for c in range(nc):
        largest = max(largest, data[at.Wcc + c * nc + c])
    for c in range(nc):
        own = data[at.Wcc + c * nc + c]
        scale[na + c] = 1.0 / np.sqrt(own) if own > 1e-24 * largest else 0.0
