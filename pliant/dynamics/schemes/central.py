"""Central differences: explicit, with a lumped mass, stable only for small steps.

    q½ = qₙ ⊕ Δt/2 vₙ,      qₙ₊₁ = q½ ⊕ Δt/2 vₙ₊₁
    M (vₙ₊₁ − vₙ)/Δt + αM (vₙ + vₙ₊₁)/2 = r(q½) − βKvₙ + Hᵀλ

The positions q½ obey the central difference formula; one evaluation of forces per step. Rows and contacts
obey their laws at the end of the step: with u = Δt/2 vₙ₊₁ it is once more K̃ u = r̃ + Hᵀλ, K̃ = 2(1 + αΔt/2)
M/Δt². The largest stable step is

    Δt = (2/ω)(√(1 + ξ²) − ξ),      ω² the largest eigenvalue of M⁻¹K,  ξ = (β + rate) ω/2
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import pliant.sparse as sp
from pliant.algebra import Factor, Pattern
from pliant.algebra.factor import Symbolic
from pliant.conditions import Conditions
from pliant.core.step import balance, recover
from pliant.core.tangent import condense
from pliant.core.view import View, linearise
from pliant.dynamics.attempt import Arrival
from pliant.dynamics.certificate import StepCertificate
from pliant.dynamics.implicit import Handover, rayleigh_stiffness
from pliant.dynamics.inertia import Inertia
from pliant.dynamics.model import Model
from pliant.dynamics.motion import Motion, pushes
from pliant.dynamics.pressure import followed
from pliant.dynamics.schemes import euler
from pliant.dynamics.schemes.scheme import Scheme
from pliant.errors import InputError
from pliant.result import UNSOLVED
from pliant.robot import Robot
from pliant.state import State
from pliant.timing import Stopwatch

LANCZOS_STEPS = 300  # at most, for the largest eigenvalue
EIGENVALUE_CHANGE = 1e-7  # of the eigenvalue, from one Lanczos step to the next: it has converged


def advance(
    model: Model, now: Motion, conditions: Conditions, step: float, work: Stopwatch
) -> Arrival | None:
    """The state after one step [s]; None where an element turned inside out."""
    robot, viscosity, half = model.robot, model.viscosity, 0.5 * step
    q = robot.retract(now.q, half * now.v)
    stage = euler.stage(now, step)  # of what viscous materials remember
    at = work.timed(
        "linearise", linearise, robot, q, now.effort, now.internal, robot.gravity,
        tangent=False, viscous=viscosity.overstress(stage),
    )  # fmt: skip
    if at is None:
        return None
    M = model.inertia.mass(q)
    scaled = (1.0 / step + 0.5 * model.inertia.alpha) / half * M
    factor = work.timed("factorise", Lumped, robot.pattern, scaled)
    K = work.timed("linearise", rayleigh_stiffness, model, q, now.internal)
    view, rows = replace(at, r=_forces(model.inertia, M, K, at, now.v, step)), len(now.effort)
    contacts = model.contacts(q, now.v, step, now.touching, travel=model.fall(step))
    if contacts is not None:
        view = view.touching(contacts, now.carried(contacts, contacts.scalars), now.q)
        allowance = np.minimum(contacts.gap + model.recovery * half, 0.0)
        conditions = conditions.with_contacts(contacts.friction, allowance, contacts.scalars)
    condensed = work.timed("condense", condense, conditions, view, factor)
    solution = work.timed("solve", balance, condensed, conditions)
    u, lam = work.timed("recover", recover, model.scene, condensed, conditions, solution)
    touching, push = pushes(contacts, lam[rows:])
    end = robot.retract(q, u)
    motion = Motion(
        q=end,
        v=u / half,
        effort=lam[:rows],
        internal=robot.arrived(end, followed(model, q, now.internal, step), now.internal),
        gravity=robot.gravity,
        t=now.t + step,
        memory=viscosity.after(now.memory, stage, q, now.internal) if viscosity.present else now.memory,
        touching=touching,
        push=push,
    )
    status = UNSOLVED.get(solution.status, "explicit")
    certificate = StepCertificate(
        status, 0.0, 0.0, 0.0, 1, 1, solver=solution.status, scheme=model.scheme.name
    )
    delta = robot.bundle.delta(robot.bundle.positions(motion.q))
    return Arrival(motion, contacts, lam[rows:], certificate, Handover(delta, None, None, 0.0, -1))


def _forces(
    inertia: Inertia, M: np.ndarray, K: np.ndarray | None, at: View, v: np.ndarray, step: float
) -> np.ndarray:
    """r̃ (ndof,) [N]."""
    r = at.r + inertia.product((1.0 / step - 0.5 * inertia.alpha) * M, v)
    if K is not None:
        r -= inertia.product(inertia.beta * K, v)
    c = inertia.gyroscopic(at.q, v)
    return r if c is None else r - c


def stable_step(robot: Robot, inertia: Inertia, state: State, sudden: float, rate: float) -> float:
    """The largest stable step [s] of central differences at a state.

    `sudden` scales the stiffness as a material that relaxes does at first; `rate` [s] is its Kelvin–Voigt
    time.
    """
    linear = linearise(robot, state.q, state.effort, state.internal, robot.gravity)
    if linear is None or linear.K is None:
        raise InputError("state", expected="cells that are not inside out", got="inverted cells")
    omega = float(np.sqrt(max(sudden * _largest_eigenvalue(inertia, state.q, linear.K), 0.0)))
    if omega == 0.0:
        return np.inf
    xi = 0.5 * (float(inertia.beta.max(initial=0.0)) + rate) * omega
    return 2.0 / omega * float(np.sqrt(1.0 + xi * xi) - xi)


def _largest_eigenvalue(inertia: Inertia, q: np.ndarray, K: np.ndarray) -> float:
    """The largest eigenvalue of M⁻¹K [1/s²].

    By Lanczos' method in the product x·My, in which M⁻¹K is symmetric.
    """
    robot, M = inertia.robot, inertia.mass(q)
    inverse, free = Lumped(robot.pattern, M), np.concatenate([body.free for body in robot.bodies])
    p, last = np.random.default_rng(0).normal(size=robot.ndof) * free, np.zeros(robot.ndof)
    alpha, beta, value = [], [], 0.0
    for _ in range(min(LANCZOS_STEPS, int(free.sum()))):
        size = float(np.sqrt(p @ inertia.product(M, p)))
        if size == 0.0:
            break
        beta.append(size)
        now = p / size
        force = inertia.product(K, now)
        alpha.append(float(now @ force))
        p = inverse.solve(force) - alpha[-1] * now - (size if len(alpha) > 1 else 0.0) * last
        last = now
        before, value = value, float(np.linalg.eigvalsh(_tridiagonal(alpha, beta[1:]))[-1])
        if abs(value - before) <= EIGENVALUE_CHANGE * abs(value):
            break
    return value


def _tridiagonal(alpha: list[float], beta: list[float]) -> np.ndarray:
    return np.diag(alpha) + np.diag(beta, 1) + np.diag(beta, -1)


# The lumped mass.


class _OnPattern(Symbolic):
    """All that a factor asks of an analysis."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern

    def factorise(self, data, *, indefinite):
        """Nothing to do."""
        return Lumped(self.pattern, data)


