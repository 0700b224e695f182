"""What viscous materials remember, and the stress that it makes during a step.

A branch of G is a Maxwell element: its stress Q obeys Q̇ = ratio Ṡₑ − Q/time. With y = Q − ratio Sₑ there is
no rate of Sₑ left,

    ẏ = −(y + ratio Sₑ)/time     →     y = (y* − (h/time) ratio Sₑ) / (1 + h/time)

in an implicit stage, with y* from the scheme. So the stress of a stage is affine in the elastic one:  S =
scale Sₑ + Z,

    scale = long_term + rate/h + Σ ratio/(1 + h/time),      Z = −rate/h Sₑ* + Σ y*/(1 + h/time)

Memory of a body: Sₑ if it has a rate part, then y of each branch; zero overstress means y = −ratio Sₑ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.bodies.damping import Damping
from pliant.bodies.overstress import Overstress
from pliant.dynamics.schemes.scheme import Stage
from pliant.errors import InputError
from pliant.robot import Robot


class Viscosity:
    """The viscous variables of all bodies of a robot."""

    def __init__(self, robot: Robot, damping: Sequence[Damping]) -> None:
        self.robot, self.damping = robot, tuple(damping)
        sizes = [self._size(n) for n in range(len(robot.bodies))]
        ends = np.cumsum(sizes)
        self.spans = [slice(int(e) - s, int(e)) for e, s in zip(ends, sizes, strict=True)]
        self.present, self.size = any(sizes), sum(sizes)

    def _size(self, n: int) -> int:
        law, body = self.damping[n], self.robot.bodies[n]
        if not law.viscous:
            return 0
        memory = body.stress_memory(body.q0)
        if memory is None:
            hint = "Rayleigh damping works with every body."
            raise InputError(
                f"viscosity of body {n}", expected="a body that strains", got=type(body).__name__, hint=hint
            )
        return len(memory) * ((law.rate > 0) + len(law.branches))

    def relaxed(self, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The memory (k,) of materials that have rested at q."""
        parts = [np.zeros(0)]
        for n, law in enumerate(self.damping):
            if law.viscous:
                S = self._stress(n, q, z)
                parts += [S] * (law.rate > 0) + [-ratio * S for ratio, _ in law.branches]
        return np.concatenate(parts)

    def overstress(self, stage: Stage) -> list[Overstress | None] | None:
        """The stress of the memory during a stage, for each body; None where nothing is viscous."""
        if not self.present:
            return None
        return [self._overstress(n, stage) if law.viscous else None for n, law in enumerate(self.damping)]

    def after(self, now: np.ndarray, stage: Stage, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The memory (k,) after a step that began with `now`; q (nq,) is where the stage stood."""
        parts = [np.zeros(0)]
        for n, law in enumerate(self.damping):
            if not law.viscous:
                continue
            S, base = self._stress(n, q, z), list(self._blocks(n, stage.memory))
            blocks = [S] if law.rate > 0 else []
            for (ratio, time), y in zip(law.branches, base[len(blocks) :], strict=True):
                h = stage.step / time
                blocks.append((y - h * ratio * S) / (1.0 + h))
            before = self._blocks(n, now)
            parts.append((before + stage.reach / stage.step * (np.array(blocks) - before)).ravel())
        return np.concatenate(parts)

    def displaced(self, memory: np.ndarray, before: np.ndarray, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The memory (k,) of a motion that was thought to be at `before` (nq,), and is at q.

        The parts that are proportional to a rate see no sudden change; what branches remember is kept.
        """
        out = memory.copy()
        for n, law in enumerate(self.damping):
            if law.viscous and law.rate > 0:
                self._blocks(n, out)[0] += self._stress(n, q, z) - self._stress(n, before, z)
        return out

    def _stress(self, n: int, q: np.ndarray, z: np.ndarray) -> np.ndarray:
        S = self.robot.bodies[n].stress_memory(q[self.robot.q_spans[n]], z[self.robot.z_spans[n]])
        assert S is not None
        return S

    def _blocks(self, n: int, memory: np.ndarray) -> np.ndarray:
        law = self.damping[n]
        return memory[self.spans[n]].reshape((law.rate > 0) + len(law.branches), -1)

    def _overstress(self, n: int, stage: Stage) -> Overstress:
        law, blocks, scale = self.damping[n], self._blocks(n, stage.memory), self.damping[n].long_term
        Z = np.zeros(blocks.shape[1])
        if law.rate > 0:
            scale += law.rate / stage.step
            Z -= law.rate / stage.step * blocks[0]
            blocks = blocks[1:]
        for (ratio, time), y in zip(law.branches, blocks, strict=True):
            share = 1.0 / (1.0 + stage.step / time)
            scale += share * ratio
            Z += share * y
        return Overstress(scale, Z)
