"""The finger: its contact modes (Fig. 7), and its inverse model with and without self-contact (Fig. 8)."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np

from pliant.contact import ContactBasis
from pliant.inverse import Inverse
from pliant.inverse.settings import Settings
from pliant.io.raster import Camera
from pliant.io.render import Renderer
from pliant.laws import Known
from pliant.reduction import ContactFit, contact_basis
from pliant.robot import Robot
from pliant.static import static
from pliant.studies.check import Check
from pliant.studies.figures import heading, new_figure
from pliant.studies.goury2021.lab import Lab
from pliant.studies.goury2021.paper import FINGER_MODES, FINGER_POINTS
from pliant.studies.study import Findings, Picture
from pliant.timing import paired

VIEW = (-90.0, 8.0)
BODY, PUSH, GOAL = "#cfdde2", "#c2401c", "#1f6f8b"
GOAL_PULL = 0.034  # [m] of cable with which the full model is at the target
FADE = 1e-5  # [m]
SETTINGS = Settings(linearisations=2, starts=1)  # one cable: no other solution to look for
ASKED = 0.04  # of dgemm(1500): 200 Hz where that takes 125 ms
COMPARED_DEPTH = 1e-4  # [m] of penetration without contact handling, from which shares of it mean something
ARRIVED = 1.0  # [mm] of the target: a model that does not arrive is no success, however little it penetrates
LARGEST_SHARE = 0.05  # of the penetration without contact handling that may be left
DRAWN_SHARE = 0.02  # of a mode's largest share: smaller forces have no arrow
SEARCH_DISTANCE = 4.0  # alarm distances around the finger within which a mode's contacts are drawn


def modes(lab: Lab) -> Findings:
    """Fig. 7."""
    fit = _fit(lab)
    samples = len(lab.finger().surroundings.samples)  # type: ignore[arg-type]
    touching = (lab.finger_shots().contact > 0).sum(axis=1)
    falls = bool((np.diff(fit.errors) <= 1e-9).all())
    checks = [
        Check.compared(
            "collision points", samples, paper=FINGER_POINTS, why="our finger was made to have them"
        ),
        Check.compared(
            "snapshots",
            len(lab.finger_shots()),
            paper=800,
            why="as many as pulls of 0.05 mm in the full setting",
        ),
        Check("snapshots left out", len(lab.finger_shots().skipped)),
        Check("points that push when fully pulled", int(touching[-1])),
        Check.holds("the error of the snapshots falls with every mode", falls),
        Check("error of the snapshots with 5 modes", 100 * fit.errors[-1], unit="%"),
    ]
    text = "Modes by nested HALS, drawn as arrows on the finger in the snapshot in which each pushes most."
    data = {"errors": fit.errors.tolist(), "pushing": touching.tolist()}
    return Findings(
        "Contact modes of the finger", text, checks=checks, pictures=[_modes(lab, fit)], data=data
    )


def inverse(lab: Lab) -> Findings:
    """Fig. 8."""
    fit = _fit(lab)
    runs = {"no contact": _Run(lab, lab.finger(False)), "reduced": _Run(lab, fit.robot)}
    free, reduced = runs["no contact"], runs["reduced"]
    same_pull = _depth_at(lab, reduced.pull)
    deep = free.depths > COMPARED_DEPTH
    largest = float((reduced.depths[deep] / free.depths[deep]).max(initial=0.0))
    checks = [
        Check.at_most("reduced: one step over dgemm(1500)", reduced.ratio, ASKED),
        Check("reduced: steps per second where dgemm(1500) takes 125 ms", 8.0 / reduced.ratio, unit="Hz"),
        Check("no contact: one step over dgemm(1500)", free.ratio),
        Check("no contact: deepest penetration at the target", 1e3 * free.depth, unit="mm"),
        Check("reduced: deepest penetration at the target", 1e3 * reduced.depth, unit="mm"),
        Check.at_most(
            "reduced: its share at the same target", reduced.depth / max(free.depth, 1e-12), LARGEST_SHARE
        ),
        Check.at_most(
            "reduced: its share at the same pull", reduced.depth / max(same_pull, 1e-12), LARGEST_SHARE
        ),
        Check("reduced: its largest share at any target of the path", largest),
        Check.at_most("reduced: distance to the target at the end", 1e3 * reduced.missed, ARRIVED, unit="mm"),
        Check("no contact: distance to the target at the end", 1e3 * free.missed, unit="mm"),
    ]
    text = (
        "The target goes where the tip of the full model is while its cable is pulled in by "
        f"{1e3 * GOAL_PULL:g} mm. Both models get the same targets, and their penetrations are compared "
        "target by target; also at the cable's pull with which the reduced model arrives. Without "
        "self-contact the sides of the joints go through each other."
    )
    data = {"depths without contact": free.depths.tolist(), "depths": reduced.depths.tolist()}
    pictures = [_postures(lab, runs)]
    return Findings("Inverse model of the finger", text, checks=checks, pictures=pictures, data=data)


def _depth_at(lab: Lab, pull: float) -> float:
    """Penetration [m] of the model without contact when its cable is pulled in so far [m]."""
    return lab.depth(
        lab.finger(), static(lab.finger(False), {"cable": Known(displacement=pull)}, load_steps=8).q
    )


def _fit(lab: Lab) -> ContactFit:
    return contact_basis(lab.finger(), lab.finger_shots(), FINGER_MODES, fade=FADE, borrowed=0.5)


class _Run:
    """The inverse model on its path to the target.

    `ratio` is the time of a step over dgemm(1500), `depths` and `depth` [m] those along the path and at the
    end, `missed` [m] the distance that is left, `q` and `pull` [m] coordinates and the cable's pull at the
    end.
    """

    def __init__(self, lab: Lab, robot: Robot) -> None:
        shots, frames = lab.finger_shots(), lab.setting.frames
        last = int(np.searchsorted(shots.commands[:, 0], GOAL_PULL - 1e-9))
        places = np.minimum(np.linspace(0, last, frames).astype(int), last)
        path = np.array([_row(lab.finger(), q, "tip") for q in shots.coordinates[places]])
        controller, depths = Inverse(robot, settings=SETTINGS), []
        for k, target in enumerate(np.concatenate([path, np.repeat(path[-1:], frames // 4, axis=0)])):
            outcome = controller.step(targets={"tip": target})
            if k % 8 == 7:
                depths.append(lab.depth(lab.finger(), outcome.q))
        self.q, self.goal, self.depths = outcome.q, path[-1], np.array(depths)
        self.depth = lab.depth(lab.finger(), outcome.q)
        self.pull = float(_row(lab.finger(), outcome.q, "cable")[0])
        self.missed = float(np.linalg.norm(outcome.displacement["tip"] - path[-1]))
        # To and fro by a frame, where the most contacts push.
        targets = cycle([path[-2], path[-1]])
        _, self.ratio = paired(lambda: controller.step(targets={"tip": next(targets)}), rounds=3)


def _row(robot: Robot, q: np.ndarray, name: str) -> np.ndarray:
    """What a row of the robot measures at q."""
    return robot.bundle.delta(robot.bundle.positions(q))[robot.spans[name]]


def _modes(lab: Lab, fit: ContactFit) -> Picture:
    from pliant.reduction import factorisation

    shots, robot = lab.finger_shots(), lab.finger()
    B = factorisation.projected(fit.basis.modes, shots.contact[:, fit.basis.index].T)
    count = min(4, len(fit.basis))
    figure, axes = new_figure(9.6, 2.6, 1, count)
    for mode, ax in enumerate(axes.ravel()):
        q = shots.coordinates[int(np.argmax(B[mode]))]
        camera = show(ax, robot, q, VIEW)
        draw_arrows(ax, camera, *mode_arrows(robot, fit.basis, mode, q), 0.02)
        heading(ax, f"mode {mode + 1}")
    return Picture("modes", "Four contact modes as arrows, as in the paper's Fig. 7.", figure)


def _postures(lab: Lab, runs: dict[str, Any]) -> Picture:
    figure, axes = new_figure(8.4, 3.6, 1, len(runs))
    for ax, (name, run) in zip(axes.ravel(), runs.items(), strict=True):
        camera = show(ax, lab.finger(), run.q, VIEW)
        goal = camera.project(run.goal)
        ax.plot(goal[0], goal[1], "o", color=GOAL, markersize=9, zorder=6)
        ax.set_xlim(min(ax.get_xlim()[0], goal[0] - 0.01), max(ax.get_xlim()[1], goal[0] + 0.01))
        ax.set_ylim(min(ax.get_ylim()[0], goal[1] - 0.01), max(ax.get_ylim()[1], goal[1] + 0.01))
        heading(ax, f"{name}: {1e3 * run.depth:.2f} mm deep")
    return Picture("inverse", "At the end of the path to the target (ball), as in Fig. 8.", figure)


def show(ax: Any, robot: Robot, q: np.ndarray, view: tuple[float, float], *, scale: float = 2500.0) -> Camera:
    """The robot at q on axes without frame, `scale` pixels per metre."""
    from matplotlib.colors import to_rgb

    camera, x = Camera.looking(*view), robot.positions(q)
    image = Renderer(robot, camera, scale).body(x, np.tile(to_rgb(BODY), (len(x), 1)), mesh=True)
    ax.imshow(image.pixels, extent=image.extent, zorder=1, interpolation="bilinear", aspect="equal")
    flat = camera.project(x)[:, :2]
    border = 0.06 * np.ptp(flat, axis=0).max()
    ax.set_xlim(flat[:, 0].min() - border, flat[:, 0].max() + border)
    ax.set_ylim(flat[:, 1].min() - border, flat[:, 1].max() + border)
    ax.set_axis_off()
    return camera


def mode_arrows(robot: Robot, basis: ContactBasis, mode: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a mode pushes (n, 3) [m] at q, and its shares as vectors (n, 3) along the normals there.

    The largest has the length one.
    """
    detector = robot.surroundings.detector(robot)
    contacts = detector.detect(q, SEARCH_DISTANCE * detector.alarm)
    place = np.minimum(np.searchsorted(basis.index, contacts.index), len(basis.index) - 1)
    share = np.where(basis.index[place] == contacts.index, basis.modes[place, mode], 0.0)
    drawn = share > DRAWN_SHARE * share.max(initial=1e-300)
    return contacts.position[drawn], contacts.normal[drawn] * (share[drawn] / share.max())[:, None]


def draw_arrows(ax: Any, camera: Camera, places: np.ndarray, vectors: np.ndarray, length: float) -> None:
    """Arrows whose points are at the places; `length` [m] of the longest."""
    heads = camera.project(places)[:, :2]
    tails = camera.project(places - length * vectors)[:, :2]
    for head, tail in zip(heads, tails, strict=True):
        style = {
            "arrowstyle": "-|>",
            "color": PUSH,
            "linewidth": 1.0,
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": 6,
        }
        ax.annotate("", xy=head, xytext=tail, arrowprops=style, zorder=5)
