"""Forward statics: the state in which a robot rests, whether it is stable, and where stability ends.

| file | what |
|---|---|
| `solve.py` | `static`, the solve that users call; `relaxed` and `resting` for those who solve inside |
| `loads.py` | the loads at a share of the load path: efforts, displacements, gravity, moved supports |
| `memory.py` | time that passes: relaxation and creep of viscous materials |
| `path.py` | the walk along it: increments, prediction, back-off, events |
| `budget.py` | how much work a solve may be, and what it says on the way |
| `balance.py` | one equilibrium: Newton's method, and pressures of incompressible materials around it |
| `creep.py` | the way there in short strides, for who has to show it |
| `stability.py` | whether an equilibrium is stable, and its softest direction |
| `departure.py` | leaving one that is not, downhill to one that is |
| `continuation.py` | equilibria along a path that turns back: snap-through |
| `buckling.py` | the first load at which stability ends, and the mode |
| `report.py` | results, and errors that say how far the load came |
"""

from pliant.newton import Tolerance
from pliant.static.buckling import Buckling, buckling
from pliant.static.budget import MOST_ITERATIONS, Budget, Progress
from pliant.static.continuation import LoadPath, continuation
from pliant.static.solve import relaxed, resting, static

__all__ = [
    "MOST_ITERATIONS",
    "Buckling",
    "Budget",
    "LoadPath",
    "Progress",
    "Tolerance",
    "buckling",
    "continuation",
    "relaxed",
    "resting",
    "static",
]
