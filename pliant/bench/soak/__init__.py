"""Soak: every robot and scene is driven for long, troubled in random ways, and watched.

Targets that are reachable, far away or jump; obstacles that appear beside the robot or inside it, move and
vanish; actuators that are lost or changed. What the inverse model says is compared with what is measured: the
depth on the skin itself, targets that statics reaches by commands, states that statics solves again.

Each episode follows from the seed, the robot's name and its number alone, so that what was found can be
repeated; odd episodes have the smaller budget of a session.

    pliant bench soak --steps 100000 --seed 1
    pliant bench soak --seed 1 --only trunk --repeat 3
"""

from __future__ import annotations

from pliant.bench.soak.case import Case, cases
from pliant.bench.soak.episode import Episode
from pliant.bench.soak.findings import found_in
from pliant.bench.soak.record import Record
from pliant.bench.soak.skin import Skins
from pliant.bench.soak.tables import episode_tables, tables
from pliant.io.table import Table
from pliant.io.terminal import console

LONGEST = 1000  # steps of an episode, at most


def soak(steps: int = 10_000, seed: int = 0, only: str = "", repeat: int | None = None) -> list[Table]:
    """How the robots fare in so many steps, shared among all of them or those whose name contains `only`.

    `repeat` runs the one episode of this number again, and tells what happened in it; an exception is raised
    where it happens.
    """
    chosen = cases(only)
    if repeat is not None:
        found = [episode(make(), seed, repeat, guarded=False) for make in chosen.values()]
        return [table for record in found for table in episode_tables(record, seed)]
    each, records = -(-steps // len(chosen)), []
    for name, make in chosen.items():
        case = make()
        if not case.driven:
            continue
        records += soaked(case, each, seed)
        wrong = len(found_in([record for record in records if record.case == name]))
        console().print(f"{name}: {wrong} findings", style="dim", highlight=False)
    return tables(records, seed)


def soaked(case: Case, steps: int, seed: int) -> list[Record]:
    """Episodes of a case, one after the other, until so many steps were made."""
    skins, records, left, number = Skins(case.robot), [], steps, 0
    while left > 0:
        records.append(Episode(case, skins, seed, number).run(min(left, LONGEST)))
        left -= max(1, len(records[-1].moments))
        number += 1
    return records


def episode(case: Case, seed: int, number: int, *, guarded: bool = True) -> Record:
    """One episode of a case, all of it."""
    return Episode(case, Skins(case.robot), seed, number).run(LONGEST, guarded=guarded)
