"""The inverse model of a robot in motion.

| file | |
|---|---|
| `controller.py` | `MovingInverse`: one control step after another, on a `Simulation` |
| `reference.py` | how targets are approached: a smooth motion that a robot with inertia can follow |
| `choice.py` | the efforts for a horizon, and the conditions of the time step that they lead to |
| `memory.py` | what one step leaves for the next, beside the state of the simulation |
| `outcome.py` | what a step returns, and what is said of it |
"""

from pliant.inverse.moving.controller import MovingInverse

__all__ = ["MovingInverse"]
