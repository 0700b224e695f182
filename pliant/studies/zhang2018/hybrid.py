"""Part 8, the paper's outlook: control of the position along x and y and of a contact force along z.

Position and force are estimated from markers alone. The plant is a robot with another modulus, and tensions
that are larger than commanded, over a post that the controller knows nothing of. It is calibrated in the air.
Then, every frame: markers → external force on the hub (ForceEstimator) → the inverse model, with the force
asked for as a known load and the measured height as target → tensions. Integrals of both errors make up for
errors of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.contact import Sphere
from pliant.interactions import PointForce
from pliant.inverse import Inverse
from pliant.laws import Known
from pliant.robot import Robot, Row
from pliant.robots.parallel import RISE, THICKNESS, parallel_layouts
from pliant.sensing import Estimate, ForceEstimator, Record, calibrate, instrumented
from pliant.static import static
from pliant.studies.check import Check
from pliant.studies.figures import heading, line, new_figure
from pliant.studies.study import Findings, Picture
from pliant.studies.zhang2018.lab import Lab
from pliant.studies.zhang2018.paper import YOUNG
from pliant.studies.zhang2018.pictures import draw, legend

SOFTER = 270e3  # [Pa] modulus of the plant
STRONGER = 1.03  # its tensions over those commanded
NOISE = 1e-4  # [m] of markers
AIR = ((1, 2, 3, 4), (1,), (2,), (3,), (4,))  # cables at 1 N in the poses for calibration …
FRAMES = 50  # … and frames of each
LOW = RISE - THICKNESS / 2  # underside of the hub [m]
RADIUS, GAP = 0.03, 3e-3  # of the post's round top, and how far below the hub it is [m]
HOOK, TOP = np.array([[0.0, 0.0, LOW]]), RISE + THICKNESS / 2
APPROACH = 3e-4  # [m] per frame, down to the post
TOUCHING_FORCE = 0.1  # [N] from which there is contact
GAIN, SMOOTH = 0.1, 0.2  # of the integrals, and of the filter on what is measured
FIRST_TENSION = 0.5  # [N] of every cable
RATE = np.array([1.5e-4, 1.5e-4, 0.05])  # largest change of what is followed, per frame [m], [N]
SETTLING_FRAMES, LANDING_FRAMES = 25, 45  # after a change, and after the beginning, that do not count
ASKED = (  # frames, x and y [m], contact force [N]
    (70, (1.5e-3, 0.0), 0.5),
    (60, (1.5e-3, 0.0), 1.0),
    (60, (-1.0e-3, 1.0e-3), 1.0),
)
TEXT = (
    "Our own parallel robot presses its hub on a round post that the controller is not told of. The plant is "
    "10 % softer than the first model and its tensions are 3 % larger than commanded; Young's modulus is "
    "fitted to five poses in the air. Twelve markers with 0.1 mm of noise, one linearisation per frame. "
    "Asked for: x and y of the hub and the force along z: 0.5 N, then 1 N, then 1 N at another place. "
    "'True' is what the plant says."
)


@dataclass(frozen=True)
class Moment:
    """One frame: what was asked for, what was true and what was felt (x, y [m], force [N])."""

    asked: np.ndarray
    true: np.ndarray
    felt: np.ndarray
    deviation: float


def hybrid(lab: Lab) -> Findings:
    """The loop, its errors and its picture."""
    moments, estimate = _run(lab)
    counted = _counted()
    error = np.array([m.true - m.asked for m in moments])[counted]
    felt = np.array([m.felt[2] - m.true[2] for m in moments])[counted]
    force = np.array([m.asked[2] for m in moments])[counted]
    checks = [
        Check.at_most(
            "contact force: rms error over the force asked for",
            float(np.sqrt(np.mean((error[:, 2] / force) ** 2))),
            0.1,
        ),
        Check.at_most(
            "contact force: mean error over the force asked for",
            abs(float(np.mean(error[:, 2] / force))),
            0.05,
        ),
        Check.at_most(
            "position along x and y: rms error",
            1e3 * float(np.sqrt((error[:, :2] ** 2).mean())),
            0.1,
            unit="mm",
        ),
        Check("force felt less force true: rms", 1e3 * float(np.sqrt((felt**2).mean())), unit="mN"),
        Check("deviation stated for it", 1e3 * float(np.mean([m.deviation for m in moments])), unit="mN"),
        Check("calibrated modulus over the plant's", estimate.robot.body.material.young / SOFTER),
    ]
    picture = Picture(
        "hybrid", "Position held in two axes, contact force in the third.", _figure(moments, estimate)
    )
    return Findings("Hybrid position and force control", TEXT, checks=checks, pictures=[picture])


def _run(lab: Lab) -> tuple[list[Moment], Estimate]:
    rng, layout = lab.setup.rng("hybrid"), parallel_layouts["r1"]
    plant = instrumented(lab.look_alike(SOFTER), layout.markers)
    post = Sphere((0.0, 0.0, LOW - GAP - RADIUS), RADIUS, name="post")
    loop = _Loop(_calibrated(lab, plant, rng), layout.markers)
    laws, state, moments = loop.tensions, None, []
    for frames, place, force in ASKED:
        for _ in range(frames):
            real = static(plant, _pulled(laws), obstacles=[post], state=state)
            state = real.state
            seen = real.displacement["markers"].reshape(-1, 3)
            laws = loop.step(seen + NOISE * rng.normal(size=seen.shape), np.array([*place, force]))
            pushed = (
                float(real.contact_force @ real.contacts.normal[:, 2]) if real.contacts is not None else 0.0
            )
            true = np.array([*real.displacement["tip"][:2], pushed])
            moments.append(Moment(np.array([*place, force]), true, loop.felt, loop.deviation))
    return moments, loop.estimate


def _pulled(laws: dict[str, Known]) -> dict[str, Known]:
    """What the plant's cables truly do."""
    efforts = {name: float(law.effort or 0.0) for name, law in laws.items()}  # type: ignore[arg-type]
    return {name: Known(effort=STRONGER * effort) for name, effort in efforts.items()}


