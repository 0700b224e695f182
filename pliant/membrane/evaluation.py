"""Evaluating a mechanism at one state: the compiled loop, asked for its forces only."""

from __future__ import annotations

import numpy as np

from pliant.errors import ConvergenceError, SingularError
from pliant.membrane.kernels import run as kernel
from pliant.membrane.kernels.path import path_gradient, path_hessian
from pliant.membrane.kernels.shape import Stations
from pliant.membrane.model import CABLE, Drive, Memory, Model, Work, step_scratch
from pliant.membrane.shapes import rotation
from pliant.membrane.wrapping import Contact, TautPath


def path_of(model: Model, memory: Memory, work: Work, cable: int) -> TautPath:
    """The taut path of a cable, after an evaluation."""
    p = model.paths
    own = slice(p.start[cable], p.start[cable + 1])
    stations = Stations(
        work.place[own].copy(), p.corners, p.first[own], p.last[own], p.radius[own], p.side[own]
    )
    contact = Contact(memory.state[own][1:-1].copy(), memory.turn[own][1:-1].copy())
    return TautPath(stations, float(work.length[cable]), work.table[own].copy(), contact)


def evaluate(
    model: Model,
    memory: Memory,
    drive: Drive,
    q: np.ndarray,
    v: np.ndarray,
    work: Work,
    *,
    tangent: bool = False,
    settle: bool = False,
) -> None:
    """Fill `work` at (q, v); `settle` also writes contacts and slip to the memory."""
    phase = kernel.SETTLE if settle else kernel.EVALUATE
    scratch = step_scratch(model)
    kernel.run(model, memory, drive, q, v, 1.0, 0, 0.0, 0.0, phase, tangent, work, scratch)


def check_status(name: str, status: int) -> None:
    """Raise for a status of the kernels that is not DONE."""
    if status == kernel.NOT_A_NUMBER:
        raise ConvergenceError(f"The state of {name!r} is not a number any more.")
    if status == kernel.SINGULAR:
        raise SingularError(f"{name!r} has a coordinate without inertia.")
    if status != kernel.DONE:
        raise ConvergenceError(
            f"No step of {name!r}: the motion has no bounds or the time_step is too large."
        )


def bias_of(model: Model, work: Work, v: np.ndarray) -> np.ndarray:
    """J̇v (c,) of pins and cables: ∂φ/∂x·(J̇v of the poses x) + ẋᵀ ∂²φ/∂x² ẋ."""
    out, speed = np.zeros(len(work.value)), work.J @ v
    pins, paths = model.pins, model.paths
    for k, (bodies, at) in enumerate(zip(pins.body, pins.at, strict=True)):
        for sign, b, local in ((-1.0, bodies[0], at[:2]), (1.0, bodies[1], at[2:])):
            arm = rotation(float(work.pose[b, 2])) @ local
            out[2 * k : 2 * k + 2] += sign * (work.bias[b, :2] - arm * speed[b, 2] ** 2)
    for p in np.flatnonzero(paths.kind == CABLE):
        own = slice(paths.start[p], paths.start[p + 1])
        places, table, body = work.place[own], work.table[own], paths.body[own]
        grad, H = np.empty((len(places), 3)), np.empty((3 * len(places), 3 * len(places)))
        path_gradient(places, table, grad)
        path_hessian(places, table, H)
        rate = speed[body].ravel()
        out[paths.row[p]] = (grad * work.bias[body]).sum() + rate @ H @ rate
    return out
