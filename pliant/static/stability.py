"""Whether an equilibrium is stable, and the softest direction where it is not.

An equilibrium of conservative forces is stable if K is positive definite on the motions that rows with a
given displacement and contacts that push allow, ker H. With W = H K⁻¹ Hᵀ the number of directions in which it
is not is, by Haynsworth's formula, the difference of negative eigenvalues

    K on ker H   =   K   −   W.

The softest direction φ is that of the least φᵀKφ / φᵀDφ, D the diagonal that scales rotations like
translations. Its sign is a rule, so that runs repeat: the first coordinate that moves nearly as far as any is
positive.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.conditions import negative_eigenvalues
from pliant.core.scene import Scene
from pliant.core.tangent import (
    BARELY,
    EXACT,
    INDEFINITE,
    UNSTABLE,
    Condensed,
    condensed,
    diagonal_scale,
)
from pliant.newton import KEEP_PAIRS_AFTER, Iterate, Look, Problem, looked
from pliant.result import NOT_JUDGED, STABLE, UNSTABLE_STATE
from pliant.timing import Stopwatch

LANCZOS_STEPS = 60
EQUAL = 1e-6  # relative difference of stiffnesses that are the same
NEARLY = 0.99  # of the largest motion: the first coordinate that moves so far has the sign


def judged(problem: Problem, found: Iterate, work: Stopwatch) -> str:
    """The word for the stability of an equilibrium.

    Where the tangent of the last iteration was positive definite, on the motions that are left, that is the
    answer; else K is looked at once more.
    """
    if not conservative(problem, found):
        return NOT_JUDGED
    turning = problem.stiff and found.full < KEEP_PAIRS_AFTER  # else K has no contact stiffness
    if (turning or found.contacts is None) and found.treatment in (EXACT, INDEFINITE):
        return STABLE
    return seen(replace(problem, stiff=True), found, work)


def seen(problem: Problem, found: Iterate, work: Stopwatch) -> str:
    """The same for any state, wherever it came from: K is looked at there."""
    if not conservative(problem, found):
        return NOT_JUDGED
    look = looked(problem, anew(found), work)
    if look is None:
        return NOT_JUDGED
    count = negative(problem.scene, look)
    return NOT_JUDGED if count is None else UNSTABLE_STATE if count else STABLE


def anew(found: Iterate) -> Iterate:
    """The iterate with pairs of contacts detected anew: normals that are kept do not turn."""
    return replace(found, full=0)


def conservative(problem: Problem, found: Iterate) -> bool:
    """Whether a potential tells of the stability: no friction, viscosity, follower forces or loose things."""
    robot = problem.scene.robot
    if problem.scene.support.proximal is not None or problem.viscous is not None:
        return False
    lam = problem.conditions.spread(found.lam[problem.conditions.solved])
    if any(not row.interaction.integrable and lam[robot.spans[n]].any() for n, row in robot.rows.items()):
        return False
    contacts = found.contacts
    if contacts is None or not contacts.frictional:
        return True
    return not (np.asarray(contacts.friction)[found.force[: len(contacts)] > 0.0] > 0.0).any()


def negative(scene: Scene, look: Look) -> int | None:
    """In how many directions the constrained tangent is negative; None where it is singular."""
    at = condensed(scene, look.view, look.conditions, (EXACT, UNSTABLE), Stopwatch())
    if at is None:
        return None
    W = _constrained(at, look)[1]
    return at.negative - negative_eigenvalues(W)


def _constrained(at: Condensed, look: Look) -> tuple[np.ndarray, np.ndarray]:
    """The rows that act, among those condensed, and W + compliance of these.

    A row acts if its effort is strictly inside its range: it keeps its δ, or is a spring.
    """
    c, lam = look.conditions, look.view.lam[look.conditions.solved]
    rows = np.flatnonzero((lam > c.low[c.solved]) & (lam < c.high[c.solved]))
    return rows, at.W[np.ix_(rows, rows)] + np.diag(c.compliance[c.solved][rows])


def softest(scene: Scene, look: Look) -> tuple[float, np.ndarray] | None:
    """φᵀKφ / φᵀDφ and φ (ndof,) of the softest direction that the rows allow; None without a tangent.

    D is the mean diagonal of K. Lanczos' method on the inverse of the shifted tangent, from a fixed start;
    what a proximal term adds to K does not count. φ moves the robot by 1 m at most, about.
    """
    at = condensed(scene, look.view, look.conditions, (EXACT, BARELY), Stopwatch())
    if at is None:
        return None
    D = diagonal_scale(scene, look.view).ravel()
    free = np.concatenate([b.free for b in scene.robot.bodies])
    rows, W = _constrained(at, look)
    H = at.H.take(rows)

    def inverse(x: np.ndarray) -> np.ndarray:
        y = at.factor.solve(D * x)
        if len(rows):
            y -= at.factor.solve(H.transpose_dot(np.linalg.solve(W, H.dot(y))))
        return np.where(free, y, 0.0)

    theta, phi = _lanczos(inverse, np.where(free, _start(scene), 0.0), D)
    phi *= _sign(scene.robot.reach * phi) / scene.robot.farthest(phi)
    lent = np.zeros(len(phi)) if scene.support.proximal is None else scene.support.proximal
    return 1.0 / theta - at.shift - float(phi @ (lent * phi) / (phi @ (D * phi))), phi


def _lanczos(inverse, start: np.ndarray, D: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest eigenvalue of an operator that is symmetric in the product xᵀDy, and a vector of it."""
    x = inverse(start)
    basis = [x / np.sqrt(x @ (D * x))]
    T = np.zeros((LANCZOS_STEPS, LANCZOS_STEPS))
    n = 0
    for n in range(LANCZOS_STEPS):
        y = inverse(basis[n])
        B = np.array(basis)
        T[: n + 1, n] = T[n, : n + 1] = B @ (D * y)
        for _ in range(2):  # once more against rounding
            y = y - B.T @ (B @ (D * y))
        size = float(np.sqrt(y @ (D * y)))
        if size < 1e-10 * np.abs(T[: n + 1, n]).max() or n + 1 == LANCZOS_STEPS:
            break
        basis.append(y / size)
    value, vector = np.linalg.eigh(T[: n + 1, : n + 1])
    same = value > (1.0 - EQUAL) * value[-1]  # of equal modes, the one nearest to the start
    B = np.array(basis)
    return float(value[-1]), B.T @ (vector[:, same] @ (vector[:, same].T @ (B @ (D * start))))


