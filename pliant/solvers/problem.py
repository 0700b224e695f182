"""The inverse problem with contact as arrays: from user units to stacked, scaled rows.

    min ‖W_ea λ_a + W_ec λ_c + δ_e‖² + ε λ_aᵀW_aa λ_a + ρ (λ_a − λ_prev)ᵀW_aa (λ_a − λ_prev)
    s.t. lo ≤ λ_a ≤ hi,   dlo ≤ δ_a = W_aa λ_a + W_ac λ_c + δ_a ≤ dhi,   0 ≤ λ_c ⊥ W_cc λ_c + W_ca λ_a + δ_c ≥ 0

Everything travels to the compiled code in one vector: a single copy makes layout, type and ownership of the user's
arrays irrelevant, and one argument is quick to pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError

FREE = (-np.inf, np.inf)
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


@lru_cache(maxsize=64)
def offsets(ne: int, na: int, nc: int) -> Offsets:
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


class Problem(NamedTuple):
    """A checked problem: its vector (see `Offsets`), sizes and regularisation (ε < 0: to be chosen)."""

    data: np.ndarray
    ne: int
    na: int
    nc: int
    eps: float
    rho: float
    warm: bool

    def parts(self) -> tuple[np.ndarray, ...]:
        """Views of the arrays in the vector, in the order of `Offsets`."""
        ne, na, nc, data = self.ne, self.na, self.nc, self.data
        at = offsets(ne, na, nc)
        return (
            data[: at.Wec].reshape(ne, na), data[at.Wec : at.Waa].reshape(ne, nc),
            data[at.Waa : at.Wac].reshape(na, na), data[at.Wac : at.Wcc].reshape(na, nc),
            data[at.Wcc : at.de].reshape(nc, nc), data[at.de : at.da], data[at.da : at.dc], data[at.dc : at.weights],
            data[at.weights : at.previous], data[at.previous : at.start], data[at.start : at.guess],
            data[at.guess : at.bounds], data[at.bounds :].reshape(4, na),
        )  # fmt: skip


@lru_cache(maxsize=64)
def _defaults(ne: int, na: int, nc: int) -> np.ndarray:
    """Weights, previous efforts, start and contact guess where none are given."""
    return np.concatenate((np.ones(ne), np.zeros(2 * na + nc)))


def problem(
    Wea: ArrayLike,
    Wec: ArrayLike,
    Waa: ArrayLike,
    Wac: ArrayLike,
    Wcc: ArrayLike,
    de: ArrayLike,
    da: ArrayLike,
    dc: ArrayLike,
    effort: tuple[ArrayLike, ArrayLike] = FREE,
    displacement: tuple[ArrayLike, ArrayLike] = FREE,
    eps: float | None = None,
    rho: float = 0.0,
    previous: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    warm: Any = None,
) -> Problem:
    """Check shapes and put everything into one vector; `warm` is an earlier solution or actuator efforts."""
    arrays = Wea, Wec, Waa, Wac, Wcc, de, da, dc = (
        np.asarray(Wea), np.asarray(Wec), np.asarray(Waa), np.asarray(Wac), np.asarray(Wcc),
        np.asarray(de), np.asarray(da), np.asarray(dc),
    )  # fmt: skip
    ne, na, nc = de.size, da.size, dc.size
    if na == 0:
        raise InputError("da", expected="at least one actuator", got="none")
    if not (
        Wea.shape == (ne, na) and Wec.shape == (ne, nc) and Waa.shape == (na, na) and Wac.shape == (na, nc)
        and Wcc.shape == (nc, nc) and de.ndim == 1 and da.ndim == 1 and dc.ndim == 1
    ):  # fmt: skip
        _check_shapes(arrays, ne, na, nc)
    extras: tuple[np.ndarray, ...] = (_defaults(ne, na, nc),)
    if weights is not None or previous is not None or warm is not None:
        ones, none, guess = extras[0][:ne], extras[0][ne : ne + na], getattr(warm, "contact", None)
        extras = (
            ones if weights is None else vector(weights, ne, "weights"),
            none if previous is None else vector(previous, na, "previous"),
            none if warm is None else vector(getattr(warm, "effort", warm), na, "warm"),
            extras[0][ne + 2 * na :] if guess is None or guess.shape != (nc,) else guess,
        )
    data = np.concatenate(
        (
            *[array.ravel() for array in arrays],  # quicker than axis=None
            *extras,
            vector(effort[0], na, "effort"),
            vector(effort[1], na, "effort"),
            vector(displacement[0], na, "displacement"),
            vector(displacement[1], na, "displacement"),
        ),
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


def _check_shapes(arrays: Sequence[np.ndarray], ne: int, na: int, nc: int) -> None:
    """Say which shape is wrong; empty arrays may have any."""
    shapes = (ne, na), (ne, nc), (na, na), (na, nc), (nc, nc), (ne,), (na,), (nc,)
    for name, array, shape in zip(("Wea", "Wec", "Waa", "Wac", "Wcc", "de", "da", "dc"), arrays, shapes):
        if array.shape != shape and not (array.size == 0 and 0 in shape):
            raise InputError(
                name,
                expected=f"shape {shape}, for {ne} effector rows, {na} actuators and {nc} contacts",
                got=array.shape,
            )


def work_scale(Wea: ArrayLike, Wec: ArrayLike, Waa: ArrayLike, Wac: ArrayLike, Wcc: ArrayLike) -> float:
    """What an ε of 1 would be in units of the task: ‖W_eaᵀW_ea‖∞ / ‖W_aa‖∞.

    Where efforts move the effector through contacts only (W_ea = 0) that would vanish, so the single contact that
    transmits most, W_ec W_ca / W_cc, replaces it.
    """
    Wea, Wec, Waa, Wac, Wcc = (np.asarray(a, np.float64) for a in (Wea, Wec, Waa, Wac, Wcc))
    effect = np.abs(Wea.T @ Wea).sum(axis=1).max(initial=0.0)
    compliance = np.abs(Waa).sum(axis=1).max(initial=0.0)
    own = Wcc.diagonal()
    if own.size and own.max() > 0.0:
        sent, moves = np.abs(Wac), own > 0.0
        reach = np.einsum("ec,ec->c", Wec, Wec) * sent.sum(axis=0) * sent.max(axis=0)
        effect = max(effect, THROUGH_CONTACT * (reach[moves] / own[moves] ** 2).max())
    return float(effect / compliance) if compliance > 0.0 else 0.0
