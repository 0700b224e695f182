"""Part 6: where forces act, and how often the stated intervals contain the truth."""

from __future__ import annotations

import numpy as np

from pliant.laws import Known
from pliant.robots.sheet import THICKNESS
from pliant.sensing import ForceLocator, MarkerTracker, instrumented
from pliant.sensing import places as spread
from pliant.static import static
from pliant.studies.check import Check
from pliant.studies.study import Findings, Picture
from pliant.studies.zhang2018.lab import SEARCHED, Lab
from pliant.studies.zhang2018.pictures import cases

NOISE = 1e-4  # [m]
TOP = THICKNESS / 2
MARKERS, CANDIDATES = SEARCHED["s"]
SPACING = 0.022  # [m] of candidates anywhere on the skin
STRENGTH = (5.0, 8.0)  # standard deviations: the sizes of forces among candidates
HIDDEN = 0.3  # of the markers, in the test with flicker
TEXT = (
    "The sheet with 14 markers and 0.1 mm of noise. One or two forces, in turn, on 12 candidates, each five "
    "to eight times as large as the standard deviation that the covariance of all candidates predicts for "
    "it; and on the robot, with nine markers and eight candidates. Then single forces of 0.5 N anywhere "
    "between candidates 22 mm apart. Coverage: 95 % intervals of the six components of layout s1, one "
    "linearisation per frame. Flicker: the same layout, unlabelled points in random order, 30 % of them "
    "missing, others in every frame."
)


def places(lab: Lab) -> Findings:
    """Rates."""
    rng, checks = lab.setup.rng("places"), []
    for method in ("greedy", "l1"):
        for words, direction in (("across", (0, 0, -1)), ("of three components", None)):
            options = {"direction": direction, "method": method, "most": 3}
            locator = ForceLocator(lab.build("s"), MARKERS, CANDIDATES, **options)
            rate = _rate(locator, lab.setting.trials, rng)
            checks.append(Check.at_least(f"{method}, forces {words}: right candidates", rate, 0.95))
    coarse, fine = _between(lab, rng)
    checks += [
        Check.at_most("between candidates: worst distance", fine.max() / SPACING, 1.5, unit="spacings"),
        Check.at_most("mean distance over that without refinement", float(fine.mean() / coarse.mean()), 1.0),
        Check.within("coverage of 95 % intervals", _coverage(lab, rng), 0.93, 0.97),
        Check.at_most(
            "30 % hidden with flicker: rms error over the stated deviation", _flicker(lab, rng), 1.2
        ),
        Check.at_least("robot, nine markers, eight candidates: right candidates", _on_robot(lab, rng), 0.95),
    ]
    picture = Picture("places", "Forces found among twelve candidates, and between them.", _figure(lab))
    return Findings("Places, and how sure", TEXT, checks=checks, pictures=[picture])


def _rate(
    locator: ForceLocator, trials: int, rng: np.random.Generator, laws: dict[str, Known] | None = None
) -> float:
    """How often the right candidates are found."""
    count = len(locator.rest)
    A, w = locator.model.influence(locator.pose, locator.commands) / NOISE, locator.width
    covariance, right = np.linalg.inv(A.T @ A), 0
    for trial in range(trials):
        which = np.sort(rng.choice(count, 1 + trial % 2, replace=False))
        effort = np.zeros((count, w))
        for g in which:
            unit = rng.normal(size=w)
            unit /= np.linalg.norm(unit)
            own = slice(g * w, g * w + w)
            effort[g] = unit * rng.uniform(*STRENGTH) * np.sqrt(unit @ covariance[own, own] @ unit)
        known = {**(laws or {}), "forces": Known(effort=effort.ravel())}
        real = static(locator.robot, known).displacement["markers"]
        locator.reset()
        location = locator.found(locator.converge(real + NOISE * rng.normal(size=len(real))))
        right += list(location.candidates) == list(which)
    return right / trials


def _on_robot(lab: Lab, rng: np.random.Generator) -> float:
    """The rate on the robot, its cables at 2 N, with nine markers and eight candidates as in the paper."""
    laws = lab.laws("r1")
    locator = ForceLocator(lab.build("r"), *lab.searched("r"), direction=(0, 0, -1), most=3, laws=laws)
    return _rate(locator, lab.setting.trials, rng, laws)


