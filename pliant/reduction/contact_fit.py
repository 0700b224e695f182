"""From snapshots to a contact basis: non-negative modes, and the triangles that each contact may touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logsumexp

from pliant.contact import ContactBasis, Detector
from pliant.contact.basis import digest, require_one_cloud
from pliant.errors import InputError
from pliant.inputs import not_negative, positive
from pliant.reduction import factorisation, patches
from pliant.reduction.coverage import measured, near, widened
from pliant.reduction.snapshots import Snapshots
from pliant.robot import Robot

METHODS = ("hals", "als", "patches", "points")
LEFT_OUT = 0.01  # of the snapshots' forces, ‖·‖: what an automatic choice of points may leave out
FADE_TIMES_MODES = 0.7  # alarm distances: the default fade times the number of modes
WIDEST_FADE = 0.1  # alarm distances: the largest default fade
EARLIEST_CLOSING = 3.0  # fades by which a mode may close before its contacts do
COVERED_RINGS = 2  # of neighbours around contacts that pushed, which modes cover too …
COVERED_RINGS_EVEN = 4  # … and where all contacts of a mode have the same weight
MOST_AUTOMATIC_MODES = 64  # that an automatic choice of the size tries
WORTHWHILE_FALL = 0.03  # relative: by how much another mode must lower the held-out error
WORTHWHILE_OVER = 3  # modes over which that fall is judged
FOLDS = 5  # of so many snapshots, one is held out


@dataclass(frozen=True, eq=False, repr=False)
class ContactFit:
    """A contact basis and how good it is.

    `errors` (k,) are those of the snapshots, ‖S − ΨB‖/‖S‖, with 1 … k modes (a single number unless the
    method is "hals"). `held_out` are likewise those of snapshots that were left out, where the size was
    chosen by them, else empty. `snapshots` counts those that were used; `skipped` names those that were not.
    """

    robot: Robot
    basis: ContactBasis
    errors: np.ndarray
    held_out: np.ndarray
    snapshots: int
    skipped: tuple[str, ...] = ()

    def __repr__(self) -> str:
        left = f", {len(self.skipped)} skipped" if self.skipped else ""
        size = f"{len(self.basis)} modes of {len(self.basis.index)} contacts"
        return f"ContactFit({size}, error {100 * self.errors[-1]:.2g} % of {self.snapshots} snapshots{left})"


def with_contact_basis(robot: Robot, basis: ContactBasis | None) -> Robot:
    """The same robot with its contacts reduced to a basis, or, with None, one by one."""
    if basis is not None:
        basis.check(Detector(robot, **_options(robot)))
    around = replace(robot.surroundings, basis=basis)
    return Robot(robot.bodies, robot.rows, gravity=robot.gravity, name=robot.name, surroundings=around)


def contact_basis(
    robot: Robot,
    snapshots: Snapshots,
    size: int | None = None,
    *,
    method: str = "hals",
    seed: int = 0,
    fade: float | None = None,
    borrowed: float = 1.0,
    even: bool = False,
    rings: int | None = None,
) -> ContactFit:
    """The basis of `size` modes that explains the contact forces of the snapshots best, and its robot.

    `size` = None chooses it: modes are added while each lowers the error of held-out snapshots by 3 %.

    `method` is "hals" (nested, its error falls with every mode), "als" (the paper's, from a random start by
    `seed`), "patches" (whole patches of contacts, merged by how steadily they share their force, with even
    weights, see `pliant.reduction.patches`), or "points" (modes of one contact each: the `size` that pushed
    most, None for as many as leave out 1 % of the forces, and their neighbours). Points need no fade: their
    rows are exact.

    `fade` [m] is explained in `pliant.contact.modes`; the default is 0.7 alarm distances over the number of
    modes, at most 0.1. fade=inf is the paper's rule: rows Ψᵀδ over contacts that are near, with the weights
    of the factorisation; every contact stays in all its modes, none is added, and there is no offset.
    `borrowed` is the weight of contacts that never pushed, as a share of their neighbours'. With `even`, all
    contacts of a mode have the same weight, and its offset comes from measured gaps, see `_evened`. `rings`
    of neighbours around contacts that pushed are covered too: 4 where weights are even, else 2, none with
    fade=inf. Snapshots that are not finite are left out and named.
    """
    if method not in METHODS:
        raise InputError("method", expected=f"one of {METHODS}", got=repr(method))
    if method == "patches" and fade == np.inf:
        raise InputError("fade", expected="a finite one: patches have no weights of their own", got=fade)
    if not isinstance(snapshots, Snapshots):
        raise InputError("snapshots", expected="Snapshots", got=type(snapshots).__name__)
    snapshots.fingerprint.check(robot, "snapshots")
    used = snapshots.finite()
    detector = Detector(robot, **_options(robot))
    require_one_cloud(detector)
    S, index = _pushing(used, detector)
    held_out = np.zeros(0)
    if size is None and method == "points":
        size = _enough_points(S)
    if size is None:
        size, held_out = _chosen_size(S)
    size, even = _checked_size(size, S, method), even or method == "patches"
    linear = method == "points" or fade == np.inf
    rings, share = _rings(rings, even, fade), positive("borrowed", borrowed)
    if method == "points":
        some, errors = _points(S, size)
        _, S, index, beside = widened(detector, np.ones((len(some), 1)), S[some], index[some], share, rings)
        Psi, fade = np.eye(len(index)), np.inf
    elif linear:
        Psi, errors = _factorised(S, size, method, seed)
        beside = csr_array((len(index), len(index)))
    elif method == "patches":
        _, S, index, beside = widened(detector, np.ones((len(S), 1)), S, index, share, rings)
        Psi = patches.grouped(S, beside, size)
        errors = np.array([factorisation.error(Psi * np.linalg.norm(S, axis=1)[:, None], S)])
    else:
        Psi, errors = _factorised(S, size, method, seed)
        Psi, S, index, beside = widened(detector, Psi, S, index, share, rings)
    gaps, pairs = measured(detector, used, index)
    Psi = factorisation.normalised(_evened(Psi, S, share) if even else Psi)
    width = detector.alarm * min(WIDEST_FADE, FADE_TIMES_MODES / Psi.shape[1]) if fade is None else fade
    basis = ContactBasis(
        index,
        Psi,
        *near(detector, pairs, index, beside, rings),
        np.zeros(Psi.shape[1]) if linear else _offset(Psi, S, gaps, width, even),
        width,
        detector.opponents,
        detector.cloud.size,
        digest(detector),
    )
    return ContactFit(with_contact_basis(robot, basis), basis, errors, held_out, len(used), used.skipped)


def _options(robot: Robot) -> dict:
    s = robot.surroundings
    touching = "samples", "self_contact", "between_bodies", "against_obstacles"
    names = *touching, "alarm", "margin", "friction"
    return {name: getattr(s, name) for name in names} | {"obstacles": s.obstacles, "areas": False}


def _pushing(used: Snapshots, detector: Detector) -> tuple[np.ndarray, np.ndarray]:
    """Forces S (n, s) of contacts that ever push, in snapshots where any does, and their indices (n,)."""
    if not len(used):
        raise InputError("snapshots", expected="at least one that is finite", got="none")
    if used.contact.shape[1] != detector.size:
        expected = f"forces of {detector.size} contacts"
        hint = "The basis of a robot is made from its own snapshots."
        raise InputError("snapshots", expected=expected, got=used.contact.shape[1], hint=hint)
    if (used.contact < 0).any():
        raise InputError("snapshots", expected="contact forces that push", got="negative ones")
    if not used.contact.any():
        hint = "Drive it further, until something touches."
        raise InputError("snapshots", expected="some contact forces", got="zeros only", hint=hint)
    index = np.flatnonzero(used.contact.any(axis=0))
    S = used.contact[used.contact.any(axis=1)][:, index]
    return np.ascontiguousarray(S.T), index


def _rings(rings: int | None, even: bool, fade: float | None) -> int:
    if rings is not None:
        return int(not_negative("rings", rings))
    return 0 if fade == np.inf else COVERED_RINGS_EVEN if even else COVERED_RINGS


def _checked_size(size: object, S: np.ndarray, method: str) -> int:
    points = method == "points"
    most = len(S) if points else int(np.linalg.matrix_rank(S))
    whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
    if not whole or not 1 <= int(size) <= most:  # type: ignore[call-overload]
        hint = "More snapshots, farther apart, have more of them."
        what = "the contacts that push" if points else "the rank of the snapshots"
        expected = f"a whole number of modes from 1 to {most}, {what}"
        raise InputError("size", expected=expected, got=repr(size), hint=hint)
    return int(size)  # type: ignore[call-overload]


def _factorised(S: np.ndarray, size: int, method: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Ψ (n, k) [N], the forces of modes on contacts over all snapshots, and the errors with 1 … k modes."""
    if method == "als":
        sizes: Sequence[np.ndarray] = [factorisation.als(S, size, seed=seed)]
    else:
        sizes = list(factorisation.nested(S, size))
    Psi, errors = sizes[-1], np.array([factorisation.error(Psi, S) for Psi in sizes])
    return Psi * np.linalg.norm(factorisation.projected(Psi, S), axis=1), errors


