"""The choice of efforts for a robot in motion: the inverse problem on what its rows foresee."""

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

NO_EFFECT = 1e-10  # of an effort on an effector, relative to the largest there could be
AT = 1e-6  # relative distance from a limit that is none


@dataclass(frozen=True)
class Plan:
    """What efforts are chosen for: δ of the effectors (ne,) at the end of the horizon, which is `time` [s] away.

    `last` and `here` (m,) are λ and δ of all rows now.
    """

    goal: np.ndarray
    time: float
    inertia: float  # ρ
    last: np.ndarray
    here: np.ndarray


@dataclass(frozen=True)
class Choice:
    """λ of the actuators (na,); how far the effectors (ne,) are expected from the goal, and where the actuators (na,) are; which of
    these stands at which limit, in words; `shift` and `treatment`: what was done to the tangent."""

    effort: np.ndarray
    missed: np.ndarray
    ends: np.ndarray
    limits: tuple[str, ...]
    shift: float
    treatment: str
    solution: Any


def choose(seen: Foresight, roles: Roles, plan: Plan, settings: Settings, work: Stopwatch) -> Choice | None:
    """The efforts with which effectors are nearest to the plan's goal at its end; None where there is no answer.

    `seen` is what the rows `roles.condensed` foresee.
    """
    ne, na, c = len(roles.effectors), len(roles.actuators), roles.conditions
    held = ne + na + np.arange(len(roles.equal))
    try:
        seen = seen.imposing(held, c.imposed[roles.equal], c.compliance[roles.equal])
    except np.linalg.LinAlgError:  # rows that hold the same twice
        return None
    pushing = ne + na + np.arange(len(roles.pushing))
    W, delta = _clean(seen.W, ne), seen.delta.copy()
    W[pushing, pushing] += c.compliance[roles.pushing]
    delta[pushing] -= c.imposed[roles.pushing]
    delta[:ne] -= plan.goal
    last, own = np.clip(plan.last[roles.actuators], *roles.effort), plan.here[roles.actuators]
    bounds = _bounds(roles, own, last, plan.time)
    friction = seen.contacts.friction if seen.contacts is not None and seen.contacts.rough else np.zeros(0)
    wish = Wish(roles.effort, bounds, plan.inertia, last, last, settings.starts, settings.rough_starts)
    found = work.timed("solve", program, W, delta, friction, roles, wish, settings)
    if not (np.isfinite(found.effort).all() and np.isfinite(found.contact).all()):
        return None
    effort = np.clip(found.effort, *roles.effort)
    ends = delta + W @ np.concatenate([np.zeros(ne), effort, found.contact])
    acted = ends[ne : ne + na]
    limits = _limits(roles, effort, acted, own, bounds)
    return Choice(effort, ends[:ne], acted, limits, seen.shift, seen.treatment, found)


def driven(roles: Roles, chosen: np.ndarray, ends: np.ndarray, here: np.ndarray, time: float) -> Conditions:
    """The conditions of a step of `time` [s] with efforts (na,) chosen for the actuators, whose drives have stops.

    A drive at the end of its stroke, or as fast as it can be, holds δ there with whatever less effort it takes; efforts stay in their
    bounds all the same. `ends` (na,) is where the actuators were expected, which tells the stop that they come to.
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
    return Conditions(given, effort, imposed, c.compliance, least, most)


def _stops(roles: Roles, here: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
    """Between which values δ_a stays for some time [s]; not between the law's where it is outside, but it goes no further."""
    reach = roles.speed * time
    low, high = roles.displacement
    low = np.where(roles.one_sided, low, np.maximum(low, here - reach))  # a cable that is let out goes slack
    return np.minimum(low, here), np.maximum(np.minimum(high, here + reach), here)


def _bounds(roles: Roles, here: np.ndarray, effort: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray]:
    """Limits of δ_a at the horizon: the law's, and how far a taut actuator may move until then."""
    low, high = roles.displacement
    down, up = _stops(roles, here, time)
    taut = ~roles.one_sided | (effort > 0.0)
    low, high = np.where(taut, np.maximum(low, down), low), np.where(taut, np.minimum(high, up), high)
    return np.minimum(low, high), high


def _clean(W: np.ndarray, effectors: int) -> np.ndarray:
    """W without what round-off leaves where rows have no effect on the effectors, such as a centre of mass that floats."""
    size = np.sqrt(np.maximum(np.diagonal(W), 0.0))
    none = np.abs(W) < NO_EFFECT * np.outer(size, size)
    none[effectors:, effectors:] = False
    return np.where(none, 0.0, W)


def _limits(
    roles: Roles, lam: np.ndarray, ends: np.ndarray, here: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]
) -> tuple[str, ...]:
    """Which actuator is held back by what: effort, displacement or speed."""
    out = []
    for k, name in enumerate(roles.names):
        for word, bound in zip(("smallest", "largest"), roles.effort, strict=True):
            slack = word == "smallest" and roles.one_sided[k]  # a slack cable is at no limit
            if not slack and np.isfinite(bound[k]) and abs(lam[k] - bound[k]) <= AT * max(1.0, abs(bound[k])):
                out.append(f"{name}: {word} effort")
        for word, bound, law in zip(("smallest", "largest"), bounds, roles.displacement, strict=True):
            beyond = (ends[k] - bound[k]) * (1.0 if word == "largest" else -1.0)
            if np.isfinite(bound[k]) and beyond >= -AT * max(abs(bound[k] - here[k]), abs(bound[k])):
                out.append(f"{name}: {word} displacement" if bound[k] == law[k] else f"{name}: largest speed")
    return tuple(out)
