"""Large contact problems on structured compliances: exact solutions, cold and warm from one nearby.

"punch": a rigid sphere pressed into an elastic half-space, W_ij = 1/(π E* r_ij) (Boussinesq) and 1.122/(E* h)
for the patch of side h under a point (Love). "slender": points all over a rod that bends and stretches,
pushed against walls on all sides; W = H K⁻¹ Hᵀ has a rank far below the number of contacts but for some local
indentation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.bench.rod import LENGTH, compliance, section
from pliant.io.table import Table
from pliant.solvers import lcp
from pliant.timing import milliseconds, paired

STIFFNESS = 1e5  # E* [Pa]
SPACING = 1e-3  # h [m]
SPHERE = 0.1  # radius [m]
# Displacement of the middle of a square of side h under its own force, in units of F / (E* h).
OWN = 4.0 * np.log(1.0 + np.sqrt(2.0)) / np.pi
CHANGE = 0.01  # of every gap, standard deviation: a problem nearby
EXACT = 1e-10  # residual
# Contacts, how many of them push, and what a warm solution may take in units of dgemm(1500): 10 ms and 0.5 s
# where that takes 125 ms.
PUNCHES = ((1290, 150, 0.08), (4500, 520, 4.0))
SLENDER = 1290


@dataclass(frozen=True, eq=False)
class Contact:
    """0 ≤ λ ⊥ Wλ + q ≥ 0: forces λ [N], gaps without force q [m]."""

    W: np.ndarray
    q: np.ndarray

    def nearby(self, seed: int) -> np.ndarray:
        """Gaps that have changed a little."""
        return self.q * (1.0 + CHANGE * np.random.default_rng(seed).normal(size=len(self.q)))


def punch(contacts: int, pushing: int, *, scatter: float = 0.2, seed: int = 0) -> Contact:
    """A sphere on a half-space with about `pushing` points under it; `scatter` [h] moves points."""
    rng = np.random.default_rng(seed)
    side = int(np.ceil(np.sqrt(contacts)))
    grid = np.stack(np.divmod(np.arange(contacts), side), axis=1) - 0.5 * (side - 1)
    points = SPACING * (grid + scatter * rng.uniform(-1.0, 1.0, grid.shape))
    x, y = points.T
    r = np.hypot(x[:, None] - x, y[:, None] - y)
    np.fill_diagonal(r, SPACING / (np.pi * OWN))
    depth = pushing * SPACING**2 / (np.pi * SPHERE)  # Hertz: a² = R d
    return Contact(1.0 / (np.pi * STIFFNESS * r), (x**2 + y**2) / (2.0 * SPHERE) - depth)


def slender(contacts: int, *, seed: int = 0) -> Contact:
    """A rod in a narrow pipe that is bent by more than the clearance between them."""
    rng = np.random.default_rng(seed)
    heights = LENGTH * np.sort(rng.uniform(0.05, 1.0, contacts))
    angles = rng.uniform(0.0, 2.0 * np.pi, contacts)
    H = np.stack([np.cos(a) * (s := section(h))[0] + np.sin(a) * s[1] for a, h in zip(angles, heights)])
    W = H @ compliance(rng) @ H.T
    clearance, bend = 5e-3, 0.05 * (1.0 - np.cos(2.0 * np.pi * heights / LENGTH))
    return Contact(0.5 * (W + W.T), clearance - bend * np.cos(angles))


def lcp_bench() -> list[Table]:
    """Times and residuals of the active-set method on large problems."""
    columns = (
        "what",
        "contacts",
        "pushing",
        "cold [ms]",
        "warm [ms]",
        "÷ dgemm(1500)",
        "asked",
        "residual",
        "check",
    )
    table = Table("Contact problems, exact; warm from gaps that were 1 % different", columns)
    for contacts, pushing, asked in PUNCHES:
        _row(table, f"punch on a half-space, {contacts}", punch(contacts, pushing), asked)
    _row(table, "slender body in a pipe", slender(SLENDER), PUNCHES[0][2])
    return [table]


def _row(table: Table, what: str, problem: Contact, asked: float) -> None:
    before = lcp(problem.W, problem.q)
    gaps = [problem.nearby(seed) for seed in range(1, 4)]
    worst = max(lcp(problem.W, q, start=before).certificate.residual for q in gaps)
    cold = milliseconds(lambda: lcp(problem.W, problem.q), repeats=3, budget=1.0)
    warm, ratio = paired(lambda: [lcp(problem.W, q, start=before) for q in gaps], rounds=3)
    warm, ratio = warm / len(gaps), ratio / len(gaps)
    table.add(
        what=what,
        contacts=len(problem.q),
        pushing=int(np.count_nonzero(before.effort)),
        asked=asked,
        residual=worst,
        check=worst <= EXACT and ratio <= asked,
        **{"cold [ms]": cold, "warm [ms]": warm, "÷ dgemm(1500)": ratio},
    )
