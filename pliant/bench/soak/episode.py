"""One episode: a robot is troubled in random ways, and asked to come back to where statics says it can be.

    round    trouble    targets that are far or jump, obstacles that appear, jump, move and vanish, actuators
                        that are lost or changed
             return     a reachable target, until it is reached and no longer than RETURN steps
             hold       the last round: a target, reachable or far, that stays for long

Everything follows from the seed, the name of the case and the episode's number.
"""

from __future__ import annotations

import traceback
import zlib
from collections.abc import Mapping
from pathlib import Path
from time import process_time

import numpy as np

from pliant.bench.soak.case import Case
from pliant.bench.soak.judge import Judge, Place, distance
from pliant.bench.soak.record import FAR, REACHABLE, Hold, Moment, Record
from pliant.bench.soak.skin import Skins, bound
from pliant.bench.soak.trouble import Troubles
from pliant.inverse import Outcome

ROUNDS = 3
RETURN = 200  # steps in which a reachable target is to be reached
HOLD = {REACHABLE: 130, FAR: 200}  # steps that a target stays
STILL = 80  # steps after the effectors came to rest, from which on efforts are to be at rest
REACHED = 1e-3  # of the length
SETTLING = 10  # steps more in which it may be called so
AT_REST = 1e-4  # of the length: motion of the effectors in a step …
QUIET = 3  # … and in so many steps, when they have come to rest
MEASURED = 3  # every so many steps the depth is measured
WALKS = 3  # random commands from rest, among which the reachable targets are chosen
CANNOT = ("out of reach", "at its limits", "no way found from here")


