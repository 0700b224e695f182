"""A session: one robot that is stepped, commanded and recorded, by the studio, a hardware loop or a script.

session = Session(pl.robots.trunk())
session.aim("tip", (0.03, 0.0, 0.18))
frame = session.step()
"""

from pliant.frame import Frame, Push, Touch
from pliant.session.session import MODES, Session
from pliant.stage import RowFacts, Stage

__all__ = ["MODES", "Frame", "Push", "RowFacts", "Session", "Stage", "Touch"]
