"""One step of the model, top to bottom:  linearise → factorise → condense → solve → recover.

    r  = f_ext − f(q)                 K  = −∂(r + Hᵀλ)/∂q
    K dq = r + Hᵀλ                    δ⁺ = δ + H dq = δ_free + W λ,      W = H K⁻¹ Hᵀ

Rows whose effort is given (index g) load the free motion; the others (index s) are condensed into W and solved for.
Contacts are rows like any other, below the robot's own: gaps, then slips where there is friction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from pliant.algebra import Condensation, Factor, NotPositiveDefinite, SparseRows, Updated, soften
from pliant.algebra import factorise as factorise_matrix
from pliant.bodies.overstress import Overstress
from pliant.conditions import Conditions
from pliant.contact import Contacts, Softening
from pliant.hold import Hold
from pliant.robot import Robot
from pliant.solvers import mcp
from pliant.solvers.warm import confirmed

STAGES = ("linearise", "factorise", "condense", "solve", "recover")


@dataclass(frozen=True)
class Linear:
    """The robot linearised at q: r (ndof,), H, δ (m,), K on the robot's pattern, and the energy [J]."""

    q: np.ndarray
    energy: float
    r: np.ndarray
    H: SparseRows
    delta: np.ndarray
    K: np.ndarray | None
    flat: np.ndarray | None = (
        None  # K as if all that is touched were flat, where pushes turn with its normals
    )
    turning: tuple[SparseRows, np.ndarray] | None = None  # U and C⁻¹: K + UᵀCU where bodies push each other
    soft: tuple[np.ndarray, np.ndarray] | None = None  # rows h of H, and s: K + UᵀCU − Σ s hᵀh

    def with_contacts(
        self,
        contacts: Contacts,
        start: np.ndarray,
        H: SparseRows | None = None,
        softening: Softening | None = None,
    ) -> Linear:
        """With the rows of contacts below: gaps, and with friction the slips since the coordinates `start`; and with what their
        curvature does beyond the pattern of K. H: with the gaps' rows, if it is known already."""
        H = self.H.above(contacts.rows(self.q)) if H is None else H
        delta = [self.delta, contacts.gap]
        if contacts.rough:
            H = H.above(contacts.tangent_rows(self.q))
            delta.append(contacts.slip(self.q, start).ravel())
        turning, soft = self.turning, None
        if softening is not None:
            turning = softening.rest
            soft = (len(self.delta) + softening.own, softening.stiff) if len(softening.own) else None
        delta = np.concatenate(delta)
        return Linear(self.q, self.energy, self.r, H, delta, self.K, self.flat, turning, soft)

    def residual(self, lam: np.ndarray) -> np.ndarray:
        """r + Hᵀλ, (ndof,): zero in equilibrium."""
        return self.r + self.H.transpose_dot(lam)


