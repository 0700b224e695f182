"""The inverse problem with contact as arrays: from user units to stacked, scaled rows.

    min ‖W_ea λ_a + W_ec λ_c + δ_e‖² + ε λ_aᵀW_aa λ_a + ρ (λ_a − λ_prev)ᵀW_aa (λ_a − λ_prev)
    s.t. lo ≤ λ_a ≤ hi,   dlo ≤ δ_a = W_aa λ_a + W_ac λ_c + δ_a ≤ dhi,   0 ≤ λ_c ⊥ W_cc λ_c + W_ca λ_a + δ_c ≥ 0

Everything travels to the compiled code in one vector: a single copy makes layout, type and ownership of the user's
arrays irrelevant, and one argument is quick to pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.solvers.newton import DHI, DLO, HI, LO
from pliant.solvers.pieces import SHIFT, inner

PAPER = 1e-3  # ε in units of `work_scale`, Coevoet et al. 2017
THROUGH_CONTACT = (
    1e-2  # share of the effect through contacts that counts where efforts do not reach the effector
)


class Offsets(NamedTuple):
    """Where the parts begin in the vector. All but the bounds, at the end, must be finite."""

    Wea: int  # (ne, na)
    Wec: int  # (ne, nc)
    Waa: int  # (na, na)
    Wac: int  # (na, nc)
    Wcc: int  # (nc, nc)
    de: int  # (ne,)
    da: int  # (na,)
    dc: int  # (nc,)
    weights: int  # (ne,)
    previous: int  # (na,)
    start: int  # (na,)
    guess: int  # (nc,) contact efforts at the start
    bounds: int  # (4, na) efforts from, to, displacements from, to


@inner
def offsets(ne, na, nc):
    """See `Offsets`."""
    waa = ne * na + ne * nc
    wcc = waa + na * na + na * nc
    de = wcc + nc * nc
    weights = de + ne + na + nc
    start = weights + ne + na
    return Offsets(
        0, ne * na, waa, waa + na * na, wcc, de, de + ne, de + ne + na, weights, weights + ne, start, start + na,
        start + na + nc,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Problem:
    """A checked problem: its vector (see `Offsets`), sizes and regularisation (ε < 0: choose it)."""

    data: np.ndarray
    ne: int
    na: int
    nc: int
    eps: float
    rho: float
    warm: bool


def problem(
    matrices: tuple[ArrayLike, ...],
    effort: tuple[ArrayLike, ArrayLike],
    displacement: tuple[ArrayLike, ArrayLike],
    eps: float | None,
    rho: float,
    previous: ArrayLike | None,
    weights: ArrayLike | None,
    warm: Any,
) -> Problem:
    """Check shapes and values; `warm` is an earlier solution or actuator efforts."""
    Wea, Wec, Waa, Wac, Wcc, de, da, dc = arrays = [np.asarray(a) for a in matrices]
    ne, na, nc = de.size, da.size, dc.size
    shapes = (ne, na), (ne, nc), (na, na), (na, nc), (nc, nc), (ne,), (na,), (nc,)
    for name, array, shape in zip(("Wea", "Wec", "Waa", "Wac", "Wcc", "de", "da", "dc"), arrays, shapes):
        if array.shape != shape and not (array.size == 0 and shape[0] * shape[-1] == 0):
            raise InputError(name, expected=f"shape {shape}", got=array.shape)
    guess: Any = getattr(warm, "contact", None)
    if guess is None or guess.shape != (nc,):
        guess = np.zeros(nc)
    data = np.concatenate(
        (
            *arrays,
            np.ones(ne) if weights is None else vector(weights, ne, "weights"),
            np.zeros(na) if previous is None else vector(previous, na, "previous"),
            np.zeros(na) if warm is None else vector(getattr(warm, "effort", warm), na, "warm"),
            guess,
            vector(effort[0], na, "effort"),
            vector(effort[1], na, "effort"),
            vector(displacement[0], na, "displacement"),
            vector(displacement[1], na, "displacement"),
        ),
        axis=None,
        dtype=np.float64,
    )
    if not (rho >= 0.0 and (eps is None or eps >= 0.0)):
        raise InputError("eps, rho", expected="numbers ≥ 0", got=(eps, rho))
    return Problem(data, ne, na, nc, -1.0 if eps is None else float(eps), float(rho), warm is not None)


def vector(value: ArrayLike, n: int, name: str) -> np.ndarray:
    """(n,) from a number or n numbers."""
    array = np.asarray(value)
    if array.shape == (n,):
        return array
    if array.ndim == 0:
        return np.full(n, array)
    raise InputError(name, expected=f"a number or {n} of them", got=array.shape)


def work_scale(Wea: ArrayLike, Wec: ArrayLike, Waa: ArrayLike, Wac: ArrayLike, Wcc: ArrayLike) -> float:
    """What an ε of 1 would be in units of the task: ‖W_eaᵀW_ea‖∞ / ‖W_aa‖∞.

    Where efforts move the effector through contacts only (W_ea = 0) that would vanish, so the single contact that
    transmits most, W_ec W_ca / W_cc, replaces it.
    """
    blocks = [np.ascontiguousarray(a, dtype=np.float64) for a in (Wea, Wec, Waa, Wac, Wcc)]
    (ne, na), nc = blocks[0].shape, blocks[4].shape[0]
    shapes = (ne, na), (ne, nc), (na, na), (na, nc), (nc, nc)
    return _work_scale.py_func(*(b.reshape(s) for b, s in zip(blocks, shapes)))


@inner
def _work_scale(Wea, Wec, Waa, Wac, Wcc):
    (ne, na), nc = Wea.shape, len(Wcc)
    direct, compliance = 0.0, 0.0
    for i in range(na):
        total, effect = 0.0, 0.0
        for j in range(na):
            total += abs(Waa[i, j])
            product = 0.0
            for e in range(ne):
                product += Wea[e, i] * Wea[e, j]
            effect += abs(product)
        compliance, direct = max(compliance, total), max(direct, effect)
    for c in range(nc):
        reach, total, largest = 0.0, 0.0, 0.0
        for e in range(ne):
            reach += Wec[e, c] ** 2
        for i in range(na):
            total += abs(Wac[i, c])
            largest = max(largest, abs(Wac[i, c]))
        if Wcc[c, c] > 0.0:
            direct = max(direct, THROUGH_CONTACT * reach * total * largest / Wcc[c, c] ** 2)
    return direct / compliance if compliance > 0.0 else 0.0


@inner
def block(data, start, rows, columns):
    """A matrix in the vector."""
    return data[start : start + rows * columns].reshape((rows, columns))


@inner
def load(data, ne, na, nc, eps, rho, C, O, A, Q, scale):
    """Fill the scaled arrays of `pieces` and `newton`.

    `scale` (na + nc,): λ_j = scale_j x_j; a contact that nothing moves has scale 0 and takes no part.
    Contradicting bounds lo > hi are replaced by their middle. Returns (ε, whether there were such, sound input).
    """
    at = offsets(ne, na, nc)
    Wea, Wec = block(data, at.Wea, ne, na), block(data, at.Wec, ne, nc)
    Waa, Wac, Wcc = block(data, at.Waa, na, na), block(data, at.Wac, na, nc), block(data, at.Wcc, nc, nc)
    if eps < 0.0:
        eps = PAPER * _work_scale(Wea, Wec, Waa, Wac, Wcc)
    _scales(Wea, Waa, Wcc, scale)
    start = O[na]
    for c in range(nc):
        s, row, compliance = scale[na + c], C[c], Wcc[c]
        for i in range(nc):
            row[i] = s * scale[na + i] * compliance[i]
        row[c] = 1.0 + SHIFT
        start[c] = s * data[at.dc + c]
        for j in range(na):
            O[j, c] = row[nc + ne + j] = s * scale[j] * Wac[j, c]
    for e in range(ne):
        s = np.sqrt(data[at.weights + e])
        start[nc + e] = s * data[at.de + e]
        for c in range(nc):
            C[c, nc + e] = s * scale[na + c] * Wec[e, c]
        for j in range(na):
            O[j, nc + e] = s * scale[j] * Wea[e, j]
    for i in range(na):
        start[nc + ne + i] = scale[i] * data[at.da + i]
        Q[na, i] = 0.0
        for j in range(na):
            work = scale[i] * 0.5 * (Waa[i, j] + Waa[j, i])
            Q[i, j] = (eps + rho) * work * scale[j]
            Q[na, i] += rho * work * data[at.previous + j]
            O[j, nc + ne + i] = scale[i] * scale[j] * Waa[i, j]
    contradiction, sound = _load_bounds(data, at.bounds, scale, A)
    return eps, contradiction, sound


@inner
def _load_bounds(data, begin, scale, A):
    na, contradiction, sound = A.shape[1], False, 0.0
    for n in range(begin):
        sound += 0.0 * data[n]  # NaN if anything is not finite
    for j in range(na):
        for low, high, s in ((LO, HI, 1.0 / scale[j]), (DLO, DHI, scale[j])):
            A[low, j], A[high, j] = (
                s * data[begin + (low - LO) * na + j],
                s * data[begin + (high - LO) * na + j],
            )
            if not (A[low, j] < np.inf and A[high, j] > -np.inf):
                sound = np.nan
            if A[low, j] > A[high, j]:
                contradiction = True
                A[low, j] = A[high, j] = 0.5 * (A[low, j] + A[high, j])
    return contradiction, sound == 0.0


@inner
def _scales(Wea, Waa, Wcc, scale):
    """1/√Wᵢᵢ; actuators without compliance of their own are scaled by what they do to the effector."""
    na, nc, largest = len(Waa), len(Wcc), 0.0
    for j in range(na):
        largest = max(largest, Waa[j, j])
    for j in range(na):
        effect = 0.0
        for e in range(len(Wea)):
            effect = max(effect, abs(Wea[e, j]))
        if Waa[j, j] > 1e-24 * largest:
            scale[j] = 1.0 / np.sqrt(Waa[j, j])
        else:
            scale[j] = 1.0 / effect if effect > 0.0 else 1.0
    largest = 0.0
    for c in range(nc):
        largest = max(largest, Wcc[c, c])
    for c in range(nc):
        scale[na + c] = 1.0 / np.sqrt(Wcc[c, c]) if Wcc[c, c] > 1e-24 * largest else 0.0