class Lumped(Factor):
    """A⁻¹ of a mass matrix that couples no two nodes, as a factor: nothing to factorise.

    Translation and rotation of a rigid region may be coupled.
    """

    def __init__(self, pattern: Pattern, A: np.ndarray) -> None:
        self.symbolic, self.negative, self.smallest_pivot_ratio = _OnPattern(pattern), 0, 1.0
        self._pair = np.flatnonzero((pattern.rows == pattern.cols + 1) & A.any(axis=(1, 2)))
        coupled = (pattern.rows != pattern.cols) & A.any(axis=(1, 2))
        coupled[self._pair] = False
        if coupled.any():
            hint = 'Make the body with Solid(…, mass="lumped").'
            raise InputError(
                "mass for central differences", expected="lumped at the nodes", got="consistent", hint=hint
            )
        blocks = A[pattern.diagonal]
        if not (np.linalg.eigvalsh(blocks) > 0.0).all():
            raise InputError(
                "mass for central differences",
                expected="more than zero at every node",
                got="nodes without mass",
            )
        self._inverse = np.linalg.inv(blocks)
        second = pattern.rows[self._pair]
        both = np.concatenate(
            [
                np.concatenate([blocks[second - 1], A[self._pair].transpose(0, 2, 1)], axis=2),
                np.concatenate([A[self._pair], blocks[second]], axis=2),
            ],
            axis=1,
        )
        self._second, self._both = second, np.linalg.inv(both) if len(second) else both

    @property
    def pivot_ratios(self) -> np.ndarray:
        """Not of interest here: ones."""
        return np.ones(3 * len(self._inverse))

    def solve(self, b) -> np.ndarray:
        """A⁻¹ b for b (ndof,) or (ndof, k)."""
        b = np.asarray(b, float)
        x = np.einsum("nij,nj...->ni...", self._inverse, b.reshape(-1, 3, *b.shape[1:]))
        if len(self._second):
            at = (3 * self._second[:, None] - 3 + np.arange(6)).ravel()
            pairs = np.einsum("nij,nj...->ni...", self._both, b[at].reshape(-1, 6, *b.shape[1:]))
            x = x.reshape(b.shape)
            x[at] = pairs.reshape(len(at), *b.shape[1:])
        return x.reshape(b.shape)

    def compliance(self, H) -> np.ndarray:
        """W = H A⁻¹ Hᵀ (m, m)."""
        dense = sp.csr_array((H.data, H.indices, H.indptr), shape=H.shape).toarray()
        W = dense @ self.solve(dense.T)
        return 0.5 * (W + W.T)


CENTRAL = Scheme("central", euler.stage, order=2, explicit=advance)
