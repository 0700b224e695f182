"""A continuum arm with three cables: fitted to ten poses, scored on poses with longer strokes."""

from __future__ import annotations

import numpy as np

from pliant.bodies import Beam, Stiffness
from pliant.errors import CalibrationError
from pliant.interactions import Cable, Position
from pliant.io.table import Table
from pliant.laws import Bounded, Known, Law, Measured
from pliant.mesh.lines import line
from pliant.robot import Robot, Row
from pliant.sensing import Calibration, Record, calibrate
from pliant.static import static
from pliant.studies.check import Check
from pliant.studies.real.lab import Lab
from pliant.studies.real.recordings import tendon_arm
from pliant.studies.study import Findings

POSES = 10
ASKED = 2e-3  # [m] mean distance
INCUMBENT = 2.62  # [mm] constant curvature with 12 parameters, as its recorders state it
EI = 1e-2  # [N·m²]: only ratios of stiffnesses matter where lengths are imposed
ELEMENTS = 8
LEVER = 0.005  # [m] where cables are off the axis, to begin with
NOISE = 1e-3  # [m] of a coordinate: of the tracker, and what friction does to a pose
CABLES = tuple(f"cable {n}" for n in (1, 2, 3))
START = {
    "length": 0.115,
    "lever": LEVER,
    "axial": 1.0,
    "second": 0.0,
    "third": 0.0,
    "turn 2": 0.0,
    "turn 3": 0.0,
}
KNOWN = {
    "length": 0.02,
    "lever": 2e-3,
    "axial": 1.0,
    "second": 3e-4,
    "third": 3e-4,
    "turn 2": 0.07,
    "turn 3": 0.07,
    **dict.fromkeys(CABLES, 2e-4),
}
LIMITS = {"axial": (0.05, 50.0), "lever": (1e-3, 0.02)}
TEXT = (
    "Tip positions under given shortenings of three cables, size and material not stated. Ours is a rod "
    "with three cables, of which ten poses say the length, the levers, two angles, how stiff it is along "
    "its axis, where each cable has its zero and where the camera stands; where a cable is not pulled it "
    "is slack. Priors are guesses of a workshop's tolerances. Ten poses spread over the inner half (of "
    "poses, by the longest stroke) are fitted, and poses of the outer half scored; and the same with ten "
    "poses of any stroke, without those in the score. Beside it: an affine map of the shortenings."
)


def arm(**numbers: float) -> Robot:
    """A rod along x from its clamp, with cables beside its axis; ratios of stiffnesses only."""
    length, lever = numbers["length"], numbers["lever"]
    EA = numbers["axial"] * EI / LEVER**2
    body = Beam(
        line((0, 0, 0), (length, 0, 0), elements=ELEMENTS),
        Stiffness(EA=EA, GJ=0.8 * EI, EI=EI, GA=0.3 * EA, mass=0.05),
        fixed=0,
    )
    along = np.linspace(0.0, length, 2 * ELEMENTS + 1)
    levers = lever, lever + numbers["second"], lever + numbers["third"]
    angles = 0.0, numbers["turn 2"] - 2 * np.pi / 3, numbers["turn 3"] + 2 * np.pi / 3
    rows = {}
    for name, away, angle in zip(CABLES, levers, angles, strict=True):
        points = body.at(along, offset=(away * np.cos(angle), away * np.sin(angle)))
        rows[name] = Row(Cable(points), Bounded(effort=(0.0, np.inf)))
    rows["tip"] = Row(Position(body.at([length])), Measured())
    return Robot(body, rows)


def pulled(shortenings: np.ndarray) -> dict[str, Law]:
    """Laws for shortenings (3,) [m]; a cable that is not pulled is slack."""
    return {
        name: Known(displacement=float(v)) if v > 0.0 else Known(effort=0.0)
        for name, v in zip(CABLES, shortenings, strict=True)
    }


def fitted(shortenings: np.ndarray, tips: np.ndarray) -> Calibration:
    """From poses (n, 3); one that is refused is scored all the same."""
    records = [Record(tip, pulled(a)) for a, tip in zip(shortenings, tips, strict=True)]
    try:
        return calibrate(
            arm,
            records,
            START,
            offsets=CABLES,
            transform=True,
            deviation=KNOWN,
            limits=LIMITS,
            noise=NOISE,
            row="tip",
        )
    except CalibrationError as refused:
        return refused.found


def missed(found: Calibration, shortenings: np.ndarray, tips: np.ndarray) -> np.ndarray:
    """Distances [m] of the model's tips from the measured ones, pose by pose."""
    assert found.transform is not None
    ours = [static(found.robot, found.commands(pulled(a))).displacement["tip"] for a in shortenings]
    return np.linalg.norm(np.array(ours) - found.transform.apply(tips), axis=1)


def affine(known: np.ndarray, tips: np.ndarray, scored: np.ndarray) -> np.ndarray:
    """Tips (n, 3) of an affine map of the shortenings."""
    columns = lambda a: np.column_stack([np.ones(len(a)), a])
    return columns(scored) @ np.linalg.lstsq(columns(known), tips, rcond=None)[0]


def spread(a: np.ndarray, pool: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Poses of a pool, each as far as it can be from those before; the first is drawn."""
    chosen = [int(rng.choice(pool))]
    while len(chosen) < count:
        far = np.min([np.linalg.norm(a[pool] - a[k], axis=1) for k in chosen], axis=0)
        chosen.append(int(pool[np.argmax(far)]))
    return np.array(chosen)


def poses(lab: Lab) -> Findings:
    """Ours and the affine map from ten poses, on the outer half."""
    a, tips = tendon_arm()
    rng = lab.setup.rng("arm")
    order = np.argsort(a.max(axis=1) + 1e-9 * rng.random(len(a)))
    half = len(order) // 2
    table = Table("Tendon arm: distance from the measured tip", ("poses", "draw", "who", "mean", "largest"))
    means: dict[tuple[str, str], list[float]] = {}
    for draw in range(lab.setting.draws):
        for name, pool in (("inner", order[:half]), ("any", order)):
            known = spread(a, pool, POSES, rng)
            scored = np.setdiff1d(rng.choice(order[half:], lab.setting.scored, replace=False), known)
            ours = missed(fitted(a[known], tips[known]), a[scored], tips[scored])
            map_ = np.linalg.norm(affine(a[known], tips[known], a[scored]) - tips[scored], axis=1)
            for who, away in (("ours", ours), ("affine", map_)):
                table.add(poses=name, draw=draw, who=who, mean=1e3 * away.mean(), largest=1e3 * away.max())
                means.setdefault((name, who), []).append(1e3 * float(away.mean()))
    table.notes.append("In millimetres.")
    mean = {key: float(np.mean(values)) for key, values in means.items()}
    checks = [
        Check.at_most("from ten inner poses, on the outer half", mean["inner", "ours"], 2.0, unit="mm"),
        Check("affine, the same", mean["inner", "affine"], unit="mm"),
        Check.at_most("from ten poses of any stroke, on the outer half", mean["any", "ours"], 2.0, unit="mm"),
        Check("affine, the same poses of any stroke", mean["any", "affine"], unit="mm"),
        Check.compared(
            "ours from ten poses of any stroke",
            mean["any", "ours"],
            paper=INCUMBENT,
            why="constant curvature, 12 parameters fitted to all poses and scored on them",
            unit="mm",
        ),
    ]
    return Findings("The tendon arm", TEXT, [table], checks)
