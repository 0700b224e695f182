"""Residuals of an inverse solution, from the user's arrays and nothing else: an independent check."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.solvers.qpcc.problem import Problem
from pliant.solvers.solution import Reals

ACTIVE = 1e-9  # a bound, effort or gap nearer to zero than this, relative, counts as active
RESOLVED = 1e-3  # errors of the task count at least as this share of what they were without efforts
LEAST_EFFORT = 1e-6  # share of their range that efforts count at least, where gaps are compared


class Point(NamedTuple):
    """Efforts and multipliers in the user's units."""

    effort: Reals  # (na,) λ_a
    contact: Reals  # (nc,) λ_c
    eta: Reals  # (na,) multipliers of effort bounds
    kappa: Reals  # (nc,) of λ_c ≥ 0
    mu: Reals  # (na,) of displacement bounds
    nu: Reals  # (nc,) of δ_c ≥ 0


class Motion(NamedTuple):
    """What efforts cause."""

    error: Reals  # (ne,) δ_e
    moved: Reals  # (na,) δ_a
    gap: Reals  # (nc,) δ_c


def motion(p: Problem, effort: Reals, contact: Reals) -> Motion:
    """δ of all rows under actuator and contact efforts (eq. 3)."""
    return Motion(
        p.Wea @ effort + p.Wec @ contact + p.de,
        p.Waa @ effort + p.Wac @ contact + p.da,
        effort @ p.Wac + contact @ p.Wcc + p.dc,
    )


def residuals(p: Problem, eps: float, point: Point) -> tuple[float, float, float]:
    """(stationarity, complementarity, feasibility), see `QpccCertificate`."""
    Wea, Wec, Waa, Wac, Wcc, de, _, dc, weights, previous = p[:10]
    lo, hi, dlo, dhi = p.lo, p.hi, p.dlo, p.dhi
    effort, contact, eta, kappa, mu, nu = point
    error, moved, gap = motion(p, effort, contact)
    unit_a, unit_c = _units(Waa), _units(Wcc)

    used = np.maximum(np.abs(effort), LEAST_EFFORT * np.where(np.isfinite(hi - lo), hi - lo, 0.0))
    opened = max(_largest(used[:, None] * Wac / unit_c), _largest(dc / unit_c))
    pushes, opens = contact * unit_c, gap / unit_c
    complementarity = _largest(np.minimum(pushes, opens)) / (opened or 1.0)
    effort_extent = max(_largest(effort * unit_a), _largest_finite(lo * unit_a, hi * unit_a)) or 1.0
    moved_extent = max(_largest(moved / unit_a), _largest_finite(dlo / unit_a, dhi / unit_a), effort_extent)
    feasibility = max(
        _violation(effort, lo, hi, unit_a) / effort_extent,
        _violation(moved, dlo, dhi, 1.0 / unit_a) / moved_extent,
    )

    task = 2.0 * weights * error
    work = (Waa + Waa.T) @ (eps * effort + p.rho * (effort - previous))
    on_actuators = (task @ Wea + work - eta - mu @ Waa - Wac @ nu) / unit_a
    on_contacts = (task @ Wec - mu @ Wac - Wcc @ nu - kappa) / unit_c
    terms = 2.0 * weights * np.maximum(np.abs(error), RESOLVED * _largest(de))
    works = np.abs(Waa + Waa.T) @ (eps * used + p.rho * np.maximum(np.abs(effort - previous), used))
    size = max(_largest((terms @ np.abs(Wea) + works) / unit_a), _largest(terms @ np.abs(Wec) / unit_c))
    both = (pushes <= ACTIVE * opened) & (opens <= ACTIVE * opened)
    stationarity = max(
        _largest(on_actuators),
        _largest(on_contacts),
        _wrong_sign(eta / unit_a, effort, lo, hi, effort_extent / unit_a),
        _wrong_sign(mu * unit_a, moved, dlo, dhi, moved_extent * unit_a),
        _wrong_pair((nu * unit_c)[both], (kappa / unit_c)[both]),
    )
    return stationarity / (size or 1.0), complementarity, feasibility


def _units(W: Reals) -> Reals:
    """√Wᵢᵢ, one where there is none."""
    own = W.diagonal()
    return np.sqrt(np.where(own > 0.0, own, 1.0))


def _largest(values: Reals) -> float:
    return float(np.abs(values).max(initial=0.0))


def _largest_finite(*values: Reals) -> float:
    return max(float(np.abs(v[np.isfinite(v)]).max(initial=0.0)) for v in values)


def _violation(value: Reals, lo: Reals, hi: Reals, unit: Reals) -> float:
    return float((np.maximum(lo - value, value - hi) * unit).max(initial=0.0))


def _wrong_pair(nu: Reals, kappa: Reals) -> float:
    """M-stationarity where contacts neither push nor open: both multipliers positive, or one of them zero."""
    wrong = np.where((nu < 0.0) | (kappa < 0.0), np.minimum(np.abs(nu), np.abs(kappa)), 0.0)
    return float(wrong.max(initial=0.0))


def _wrong_sign(multiplier: Reals, value: Reals, lo: Reals, hi: Reals, extent: Reals) -> float:
    """Multipliers push up at (or beyond) a lower bound, down at an upper one, and nowhere else."""
    low, high = value <= lo + ACTIVE * extent, value >= hi - ACTIVE * extent
    return float(
        np.maximum(np.where(low, 0.0, multiplier), np.where(high, 0.0, -multiplier)).max(initial=0.0)
    )
