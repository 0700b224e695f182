"""Part 5, table V re-enacted: a weight on the tip of the robot while two cables are pulled.

Markers are near the tip or far from it.

The direct model stands for the real robot: it has more than twice as many nodes as the inverse model.
"""

from __future__ import annotations

import numpy as np

from pliant.io.table import Table
from pliant.laws import Known
from pliant.robot import Robot
from pliant.robots import parallel
from pliant.robots.parallel import RISE, THICKNESS, on_legs
from pliant.sensing import Estimate, ForceEstimator, Record, calibrate, instrumented
from pliant.state import State
from pliant.static import static
from pliant.studies.check import Check
from pliant.studies.study import Findings, Picture
from pliant.studies.zhang2018.lab import Lab
from pliant.studies.zhang2018.paper import PULLS, TIP_ERRORS
from pliant.studies.zhang2018.pictures import cases

YOUNG, NOISE = 220e3, 1e-4  # [Pa], [m]
FRAMES, HIDDEN = 100, 0.25  # a second at 100 Hz, and the share of the markers hidden
GROUPS = {
    "near": on_legs([(n, 8.5, 4.0) for n in range(4)]),
    "far": on_legs([(n, 36.0, 3.0) for n in range(4)]),
}
HOOK, DOWN = np.array([[0.0, 0.0, RISE - THICKNESS / 2]]), (0.0, 0.0, -1.0)
COARSE, FINE = (8, 4, 2), (16, 4, 3)
KNOWN = ((5, 0), (11, 0), (8, 459), (7, 859), (9, 859))  # pulls [mm] and weights [mN] for the calibration
SEEN = NOISE / np.sqrt(FRAMES * (1 - HIDDEN))
LIMIT = 0.03  # mean error, relative …
FAR_LIMIT = 0.07  # … and with far markers
TEXT = (
    "A weight on the hub of the robot, its direction known, two neighbouring cables pulled by given "
    "lengths. Both models have quadratic tetrahedra and a hard insert of 10 mm in the hub that holds the "
    "cables' ends; E = 220 kPa in the direct one, in the inverse one fitted to five poses with known "
    "weights (`calibrate`). Every reading is the mean of one second of frames at 100 Hz, with noise of 0.1 "
    "mm and a quarter of the markers hidden in each. Four markers near the force, or four far from it. Our "
    "robot is about four times as stiff as the paper's (I_w): one frame alone tells a weight to 46 mN "
    "(near) or 100 mN (far)."
)


class Bench:
    """The 'real' robot: what its markers show, in the mean of many frames."""

    def __init__(self, cells: tuple[int, int, int], rng: np.random.Generator) -> None:
        places = np.concatenate(list(GROUPS.values()))
        self.robot = instrumented(_robot(cells, YOUNG), places, HOOK, direction=DOWN)
        self.rng, self._state = rng, None

    def shown(self, pull: float, weight: float) -> dict[str, np.ndarray]:
        """Means of markers (4, 3) [m] by group, for a pull [mm] and a weight [mN]; NaN where never seen."""
        state: State | None = self._state
        laws = {**_laws(pull), "forces": Known(effort=1e-3 * weight)}
        result = static(self.robot, laws, state=state)
        self._state = result.state
        frames = result.displacement["markers"].reshape(-1, 3) + NOISE * self.rng.normal(size=(FRAMES, 8, 3))
        frames[self.rng.random((FRAMES, 8)) < HIDDEN] = np.nan
        return dict(zip(GROUPS, np.split(np.nanmean(frames, axis=0), 2), strict=True))


def tip(lab: Lab) -> Findings:
    """Eight cases, two groups of markers."""
    bench = Bench(FINE, lab.conditions.rng("tip"))
    young = _modulus(bench)
    model = _robot(COARSE, young)
    estimators = {
        group: ForceEstimator(model, markers, HOOK, direction=DOWN, laws=_laws(6), noise=SEEN)
        for group, markers in GROUPS.items()
    }
    table, errors, shown = _table(bench, estimators, max(lab.setting.trials // 20, 1))
    checks = [
        Check.at_most(
            f"{group} markers: mean error",
            float(np.mean(errors[group])),
            limit,
            paper=float(np.mean(TIP_ERRORS[group])),
        )
        for group, limit in (("near", LIMIT), ("far", FAR_LIMIT))
    ]
    checks += [
        Check.at_most("both: mean error", float(np.mean(list(errors.values()))), LIMIT),
        Check("calibrated modulus over the true one (the coarser mesh is stiffer)", young / YOUNG),
    ]
    picture = Picture("tip", "The eight cases, near markers.", cases(4, shown, size=(3.4, 3.2)))
    return Findings("Weights on the robot", TEXT, [table], checks, [picture])


def _table(bench: Bench, estimators: dict[str, ForceEstimator], readings: int):
    """(table, errors by group, pictures)."""
    columns = (
        "pull [mm]",
        "weight [mN]",
        "near [mN]",
        "paper's error",
        "error",
        "far [mN]",
        "paper's error, far",
        "error, far",
    )
    table, errors, shown = Table("Table V: a weight on the tip", columns), {"near": [], "far": []}, []
    for k, (pull, weight) in enumerate(PULLS):
        estimates: dict[str, list[Estimate]] = {group: [] for group in GROUPS}
        for _ in range(readings):
            for group, frame in bench.shown(pull, weight).items():
                estimates[group].append(estimators[group].converge(frame, _laws(pull)))
        mean = {}
        for group, several in estimates.items():
            forces = np.array([1e3 * float(e.effort["forces"][0]) for e in several])
            mean[group] = float(forces.mean())
            errors[group].append(float(np.abs(forces / weight - 1.0).mean()))
        row = {"pull [mm]": pull, "weight [mN]": weight, "near [mN]": mean["near"], "far [mN]": mean["far"]}
        row |= {"paper's error": TIP_ERRORS["near"][k], "error": errors["near"][-1]}
        table.add(**row, **{"paper's error, far": TIP_ERRORS["far"][k], "error, far": errors["far"][-1]})
        applied = 1e-3 * weight * np.array([DOWN])
        shown.append((f"{pull} mm, {weight} mN", estimates["near"][-1], {"applied": applied}))
    return table, errors, shown


def _modulus(bench: Bench) -> float:
    """Young's modulus [Pa] of the inverse model, from poses with known weights."""
    records = [
        Record(
            {"markers": np.concatenate(list(bench.shown(pull, weight).values()))},
            {**_laws(pull), "forces": Known(effort=1e-3 * weight)},
        )
        for pull, weight in KNOWN
    ]
    places = np.concatenate(list(GROUPS.values()))
    build = lambda young: _robot(COARSE, young)
    rows = {"markers": places, "candidates": HOOK, "direction": DOWN}
    return calibrate(build, records, {"young": 250e3}, noise=SEEN, **rows).values["young"]


def _robot(cells: tuple[int, int, int], young: float) -> Robot:
    return parallel(cells=cells, order=2, young=young, insert=5e-3, cable_points=40)


def _laws(pull: float) -> dict[str, Known]:
    """Two neighbouring cables pulled in [mm], the others slack."""
    return {f"cable {n}": Known(displacement=1e-3 * pull) for n in (1, 2)}
