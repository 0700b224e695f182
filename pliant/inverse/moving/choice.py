"""The choice of efforts for a robot in motion: the inverse problem on what its rows foresee.

Efforts are chosen for a horizon; a drive with stops then applies them for one time step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.conditions import Conditions
from pliant.dynamics.foresight import Foresight
from pliant.inverse.program import Wish, program
from pliant.inverse.roles import Roles
from pliant.inverse.settings import Settings
from pliant.timing import Stopwatch

NO_EFFECT = 1e-10  # of the largest effect that an effort could have on an effector: smaller ones are rounding
AT_LIMIT = 1e-6  # of a bound: an effort or a displacement so near is at it

Bounds = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Plan:
    """What efforts are chosen for."""

    goal: np.ndarray  # δ of the effectors (ne,) at the end of the horizon
    time: float  # [s] to the end of the horizon
    inertia: float  # ρ
    last: np.ndarray  # λ of all rows (m,) now
    here: np.ndarray  # δ of all rows (m,) now


@dataclass(frozen=True)
class Choice:
    """The efforts chosen, and what they are predicted to lead to at the end of the horizon."""

    effort: np.ndarray  # λ of the actuators (na,)
    missed: np.ndarray  # δ of the effectors (ne,) there, less the goal
    ends: np.ndarray  # δ of the actuators (na,) there
    limits: tuple[str, ...]  # which actuator stands at which limit, in words
    shift: float  # by how much the tangent was raised
    treatment: str  # of the tangent, see `pliant.core.tangent`
    solution: Any  # of the program


def choose(seen: Foresight, roles: Roles, plan: Plan, settings: Settings, work: Stopwatch) -> Choice | None:
    """The efforts with which effectors are nearest to the plan's goal at its end; None if there are none.

    `seen` is what the rows `roles.condensed` foresee.
    """
    ne, na, c = len(roles.effectors), len(roles.actuators), roles.conditions
    equal = ne + na + np.arange(len(roles.equal))
    try:
        seen = seen.imposing(equal, c.imposed[roles.equal], c.compliance[roles.equal])
    except np.linalg.LinAlgError:  # rows that impose the same twice
        return None
    pushing = ne + na + np.arange(len(roles.pushing))
    W, delta = _clean(seen.W, ne), seen.delta.copy()
    W[pushing, pushing] += c.compliance[roles.pushing]
    delta[pushing] -= c.imposed[roles.pushing]
    delta[:ne] -= plan.goal
    last, own = np.clip(plan.last[roles.actuators], *roles.effort), plan.here[roles.actuators]
    bounds = _bounds(roles, own, last, plan.time)
    friction = (
        seen.contacts.friction if seen.contacts is not None and seen.contacts.frictional else np.zeros(0)
    )
    kept = plan.inertia, settings.energy
    wish = Wish(roles.effort, bounds, *kept, last, last, settings.starts, settings.frictional_starts)
    solution = work.timed("solve", program, W, delta, friction, roles, wish)
    if not (np.isfinite(solution.effort).all() and np.isfinite(solution.contact).all()):
        return None
    effort = np.clip(solution.effort, *roles.effort)
    predicted = delta + W @ np.concatenate([np.zeros(ne), effort, solution.contact])
    missed, ends = predicted[:ne], predicted[ne : ne + na]
    limits = _limits(roles, effort, ends, own, bounds)
    return Choice(effort, missed, ends, limits, seen.shift, seen.treatment, solution)


def driven(roles: Roles, chosen: np.ndarray, ends: np.ndarray, here: np.ndarray, time: float) -> Conditions:
    """The conditions of a step of `time` [s] with efforts (na,) chosen for the actuators.

    Drives have stops: one at the end of its stroke, or as fast as it can be, keeps δ there with whatever less
    effort it takes; efforts stay in their bounds all the same. `ends` (na,) is where the actuators were
    predicted, which tells the stop that they come to.
    """
    a, own, c = roles.actuators, here[roles.actuators], roles.conditions
    given, effort, imposed, least, most = (x.copy() for x in (c.given, c.effort, c.imposed, c.low, c.high))
    effort[a] = chosen
    down, up = _stops(roles, own, time)
    rises = np.isfinite(up) & (~np.isfinite(down) | (ends >= own))
    stop = np.where(rises, up, down)
    least[a] = np.where(rises, roles.effort[0], chosen)
    most[a] = np.where(rises, chosen, roles.effort[1])
    imposed[a] = np.where(np.isfinite(stop), stop, 0.0)
    given[a] = ~np.isfinite(stop) | (least[a] == most[a])
    return Conditions(given, effort, imposed, c.compliance, least, most, valve=c.valve)


def _stops(roles: Roles, here: np.ndarray, time: float) -> Bounds:
    """Between which values δ_a stays for some time [s]; where it is outside the law's, it goes no further."""
    reach = roles.speed * time
    low, high = roles.displacement
    low = np.where(roles.one_sided, low, np.maximum(low, here - reach))  # a cable that is let out goes slack
    return np.minimum(low, here), np.maximum(np.minimum(high, here + reach), here)


def _bounds(roles: Roles, here: np.ndarray, effort: np.ndarray, time: float) -> Bounds:
    """Limits of δ_a at the horizon: the law's, and how far a taut actuator may move until then."""
    low, high = roles.displacement
    down, up = _stops(roles, here, time)
    taut = ~roles.one_sided | (effort > 0.0)
    low, high = np.where(taut, np.maximum(low, down), low), np.where(taut, np.minimum(high, up), high)
    return np.minimum(low, high), high


def _clean(W: np.ndarray, effectors: int) -> np.ndarray:
    """W without what rounding leaves where rows have no effect on the effectors.

    Such an effector is a centre of mass that floats.
    """
    size = np.sqrt(np.maximum(np.diagonal(W), 0.0))
    none = np.abs(W) < NO_EFFECT * np.outer(size, size)
    none[effectors:, effectors:] = False
    return np.where(none, 0.0, W)


def _limits(
    roles: Roles, lam: np.ndarray, ends: np.ndarray, here: np.ndarray, bounds: Bounds
) -> tuple[str, ...]:
    """Which actuator is kept back by what: effort, displacement or speed."""
    limits = []
    for k, name in enumerate(roles.names):
        for word, bound in zip(("smallest", "largest"), roles.effort, strict=True):
            slack = word == "smallest" and roles.one_sided[k]  # a slack cable is at no limit
            near = AT_LIMIT * max(1.0, abs(bound[k]))
            if not slack and np.isfinite(bound[k]) and abs(lam[k] - bound[k]) <= near:
                limits.append(f"{name}: {word} effort")
        for word, bound, law in zip(("smallest", "largest"), bounds, roles.displacement, strict=True):
            beyond = (ends[k] - bound[k]) * (1.0 if word == "largest" else -1.0)
            if np.isfinite(bound[k]) and beyond >= -AT_LIMIT * max(abs(bound[k] - here[k]), abs(bound[k])):
                what = f"{word} displacement" if bound[k] == law[k] else "largest speed"
                limits.append(f"{name}: {what}")
    return tuple(limits)
