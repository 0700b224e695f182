"""A made-up robot of 5000 vertices in motion, to measure what showing and keeping it costs."""

from __future__ import annotations

import numpy as np

from pliant.frame import Frame, Touch
from pliant.io.recording import Recording
from pliant.stage import RowFacts, Stage

LENGTH, RADIUS, CABLES = 0.2, 0.02, 8


def bent_tube(count: int, *, around: int = 50, along: int = 100) -> Recording:
    """A tube of around × along vertices with eight cables, bent and shaken in `count` frames of 1/30 s."""
    turn, height = np.meshgrid(
        np.linspace(0, 2 * np.pi, around, endpoint=False), np.linspace(0, LENGTH, along), indexing="ij"
    )
    rest = np.stack([RADIUS * np.cos(turn), RADIUS * np.sin(turn), height], axis=-1).reshape(-1, 3)
    stage = _stage(rest, around, along)
    return Recording(stage, tuple(_frame(rest, step) for step in range(count)))


def _stage(rest: np.ndarray, around: int, along: int) -> Stage:
    i, j = np.meshgrid(np.arange(around), np.arange(along - 1), indexing="ij")
    a, b = i * along + j, (i + 1) % around * along + j
    sides = [np.stack([a, b, a + 1], -1), np.stack([b, b + 1, a + 1], -1)]
    rows = [RowFacts(f"cable {k + 1}", "Cable", "actuator", 1, "m", "N", (0.0, 20.0)) for k in range(CABLES)]
    rows.append(RowFacts("tip", "Position", "effector", 3, "m", "N"))
    return Stage(
        robot="tube",
        summary="",
        length=LENGTH,
        up=np.array([0.0, 0.0, 1.0]),
        rest=rest,
        vertices=np.arange(len(rest)),
        triangles=np.concatenate([side.reshape(-1, 3) for side in sides]),
        region=np.zeros(len(rest), int),
        rows=tuple(rows),
        cables=(),
        cavities=(),
    )


def _frame(rest: np.ndarray, step: int) -> Frame:
    bend = 8.0 * np.sin(0.07 * step) + 1e-9  # [1/m]
    angle, r = bend * rest[:, 2], 1 / bend - rest[:, 0]
    shake = 0.004 * np.sin(0.3 * step + 30 * rest[:, 2])
    x = np.stack([1 / bend - r * np.cos(angle), rest[:, 1] + shake, r * np.sin(angle)], axis=-1)
    pulls = {f"cable {k + 1}": np.array([1.0 + np.sin(0.07 * step + k)]) for k in range(CABLES)}
    tip = {"tip": x[-1]}
    return Frame(
        step=step,
        time=step / 30,
        mode="inverse",
        positions=x,
        lines=np.zeros((0, 3)),
        effort=pulls,
        displacement={name: 0.01 * pull for name, pull in pulls.items()} | tip,
        command={name: 0.01 * pull for name, pull in pulls.items()},
        target=tip,
        error={"tip": np.zeros(3)},
        touch=Touch(x[:5], 0.1 * x[:5], ("ball",) * 5),
        status="moving",
        words="Tip is on its way: 3.2 mm to go. Touches ball, which pushes back with 0.2 N.",
        timings=dict.fromkeys(("linearise", "factorise", "condense", "solve", "recover"), 0.001),
    )
