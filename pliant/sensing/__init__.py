"""External forces from what markers and other sensors show: how strong, where, and how sure."""

from pliant.sensing.allocation import Allocation, MarkerTracker, allocate
from pliant.sensing.calibration import Calibration, calibrate
from pliant.sensing.doubts import usual_doubts
from pliant.sensing.estimate import Estimate, SensingCertificate
from pliant.sensing.estimator import ForceEstimator
from pliant.sensing.fitted import Fitted
from pliant.sensing.identifiability import Identifiability
from pliant.sensing.instruments import Pushes, instrumented
from pliant.sensing.layout import Layout
from pliant.sensing.location import ForceLocator, Location
from pliant.sensing.moving import MovingForceEstimator
from pliant.sensing.placement import Placement, place_markers
from pliant.sensing.places import Places, places
from pliant.sensing.record import Loop, Record
from pliant.sensing.registration import Rigid, register

__all__ = [
    "Allocation",
    "Calibration",
    "Estimate",
    "Fitted",
    "ForceEstimator",
    "ForceLocator",
    "Identifiability",
    "Layout",
    "Location",
    "Loop",
    "MarkerTracker",
    "MovingForceEstimator",
    "Placement",
    "Places",
    "Pushes",
    "Record",
    "Rigid",
    "SensingCertificate",
    "allocate",
    "calibrate",
    "instrumented",
    "place_markers",
    "places",
    "register",
    "usual_doubts",
]