class Episode:
    """Episode `number` of a case; `run` makes about so many steps and returns its record."""

    def __init__(self, case: Case, skins: Skins, seed: int, number: int) -> None:
        self.case, self.robot, self.skins = case, case.robot, skins
        self.rng = np.random.default_rng([seed, zlib.crc32(case.name.encode()), number])
        self.record = Record(case.name, number, number % 2 == 1, self.robot.length, bound(self.robot))
        self.strongest: dict[str, float] = {}  # effort of the run so far, by unit

    def run(self, most: int, *, guarded: bool = True) -> Record:
        """Until its rounds are over, or so many steps were made; guarded: an exception ends it."""
        self.most = most
        try:
            self._rounds()
        except Exception as error:  # a soak counts these
            if not guarded:
                raise
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            self.record.failure = f"{type(error).__name__}: {str(error)[:300]} ({place})"
        return self.record

    def _rounds(self) -> None:
        self.controller = self.case.controller(self.record.punctual)
        self.laws = dict(self.robot.chosen_laws({}))
        self.home = {n: np.array(v) for n, v in self._here().items()}
        self.positions = self.robot.positions(self.controller.state.q)
        self.troubles = Troubles(self)
        for number in range(ROUNDS):
            self.troubles.happen()
            if self._over:
                return
            places = self._reachable()
            if not places:
                continue
            self._hold(REACHABLE, places[-1].targets, RETURN, places, until_reached=True)
            if self._over:
                return
            if number == ROUNDS - 1:
                self._last_hold(places)

    def _last_hold(self, places: list[Place]) -> None:
        kind = REACHABLE if self.rng.random() < 0.4 else FAR
        target = places[-1].targets if kind == REACHABLE else self.troubles.far_target()
        self._hold(kind, target, HOLD[kind], places)

    # Steps

    @property
    def _over(self) -> bool:
        return len(self.record.moments) >= self.most

    def _here(self) -> dict[str, np.ndarray]:
        bundle, q = self.robot.bundle, self.controller.state.q
        values = self.robot.split(bundle.delta(bundle.positions(q)))
        return {name: values[name] for name in self.robot.by_role("effector")}

    def disturb(self, what: str) -> None:
        """Note in words that an obstacle or a law has changed."""
        self.record.disturbances.append((len(self.record.moments), what))

    def step(self, targets: Mapping[str, np.ndarray] | None, *, measure: bool = False) -> Outcome:
        """One step of the controller, written down."""
        begin = process_time()
        out = self.controller.step(targets=targets)
        seconds = process_time() - begin
        positions = self.robot.positions(out.q)
        motion = np.linalg.norm(positions - self.positions, axis=1).max() / self.robot.length
        depth, inside = np.nan, ""
        if measure or len(self.record.moments) % MEASURED == 0:
            depth, inside = self.skins.depth(out.q, self.controller.detector)
        values = [out.q, *out.effort.values(), *out.command.values()]
        self.record.moments.append(
            Moment(
                out.certificate.status,
                out.certificate.linearisations,
                getattr(out.certificate, "pivots", 0),
                seconds,
                out.certificate.penetration,
                depth,
                inside,
                out.contacts.standoff(out.contact_force),
                float(motion),
                all(bool(np.isfinite(v).all()) for v in values),
            )
        )
        self.positions = positions
        for name, effort in out.effort.items():
            unit = self.robot.rows[name].interaction.effort_unit
            self.strongest[unit] = max(self.strongest.get(unit, 0.0), float(np.abs(effort).max(initial=0.0)))
        return out

    # Targets that are kept

    def judge(self) -> Judge:
        """Statics under the present laws, among the present obstacles."""
        return Judge(self.robot, self.laws, self.controller.detector)

    def _reachable(self) -> list[Place]:
        """Equilibria that commands from rest bring about; the last one is to be reached.

        Where there are none, the obstacles that were put there vanish. None are left where actuators are lost
        without which the robot cannot keep to its bounds.
        """
        places = self.judge().places(self.rng, WALKS)
        if not places:
            self.troubles.clear()
            places = self.judge().places(self.rng, WALKS)
        if not places:
            return []
        chosen = int(self.rng.integers(len(places)))
        return [*places[:chosen], *places[chosen + 1 :], places[chosen]]

    def _hold(
        self,
        kind: str,
        targets: Mapping[str, np.ndarray],
        steps: int,
        places: list[Place],
        *,
        until_reached: bool = False,
    ) -> None:
        """Keep a target for so many steps, or until it is reached."""
        length, begin = self.robot.length, len(self.record.moments)
        after, said, efforts, tips, quiet = -1, set(), [], [], -1
        out = None
        for k in range(steps):
            out = self.step(targets if k == 0 else None)
            left = distance(targets, out.displacement) / length
            tips.append(np.concatenate([out.displacement[n] for n in targets]))
            efforts.append(self._scaled(out))
            if after < 0 and left < REACHED:
                after = k + 1
            if out.certificate.status in CANNOT and left >= REACHED:
                said.add(out.certificate.status)
            if quiet < 0 and len(tips) > QUIET:
                recent = np.diff(tips[-QUIET - 1 :], axis=0)
                quiet = k if np.linalg.norm(recent, axis=1).max() < AT_REST * length else -1
            settled = out.certificate.status == "reached" or k + 1 >= after + SETTLING
            if until_reached and after > 0 and settled:
                break
        assert out is not None
        still = quiet >= 0 and not until_reached
        moved = np.nan
        if out.certificate.status == "reached" or still:
            moved = self.judge().moved(out, self.controller.detector) / length
        denied = kind == FAR and out.certificate.status in CANNOT
        nearer = self.judge().nearest(targets, places) if denied else _nearest(targets, places)
        self.record.holds.append(
            Hold(
                kind,
                begin,
                after,
                tuple(sorted(said)),
                left,
                nearer / length,
                np.nan if until_reached else _restless(efforts, quiet),
                moved,
                out.certificate.status,
            )
        )

    def _scaled(self, out: Outcome) -> np.ndarray:
        """Efforts of the actuators (na,), of the largest effort of their unit in the run so far."""
        rows = [n for n, row in self.robot.rows.items() if row.law.role == "actuator"]
        unit = lambda n: self.robot.rows[n].interaction.effort_unit
        return np.concatenate([out.effort[n] / max(self.strongest[unit(n)], 1e-300) for n in rows])


def _nearest(targets: Mapping[str, np.ndarray], places: list[Place]) -> float:
    return min(distance(targets, place.targets) for place in places)


def _restless(efforts: list[np.ndarray], quiet: int) -> float:
    """Largest change of an effort in a step from STILL steps after rest on; infinite without rest."""
    if quiet < 0:
        return np.inf
    watched = np.array(efforts[quiet + STILL :])
    return float(np.abs(np.diff(watched, axis=0)).max()) if len(watched) > 1 else np.nan
