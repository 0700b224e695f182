"""Slender bars with closed forms: torsion by a motor, and a strip bent by an end torque or an end force.

torsion     T = G J θ'            J = π r⁴/2 (round), 0.140577 a⁴ (square, Saint-Venant)
end torque  κ = M/EI              the strip is an arc of a circle
end force   EI θ'' + P cos θ = 0  θ(0) = 0, θ'(L) = 0: the elastica under a dead load
"""

from __future__ import annotations

import numpy as np

from pliant.bodies import Hinge, Rigid, Solid
from pliant.interactions import Motor, Orientation, Position, Slider
from pliant.laws import Known
from pliant.materials import Hooke
from pliant.mesh import Mesh, box, cylinder, near_plane
from pliant.robot import Robot, Row
from pliant.static import Tolerance, static

LENGTH, RADIUS, SIDE = 0.1, 0.01, 0.02  # [m]
SQUARE = 0.140577  # J/a⁴
LOAD_STEP = 0.5  # [rad] of bending: a strip this slender does not converge with larger ones
LOOSE = Tolerance(residual=1e-6)  # rounding of the cells' forces is 1e-7 of the load that bends such a strip


def twisted(mesh: Mesh, material: Hooke) -> Robot:
    """A bar along z, clamped at z = 0 and turned at z = LENGTH by the motor; two sections are observed."""
    end = near_plane(mesh, (0, 0, LENGTH), (0, 0, 1))
    plate = Rigid(end, "plate", joint=Hinge(axis=(0, 0, 1), centre=(0, 0, LENGTH)))
    body = Solid(mesh, material, fixed=near_plane(mesh, (0, 0, 0), (0, 0, 1)), rigid=plate)

    def section(z: float) -> Row:
        return Row(Orientation(body.node_points(np.flatnonzero(np.abs(body.mesh.nodes[:, 2] - z) < 1e-9))))

    motor = Motor(body.region_points("plate"), (0, 0, 1))
    return Robot(body, {"motor": Row(motor), "low": section(LENGTH / 4), "high": section(3 * LENGTH / 4)})


def torsion(
    shape: str, *, cells: tuple[int, ...], angle: float = 0.01, poisson: float = 0.45
) -> tuple[float, int]:
    """Relative error of the torque at the twist of the middle half, and the number of nodes.

    There the warping that the ends restrain has died out. `cells` are (around, rings, along) of a "round"
    bar, (across, along) of a "square" one.
    """
    material = Hooke(young=3e5, poisson=poisson)
    if shape == "round":
        around, rings, along = cells
        mesh = cylinder(RADIUS, LENGTH, around=around, rings=rings, along=along, order=2)
        J = np.pi * RADIUS**4 / 2
    else:
        across, along = cells
        mesh = box((SIDE, SIDE, LENGTH), cells=(across, across, along), origin=(-SIDE / 2, -SIDE / 2, 0))
        J = SQUARE * SIDE**4
    robot = twisted(mesh, material)
    result = static(robot, {"motor": Known(displacement=angle)})
    twist = (result.displacement["high"][2] - result.displacement["low"][2]) / (LENGTH / 2)
    exact = material.shear_modulus * J * twist
    return float(result.effort["motor"][0] / exact - 1.0), len(robot.body.mesh.nodes)


class Strip:
    """A strip along x, clamped at x = 0, of Poisson ratio 0; "motor" turns up or "load" lifts its end plate.

    `planar` keeps it in the plane of bending: a section of equal sides leaves it at a quarter turn, see
    `quarter_turn`.
    """

    young = 3e6

    def __init__(
        self, thickness: float, cells: int, *, kind: str = "hex", planar: bool = True, middle: float = 0.0
    ) -> None:
        self.stiffness = self.young * thickness**4 / 12  # EI [N·m²]
        origin = (0.0, -thickness / 2, -thickness / 2)
        mesh = box((LENGTH, thickness, thickness), cells=(cells, 1, 1), kind=kind, origin=origin)
        x, fixed = mesh.nodes[:, 0], np.zeros(mesh.nodes.shape, bool)
        fixed[:, 1] = planar & (x < LENGTH - 1e-9)
        fixed[x < 1e-9] = True
        plate = Rigid(near_plane(mesh, (LENGTH, 0, 0), (1, 0, 0)), "plate", centre=(LENGTH, 0, 0))
        body = Solid(mesh, Hooke(young=self.young, poisson=0.0), fixed=fixed, rigid=plate)
        tip = body.attached_points("plate", [(LENGTH, 0, 0)])
        rows = {
            "motor": Row(Motor(body.region_points("plate"), (0, -1, 0), middle=middle)),
            "load": Row(Slider(tip, (0, 0, 1))),
            "tip": Row(Position(tip)),
        }
        self.robot = Robot(body, rows, name="strip")

    def arc(self, angle: float) -> tuple[float, float]:
        """Errors of the tip's position, over the length, and of its angle under the torque EI·angle/L."""
        torque, steps = self.stiffness * angle / LENGTH, int(np.ceil(angle / LOAD_STEP))
        result = static(self.robot, {"motor": Known(effort=torque)}, load_steps=steps, tolerance=LOOSE)
        exact = LENGTH / angle * np.array([np.sin(angle), 0.0, 1.0 - np.cos(angle)])
        error = float(np.linalg.norm(result.displacement["tip"] - exact)) / LENGTH
        return error, float(result.displacement["motor"][0] / angle - 1.0)

    def elastica(self, load: float) -> tuple[float, float]:
        """Errors of the tip's position, over the length, and of its angle under the load P = load·EI/L²."""
        force = load * self.stiffness / LENGTH**2
        result = static(self.robot, {"load": Known(effort=force)}, load_steps=4, tolerance=LOOSE)
        x, z, angle = elastica(load)
        error = float(np.linalg.norm(result.displacement["tip"] - LENGTH * np.array([x, 0.0, z]))) / LENGTH
        return error, float(result.displacement["motor"][0] / angle - 1.0)


def elastica(load: float) -> tuple[float, float, float]:
    """Tip (x, z) over the length and angle [rad] of an inextensible elastica under the dead load PL²/EI."""
    from scipy.integrate import solve_bvp

    def slope(s: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.vstack([y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])])

    def ends(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.array([a[0], b[1], a[2], a[3]])

    s = np.linspace(0.0, 1.0, 201)
    guess = np.vstack([1.2 * s, 1.2 + 0 * s, s, 0.5 * s])
    solution = solve_bvp(slope, ends, s, guess, tol=1e-9, max_nodes=20000)
    assert solution.success
    theta, _, x, z = solution.y[:, -1]
    return float(x), float(z), float(theta)
