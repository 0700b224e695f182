"""pliant: model, simulate and control soft robots.

    import pliant as pl
    mesh = pl.mesh.box((0.1, 0.02, 0.02))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.45), density=1100, fixed=...)
    robot = pl.Robot(body, rows={"cable": pl.Row(pl.Cable(body.points(path)), pl.Bounded(effort=(0, 40)))})
    result = pl.static(robot, {"cable": pl.Known(effort=5.0)})

SI units everywhere: m, N, Pa, kg, s, rad.
"""

from typing import TYPE_CHECKING

from pliant import kernel_cache  # first: the rest makes kernels while it is imported

# isort: split
from pliant import contact, interactions, laws, materials, mesh, solvers
from pliant.bodies import Hinge, Prismatic, Rigid, Solid
from pliant.compliance import compliance
from pliant.contact import Cylinder, Plane, Sphere
from pliant.errors import ConvergenceError, InputError, MeshError, PliantError, PliantWarning, SingularError
from pliant.interactions import (
    Barycentre,
    Cable,
    Cavity,
    CentreOfMass,
    Combined,
    Curvature,
    Magnet,
    Motor,
    Orientation,
    PointForce,
    Position,
    Slider,
    Stretch,
    SurfaceForce,
)
from pliant.laws import Bounded, Elastic, Known, Measured, Observed, Target, Unilateral, Unknown
from pliant.lazy import lazy
from pliant.materials import Hooke, NeoHookean
from pliant.result import Result
from pliant.robot import Robot, Row
from pliant.state import State
from pliant.static import Tolerance, static
from pliant.threads import pin_blas

if TYPE_CHECKING:
    from pliant import hardware, inverse, membrane, planning, project, reduction, robots, sensing
    from pliant.bodies import Beam, Shell
    from pliant.dynamics import Simulation
    from pliant.inverse import Inverse
    from pliant.static import buckling
else:
    __getattr__ = lazy(
        __name__,
        {
            "Beam": "pliant.bodies",
            "Shell": "pliant.bodies",
            "Simulation": "pliant.dynamics",
            "Inverse": "pliant.inverse",
            "buckling": "pliant.static",
            "hardware": "pliant.hardware",
            "inverse": "pliant.inverse",
            "membrane": "pliant.membrane",
            "planning": "pliant.planning",
            "project": "pliant.project",
            "reduction": "pliant.reduction",
            "robots": "pliant.robots",
            "sensing": "pliant.sensing",
        },
    )

__version__ = "0.1.0"

pin_blas()
