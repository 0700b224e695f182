"""Whether an equilibrium is stable, the softest direction where it is not, and how to leave it.

An equilibrium of conservative forces is stable if K is positive definite on the motions that rows with a
given displacement and contacts that push allow, ker H. With W = H K⁻¹ Hᵀ the number of directions in which it
is not is, by Haynsworth's formula, the difference of negative eigenvalues

    K on ker H   =   K   −   W.

The softest direction φ is that of the least φᵀKφ / φᵀDφ, D the diagonal that scales rotations like
translations. Its sign is a rule, so that runs repeat: the first coordinate that moves nearly as far as any is
positive. From there the potential energy is followed downhill: Newton steps with a positive definite tangent,
none longer than a tenth of the robot, until the tangent is positive by itself.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from pliant.core.scene import Scene
from pliant.core.tangent import (
    EXACT,
    INDEFINITE,
    SHIFTED,
    UNSTABLE,
    Condensed,
    condensed,
    diagonal_scale,
)
from pliant.newton import Iterate, Look, Problem, looked, moved
from pliant.result import NOT_JUDGED, STABLE, UNSTABLE_STATE
from pliant.timing import Stopwatch

LANCZOS_STEPS = 60
NEARLY = 0.99  # of the largest motion: the first coordinate that moves so far has the sign
FIRST_PUSHES = (0.1, 0.05, 0.02, 0.01, 0.003, 0.001)  # of the length: how far to leave along the direction
LONGEST_STEP = 0.1  # of the length, downhill
MOST_DOWNHILL, MOST_SHORTER = 300, 8
NEAR_ENOUGH = 1e-3  # of the length: steps with a positive tangent that are shorter are Newton's to finish


def judged(problem: Problem, found: Iterate, work: Stopwatch) -> str:
    """The word for the stability of an equilibrium.

    Where the tangent of the last iteration was positive definite, on the motions that are left, that is the
    answer; else K is looked at once more.
    """
    if not _conservative(problem, found):
        return NOT_JUDGED
    if problem.stiff and found.treatment in (EXACT, INDEFINITE):
        return STABLE
    look = looked(replace(problem, stiff=True), found, work)
    if look is None:
        return NOT_JUDGED
    count = negative(problem.scene, look)
    return NOT_JUDGED if count is None else UNSTABLE_STATE if count else STABLE


def _conservative(problem: Problem, found: Iterate) -> bool:
    """Whether a potential tells of the stability: no friction, no follower forces, nothing that lies loose."""
    robot = problem.scene.robot
    if problem.scene.support.proximal is not None:
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
    return at.negative - (int((np.linalg.eigvalsh(W) < 0).sum()) if len(W) else 0)


def _constrained(at: Condensed, look: Look) -> tuple[np.ndarray, np.ndarray]:
    """The rows that act, among those condensed, and W + compliance of these.

    A row acts if its effort is strictly inside its range: it keeps its δ, or is a spring.
    """
    c, lam = look.conditions, look.view.lam[look.conditions.solved]
    rows = np.flatnonzero((lam > c.low[c.solved]) & (lam < c.high[c.solved]))
    return rows, at.W[np.ix_(rows, rows)] + np.diag(c.compliance[c.solved][rows])


def softest(scene: Scene, look: Look) -> tuple[float, np.ndarray] | None:
    """φᵀKφ / φᵀDφ and φ (ndof,) of the softest direction that the rows allow; None without a tangent.

    D is the mean diagonal of K. Lanczos' method on the inverse of the shifted tangent, from a fixed start; φ
    moves the robot by 1 m at most, about.
    """
    at = condensed(scene, look.view, look.conditions, (EXACT, SHIFTED), Stopwatch())
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
    return 1.0 / theta - at.shift, phi


def _lanczos(inverse, start: np.ndarray, D: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest eigenvalue of an operator that is symmetric in the product xᵀDy, and its vector."""
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
    return float(value[-1]), np.array(basis).T @ vector[:, -1]


def _start(scene: Scene) -> np.ndarray:
    """A vector (ndof,) that is at right angles to no mode; of equal modes it prefers x to y to z."""
    place = np.concatenate([b.block_position for b in scene.robot.bodies])
    place = (place - place.min(axis=0)) / max(float(np.ptp(place, axis=0).max()), 1e-300)
    grows = 1.0 + place @ np.array([0.31, 0.17, 0.23])
    return (grows[:, None] * np.array([1.0, 1e-3, 1e-6])).ravel() / scene.robot.reach


