"""Planning: keyframes to timed commands, through an environment.

plan = pliant.planning.plan(robot, [{"tip": (0.05, 0.0, 0.18)}], obstacles=[wall], speed=0.05)
"""

from pliant.planning.plan import Plan, PlanError, Playback, plan
from pliant.planning.walk import Leg, Pose

__all__ = ["Leg", "Plan", "PlanError", "Playback", "Pose", "plan"]
