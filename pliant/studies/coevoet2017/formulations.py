"""Part 2: the quadratic program with contact forces eliminated, against that with them as unknowns."""

from __future__ import annotations

from pliant.bench.qpcc import formulations as measured
from pliant.studies.check import Check
from pliant.studies.coevoet2017.lab import Lab
from pliant.studies.coevoet2017.paper import FORMULATIONS
from pliant.studies.study import Findings


def formulations(lab: Lab) -> Findings:
    """The ratio of times at three sizes of the paper, and at those of its scenes."""
    table = measured()
    ratios = {
        size: next(
            row["ratio"]
            for row in table.rows
            if row["what"].startswith(f"{size[0]} ") and row["contacts"] == size[1]
        )
        for size in FORMULATIONS
    }
    checks = [
        Check.at_least(f"full ÷ reduced at {size}", ratios[size], 1.0, paper=value)
        for size, value in FORMULATIONS.items()
    ]
    small, _, large = ratios.values()
    checks.append(
        Check.holds("the advantage grows with the contacts", large > small, measured=f"{large / small:.2f}×")
    )
    text = (
        "One program of the decomposition, its matrices included: λ_c eliminated (reduced) or among the "
        "unknowns (full). The paper solves both by qpOASES, here both are solved by DAQP, which is quicker "
        "with many constraints."
    )
    return Findings(
        "Reduced and full formulation", text, [table], checks, data={str(k): v for k, v in ratios.items()}
    )
