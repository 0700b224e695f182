"""How long the soft hand takes: a second of its motion, and its object's equilibrium with the Jacobian."""

from __future__ import annotations

import numpy as np

from pliant.io.table import Table
from pliant.membrane.grasp import grasp
from pliant.membrane.hand import Hand, soft_hand
from pliant.membrane.moving_hand import Moving
from pliant.timing import paired

LIFE = 20.0  # times faster than life, asked of the simulation
EQUILIBRIUM = 0.1  # [ms], asked of an equilibrium with its Jacobian
YARDSTICK = 125.0  # [ms] that a dgemm(1500) takes on the machine that these are meant for
SECONDS = 0.2  # of motion in one measurement


class Motion:
    """The hand that follows commands from one side to the other, every 50 ms a new one."""

    def __init__(self, hand: Hand, time_step: float, friction: float = 0.0) -> None:
        home = grasp(hand, (0.0, 0.0))
        self.plant = Moving(hand, home.joints, home.pose, time_step=time_step, friction=friction)
        self.home, self.moves = home.joints, 0
        self()

    def __call__(self) -> None:
        for _ in range(round(SECONDS / 0.05)):
            self.moves += 1
            swing = 0.1 * np.sin(0.05 * 2.0 * np.pi * self.moves)
            self.plant.advance(self.home + swing * np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0]), 0.05)


def hand() -> list[Table]:
    """The hand of the thesis on one thread; × life where a dgemm(1500) takes 125 ms."""
    columns = ("what", "coordinates", "ms", "÷ dgemm(1500)", "× life", "asked", "check")
    table = Table("The soft hand, one thread", columns)
    cases = [
        ("motion, steps of 1 ms", soft_hand(), 1e-3, 0.0),
        ("motion, steps of 2 ms", soft_hand(), 2e-3, 0.0),
        ("motion, steps of 2 ms, object turns", soft_hand(rotates=True), 2e-3, 0.0),
        ("motion, steps of 2 ms, object turns, friction 0.5", soft_hand(rotates=True), 2e-3, 0.5),
    ]
    for what, built, step, friction in cases:
        motion = Motion(built, step, friction)
        ms, ratio = paired(motion, rounds=3)
        life = 1e3 * SECONDS / (ratio * YARDSTICK)
        size = motion.plant.mechanism.ndof
        row = {"÷ dgemm(1500)": ratio, "× life": life}
        table.add(what=what, coordinates=size, ms=ms, asked=LIFE, check=life >= LIFE, **row)
    built = soft_hand()
    home = grasp(built, (0.0, 0.0))
    ms, ratio = paired(lambda: built.rest(home.joints, home.pose).jacobian, rounds=3)
    fast = ratio * YARDSTICK <= EQUILIBRIUM
    table.add(
        what="equilibrium with its Jacobian",
        coordinates=2,
        ms=ms,
        asked=EQUILIBRIUM,
        check=fast,
        **{"÷ dgemm(1500)": ratio},
    )
    table.notes.append(f"× life, and milliseconds asked, where a dgemm(1500) takes {YARDSTICK:.0f} ms.")
    return [table]
