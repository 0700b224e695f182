"""pliant: model, simulate and control soft robots.

    import pliant as pl
    mesh = pl.mesh.box((0.1, 0.02, 0.02))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.45), density=1100, fixed=...)
    robot = pl.Robot(body, rows={"cable": pl.Row(pl.Cable(body.points(path)), pl.Bounded(effort=(0, 40)))})
    result = pl.static(robot, {"cable": pl.Known(effort=5.0)})

SI units everywhere: m, N, Pa, kg, s, rad.
"""

import types
from typing import TYPE_CHECKING

from pliant import kernel_cache  # first: the rest makes kernels while it is imported

# isort: split
from pliant import contact, interactions, joints, laws, materials, mesh, pneumatics, solvers
from pliant.assemble import assemble
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

# Names that are imported when first used: {name: module}.
LATER = {
    "Beam": "pliant.bodies",
    "Shell": "pliant.bodies",
    "Simulation": "pliant.dynamics",
    "Inverse": "pliant.inverse",
    "buckling": "pliant.static",
    "dynamics": "pliant.dynamics",
    "hardware": "pliant.hardware",
    "inverse": "pliant.inverse",
    "learning": "pliant.learning",
    "membrane": "pliant.membrane",
    "planning": "pliant.planning",
    "project": "pliant.project",
    "reduction": "pliant.reduction",
    "robots": "pliant.robots",
    "sensing": "pliant.sensing",
    "session": "pliant.session",
    "studio": "pliant.studio",
    "things": "pliant.things",
    "urdf": "pliant.urdf",
}
# Modules that users work with; the others that are loaded are the house's own.
MODULES = (
    "bodies",
    "contact",
    "errors",
    "interactions",
    "joints",
    "laws",
    "materials",
    "mesh",
    "pneumatics",
    "solvers",
)

if TYPE_CHECKING:
    from pliant import (
        dynamics,
        hardware,
        inverse,
        learning,
        membrane,
        planning,
        project,
        reduction,
        robots,
        sensing,
        session,
        things,
        urdf,
    )
    from pliant.bodies import Beam, Shell
    from pliant.dynamics import Simulation
    from pliant.inverse import Inverse
    from pliant.static import buckling
else:
    __getattr__ = lazy(__name__, LATER)

__version__ = "0.2.0"

pin_blas()


def __dir__() -> list[str]:
    """What a user may type after `pl.`, names that are imported when first used included."""
    own = {"LATER", "MODULES", "TYPE_CHECKING", "lazy"}
    loaded = {
        name
        for name, value in globals().items()
        if not isinstance(value, types.ModuleType) and name not in own
    }
    return sorted({*loaded, *LATER, *MODULES})
