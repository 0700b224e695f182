"""Project files: a robot in TOML, with its meshes next to it.

project = pliant.project.load("robot.toml")
pl.static(project.robot, project.laws)
pliant.project.save(pl.robots.trunk(), "trunk.toml")
pliant.project.start("part.stl", "robot.toml", unit="mm")
pliant.project.reduced.make(project)            # a fast model, kept beside the file
"""

from pliant.project.export import save
from pliant.project.fit import Fit, fit
from pliant.project.guess import start
from pliant.project.project import Project, load

__all__ = ["Fit", "Project", "fit", "load", "save", "start"]
