"""Sheets as bodies: shells that bend, membranes that do not, nets of strings."""

from pliant.bodies.shells.membrane import Membrane
from pliant.bodies.shells.net import Net
from pliant.bodies.shells.shell import Shell
from pliant.bodies.shells.strings import Strings

__all__ = ["Membrane", "Net", "Shell", "Strings"]
