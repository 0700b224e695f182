"""The inverse problem with contact, a QPCC: checks, the choice of a method, and who watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import ArrayLike

from pliant.errors import InputError, unknown_name
from pliant.solvers.qpcc.problem import UNBOUNDED, Problem, problem
from pliant.solvers.qpcc.scaled import scaled
from pliant.solvers.qpcc.search import search
from pliant.solvers.qpcc.solution import QpccSolution, report

METHODS = ("descent", "decomposition")
FORMULATIONS = ("reduced", "full")
SHIFT = 1e-13  # added to the unit diagonal of W_cc: dependent contacts share their effort
SOFT_SHIFT = 1e-6  # the same where contacts contradict each other, which …
CONTRADICTION = 1e-7  # … a penetration shows that exceeds this, relative to the terms of the gaps

_watchers: list[Callable[[Problem], object]] = []


def qpcc(
    Wea: ArrayLike,
    Wec: ArrayLike,
    Waa: ArrayLike,
    Wac: ArrayLike,
    Wcc: ArrayLike,
    de: ArrayLike,
    da: ArrayLike,
    dc: ArrayLike,
    *,
    effort: tuple[ArrayLike, ArrayLike] = UNBOUNDED,
    displacement: tuple[ArrayLike, ArrayLike] = UNBOUNDED,
    eps: float | None = None,
    rho: float = 0.0,
    previous: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    starts: int = 8,
    method: str = "descent",
    warm: Any = None,
    formulation: str = "reduced",
) -> QpccSolution:
    """Actuator efforts that bring the effector nearest to its target, with contacts that push and never pull.

    min Σ wₑδₑ² + ε λ_aᵀW_aa λ_a + ρ‖λ_a − λ_prev‖²_Waa,   δ_e = W_ea λ_a + W_ec λ_c + de,
    s.t. effort bounds on λ_a, displacement bounds on δ_a = W_aa λ_a + W_ac λ_c + da,
         0 ≤ λ_c ⊥ δ_c = W_ca λ_a + W_cc λ_c + dc ≥ 0.

    Bounds are numbers or (na,) arrays, ±inf where there are none. `eps` defaults to 1e-3 in units of
    `work_scale`. `warm`, an earlier solution or efforts (na,), is the first start; `previous` belongs to the
    ρ term. The problem has many local minima: descents are made from several points and the best is returned.
    `starts` = 1 is one descent from the warm start or from zero; every further start adds up to four, one
    from a point of the range of the efforts and three from changes of the best so far; none is begun after 50
    iterations for every start, nor where the best is proven to be the global minimum. From 16 starts on more
    descents follow from points near the best, half as many iterations again; 8 to 15 starts are doubled where
    fewer than a third of the descents end in the best. Infeasible bounds give the smallest violation found
    and the status "infeasible".

    method="decomposition" is the paper's: solve the quadratic program of one contact mode, switch the contact
    with the largest multiplier, repeat; formulation="full" keeps λ_c in these programs instead of eliminating
    it.
    """
    p = problem(Wea, Wec, Waa, Wac, Wcc, de, da, dc, effort, displacement, eps, rho, previous, weights, warm)
    for see in _watchers:
        see(p)
    if method == "descent" and formulation == "reduced":
        return descent(p, starts)
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if formulation not in FORMULATIONS:
        raise unknown_name("formulation", formulation, FORMULATIONS)
    if method == "descent":
        raise InputError("formulation", expected="'reduced' for method='descent'", got=repr(formulation))
    from pliant.solvers.qpcc.decomposition import decompose

    return decompose(p, starts, formulation)


@contextmanager
def watching(see: Callable[[Problem], object]) -> Iterator[None]:
    """While this lasts, `see` is called with every problem given to `qpcc`; a problem owns its numbers."""
    _watchers.append(see)
    try:
        yield
    finally:
        _watchers.remove(see)


def descent(p: Problem, starts: int) -> QpccSolution:
    """The best of some descents."""
    if starts < 1:
        raise InputError("starts", expected="at least 1", got=starts)
    for shift in (SHIFT, SOFT_SHIFT):
        scaling = scaled(p, shift)
        warm = p.start / scaling.units[p.nc + p.ne :] if p.warm else None
        result = search(scaling, warm, p.guess, starts)
        if result.penetration <= CONTRADICTION:
            break
    infeasible = shift == SOFT_SHIFT or scaling.contradictory or not result.feasible
    return report(p, scaling, result, infeasible=infeasible)