def _between(lab: Lab, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Distances [m] of the farthest force found, on candidates and after refinement."""
    robot = lab.build("s")
    locator = ForceLocator(robot, MARKERS, spread(robot, SPACING, lambda x: x[:, 2] > 0), direction="normal")
    coarse, fine = [], []
    for _ in range(lab.setting.trials // 3):
        place = np.array([*rng.uniform(-0.04, 0.04, 2), TOP])
        pushed = instrumented(robot, MARKERS, place[None], direction=(0, 0, -1))
        real = static(pushed, {"forces": Known(effort=0.5)}).displacement["markers"]
        frame = real + NOISE * rng.normal(size=len(real))
        for refine, out in ((False, coarse), (True, fine)):
            locator.reset()
            location = locator.locate(frame, refine=refine)
            away = np.linalg.norm(location.places - place, axis=1)
            out.append(float(away.max(initial=0.0)) if len(location) else np.inf)
    return np.array(coarse), np.array(fine)


def _coverage(lab: Lab, rng: np.random.Generator) -> float:
    estimator, truth = lab.estimator("s1", noise=NOISE), lab.layout("s1").applied.ravel()
    result = static(estimator.robot, {"forces": Known(effort=truth)})
    frame, inside = result.displacement["markers"], []
    for _ in range(lab.setting.frames * 50):
        estimator.reset(result.state)
        low, high = estimator.step(frame + NOISE * rng.normal(size=len(frame))).interval("forces")
        inside.append((low <= truth) & (truth <= high))
    return float(np.mean(inside))


def _flicker(lab: Lab, rng: np.random.Generator) -> float:
    """Root mean square of errors over their stated deviations while markers come and go."""
    estimator, layout = lab.estimator("s1", noise=NOISE), lab.layout("s1")
    tracker, errors = MarkerTracker(estimator), []
    loaded = lab.markers("s1")
    for k in range(100):
        truth = min(1.0, k / 20) * layout.applied.ravel()
        shown = loaded if k >= 20 else lab.markers("s1", k / 20)
        cloud = shown + NOISE * rng.normal(size=shown.shape)
        seen = rng.permutation(len(cloud))[: int((1.0 - HIDDEN) * len(cloud))]
        estimate = estimator.step(tracker.frame(cloud[seen]))
        if k >= 20:
            errors.append((estimate.effort["forces"] - truth) / estimate.deviation("forces"))
    return float(np.sqrt(np.mean(np.square(errors))))


def _figure(lab: Lab):
    """One force and two, with hidden markers, and one between candidates, as in the paper's figure 4."""
    rng, robot = lab.setup.rng("pictures of places"), lab.build("s")
    locator = ForceLocator(robot, MARKERS, CANDIDATES, direction=(0, 0, -1), most=3)
    fine = spread(robot, SPACING, lambda x: x[:, 2] > 0)
    anywhere = ForceLocator(robot, MARKERS, fine, direction="normal")
    loads = (
        ("one force", [CANDIDATES[4]], [0.4], 0, locator),
        ("two forces", [CANDIDATES[1], CANDIDATES[9]], [0.5, 0.3], 0, locator),
        ("two forces, five markers hidden", [CANDIDATES[1], CANDIDATES[9]], [0.5, 0.3], 5, locator),
        ("between candidates", [(0.013, 0.021, TOP)], [0.5], 0, anywhere),
        ("between candidates, five markers hidden", [(-0.02, -0.012, TOP)], [0.5], 5, anywhere),
    )
    shown = []
    for words, places, sizes, hidden, one in loads:
        pushed = instrumented(robot, MARKERS, np.array(places), direction=(0, 0, -1))
        real = static(pushed, {"forces": Known(effort=np.array(sizes))})
        frame = real.displacement["markers"].reshape(-1, 3) + NOISE * rng.normal(size=(len(MARKERS), 3))
        frame[rng.choice(len(MARKERS), hidden, replace=False)] = np.nan
        one.reset()
        location = one.locate(frame, refine=one is anywhere)
        where = pushed.rows["forces"].interaction.points[0].position(real.q)
        true = (where, np.outer(sizes, (0.0, 0.0, -1.0)))
        others = fine.points.position(location.estimate.q) if one is anywhere else None
        shown.append((words, location.estimate, {"true": true, "candidates": others}))
    shown.append(_robot_case(lab, rng))
    return cases(3, shown, size=(4.2, 3.0), uncertain=False)


def _robot_case(lab: Lab, rng: np.random.Generator):
    """Two forces on the robot while its cables pull, two markers hidden."""
    laws, sizes = lab.laws("r1"), np.zeros(8)
    sizes[[1, 7]] = 0.6, 0.8
    locator = ForceLocator(lab.build("r"), *lab.searched("r"), direction=(0, 0, -1), most=3, laws=laws)
    real = static(locator.robot, {**laws, "forces": Known(effort=sizes)})
    frame = real.displacement["markers"].reshape(-1, 3) + NOISE * rng.normal(size=(9, 3))
    frame[[3, 6]] = np.nan
    location = locator.locate(frame, refine=False)
    return (
        "robot, two forces, two markers hidden",
        location.estimate,
        {"applied": np.outer(sizes, (0.0, 0.0, -1.0))},
    )