def _start(scene: Scene) -> np.ndarray:
    """A vector (ndof,) that is at right angles to no mode; of equal modes it prefers x to y to z in space."""
    parts = []
    for body in scene.robot.bodies:
        place = np.asarray(body.block_position)
        place = (place - place.min(axis=0)) / max(float(np.ptp(place, axis=0).max()), 1e-300)
        motion = (1.0 + place @ np.array([0.31, 0.17, 0.23]))[:, None] * np.array([1.0, 1e-3, 1e-6])
        turns = np.asarray(body.region_block, int)
        frame = np.asarray(body.region_frame).reshape(-1, 3, 3)
        motion[turns] = np.einsum("nji,nj->ni", frame, motion[turns])
        motion[turns + 1] = 0.0
        parts.append(motion.ravel())
    return np.concatenate(parts)


def _sign(motion: np.ndarray) -> float:
    first = int(np.argmax(np.abs(motion) >= NEARLY * np.abs(motion).max()))
    return 1.0 if motion[first] > 0 else -1.0


def buckles(problem: Problem, found: Iterate, work: Stopwatch) -> bool:
    """Whether a state is unstable, even as if all that it touches were flat.

    A robot that would only slip off something round can be kept on it by small motions of its drives.
    """
    seen_as = lambda stiff: seen(replace(problem, stiff=stiff), found, work)
    return all(seen_as(stiff) == UNSTABLE_STATE for stiff in (True, False))
