"""Part 6: the problems that the scenes themselves pose.

How often is the answer the global optimum, and how soon is it there?
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pliant.bench.branching import BEATEN, OPEN, PROVEN, prove
from pliant.io.table import Table
from pliant.solvers.qpcc import descent
from pliant.solvers.qpcc.enumeration import enumerate_modes
from pliant.solvers.qpcc.problem import Problem
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.study import Findings
from pliant.timing import microseconds

SHARE = 0.99  # of global optima asked of the default, where they are proven
SAME_COST = 1e-6  # costs nearer than this to the best, relative to the task or to the cost, are global …
LEAST_COST = 1e-20  # … and what is less than this [m²] is nothing
PROGRAMS = 1000  # of one proof …
MORE, OFTEN = 30_000, 20  # … and of every twentieth
FEW, PIECES = 3, 1000  # actuators up to which all contact modes are visited, and how many of these
REFERENCE_STARTS = 60  # of the search that stands in where there is no proof
DEFAULT_STARTS, THOROUGH_STARTS = 8, 16  # of `qpcc`: doubled where the best is rare; always beside it, too
COLUMNS = (
    "case", "problems", "actuators", "contacts", "enumerated", "branched", "unproven", "programs",
    "one start", "default", "16 starts", "of the unproven", "loss [µm]", "cold start [µs]", "found", "check",
)  # fmt: skip


class Found(NamedTuple):
    """What is known of one problem: whether one descent, the default, more starts reach the best; proofs.

    `enumerated`: all contact modes were visited; `branched`: branch and bound ended, after so many
    `programs`; `agree`: they do not contradict each other; `loss` [m] by which √cost of the default is above
    the best known; `time` [µs] of one cold descent.
    """

    one: bool
    default: bool
    thorough: bool
    enumerated: bool
    branched: bool
    agree: bool
    programs: int
    loss: float
    time: float

    @property
    def proven(self) -> bool:
        """Whether the best cost is known to be that."""
        return self.enumerated or self.branched


def optima(lab: Lab) -> Findings:
    """Recorded problems solved cold, by one descent and by the default, against proven costs."""
    table = Table("Problems recorded along the paths", COLUMNS)
    for name in lab.thorough:
        chosen = lab.course(name).problems
        judged = [judge(p, PROGRAMS if k % OFTEN else MORE) for k, p in enumerate(chosen)]
        if judged:
            table.add(**_row(name, chosen, judged, lab.setting.problems))
        else:
            table.add(case=name, problems=0, found="no problem with contact", check=False)
    table.notes.append(
        f"enumerated: all contact modes visited, at most {PIECES}, tried up to {FEW} actuators. branched: "
        f"proven by branch and bound on the contacts, over at most {PROGRAMS} convex programs of DAQP (every "
        f"{OFTEN}th: {MORE}); it shares nothing with the descent. One start, default, "
        f"{THOROUGH_STARTS} starts: share that is global among the proven; of the unproven: share as good as "
        f"the best of {REFERENCE_STARTS} starts, which is no proof; loss: by how much √c of the default is "
        "above the best known, at most. Global: within 10⁻⁶ of the cost, or of that without effort. Cold: "
        "one descent from zero."
    )
    text = (
        "Every inverse problem with contact that came up along the paths, as it was posed: with its ε, ρ "
        f"and bounds, but solved cold. Asked: {lab.setting.problems} problems at least, {SHARE:.0%} of "
        f"those with a proof solved to the global optimum by the default of {DEFAULT_STARTS} starts, and "
        "proofs that agree where there are two. On the authors' tissues, where 30 to 50 contacts are near, "
        "minima lie side by side: there the default doubles its starts and looks beside the best, as 16 do "
        "always."
    )
    return Findings("Global optima of the scenes' own problems", text, [table])


def _row(name: str, problems: Sequence[Problem], judged: Sequence[Found], asked: int) -> dict[str, object]:
    proven, open_ = [f for f in judged if f.proven], [f for f in judged if not f.proven]
    share = lambda found, what: float(np.mean([getattr(f, what) for f in found])) if found else float("nan")
    differ = sum(not f.agree for f in judged)
    return {
        "case": name,
        "problems": len(judged),
        "actuators": problems[0].na,
        "contacts": round(float(np.mean([p.nc for p in problems]))),
        "enumerated": sum(f.enumerated for f in judged),
        "branched": sum(f.branched for f in judged),
        "unproven": len(open_),
        "programs": round(float(np.median([f.programs for f in judged]))),
        "one start": share(proven, "one"),
        "default": share(proven, "default"),
        f"{THOROUGH_STARTS} starts": share(proven, "thorough"),
        "of the unproven": share(open_, "default") if open_ else None,
        "loss [µm]": 1e6 * max(f.loss for f in judged),
        "cold start [µs]": float(np.median([f.time for f in judged])),
        "found": f"{differ} proofs disagree" if differ else "",
        "check": bool(proven and share(proven, "default") >= SHARE and len(judged) >= asked and not differ),
    }


def judge(p: Problem, programs: int) -> Found:
    """One problem by all methods; a proof takes at most so many convex programs."""
    cold = p._replace(warm=False)
    one, default, thorough = (descent(cold, n).cost for n in (1, DEFAULT_STARTS, THOROUGH_STARTS))
    visited = enumerate_modes(p, PIECES) if p.na <= FEW else None
    enumerated = visited is not None and visited.complete
    found = min(one, default, thorough)
    known = min(found, visited.best.cost) if visited is not None and enumerated else found
    allowance = SAME_COST * max(float(p.weights @ p.de**2), known, LEAST_COST)
    proof = prove(p, known, allowance, programs=programs)
    best = min(known, proof.best) if proof.status == BEATEN else known
    if proof.status == OPEN and not enumerated:
        best = min(best, descent(p, REFERENCE_STARTS).cost)
    return Found(
        one <= best + allowance,
        default <= best + allowance,
        thorough <= best + allowance,
        enumerated,
        proof.status in (PROVEN, BEATEN),
        not (enumerated and proof.status == BEATEN),
        proof.programs,
        float(np.sqrt(max(default, 0.0)) - np.sqrt(max(min(best, default), 0.0))),
        microseconds(lambda: descent(cold, 1), repeats=5),
    )