@dataclass
class Workspace:
    """What is worth keeping between steps: the factor's buffers, and the time spent in each stage [s]."""

    factor: Factor | None = None
    timings: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))

    def timed(self, stage: str, action: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        start = perf_counter()
        try:
            return action(*args, **kwargs)
        finally:
            self.timings[stage] = self.timings.get(stage, 0.0) + perf_counter() - start


@dataclass(frozen=True)
class Step:
    """What one step found: dq (ndof,), λ (m,), and how the tangent was treated."""

    dq: np.ndarray
    lam: np.ndarray
    W: np.ndarray
    shift: (
        float  # what was added to K's diagonal to make it usable, relative to its mean; 0: the exact tangent
    )
    negative: int  # negative pivots of K: > 0 past a limit point


def linearise(
    robot: Robot,
    q: np.ndarray,
    lam: np.ndarray,
    z: np.ndarray,
    gravity: np.ndarray,
    *,
    tangent: bool = True,
    clamp: bool = False,
    predicted: np.ndarray | None = None,
    viscous: Sequence[Overstress | None] | None = None,
) -> Linear | None:
    """The robot at q, or None when q is inadmissible (an element turned inside out).

    clamp=True limits the terms of K that can make it indefinite. `predicted` is what `Robot.predict` said of the motion that led to
    q: the geometric stiffness of slender bodies is then that of the forces which the motion was meant to bring, the same in balance
    and far calmer on the way; without it, that of the forces at q. `viscous`: what materials add to their stress during a step in
    time, one for each body.
    """
    energy, r, K = 0.0, np.empty(robot.ndof), None
    blocks = np.zeros((len(robot.pattern.rows), 3, 3)) if tangent else None
    for n, body in enumerate(robot.bodies):
        e, r_body, K_body = body.linearise(
            q[robot.q_spans[n]],
            gravity,
            z[robot.z_spans[n]],
            tangent=tangent,
            clamp=clamp,
            predicted=None if predicted is None else predicted[robot.predicted_spans[n]],
            viscous=None if viscous is None else viscous[n],
        )
        if r_body is None:
            return None
        energy += e
        r[robot.dq_spans[n]] = r_body
        if blocks is not None:
            blocks[robot.body_placement[robot.block_spans[n]]] = K_body
            K = blocks
    bundle = robot.bundle
    p = bundle.positions(q)
    gradient = bundle.gradient(p)
    H = bundle.jacobian(q, gradient)
    load = bundle.loads(q, p, gravity)
    if load is not None:
        r += bundle.load_vector(q, load)
    if K is not None and (lam.any() or load is not None):
        bundle.add_curvature(
            K, robot.row_placement, robot.rotation_placement, q, p, lam, gravity, gradient, load
        )
    return Linear(q, energy, r, H, bundle.delta(p), K)


def factorise(
    robot: Robot,
    K: np.ndarray,
    work: Workspace,
    *,
    turning: tuple[SparseRows, np.ndarray] | None = None,
    indefinite: bool = False,
) -> Factor:
    """K = L S Lᵀ; raises NotPositiveDefinite unless `indefinite`. `turning`: U and C⁻¹ of K + UᵀCU."""
    work.factor = factorise_matrix(robot.symbolic, K, indefinite=indefinite, out=work.factor)
    return work.factor if turning is None else Updated(work.factor, *turning, indefinite=indefinite)


def factorise_shifted(robot: Robot, K: np.ndarray, work: Workspace) -> tuple[Factor, float]:
    """The factor of K plus the smallest tried multiple of its mean diagonal that makes it positive definite."""
    diagonal = K[robot.pattern.diagonal]
    units = robot.reach.reshape(-1, 3) ** 2  # rotations are shifted by what turns the body as far
    scale = units * float((np.abs(np.einsum("bii->bi", diagonal)) / units).mean())
    shift, shifted = 1e-6, K.copy()
    while True:
        shifted[robot.pattern.diagonal] = diagonal + shift * scale[:, :, None] * np.eye(3)
        try:
            return factorise(robot, shifted, work), shift
        except NotPositiveDefinite:
            shift *= 8.0
            if shift > 1e3:
                raise


def condense(factor: Factor, linear: Linear, conditions: Conditions) -> tuple[Condensation, np.ndarray]:
    """The solved rows condensed, with W and the motion under the given efforts, and δ_free of them."""
    rows = conditions.solved
    found = factor.condense(*linear.H.parted(rows, conditions.given, conditions.effort, linear.r))
    if linear.soft is not None:
        found = soften(found, rows.searchsorted(linear.soft[0]), linear.soft[1])
    return found, linear.delta[rows] + found.motion


def solve(W: np.ndarray, delta_free: np.ndarray, conditions: Conditions, start: np.ndarray) -> np.ndarray:
    """The efforts of the solved rows: lo ≤ λ ≤ hi complementary to δ_free + Wλ − imposed + compliance·λ; contacts with
    friction by Coulomb's law, from the efforts `start` of all rows."""
    rows = conditions.solved
    if not len(rows):
        return np.zeros(0)
    c = conditions
    if not c.rough:
        effort, settled = confirmed(W, delta_free, rows, c.imposed, c.compliance, c.low, c.high, start)
        if settled:
            return effort
    gap, low, high = delta_free - c.imposed[rows], c.low[rows], c.high[rows]
    compliance, begin = c.compliance[rows], start[rows]
    system = W + np.diag(compliance)
    if not c.rough:
        return mcp(system, gap, low, high, start=begin).effort
    from pliant.solvers import friction  # comes with many kernels

    others = len(rows) - 3 * len(c.friction)
    return friction(system, gap, c.friction, low[:others], high[:others], start=begin).effort


def recover(
    condensed: Condensation, lam_solved: np.ndarray, conditions: Conditions
) -> tuple[np.ndarray, np.ndarray]:
    """dq = K⁻¹(r + Hᵀλ), and λ of all rows."""
    lam = conditions.effort.copy()
    lam[conditions.solved] = lam_solved
    return condensed.answer(lam_solved), lam


def step(
    robot: Robot, linear: Linear, conditions: Conditions, work: Workspace, lam: np.ndarray, hold: Hold
) -> Step:
    """From a linearisation (its K stiffened by `hold`) to the motion and the efforts that it asks for.

    An indefinite K is right when the solved rows hold the soft directions (a balloon past its limit point, its volume
    imposed): the constrained tangent is positive definite exactly when K and W have equally many negative eigenvalues.
    Otherwise the diagonal is shifted, which the certificate says.
    """
    assert linear.K is not None
    shift = 0.0
    try:
        factor = work.timed("factorise", factorise, robot, linear.K, work, turning=linear.turning)
        condensed, delta_free = work.timed("condense", condense, factor, linear, conditions)
    except NotPositiveDefinite:
        factor, shift, (condensed, delta_free) = _past_limit_point(robot, linear, conditions, work, lam)
    lam_solved = work.timed("solve", solve, condensed.W, delta_free, conditions, lam)
    dq, lam = work.timed("recover", recover, condensed, lam_solved, conditions)
    return Step(dq, hold.efforts(lam, linear.H, dq), condensed.W, shift, factor.negative)


def _past_limit_point(robot: Robot, linear: Linear, conditions: Conditions, work: Workspace, lam: np.ndarray):
    """(factor, shift, condensation) where K is not positive definite: indefinite if the rows hold it, else shifted."""
    assert linear.K is not None
    try:
        factor = work.timed(
            "factorise", factorise, robot, linear.K, work, turning=linear.turning, indefinite=True
        )
        condensed = work.timed("condense", condense, factor, linear, conditions)
        if _held_by(condensed[0].W, conditions, lam, factor.negative):
            return factor, 0.0, condensed
    except NotPositiveDefinite:  # a pivot of exactly zero
        pass
    factor, shift = work.timed("factorise", factorise_shifted, robot, linear.K, work)
    return factor, shift, work.timed("condense", condense, factor, linear, conditions)


def _held_by(W: np.ndarray, conditions: Conditions, lam: np.ndarray, negative: int) -> bool:
    """Whether the rows that act as equalities (λ strictly inside its range) account for all negative pivots of K."""
    rows = conditions.solved
    equality = (lam[rows] > conditions.low[rows]) & (lam[rows] < conditions.high[rows])
    W = W[np.ix_(equality, equality)]
    return bool(len(W)) and int((np.linalg.eigvalsh(W) < 0).sum()) == negative
