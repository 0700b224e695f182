"""The log of an inverse model at work: what it was asked, what it did, and how good every step was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pliant.contact import Obstacle
from pliant.inverse import Inverse, Outcome

Targets = Mapping[str, Any]


class Kept(NamedTuple):
    """An outcome, and the obstacles that were there."""

    out: Outcome
    obstacles: tuple[Obstacle, ...]


@dataclass(frozen=True, eq=False)
class Log:
    """n steps. Lengths in metres, times in seconds, efforts in the actuators' own units.

    target, place (n, e): of all effector rows; error (n,): distance between them. effort, command (n, a) of
    the actuators `names`, the command NaN where there is none any more. contacts, pushing, force (n,):
    potential contacts, those with a force, and the sum of forces [N]. complementarity (n,): of the solver,
    relative; decrement, penetration (n,) as certified; depth (n,): of the deepest point of the skin on dense
    samples, NaN where it was not measured. timings: (n,) per stage. kept: some outcomes, by step.
    """

    names: tuple[str, ...]
    length: float
    target: np.ndarray
    place: np.ndarray
    effort: np.ndarray
    command: np.ndarray
    contacts: np.ndarray
    pushing: np.ndarray
    force: np.ndarray
    complementarity: np.ndarray
    decrement: np.ndarray
    penetration: np.ndarray
    depth: np.ndarray
    linearisations: np.ndarray
    statuses: tuple[str, ...]
    timings: Mapping[str, np.ndarray]
    kept: Mapping[int, Kept] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.target)

    @property
    def error(self) -> np.ndarray:
        """(n,) distance to the target [m]."""
        return np.linalg.norm(self.target - self.place, axis=1)

    @property
    def counts(self) -> dict[str, int]:
        """How often each status came."""
        return dict(Counter(self.statuses).most_common())

    @property
    def finite(self) -> bool:
        """Whether every place and effort is a number."""
        return all(bool(np.isfinite(x).all()) for x in (self.place, self.effort))

    def changes(self) -> np.ndarray:
        """(n − 1, a) change of every effort from step to step."""
        return np.diff(self.effort, axis=0)


def follow(
    controller: Inverse,
    targets: Iterable[Targets],
    *,
    keep: int = 0,
    measure: int = 0,
    before: Callable[[int], None] | None = None,
) -> Log:
    """Step along targets.

    Every `keep`-th outcome is kept, the depth of every `measure`-th state measured (0: none).

    `before(k)` is called before step k: to lose an actuator, or to move an obstacle.
    """
    steps: list[dict[str, Any]] = []
    kept: dict[int, Kept] = {}
    rows = controller.robot.by_role("actuator")
    for k, target in enumerate(targets):
        if before is not None:
            before(k)
        out = controller.step(targets=target)
        if keep and k % keep == 0:
            kept[k] = Kept(out, tuple(controller.detector.obstacles.values()))
        depth = controller.detector.penetration(out.q) if measure and k % measure == 0 else np.nan
        steps.append(_entry(out, rows, depth))
    return _stacked(controller, rows, steps, kept)


def _entry(out: Outcome, rows: Sequence[str], depth: float) -> dict[str, Any]:
    certificate = out.certificate
    place = np.concatenate([out.displacement[name] for name in out.error])
    return {
        "target": place + np.concatenate(list(out.error.values())),
        "place": place,
        "effort": np.concatenate([out.effort[name] for name in rows]),
        "command": np.concatenate([out.command.get(name, np.nan * out.effort[name]) for name in rows]),
        "contacts": 0 if out.contacts is None else len(out.contacts),
        "pushing": int(np.count_nonzero(out.contact_force)),
        "force": float(np.sum(out.contact_force)),
        "complementarity": 0.0 if certificate.solver is None else certificate.solver.complementarity,
        "decrement": certificate.decrement,
        "penetration": certificate.penetration,
        "depth": depth,
        "linearisations": certificate.linearisations,
        "statuses": certificate.status,
        "timings": dict(out.timings),
    }


def _stacked(
    controller: Inverse, rows: Sequence[str], steps: list[dict[str, Any]], kept: dict[int, Kept]
) -> Log:
    column = lambda name: np.array([s[name] for s in steps])
    arrays = {name: column(name) for name in steps[0] if name not in ("statuses", "timings")}
    stages = sorted({stage for s in steps for stage in s["timings"]})
    return Log(
        names=tuple(name for name in rows for _ in range(controller.robot.rows[name].interaction.size)),
        length=controller.robot.length,
        statuses=tuple(s["statuses"] for s in steps),
        timings={stage: np.array([s["timings"].get(stage, 0.0) for s in steps]) for stage in stages},
        kept=kept,
        **arrays,
    )
