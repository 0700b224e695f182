"""The report's robot with two pistons, made from dimensions: a block of foam with a stiff head.

A block of height s and square section a², without Poisson's ratio, stretches and bends exactly as beam theory
says when its head stays plane, however stubby it is:

    W_aa = s/EA ± b²s/EI       W_ea = (c s/EA,  ∓ c² b s²/2EI)       A = a², I = a⁴/12

with pistons b beside the axis and the effector at the height c s. 60 × 60 × 72 mm, b = 10 mm and the
effector at 48 mm have the proportions of the printed matrices; the modulus sets their size.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.bodies import Rigid
from pliant.robot import Robot
from pliant.studies.check import Check
from pliant.studies.duriez2024.compared import Compared, shown
from pliant.studies.duriez2024.paper import JACOBIAN, WAA, WEA

WIDTH, HEIGHT, ASIDE, PLACE = 0.060, 0.072, 0.010, 0.048  # [m] a, s, b, c s
YOUNG = 2.67e3  # [Pa]
CELLS = (6, 4, 4)
ACTUATORS, EFFECTOR = ["piston 1", "piston 2"], "effector"
WHY = "no robot is printed: its proportions follow from the matrices, and 2.67 kPa is rounded from 8/3"


def block() -> Robot:
    """The block along x, clamped at its foot, with rows as those of the column."""
    half = WIDTH / 2
    mesh = pl.mesh.box((HEIGHT, WIDTH, WIDTH), cells=CELLS, kind="hex", origin=(0.0, -half, -half))
    head = Rigid(mesh.nodes[:, 0] > HEIGHT - 1e-9, name="head")
    foot = mesh.nodes[:, 0] < 1e-9
    body = pl.Solid(mesh, pl.Hooke(young=YOUNG, poisson=0.0), density=30.0, fixed=foot, rigid=head)
    rows = {}
    for name, side in zip(ACTUATORS, (1.0, -1.0), strict=True):
        point = body.attached_points("head", [[HEIGHT, side * ASIDE, 0.0]])
        rows[name] = pl.Row(pl.Slider(point, (1, 0, 0)), pl.Bounded())
    rows[EFFECTOR] = pl.Row(pl.Position(body.points([[PLACE, 0.0, 0.0]]), directions="xy"), pl.Target())
    return Robot(body, rows, name="two pistons on a block")


def closed_form() -> tuple[np.ndarray, np.ndarray]:
    """W_aa (2, 2) and W_ea (2, 2) [m/N] by beam theory, with the block's dimensions."""
    EA, EI = YOUNG * WIDTH**2, YOUNG * WIDTH**4 / 12.0
    stretch, turn = HEIGHT / EA, ASIDE**2 * HEIGHT / EI
    along, across = PLACE / EA, ASIDE * PLACE**2 / (2.0 * EI)
    Waa = np.array([[stretch + turn, stretch - turn], [stretch - turn, stretch + turn]])
    return Waa, np.array([[along, along], [-across, across]])


def from_dimensions(table: Compared) -> list[Check]:
    """Rows of W and J by finite elements against beam theory; the printed matrices as comparisons."""
    W = pl.compliance(block())
    Waa = np.block([[W[a, b] for b in ACTUATORS] for a in ACTUATORS])
    Wea = np.hstack([W[EFFECTOR, a] for a in ACTUATORS])
    J = W.jacobian(EFFECTOR, ACTUATORS)
    expected = closed_form()
    show = {"unit": "mm/N", "factor": 1e3, "allowed": 1e-6}
    table.add("block, W_aa", "finite elements, beam theory", expected[0], Waa, **show)
    table.add("block, W_ea", "finite elements, beam theory", expected[1], Wea, **show)
    compared = lambda name, here, printed, unit: Check.compared(
        name, shown(here), paper=shown(printed), unit=unit, why=WHY
    )
    return [
        compared("block from dimensions: W_aa", 1e3 * Waa, WAA, "mm/N"),
        compared("block from dimensions: W_ea", 1e3 * Wea, WEA, "mm/N"),
        compared("block from dimensions: J", J, JACOBIAN, "1"),
    ]