def _calibrated(lab: Lab, plant: Robot, rng: np.random.Generator) -> Robot:
    """The model with its modulus calibrated in the air."""
    records = []
    for taut in AIR:
        laws = {f"cable {n}": Known(effort=float(n in taut)) for n in range(1, 5)}
        seen = static(plant, _pulled(laws)).displacement["markers"].reshape(-1, 3)
        mean = seen + NOISE / np.sqrt(FRAMES) * rng.normal(size=seen.shape)
        records.append(Record(mean, laws))
    build = lambda young: lab.look_alike(young)
    markers = parallel_layouts["r1"].markers
    noise = NOISE / np.sqrt(FRAMES)
    calibration = calibrate(build, records, {"young": YOUNG}, markers=markers, noise=noise)
    return lab.look_alike(calibration.values["young"])


class _Loop:
    """From markers to tensions."""

    def __init__(self, robot: Robot, markers: np.ndarray) -> None:
        self.tensions = {f"cable {n}": Known(effort=FIRST_TENSION) for n in range(1, 5)}
        self.estimator = ForceEstimator(robot, markers, HOOK, laws=self.tensions, noise=NOISE)
        load = Row(PointForce(robot.body.points(HOOK)), Known(effort=(0.0, 0.0, 0.0)))
        loaded = Robot(robot.bodies, {**robot.rows, "load": load}, gravity=robot.gravity)
        self.inverse = Inverse(loaded)
        self.aim = np.array([0.0, 0.0, TOP])
        self.felt, self.height, self.touched = np.zeros(3), TOP, False
        self.integral = np.zeros(3)  # of the errors along x, y [m] and of the force [N]
        self.deviation = np.inf
        self.followed = np.zeros(3)  # moves to what is asked for at a limited rate …
        self.delayed = np.zeros(3)  # … and filtered as what is felt

    def step(self, markers: np.ndarray, asked: np.ndarray) -> dict[str, Known]:
        """Tensions for the next frame, from markers (n, 3) [m] and what is asked for (x, y, force)."""
        self.estimate = self.estimator.step(markers, self.tensions)
        tip, push = self.estimate.displacement["tip"], self.estimate.effort["forces"]
        self.deviation = float(self.estimate.deviation("forces")[2])
        felt = np.array([*tip[:2], push[2]])
        self.felt = felt if not self.touched else self.felt + SMOOTH * (felt - self.felt)
        self.height += SMOOTH * (tip[2] - self.height)
        if not self.touched and push[2] > max(TOUCHING_FORCE, 3 * self.deviation):
            self.touched, self.delayed = True, self.felt.copy()
            self.followed[2] = push[2]
        self.followed += np.clip(asked - self.followed, -RATE, RATE) * (1.0, 1.0, float(self.touched))
        if self.touched:
            self.delayed += SMOOTH * (self.followed - self.delayed)
            self.integral += GAIN * (self.delayed - self.felt)
            wanted = self.followed + self.integral
            self.inverse.change({"load": Known(effort=(0.0, 0.0, max(wanted[2], 0.0)))})
            self.aim = np.array([*wanted[:2], self.height])
        else:  # go down, and to the place, until something is felt
            self.aim = np.array([*self.followed[:2], self.aim[2] - APPROACH])
        out = self.inverse.step(targets={"tip": self.aim})
        self.tensions = {name: Known(effort=float(out.effort[name][0])) for name in self.tensions}
        return self.tensions


def _counted() -> np.ndarray:
    """Which frames count: those long enough after a change."""
    first = [LANDING_FRAMES] + [SETTLING_FRAMES] * (len(ASKED) - 1)
    return np.concatenate([np.arange(frames) >= n for n, (frames, _, _) in zip(first, ASKED, strict=True)])


def _figure(moments: list[Moment], estimate: Estimate) -> Any:
    figure, axes = new_figure(11.0, 3.4, 1, 3)
    frames = np.arange(len(moments))
    for k, (words, unit) in enumerate((("x", 1e3), ("y", 1e3))):
        axes[0, 0].plot(frames, [unit * m.true[k] for m in moments], label=f"{words}, true", **line(k))
        axes[0, 0].plot(
            frames, [unit * m.asked[k] for m in moments], color="black", linewidth=0.8, linestyle=":"
        )
    for name, style in (("felt", line(3)), ("true", line(0))):
        axes[0, 1].plot(frames, [getattr(m, name)[2] for m in moments], label=name, **style)
    axes[0, 1].plot(
        frames, [m.asked[2] for m in moments], color="black", linewidth=0.8, linestyle=":", label="asked"
    )
    for ax, words, label in (
        (axes[0, 0], "position of the hub", "[mm]"),
        (axes[0, 1], "contact force", "[N]"),
    ):
        ax.set_xlabel("frame")
        ax.set_ylabel(label)
        ax.legend(frameon=False, fontsize=8)
        heading(ax, words)
    draw(axes[0, 2], estimate, per_newton=0.03)
    heading(axes[0, 2], "the last frame, as felt")
    legend(figure)
    return figure
