"""A winch of radius r takes in 2 π r of cable in a turn: how strokes become counts of a motor."""

import numpy as np

from pliant.hardware import Channel

winch = Channel.spool("cable", 1, radius=0.01, counts_per_turn=4096)
stroke = winch.value(4096) - winch.value(0)  # [m]
print(f"a turn takes in {1e3 * stroke:.3f} mm")
assert np.isclose(stroke, 2 * np.pi * 0.01)
