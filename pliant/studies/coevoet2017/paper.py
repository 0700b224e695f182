"""The numbers of the paper.

Coevoet, Escande, Duriez, 'Optimization-based inverse model of soft robots with contact handling', IEEE
Robotics and Automation Letters 2017.
"""

from __future__ import annotations

import numpy as np

SOURCE = (
    "Coevoet, Escande, Duriez: Optimization-based inverse model of soft robots with contact handling, "
    "IEEE Robotics and Automation Letters, 2017. Times in the paper: C++, one 3.6 GHz i7."
)
RATE = 30.0  # [Hz] the lower end of "interactive"
FORMULATIONS = {(3, 3): 1.25, (3, 10): 1.88, (3, 50): 7.82}  # time of the full program over the reduced one
LOWER, UPPER = 75.0, 495.0  # [N] the two minima of Fig. 2
REGIONS = 7  # crossed in Fig. 3


def work_weight(Wea: np.ndarray, Waa: np.ndarray) -> float:
    """The paper's ε on the work of the actuators (section III-A): 1e-3 ‖W_eaᵀW_ea‖∞ / ‖W_aa‖∞."""
    largest = lambda matrix: float(np.abs(matrix).sum(axis=1).max())
    return 1e-3 * largest(Wea.T @ Wea) / largest(Waa)
