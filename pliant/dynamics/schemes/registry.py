"""All schemes of integration in time, by the name that users give to `Simulation`."""

from __future__ import annotations

from pliant.dynamics.schemes.bdf2 import BDF2
from pliant.dynamics.schemes.central import CENTRAL
from pliant.dynamics.schemes.euler import EULER
from pliant.dynamics.schemes.midpoint import MIDPOINT
from pliant.dynamics.schemes.scheme import Scheme

SCHEMES: dict[str, Scheme] = {scheme.name: scheme for scheme in (BDF2, EULER, MIDPOINT, CENTRAL)}