def _sign(motion: np.ndarray) -> float:
    first = int(np.argmax(np.abs(motion) >= NEARLY * np.abs(motion).max()))
    return 1.0 if motion[first] > 0 else -1.0


def departed(problem: Problem, found: Iterate, work: Stopwatch, deadline: float = np.inf) -> Iterate | None:
    """Near a state that is stable, downhill from an equilibrium that is not; None where none is found."""
    problem = replace(problem, stiff=True, unstable=False)
    look = looked(problem, found, work)
    way = None if look is None else softest(problem.scene, look)
    if look is None or way is None:
        return None
    now, look = _pushed(problem, found, look, way[1], work)
    for k in range(MOST_DOWNHILL):
        if look is None or perf_counter() > deadline:
            return None
        move = moved(problem, look, work)
        if move is None:
            return None
        now = replace(now, iterations=k + 1)
        far = problem.scene.robot.farthest(move.dq)
        if move.condensed.treatment != SHIFTED and far < NEAR_ENOUGH * problem.scene.robot.length:
            return now
        longest = min(LONGEST_STEP * problem.scene.robot.length, look.longest)
        now, look = _downhill(
            problem, now, look, move.dq, move.lam, min(1.0, longest / max(far, 1e-300)), work
        )
    return None


def _pushed(
    problem: Problem, found: Iterate, look: Look, phi: np.ndarray, work: Stopwatch
) -> tuple[Iterate, Look | None]:
    """The equilibrium left along φ: the farthest of a few pushes after which the energy is lower."""
    weight, before = _penalty(look, look.view.lam), potential(look, np.zeros(len(look.view.lam)))
    lowest: tuple[Iterate, Look | None] = found, None
    for share in FIRST_PUSHES:
        dq = share * problem.scene.robot.length * phi
        now = _stepped(problem, found, look, dq, look.view.lam)
        trial = looked(problem, now, work)
        if trial is not None:
            lowest = now, trial
            if potential(trial, _on(trial, weight)) < before:
                return now, trial
    return lowest


def _downhill(
    problem: Problem,
    now: Iterate,
    look: Look,
    dq: np.ndarray,
    lam: np.ndarray,
    length: float,
    work: Stopwatch,
) -> tuple[Iterate, Look | None]:
    """A step, shortened until the potential energy falls."""
    weight = _penalty(look, lam)
    before, trial, after = potential(look, weight), None, now
    for _ in range(MOST_SHORTER):
        after = _stepped(problem, now, look, length * dq, look.view.lam + length * (lam - look.view.lam))
        trial = looked(problem, after, work)
        if trial is not None and potential(trial, _on(trial, weight)) < before:
            break
        length *= 0.5
    return after, trial


def _stepped(problem: Problem, now: Iterate, look: Look, dq: np.ndarray, lam: np.ndarray) -> Iterate:
    robot, own = problem.scene.robot, len(now.lam)
    return replace(
        now,
        q=robot.retract(now.q, dq),
        predicted=robot.predict(now.q, dq),
        lam=lam[:own],
        contacts=look.view.contacts,
        force=lam[own:],
        seen=look.view.q,
        moved=robot.farthest(dq),
    )


def potential(look: Look, weight: np.ndarray) -> float:
    """The energy [J] less the work of given efforts, with springs, and a penalty on laws that are not kept."""
    c, view = look.conditions, look.view
    gap, lam = view.delta - c.imposed, view.lam
    energy = view.energy - float(c.effort[c.given] @ view.delta[c.given])
    spring = ~c.given & (c.compliance > 0.0)
    energy += float((gap[spring] ** 2 / (2.0 * c.compliance[spring])).sum())
    rigid = ~c.given & (c.compliance == 0.0)
    bad = np.where(
        lam <= c.low, np.maximum(-gap, 0.0), np.where(lam >= c.high, np.maximum(gap, 0.0), np.abs(gap))
    )
    one_sided = np.where(c.low == 0.0, np.maximum(-gap, 0.0), bad)
    return energy + float((weight * one_sided)[rigid].sum())


def _penalty(look: Look, lam: np.ndarray) -> np.ndarray:
    """Forces that outweigh what is gained by violating a law: twice the efforts."""
    return 2.0 * np.abs(lam)


def _on(look: Look, weight: np.ndarray) -> np.ndarray:
    """Penalties on the rows of another look: the robot's own keep theirs, contacts have the largest."""
    own, rows = look.view.own, len(look.view.lam)
    most = float(weight[own:].max(initial=0.0)) if len(weight) > own else 0.0
    return np.concatenate([weight[:own], np.full(rows - own, most)])
