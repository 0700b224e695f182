"""Part 11: model order reduction (§6.1). Modal and POD bases, and the projection of M, f and H on them."""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.bodies import Reduced
from pliant.reduction import collect, plans
from pliant.reduction.modal import modal, vibrations
from pliant.reduction.model import reduced_model
from pliant.reduction.pod import displacements, pod
from pliant.reduction.reduce import reduce
from pliant.reduction.responses import responses
from pliant.reduction.state_basis import node_volumes
from pliant.result import Result
from pliant.robot import Robot
from pliant.studies.duriez2024.compared import Compared
from pliant.studies.duriez2024.lab import RUBBER, SIZE, TIGHT, Lab
from pliant.studies.study import Findings

MODES, PULL, UNSEEN = 6, 5.0, 4  # of a basis; largest tension [N] of a snapshot; draws of unseen tensions
DIFFERENCE = 1e-6  # [m] of modes, for the gradient of the energy
TEXT = (
    "ΦᵀMΦ α̈ = ΦᵀF(Φα) + ΦᵀMg + ΦᵀHᵀλ for a bar of hexahedra with a cable. Expected are the same sums by full "
    "matrices, differences of the energy, the eigenvalue problem of the full model, the singular values of "
    "the snapshots, and the full model under tensions that are drawn with the study's seed."
)


def bar(fine: int) -> Robot:
    """A bar of 0.1 m along x, fixed at one end, with a cable above its axis and its tip as effector."""
    mesh = pl.mesh.box((SIZE, 0.02, 0.02), cells=(8 * fine, 2, 2), kind="hex")
    body = pl.Solid(mesh, RUBBER, density=1000.0, fixed=mesh.nodes[:, 0] < 1e-9)
    cable = pl.Cable(body.points([[x, 0.01, 0.018] for x in np.linspace(0.0, SIZE, 6)]))
    tip = pl.Position(body.points([[SIZE, 0.01, 0.01]]))
    rows = {"cable": pl.Row(cable, pl.Bounded(effort=(0.0, PULL))), "tip": pl.Row(tip, pl.Target())}
    return Robot(body, rows, gravity=(0.0, 0.0, -9.81), name="bar")


def reduction(lab: Lab) -> Findings:
    """The rows of both bases."""
    robot, table = bar(lab.setting.fine), Compared("Model order reduction")
    _vibrating(table, robot)
    _from_snapshots(table, robot, lab.setup.rng("reduction"))
    return Findings("Reduction of the degrees of freedom", TEXT, [table.table])


def _vibrating(table: Compared, robot: Robot) -> None:
    """A modal basis: projections against full matrices, frequencies against the full eigenvalue problem."""
    basis = modal(robot, modes=MODES)
    small = reduce(robot, basis)
    body, full = small.body, robot.body
    assert isinstance(body, Reduced)
    Phi = basis.modes.reshape(-1, len(basis))
    gravity = np.tile(robot.gravity, len(full.mesh.nodes)) * np.repeat(full.node_mass, 3)
    at = body.q0 + 1e-3 * np.cos(np.arange(len(basis)))
    slope = np.array([_slope(full, body, at, i) for i in range(len(basis))])
    _, force, _ = body.linearise(at, robot.gravity)
    work = Phi.T @ gravity
    scaled = np.linalg.norm(basis.modes, axis=1).max(axis=0)  # the fastest node of a reduced mode moves by q
    table.add("ΦᵀF(Φα) + ΦᵀMg", "force on the modes", work / scaled - slope, force, unit="N", allowed=1e-6)
    slowest = MODES - 1  # the solver asks for fewer than there are
    omega, lean = (vibrations(one, one.rest, slowest)[0] for one in (robot, small))
    table.add("modal basis", "frequencies of the reduced body", omega, lean, unit="rad/s", allowed=1e-6)


def _slope(full: pl.Solid, body: Reduced, at: np.ndarray, mode: int) -> float:
    """∂ energy of the full body / ∂ mode at reduced coordinates, by central differences [N]."""
    by = DIFFERENCE * np.eye(len(at))[mode]
    ahead, behind = (full.energy(body.expand(at + s * by)) for s in (1.0, -1.0))
    return float(ahead - behind) / (2.0 * DIFFERENCE)


def _from_snapshots(table: Compared, robot: Robot, rng: np.random.Generator) -> None:
    """A POD basis: what it leaves of the snapshots, and the reduced robot under tensions it has not seen."""
    shots = collect(robot, plans.pull(robot, steps=12, drive="effort"), probe=responses)
    coordinates = shots.coordinates
    basis = pod(robot.body, coordinates, modes=3)
    U, _ = displacements(robot.body, coordinates)
    weighted = np.repeat(np.sqrt(node_volumes(robot.body)), 3)[:, None] * U
    Q, _ = np.linalg.qr(np.repeat(np.sqrt(node_volumes(robot.body)), 3)[:, None] * basis.modes.reshape(-1, 3))
    left = np.linalg.norm(weighted - Q @ (Q.T @ weighted))
    sigma = np.linalg.svd(weighted, compute_uv=False)
    expected = float(np.sqrt((sigma[3:] ** 2).sum()))
    table.add("POD basis", "what three modes leave", expected, left, allowed=1e-6, scale=float(sigma[0]))
    small = reduced_model(robot, shots).on(robot)
    rest, most = (_at(robot, tension).displacement["tip"] for tension in (0.0, PULL))
    stroke = float(np.linalg.norm(most - rest))
    for tension in np.sort(rng.uniform(0.0, PULL, UNSEEN)):
        full, lean = _at(robot, tension), _at(small, tension)
        name, motion = f"{tension:.3g} N, drawn", (one.displacement["tip"] - rest for one in (full, lean))
        table.add(name, "motion of the tip", *motion, unit="mm", factor=1e3, allowed=0.02, scale=stroke)
        W = (pl.compliance(one, there.state)["tip", "cable"] for one, there in ((robot, full), (small, lean)))
        table.add(name, "W_ea there", *W, unit="mm/N", factor=1e3, allowed=0.1)


def _at(robot: Robot, tension: float) -> Result:
    """The equilibrium under a tension [N]."""
    return pl.static(robot, {"cable": pl.Known(effort=float(tension))}, tolerance=TIGHT)
