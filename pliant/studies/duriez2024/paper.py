"""The numbers of the report, which prints one worked example, a robot with two pistons, without units.

Duriez, 'Mechanical compliance: from soft robot modeling theory to finite element method computation', Inria
RT-0521, 2024.
"""

from __future__ import annotations

import numpy as np

SOURCE = (
    "Duriez: Mechanical compliance, from soft robot modeling theory to finite element method computation, "
    "Inria RT-0521, 2024. The report states models and one worked example. Each of its models is a row "
    "here: what a closed form, a finite difference or a second way of computing it says, beside what pliant "
    "measures."
)

WEA = np.array([[5.0, 5.0], [-4.0, 4.0]])
WAA = np.array([[10.0, 5.0], [5.0, 10.0]])
JACOBIAN = np.array([[5.0, 5.0], [-12.0, 12.0]]) / 15.0
INCREMENTS = (  # of the actuators, and of the effector that they move
    (np.array([-5.0, -10.0]), np.array([-5.0, -4.0])),
    (np.array([-7.5, -7.5]), np.array([-5.0, 0.0])),
)
