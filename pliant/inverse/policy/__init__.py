"""The control policy: what a step decides, and what it remembers.

`advance(model, memory, targets)` returns the memory after one control step, and its outcome. Read
`advance.py` first; each decision has one place:

| decision | file |
|---|---|
| what a step tries, and in what order | `advance.py` |
| what the robot is doing, and what ends that | `modes.py` |
| what one step leaves for the next | `memory.py` |
| when a target is another one, what other laws change | `targets.py` |
| how long a step is, and which state it is attempted to | `line_search.py` |
| which states will do | `acceptance.py` |
| what happens where something has pushed the robot and no step will do | `recovery.py` |
| when a robot comes no nearer, and how it comes to rest | `rest.py` |
| where else it looks then: contacts farther away, other starts | `scouting.py`, `approach.py` |
| which poses it remembers, and how it goes back along them | `trail.py`, `going_back.py` |
| what is said of a step | `certificates.py` |
"""

from pliant.inverse.policy.advance import advance
from pliant.inverse.policy.memory import Memory, begin

__all__ = ["Memory", "advance", "begin"]
