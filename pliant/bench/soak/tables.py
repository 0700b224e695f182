"""The tables of a soak: by robot, the work of a step, what was said, and the checks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.bench.soak import findings as f
from pliant.bench.soak.findings import Finding, found_in, returns
from pliant.bench.soak.record import REACHABLE, Record
from pliant.inverse.model import PIVOTS
from pliant.io.table import Table

SHOWN = 3  # findings of each kind and robot that are written out
RETURNED = 0.995  # share of reachable targets that must be reached in time
LOST_WAY = 0.02  # share of reachable targets to which no way may be found
PUNCTUAL = 5.0  # times the median: the 99.9th percentile of a step's work, with the budget of a session
BY_ROBOT = (
    "robot",
    "steps",
    "ms a step",
    "exceptions",
    "deepest [mm]",
    "silent steps",
    "pushed from afar",
    "returns",
    "slowest",
    "false cannot",
    "no way found",
    "efforts at rest [%]",
    "jumps",
    "re-solved [%]",
    "check",
)
NONE_ALLOWED = {
    f.EXCEPTION: "exceptions",
    f.NOT_FINITE: "steps with a number that is not finite",
    f.SILENT: "steps with silent depth",
    f.STANDOFF: "steps in which something pushes that is not touched",
    f.FALSE_CANNOT: 'targets with a false "cannot"',
    f.RESTLESS: "targets with efforts that do not rest (0.1 % a step)",
    f.JUMP: "steps in which a node jumps (10 % of the length)",
    f.UNBALANCED: "states that statics moves by more than 0.1 % of the length",
}


def tables(records: Sequence[Record], seed: int) -> list[Table]:
    """All tables of a soak."""
    found = found_in(records)
    by_case: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_case[record.case].append(record)
    return [
        _by_robot(by_case, found, seed),
        _work(by_case),
        _said(by_case),
        _checks(records, found, by_case),
    ]


def _by_robot(by_case: dict[str, list[Record]], found: Sequence[Finding], seed: int) -> Table:
    table = Table(f"Soak, seed {seed}", BY_ROBOT)
    for case, records in by_case.items():
        mine = [one for one in found if one.case == case]
        table.add(**_row(case, records, mine))
        seen: Counter[str] = Counter()
        for one in mine:
            seen[one.what] += 1
            if seen[one.what] <= SHOWN:
                again = f'--seed {seed} --only "{case}" --repeat {one.episode}'
                table.notes.append(f"{again}: step {one.step}: {one.what}: {one.words}")
    return table


def _row(case: str, records: Sequence[Record], found: Sequence[Finding]) -> dict[str, Any]:
    moments = [moment for record in records for moment in record.moments]
    holds = [hold for record in records for hold in record.holds]
    back = [hold.after for hold in holds if returns(hold)]
    count = Counter(one.what for one in found)
    silent = [moment.depth for r in records for moment in r.moments if f.silent(r, moment)]
    largest = lambda values: float(np.nanmax([*values, 0.0]))
    return {
        "robot": case,
        "steps": len(moments),
        "ms a step": 1e3 * float(np.mean([moment.seconds for moment in moments])) if moments else None,
        "exceptions": count[f.EXCEPTION],
        "deepest [mm]": 1e3 * largest(silent),
        "silent steps": count[f.SILENT],
        "pushed from afar": count[f.STANDOFF],
        "returns": f"{sum(after > 0 for after in back)} of {len(back)}",
        "slowest": max(back, default=None),
        "false cannot": count[f.FALSE_CANNOT],
        "no way found": count[f.NO_WAY],
        "efforts at rest [%]": 100 * largest(hold.rest for hold in holds),
        "jumps": count[f.JUMP],
        "re-solved [%]": 100 * largest(hold.moved for hold in holds),
        "check": not found,
    }


def _work(by_case: dict[str, list[Record]]) -> Table:
    columns = ("robot", "budget", "steps", "median", "p99", "p99.9", "max", "p99.9 / median", "pivots p99.9")
    table = Table(f"Work of a step: linearisations, and {PIVOTS} pivots for one", (*columns, "check"))
    for case, records in by_case.items():
        for punctual in (False, True):
            moments = [m for r in records if r.punctual == punctual for m in r.moments]
            if not moments:
                continue
            pivots = np.array([moment.pivots for moment in moments])
            work = np.array([moment.linearisations for moment in moments]) + pivots / PIVOTS
            middle, p99, p999 = np.percentile(work, [50, 99, 99.9], method="higher")
            ratio = float(p999 / max(middle, 1.0))
            table.add(
                robot=case,
                budget="session" if punctual else "default",
                steps=len(work),
                median=float(middle),
                p99=float(p99),
                max=float(work.max()),
                **{
                    "p99.9": float(p999),
                    "p99.9 / median": ratio,
                    "pivots p99.9": float(np.percentile(pivots, 99.9)),
                },
                check=ratio <= PUNCTUAL if punctual else None,
            )
    return table


def _said(by_case: dict[str, list[Record]]) -> Table:
    words = Counter(m.status for records in by_case.values() for r in records for m in r.moments)
    table = Table("What was said, in how many steps", ("robot", *(word for word, _ in words.most_common())))
    for case, records in by_case.items():
        count = Counter(moment.status for record in records for moment in record.moments)
        table.add(robot=case, **count)
    return table


def _checks(records: Sequence[Record], found: Sequence[Finding], by_case: dict) -> Table:
    count = Counter(one.what for one in found)
    table = Table("Checks", ("what", "measured", "asked", "check"))
    table.add(what="steps", measured=sum(len(record.moments) for record in records))
    for what, words in NONE_ALLOWED.items():
        table.add(what=words, measured=count[what], asked="none", check=not count[what])
    holds = [hold for record in records for hold in record.holds if hold.kind == REACHABLE]
    back = [hold.after > 0 for hold in holds if returns(hold)]
    if back:
        share = float(np.mean(back))
        table.add(
            what=f"share of {len(back)} returns in time",
            measured=share,
            asked=f"≥ {RETURNED}",
            check=share >= RETURNED,
        )
        lost = count[f.NO_WAY] / len(holds)
        table.add(
            what='share of reachable targets with "no way found"',
            measured=lost,
            asked=f"≤ {LOST_WAY}",
            check=lost <= LOST_WAY,
        )
    return table


def episode_tables(record: Record, seed: int) -> list[Table]:
    """One episode: what was done to the robot, and what became of its targets."""
    kept = Table(
        f"{record.case}, episode {record.number}: targets",
        ("kind", "step", "after", "left [%]", "nearer [%]", "rest", "re-solved [%]", "status", "said"),
    )
    for hold in record.holds:
        kept.add(
            kind=hold.kind,
            step=hold.step,
            after=hold.after,
            rest=hold.rest,
            status=hold.status,
            said=", ".join(hold.said),
            **{
                "left [%]": 100 * hold.left,
                "nearer [%]": 100 * hold.nearer,
                "re-solved [%]": 100 * hold.moved,
            },
        )
    kept.notes += [f"step {step}: {what}" for step, what in record.disturbances]
    return [kept, *tables([record], seed)]
