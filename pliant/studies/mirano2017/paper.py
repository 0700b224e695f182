"""What the thesis reports.

It prints no dimensions of its hand and no table: its figures show curves and regions.
"""

from __future__ import annotations

SOURCE = (
    "G. Mirano, Jacobian-based Control of Soft Robots for Manipulation Using Implicit Surface Models, "
    "M.Eng. thesis, Massachusetts Institute of Technology, 2017."
)
STIFFNESS, DAMPING = 150.0, 550.0  # k_s, b_s of the skins (§4.3)
PROPORTIONAL, DERIVATIVE = 0.1, 0.58  # of the outer loop
PERIOD, INNER = 0.053, 500.0  # Δt [s]; stiffness of the inner loop
CONSTANT, RAMP = (0.0, 0.0), (0.5, 1.0)  # targets of Fig. 4-5
SIZE = 4.0  # ours: a hand in which these targets lie well inside the reach
BAND = (0.35, 1.15)  # length of the rubber band, loose and stretched [m] (§3.2)
