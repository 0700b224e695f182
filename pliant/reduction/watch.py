"""Watch: how far a reduced robot is from the full one, while it runs.

From the expanded coordinates of a state, and under the same commands, the full model goes to its equilibrium:

    f(q) = f_ext + Σ Hᵀλ,  commanded λ or δ imposed, contacts as they then are        error = |δ_e(q) − δ_e|

of the effectors, or of the farthest node of a robot without. It takes a few linearisations of the full model,
which a process of its own makes: on another core, with one thread and at a low priority, so that it does not
delay a loop that drives devices. While it works, states go by unseen.
"""

from __future__ import annotations

import os
import signal
import weakref
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np

from pliant.contact import Obstacle
from pliant.laws import Known, Law
from pliant.newton import Tolerance
from pliant.reduction.held_out import aiming, farthest, seen
from pliant.reduction.reduce import expanded
from pliant.robot import Robot
from pliant.stage import RowFacts
from pliant.state import State
from pliant.static import relaxed

BALANCE = Tolerance(residual=1e-5, length=1e-6, iterations=25)  # of the full model: finer than any bound
POLITENESS = 10  # by which the priority of the watching process is lower
PATIENCE = 2.0  # [s] that it has to end by itself


@dataclass(frozen=True)
class Look:
    """At which step, and the error [m] there; `settled`: whether the full model found its equilibrium.

    If not, the error is that of where it stopped.
    """

    step: int
    error: float
    settled: bool


def commands_of(
    robot: Robot, effort: Mapping[str, np.ndarray], displacement: Mapping[str, np.ndarray]
) -> dict[str, Known]:
    """What drives are told in a state, as laws: lengths and angles where rows have limits of these."""
    laws = {}
    for name in robot.by_role("actuator"):
        told = displacement if RowFacts.of(robot, name).drive == "displacement" else effort
        laws[name] = Known(
            **{"displacement" if told is displacement else "effort": np.array(told[name], float)}
        )
    return laws


def balanced(
    robot: Robot, state: State, laws: Mapping[str, Law], obstacles: Iterable[Obstacle]
) -> tuple[State, bool]:
    """The equilibrium of a robot near a state, under laws, and whether it was found."""
    result = relaxed(robot, laws, state, robot.surroundings.detector(robot, obstacles), BALANCE)
    return result.state, result.certificate.converged


def apart(full: Robot, q: np.ndarray, other: np.ndarray) -> float:
    """[m] between the effectors of two coordinates of a full robot, or between its nodes."""
    rows = aiming(full)
    return farthest(seen(full, rows, q) - seen(full, rows, other))


def on_full(full: Robot, reduced: Robot, state: State) -> State:
    """The state of the full robot that a reduced one shows, without speed."""
    z = remembered(full, reduced, state.internal)
    return State(expanded(reduced, state), np.zeros(full.ndof), state.effort, z, state.gravity)


def remembered(robot: Robot, other: Robot, internal: np.ndarray) -> np.ndarray:
    """Internal variables of a robot with bodies at rest, and what the same rows of another remember."""
    z = np.array(robot.rest.internal)
    z[robot.row_z] = internal[other.row_z]
    return z


class Watch:
    """Compares states of a reduced robot with the full one, in a process of its own.

        with Watch(full, reduced) as watch:
            out = controller.step()
            watch.see(out.state, commands_of(reduced, out.effort, out.displacement))
            look = watch.heard()                       # None as long as there is nothing new

    A script that starts it must do so below `if __name__ == "__main__":`, as with all processes.
    """

    def __init__(self, full: Robot, reduced: Robot) -> None:
        self.full, self.reduced = full, reduced
        self.lost = ""  # why nothing is compared any more, in words
        self._busy, self._step = False, 0
        self._end: Any = None

    def see(
        self,
        state: State,
        laws: Mapping[str, Law],
        obstacles: Iterable[Obstacle] = (),
        step: int | None = None,
    ) -> bool:
        """Hand over a state of the reduced robot, unless one is being compared; whether it was taken."""
        self._step = self._step + 1 if step is None else step
        if self._busy or self.lost:
            return False
        try:
            end = self._started()
            end.send((self._step, on_full(self.full, self.reduced, state), dict(laws), tuple(obstacles)))
        except ConnectionError:  # gone
            self.lost = 'its process ended; does the script start it below `if __name__ == "__main__":`?'
            return False
        except (OSError, AttributeError, TypeError, ValueError) as error:  # what cannot be sent
            self.lost = f"{type(error).__name__}: {error}"
            return False
        self._busy = True
        return True

    def heard(self, wait: float = 0.0) -> Look | None:
        """What the last comparison found, once; waits for it for so long [s]."""
        if not self._busy or self._end is None:
            return None
        try:
            if not self._end.poll(wait):
                return None
            said = self._end.recv()
        except (EOFError, OSError):
            self.lost = "its process ended"
            return None
        self._busy = False
        if isinstance(said, str):
            self.lost = said
            return None
        return said

    def close(self) -> None:
        """End the process."""
        if self._end is not None:
            self._close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _started(self) -> Any:
        if self._end is None:
            context = get_context("spawn")
            self._end, other = context.Pipe()
            worker = context.Process(target=_compare, args=(other,), name="pliant-watch", daemon=True)
            worker.start()
            other.close()
            self._close = weakref.finalize(self, _dismiss, worker, self._end)
            self._end.send(self.full)
        return self._end


def _dismiss(worker: Any, end: Any) -> None:
    with suppress(OSError):
        end.send(None)
        end.close()
    worker.join(PATIENCE)
    if worker.is_alive():
        worker.kill()
        worker.join(PATIENCE)


def _compare(end: Any) -> None:
    """What the process does: equilibria of the full robot, until there are no more questions."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the process that asks
    with suppress(AttributeError, OSError):
        os.nice(POLITENESS)
    try:
        full: Robot = end.recv()
        while (asked := end.recv()) is not None:
            step, state, laws, obstacles = asked
            there, settled = balanced(full, state, laws, obstacles)
            end.send(Look(step, apart(full, there.q, state.q), settled))
    except (EOFError, BrokenPipeError):
        pass  # nobody asks any more
    except Exception as error:
        with suppress(OSError):
            end.send(f"{type(error).__name__}: {error}")
    os._exit(0)  # there is nothing to keep
