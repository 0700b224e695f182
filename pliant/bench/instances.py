"""Inverse problems with contact to measure the solver on: random ones, and those of a run.

Random instances have the sizes of Coevoet et al. 2017 (Table 12), W = H K⁻¹ Hᵀ.

A "rod" (see `rod`) has cables along it, obstacles around it, and its tip is the effector. Something "random"
has a compliance with a decaying spectrum in random directions and random rows: fewer symmetries, many more
contact modes.

`recording` collects the problems of a run, `save` and `load` keep many of them in one file, `solve_reference`
says what the best possible cost is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pliant.bench.rod import LENGTH, cables, compliance, obstacles, section
from pliant.errors import InputError, unknown_name
from pliant.solvers import lcp
from pliant.solvers.qpcc import descent, watching
from pliant.solvers.qpcc.enumeration import enumerate_modes
from pliant.solvers.qpcc.problem import Problem, from_numbers, length, problem

SIZES = ((2, 16), (4, 21), (5, 47), (9, 76))  # (actuators, contacts): beam, tower, rod in a pipe, trunk
KINDS = ("rod", "random")
WORK = 0.02  # of one actuator alone at full effort [J]

Array = np.ndarray
Matrices = tuple[Array, Array, Array, Array, Array, Array, Array, Array]


@dataclass(frozen=True, eq=False)
class Instance:
    """The arguments of `qpcc`: efforts [N], displacements and gaps [m]."""

    Wea: np.ndarray
    Wec: np.ndarray
    Waa: np.ndarray
    Wac: np.ndarray
    Wcc: np.ndarray
    de: np.ndarray
    da: np.ndarray
    dc: np.ndarray
    effort: tuple[np.ndarray, np.ndarray]
    displacement: tuple[np.ndarray, np.ndarray]

    @property
    def matrices(self) -> Matrices:
        """The positional arguments."""
        return self.Wea, self.Wec, self.Waa, self.Wac, self.Wcc, self.de, self.da, self.dc

    @property
    def limits(self) -> dict[str, Any]:
        """The keyword arguments."""
        return {"effort": self.effort, "displacement": self.displacement}

    @property
    def problem(self) -> Problem:
        """As the solver takes it."""
        return problem(*self.matrices, **self.limits)

    def with_(self, **changes: Any) -> Instance:
        """A copy with some fields replaced."""
        return replace(self, **changes)


def instance(
    actuators: int, contacts: int, *, seed: int, kind: str = "rod", limited: bool = False, hard: bool = False
) -> Instance:
    """One random instance. `limited` bounds displacements too; `hard` has narrow gaps and far targets."""
    if kind not in KINDS:
        raise unknown_name("kind", kind, KINDS)
    rng = np.random.default_rng((seed, actuators, contacts))
    He, Ha, Hc, G = (_rod if kind == "rod" else _anything)(actuators, contacts, rng)
    H = np.concatenate([He, Ha, Hc])
    W = H @ G @ H.T
    W = 0.5 * (W + W.T)
    ne, na = len(He), actuators
    e, a, c = slice(0, ne), slice(ne, ne + na), slice(ne + na, None)
    most = np.sqrt(2.0 * WORK / np.diag(W[a, a]))  # each actuator alone does the same work
    reach = np.abs(W[c, a]) @ most
    gaps = rng.uniform(-0.01, 0.1 if hard else 0.3, contacts) * reach
    target = _reached(W[e, a], W[e, c], W[c, a], W[c, c], gaps, most, rng)
    far = rng.uniform(0.5, 2.0) if hard else rng.uniform(0.0, 1.0)
    de = -target - far * rng.normal(size=ne) * np.array([1.0, 1.0, 0.1]) * 0.2 * np.linalg.norm(target)
    span = np.full(na, np.inf)
    if limited:
        span = rng.uniform(0.4, 1.2, na) * np.abs(W[a, a]).max(axis=1) * most
    return Instance(
        W[e, a].copy(),
        W[e, c].copy(),
        W[a, a].copy(),
        W[a, c].copy(),
        W[c, c].copy(),
        de,
        np.zeros(na),
        gaps,
        (np.zeros(na), most),
        (-span, span),
    )


def instances(size: tuple[int, int], count: int, *, first: int = 0, **options: Any) -> Sequence[Instance]:
    """`count` instances of one size; options as for `instance`."""
    return [instance(*size, seed=first + k, **options) for k in range(count)]


@contextmanager
def recording(limit: float = np.inf) -> Iterator[list[Problem]]:
    """A list that fills with the problems given to `pliant.solvers.qpcc`, by anyone, while this lasts.

    A problem is a copy of the matrices, bounds and options; at most `limit` of them are kept.
    """
    problems: list[Problem] = []

    def see(p: Problem) -> None:
        if len(problems) < limit:
            problems.append(p)

    with watching(see):
        yield problems


def save(path: str | Path, problems: Iterable[Problem]) -> None:
    """Write problems to one file (npz): sizes (n, 3), options (n, 3), and all numbers one after the other."""
    kept = list(problems)
    np.savez_compressed(
        path,
        sizes=np.array([(p.ne, p.na, p.nc) for p in kept], np.int64).reshape(-1, 3),
        options=np.array([(p.eps, p.rho, p.warm) for p in kept]).reshape(-1, 3),
        numbers=np.concatenate([np.empty(0), *(p.numbers() for p in kept)]),
    )


def load(path: str | Path) -> list[Problem]:
    """Read what `save` wrote."""
    with np.load(path) as file:
        if not {"sizes", "options", "numbers"} <= set(file.files):
            raise InputError(f"{path}", expected="problems that `save` wrote", got=", ".join(file.files))
        sizes, options, numbers = file["sizes"], file["options"], file["numbers"]
    lengths = [length(*size) for size in sizes.tolist()]
    if sum(lengths) != len(numbers):
        raise InputError(f"{path}", expected=f"{sum(lengths)} numbers", got=len(numbers))
    ends = np.cumsum(lengths, dtype=np.int64)
    return [
        from_numbers(numbers[end - count : end], ne, na, nc, eps, rho, bool(warm))
        for end, count, (ne, na, nc), (eps, rho, warm) in zip(ends, lengths, sizes.tolist(), options.tolist())
    ]


class Reference(NamedTuple):
    """The best cost, and whether that is proven."""

    cost: float
    exact: bool


def solve_reference(p: Problem, *, pieces: int = 3000, seconds: float = 2.0, starts: int = 150) -> Reference:
    """The best cost, by visiting every contact mode if that ends within so many pieces and seconds.

    Otherwise it is the best known, from a search with many starts.
    """
    proof = enumerate_modes(p, pieces, seconds)
    if proof.complete:
        return Reference(proof.best.cost, True)
    found = [s for s in (proof.best, descent(p, starts)) if s.certificate.solved]
    return Reference(min((s.cost for s in found), default=np.inf), False)


def _rod(actuators: int, contacts: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Rows of effector, actuators, contacts, and K⁻¹."""
    G = compliance(rng)
    return section(LENGTH), cables(actuators, rng), obstacles(contacts, rng), G


def _anything(actuators: int, contacts: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Rows of effector, actuators, contacts, and K⁻¹ of a body without any structure."""
    n = 3 + actuators + contacts
    modes, _ = np.linalg.qr(rng.normal(size=(n, n)))
    G = (modes * (0.1 / (1.0 + np.arange(n)) ** 1.5)) @ modes.T
    rows = rng.normal(size=(n, n)) / np.sqrt(n)
    return rows[:3], rows[3 : 3 + actuators], rows[3 + actuators :], G


def _reached(
    Wea: np.ndarray,
    Wec: np.ndarray,
    Wca: np.ndarray,
    Wcc: np.ndarray,
    gaps: np.ndarray,
    most: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """(ne,) where the tip goes under random efforts of some actuators, contacts included."""
    effort = most * rng.uniform(size=len(most)) * (rng.uniform(size=len(most)) < 0.6)
    contact = lcp(Wcc, Wca @ effort + gaps).effort
    return Wea @ effort + Wec @ contact
