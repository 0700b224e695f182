"""Part 1: Table 12 of the paper, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.io.table import Table
from pliant.studies.check import Check
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.coevoet2017.paper import RATE
from pliant.studies.study import Findings

USUAL = "Hz at 125 ms"
CONTACTS = ("case", "rows", "pushing", "most pushing", "force [N]", "travel [mm]")
COLUMNS = (
    "case",
    "contacts",
    "DoFs",
    "W [ms]",
    "QPs [ms]",
    "rest [ms]",
    "step [ms]",
    "÷ dgemm(1500)",
    "Hz",
    USUAL,
    "element",
)
NOTES = (
    "Cells with a bar: paper | ours. W: factorisation and condensation, QPs: the program with "
    "complementarity, rest: assembly, detection, recovery; all per linearisation, the median over the "
    f"path. A step makes up to three linearisations; Hz is that of whole steps on average, and {USUAL!r} "
    "the same on a machine where dgemm(1500) takes 125 ms, however busy this one was.",
)
PUSHING = (
    "rows: possible contacts, of which on average so many push, with so much force in sum; travel: the "
    "diagonal of the box that the effector passes through."
)


def table12(lab: Lab) -> Findings:
    """Contacts, degrees of freedom and times of every scene, the paper's line above ours."""
    table, checks, data = Table("Table 12", COLUMNS, notes=list(NOTES)), [], {}
    for name in lab.robots:
        paper, ours = lab.scene(name).paper, measured(lab, name)
        cells = {c: ours[c] for c in ("step [ms]", "÷ dgemm(1500)", "rest [ms]", "Hz", USUAL)}
        shared = zip(("contacts", "DoFs", "W [ms]", "QPs [ms]"), paper or ("–",) * 4)
        cells |= {
            c: f"{theirs} | {ours[c]:.3g}" if c[-1] == "]" else f"{theirs} | {ours[c]}"
            for c, theirs in shared
        }
        element = ", ".join(lab.scene(name).element.split(", ")[:2])
        table.add(case=name, element=element, **cells)
        checks.append(Check.at_least(f"{name}: interactive", ours[USUAL], RATE, paper="30 … 100", unit="Hz"))
        data[name] = {"paper": None if paper is None else paper._asdict(), "ours": ours}
    touching = Table("Contacts along the paths", CONTACTS, notes=[PUSHING])
    for name in lab.names:
        log = lab.log(name)
        travel = 1e3 * float(np.linalg.norm(np.ptp(log.place, axis=0)))
        row = name, float(log.contacts.mean()), float(log.pushing.mean()), int(log.pushing.max())
        touching.add(**dict(zip(CONTACTS, (*row, float(log.force.mean()), travel), strict=True)))
    text = (
        "Average number of contacts, size and computation time along each scene's path. Machines differ: "
        "compare ratios."
    )
    return Findings("Table 12", text, [table, touching], checks, data=data)


def measured(lab: Lab, name: str) -> dict[str, Any]:
    """What a scene's run cost."""
    course, robot = lab.course(name), lab.robot(name)
    log, t = course.log, course.log.timings
    times = np.maximum(log.linearisations, 1)
    once = lambda *stages: float(1e3 * np.median(sum(t[s] for s in stages if s in t) / times))
    step, mean = (float(1e3 * f(t["total"])) for f in (np.median, np.mean))
    return {
        "contacts": round(float(log.contacts.mean())),
        "DoFs": robot.ndof,
        "W [ms]": once("factorise", "condense"),
        "QPs [ms]": once("solve"),
        "rest [ms]": once("linearise", "detect", "recover"),
        "step [ms]": step,
        "÷ dgemm(1500)": course.yardstick.ratio(step),
        "Hz": 1e3 / mean,
        USUAL: 1.0 / (0.125 * course.yardstick.ratio(mean)),
    }
