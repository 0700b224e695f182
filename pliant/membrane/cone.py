"""Static equilibrium as a second-order cone program, as Mirano's thesis states it (§4.2), solved by Clarabel.

    min  ½ Σ k sᵢ² − w·p    with  sᵢ ≥ l_ia + l_ib + eᵢ − ℓ₀ᵢ,    sᵢ ≥ 0,
                                  l_ia ≥ |p + o_ia − A|,         l_ib ≥ |B − p − o_ib|

over the place p of an object that does not turn. o_ia and o_ib are the corners that skin i meets first and
last, eᵢ the edges between them. The thesis takes the corners as given and every skin as taut; here sᵢ ≥ 0
allows for slack ones, and the corners are chosen anew until the solution fits them.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from pliant.errors import InputError, MissingExtraError, as_floats
from pliant.membrane.equilibrium import Skins
from pliant.membrane.kernels.skin import FREE, skin_length
from pliant.membrane.shapes import Shape, rotation

MOST_ROUNDS = 20  # times that corners are chosen
CLARABEL_TOLERANCE = 1e-9  # of its gap and residuals, in units of the hand: less is lost in rounding


@dataclass(frozen=True, eq=False)
class ConeSolution:
    """The place of least energy: pose (3,) [m, m, rad], energy [J], stretch [m] and tension [N] of the skins.

    corners (m, 2): first and last corner that a skin touches, −1 where none is. status is Clarabel's word, or
    "corners change" if no choice of corners fits its own solution.
    """

    pose: np.ndarray
    stretch: np.ndarray
    tension: np.ndarray
    energy: float
    corners: np.ndarray
    status: str
    rounds: int
    iterations: int


def cone_equilibrium(
    skins: Skins, shape: Shape, start: Any = None, *, force: Any = (0.0, 0.0)
) -> ConeSolution:
    """The place of least energy of an object that does not turn.

    `start` (x, y) or (x, y, φ) gives the first corners and φ.
    """
    if shape.radius > 0.0:
        raise InputError(
            "shape",
            expected="a point or a polygon with sharp corners",
            got=f"corners rounded by {shape.radius:g} m",
            hint="An arc is no finite number of cones: use `equilibrium`, which takes any shape.",
        )
    pose = skins.ends.reshape(-1, 2).mean(axis=0) if start is None else as_floats("start", start, "(x, y, φ)")
    pose = np.append(pose, 0.0) if pose.shape == (2,) else pose
    load = as_floats("force", force, "(x, y) [N]")
    if pose.shape != (3,) or load.shape != (2,):
        raise InputError("start, force", expected="(x, y, φ) and (x, y)", got=(pose.tolist(), load.tolist()))
    chosen, iterations = _touched(skins, shape, pose), 0
    if chosen is None:
        raise InputError("start", expected="an object clear of the ends of the skins", got=pose.tolist())
    for rounds in range(1, MOST_ROUNDS + 1):
        place, status, count = _solve(skins, shape, pose[2], chosen, load)
        iterations += count
        trial = np.array([*place, pose[2]])
        touched = _touched(skins, shape, trial)
        if touched is not None and (touched == chosen).all():
            return _solution(skins, shape, trial, touched, load, status, rounds, iterations)
        while (
            touched is None
        ):  # these corners lead into the end of a skin: look at the corners half-way there
            trial = 0.5 * (pose + trial)
            touched = _touched(skins, shape, trial)
        pose, chosen = trial, touched
    return _solution(skins, shape, pose, chosen, load, "corners change", MOST_ROUNDS, iterations)


def _touched(skins: Skins, shape: Shape, pose: np.ndarray) -> np.ndarray | None:
    """(m, 2) corners that each skin meets next to A and next to B, −1 where it misses the object.

    None if one ends inside it.
    """
    touched = np.full((len(skins), 2), -1)
    for k in range(len(skins)):
        kind, entry, exit_, *_ = skin_length(skins.ends[k], skins.side[k], shape.corners.copy(), 0.0, pose)
        if kind < FREE:
            return None
        touched[k] = entry, exit_
    return touched


def _solution(
    skins: Skins,
    shape: Shape,
    pose: np.ndarray,
    corners: np.ndarray,
    load: np.ndarray,
    status: str,
    rounds: int,
    count: int,
) -> ConeSolution:
    stretch = np.array(
        [
            max(
                skin_length(skins.ends[k], skins.side[k], shape.corners.copy(), 0.0, pose)[3] - skins.rest[k],
                0.0,
            )
            for k in range(len(skins))
        ]
    )
    energy = 0.5 * float(skins.stiffness @ stretch**2) - float(load @ pose[:2])
    return ConeSolution(pose, stretch, skins.stiffness * stretch, energy, corners, status, rounds, count)


def _solve(
    skins: Skins, shape: Shape, angle: float, chosen: np.ndarray, load: np.ndarray
) -> tuple[np.ndarray, str, int]:
    """(p (2,), status, iterations) of the program with these corners, in units of the hand.

    Variables: p, then (l_a, l_b, s) skin by skin.
    """
    try:
        clarabel: Any = import_module("clarabel")
    except ImportError:
        raise MissingExtraError("The cone program", "conic") from None
    from scipy import sparse

    places = skins.ends.reshape(-1, 2)
    middle, size, hard = (
        places.mean(axis=0),
        float(np.ptp(places, axis=0).max()),
        float(skins.stiffness.max()),
    )
    used = np.flatnonzero(chosen[:, 0] >= 0)
    A, b = _rows(skins, shape, angle, chosen, used, middle, size)
    n = 2 + 3 * len(used)
    weight, q = np.zeros(n), np.zeros(n)
    weight[4::3] = skins.stiffness[used] / hard
    q[:2] = -load / (hard * size)
    cones = [clarabel.SecondOrderConeT(3) for _ in range(2 * len(used))]
    if len(used):
        cones.insert(0, clarabel.NonnegativeConeT(2 * len(used)))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = CLARABEL_TOLERANCE
    P = sparse.csc_matrix(sparse.diags(weight))
    solution = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    return middle + size * np.array(solution.x[:2]), str(solution.status), int(solution.iterations)


def _rows(
    skins: Skins,
    shape: Shape,
    angle: float,
    chosen: np.ndarray,
    used: np.ndarray,
    middle: np.ndarray,
    size: float,
) -> tuple[Any, np.ndarray]:
    """(A, b) of b − A x in the cones.

    First s − l_a − l_b − e + ℓ₀ ≥ 0 and s ≥ 0 of every skin, then its two cones (l, p + o − end).
    """
    corners = shape.corners @ rotation(angle).T
    rows, bounds = [], []
    for n, k in enumerate(used):
        at = 2 + 3 * n
        rows += [{at: 1.0, at + 1: 1.0, at + 2: -1.0}, {at + 2: -1.0}]
        bounds += [(skins.rest[k] - _edges(shape, chosen[k], float(skins.side[k]))) / size, 0.0]
    for n, k in enumerate(used):
        for e in range(2):
            rows += [{2 + 3 * n + e: -1.0}, {0: -1.0}, {1: -1.0}]
            bounds += [0.0, *((corners[chosen[k, e]] - skins.ends[k, 2 * e : 2 * e + 2] + middle) / size)]
    return _matrix(rows, 2 + 3 * len(used)), np.array(bounds)


def _matrix(rows: list[dict[int, float]], columns: int) -> Any:
    from scipy import sparse

    at = [(r, c, v) for r, row in enumerate(rows) for c, v in row.items()]
    r, c, v = zip(*at) if at else ((), (), ())
    return sparse.csc_matrix((v, (r, c)), shape=(len(rows), columns))


def _edges(shape: Shape, chosen: np.ndarray, side: float) -> float:
    """Length along the polygon from the corner next to A to the one next to B."""
    n, total = len(shape.corners), 0.0
    k, last = (chosen[0], chosen[1]) if side > 0 else (chosen[1], chosen[0])
    while k != last:
        total += float(np.linalg.norm(shape.corners[(k + 1) % n] - shape.corners[k]))
        k = (k + 1) % n
    return total