def _points(S: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Places (k,) of the k contacts that pushed most; the share of S (n, s) that 1 … k of them leave out."""
    power = np.einsum("is,is->i", S, S)
    most = np.argsort(-power, kind="stable")
    left = np.sqrt(np.maximum(1.0 - np.cumsum(power[most]) / power.sum(), 0.0))
    return np.sort(most[:size]), left[:size]


def _enough_points(S: np.ndarray) -> int:
    """How many points leave out no more than `LEFT_OUT` of the forces S (n, s)."""
    return int(np.argmax(_points(S, len(S))[1] <= LEFT_OUT)) + 1


def _chosen_size(S: np.ndarray) -> tuple[int, np.ndarray]:
    """(size, held-out errors by size): the size after which more modes hardly lower that error."""
    test = np.arange(S.shape[1]) % FOLDS == FOLDS - 1
    if not test.any():
        return 1, np.zeros(0)
    errors: list[float] = []
    most, n = min(MOST_AUTOMATIC_MODES, int(np.linalg.matrix_rank(S[:, ~test]))), WORTHWHILE_OVER
    for Psi in factorisation.nested(S[:, ~test], most):
        errors.append(factorisation.error(Psi, S[:, test]))
        if len(errors) > n and errors[-1] > (1.0 - WORTHWHILE_FALL) ** n * errors[-1 - n]:
            return len(errors) - n, np.array(errors)
    return len(errors), np.array(errors)


def _offset(Psi: np.ndarray, S: np.ndarray, gaps: np.ndarray, fade: float, even: bool) -> np.ndarray:
    """o (k,) [m] of the modes Ψ (n, k)."""
    return _measured_offsets(Psi, S, gaps, fade) if even else _offsets(Psi, S, fade)


def _offsets(Psi: np.ndarray, S: np.ndarray, fade: float) -> np.ndarray:
    """Offsets o (k,) [m] that close the modes where their contacts push in the snapshots S (n, s).

    A mode with o = 0 is closed when contacts that push in shares s are at gaps ℓ log(ψ/s), so that o = −ℓ Σ s
    log(s/ψ), in the mean over snapshots by their forces.
    """
    offset = np.zeros(Psi.shape[1])
    for j in range(len(offset)):
        in_mode = Psi[:, j] > 0.0
        force, psi = S[in_mode], Psi[in_mode, j]
        total = force.sum(axis=0)
        share = force[:, total > 0.0] / total[total > 0.0]
        apart = np.sum(share * np.log(np.where(share > 0.0, share, 1.0) / psi[:, None]), axis=0)
        if len(apart):
            offset[j] = -fade * min(np.average(apart, weights=total[total > 0.0]), EARLIEST_CLOSING)
    return offset


def _evened(Psi: np.ndarray, S: np.ndarray, borrowed: float) -> np.ndarray:
    """Weights (n, k): 1 for all contacts of a mode that ever push in S (n, s), `borrowed` for its others.

    A weight is an offset of its contact, which must be ℓ log 1/ψ deeper than others to push as hard. Weights
    made of mean forces let contacts sink in that pushed rarely.
    """
    return np.where(Psi > 0.0, np.where(S.any(axis=1), 1.0, borrowed)[:, None], 0.0)


def _measured_offsets(Psi: np.ndarray, S: np.ndarray, gaps: np.ndarray, fade: float) -> np.ndarray:
    """Offsets o (k,) [m] that close the modes Ψ (n, k) where they push in the snapshots.

    o = ⟨ℓ log Σ ψ e^(−δ/ℓ)⟩ with forces S and gaps (n, s) of the contacts, in the mean over snapshots by
    their forces. Gaps below zero are those of snapshots that are not quite at rest, and count as closed.
    """
    offset = np.zeros(Psi.shape[1])
    for j in range(len(offset)):
        in_mode = Psi[:, j] > 0.0
        total, gap = S[in_mode].sum(axis=0), np.maximum(gaps[in_mode], 0.0)
        pushing = (total > 0.0) & np.isfinite(gap).any(axis=0)
        if pushing.any():
            exponent = np.log(Psi[in_mode, j])[:, None] - gap[:, pushing] / fade
            offset[j] = fade * np.average(logsumexp(exponent, axis=0), weights=total[pushing])
    return offset
