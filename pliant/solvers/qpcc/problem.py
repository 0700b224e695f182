"""The inverse problem with contact as arrays, in the user's units (eqs. 3–7 of Coevoet et al. 2017).

    min ‖W_ea λ_a + W_ec λ_c + de‖² + ε λ_aᵀW_aa λ_a + ρ (λ_a − λ_prev)ᵀW_aa (λ_a − λ_prev)
    s.t. lo ≤ λ_a ≤ hi,   dlo ≤ W_aa λ_a + W_ac λ_c + da ≤ dhi,   0 ≤ λ_c ⊥ W_cc λ_c + W_ca λ_a + dc ≥ 0

with W = H K⁻¹ Hᵀ between effectors e, actuators a and contacts c.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.solvers.qp import vector
from pliant.solvers.solution import Reals

UNBOUNDED = (-np.inf, np.inf)
PAPER_EPS = 1e-3  # ε in units of `work_scale`, as in the paper
THROUGH_CONTACT = 1e-2  # share of the effect through contacts that counts beside that of the efforts alone


class Problem(NamedTuple):
    """A checked problem. It owns its arrays; all but the bounds must be finite."""

    Wea: Reals  # (ne, na)
    Wec: Reals  # (ne, nc)
    Waa: Reals  # (na, na)
    Wac: Reals  # (na, nc)
    Wcc: Reals  # (nc, nc)
    de: Reals  # (ne,)
    da: Reals  # (na,)
    dc: Reals  # (nc,)
    weights: Reals  # (ne,) of the squared errors
    previous: Reals  # (na,) λ_prev of the ρ term
    start: Reals  # (na,) efforts of a warm start …
    guess: Reals  # (nc,) … and its contact efforts
    lo: Reals  # (na,) bounds of efforts …
    hi: Reals
    dlo: Reals  # (na,) … and of displacements
    dhi: Reals
    eps: float  # ε, negative if it is to be chosen
    rho: float
    warm: bool  # whether there is a warm start

    @property
    def ne(self) -> int:
        """The number of effector rows."""
        return len(self.de)

    @property
    def na(self) -> int:
        """The number of actuators."""
        return len(self.da)

    @property
    def nc(self) -> int:
        """The number of contacts."""
        return len(self.dc)

    def numbers(self) -> Reals:
        """All arrays one after the other, for a file."""
        return np.concatenate([array.ravel() for array in self[:16]])


def shapes(ne: int, na: int, nc: int) -> tuple[tuple[int, ...], ...]:
    """The shapes of a problem's arrays, in their order."""
    matrices = (ne, na), (ne, nc), (na, na), (na, nc), (nc, nc)
    return *matrices, (ne,), (na,), (nc,), (ne,), (na,), (na,), (nc,), (na,), (na,), (na,), (na,)


def length(ne: int, na: int, nc: int) -> int:
    """How many numbers a problem has."""
    return sum(int(np.prod(shape)) for shape in shapes(ne, na, nc))


def from_numbers(numbers: Reals, ne: int, na: int, nc: int, eps: float, rho: float, warm: bool) -> Problem:
    """The problem of which these are the `numbers`."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes(ne, na, nc)])
    arrays = [part.reshape(s) for part, s in zip(np.split(numbers, ends[:-1]), shapes(ne, na, nc))]
    return Problem(*arrays, eps=eps, rho=rho, warm=warm)


def problem(
    Wea: ArrayLike,
    Wec: ArrayLike,
    Waa: ArrayLike,
    Wac: ArrayLike,
    Wcc: ArrayLike,
    de: ArrayLike,
    da: ArrayLike,
    dc: ArrayLike,
    effort: tuple[ArrayLike, ArrayLike] = UNBOUNDED,
    displacement: tuple[ArrayLike, ArrayLike] = UNBOUNDED,
    eps: float | None = None,
    rho: float = 0.0,
    previous: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    warm: Any = None,
) -> Problem:
    """Check and copy; `warm` is an earlier solution or actuator efforts."""
    e, a, c = _copy(de), _copy(da), _copy(dc)
    ne, na, nc = e.size, a.size, c.size
    if na == 0:
        raise InputError("da", expected="at least one actuator", got="none")
    given = (Wea, Wec, Waa, Wac, Wcc, e, a, c)
    sizes = ne, na, nc
    arrays = [_shaped(array, shape, name, sizes) for array, (name, shape) in zip(given, _names(*sizes))]
    if not (rho >= 0.0 and (eps is None or eps >= 0.0)):
        raise InputError("eps, rho", expected="numbers ≥ 0", got=(eps, rho))
    guess = getattr(warm, "contact", None)
    return Problem(
        *arrays,
        weights=np.ones(ne) if weights is None else _vector(weights, ne, "weights"),
        previous=np.zeros(na) if previous is None else _vector(previous, na, "previous"),
        start=np.zeros(na) if warm is None else _vector(getattr(warm, "effort", warm), na, "warm"),
        guess=np.zeros(nc) if guess is None or guess.shape != (nc,) else _copy(guess),
        lo=_vector(effort[0], na, "effort"),
        hi=_vector(effort[1], na, "effort"),
        dlo=_vector(displacement[0], na, "displacement"),
        dhi=_vector(displacement[1], na, "displacement"),
        eps=-1.0 if eps is None else float(eps),
        rho=float(rho),
        warm=warm is not None,
    )


def _copy(value: ArrayLike) -> Reals:
    return np.array(value, np.float64, order="C")


def _vector(value: ArrayLike, n: int, name: str) -> Reals:
    return _copy(vector(value, n, name))


def _names(ne: int, na: int, nc: int) -> zip[tuple[str, tuple[int, ...]]]:
    return zip(("Wea", "Wec", "Waa", "Wac", "Wcc", "de", "da", "dc"), shapes(ne, na, nc))


def _shaped(value: ArrayLike, shape: tuple[int, ...], name: str, sizes: tuple[int, int, int]) -> Reals:
    """A copy of the right shape; empty arrays may have any."""
    array = _copy(value)
    if array.shape == shape:
        return array
    if array.size == 0 and 0 in shape:
        return array.reshape(shape)
    raise InputError(
        name,
        expected="shape {}, for {} effector rows, {} actuators and {} contacts".format(shape, *sizes),
        got=array.shape,
    )


def work_scale(Wea: ArrayLike, Wec: ArrayLike, Waa: ArrayLike, Wac: ArrayLike, Wcc: ArrayLike) -> float:
    """What an ε of 1 would be in units of the task: ‖W_eaᵀW_ea‖∞ / ‖W_aa‖∞.

    Where efforts move the effector through contacts only (W_ea = 0) that would vanish, so the single contact
    that transmits most, W_ec W_ca / W_cc, replaces it.
    """
    Wea, Wec, Waa, Wac, Wcc = (np.asarray(a, np.float64) for a in (Wea, Wec, Waa, Wac, Wcc))
    effect = np.abs(Wea.T @ Wea).sum(axis=1).max(initial=0.0)
    compliance = np.abs(Waa).sum(axis=1).max(initial=0.0)
    own = Wcc.diagonal()
    if own.size and own.max() > 0.0:
        sent = np.abs(Wac)
        reach = np.einsum("ec,ec->c", Wec, Wec) * sent.sum(axis=0) * sent.max(axis=0)
        through = np.divide(reach, own * own, out=np.zeros(len(own)), where=own > 0.0)
        effect = max(effect, THROUGH_CONTACT * through.max())
    return float(effect / compliance) if compliance > 0.0 else 0.0
