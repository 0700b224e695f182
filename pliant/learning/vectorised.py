"""Many environments that are stepped at once, in one process or several: Gymnasium's VectorEnv.

    envs = pliant.learning.vector("Pliant/TrunkReach-v0", envs=16, processes=2)
    observations, infos = envs.reset(seed=0)
    observations, rewards, terminations, truncations, infos = envs.step(actions)

The numbers are those of `gymnasium.vector.SyncVectorEnv`, bit by bit, with any number of processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from pliant.errors import InputError, PliantError, as_floats, unknown_name
from pliant.learning import ENVIRONMENTS
from pliant.learning.board import RESET, SEEDED, STEP
from pliant.learning.crew import Crew, Here, made
from pliant.learning.episode import Environment, Saved

SAID = ("is_success", "failed")  # in the infos of environments


def vector(
    name: str,
    *,
    envs: int,
    processes: int = 1,
    autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    max_episode_steps: int | None = None,
    render_mode: str | None = None,
) -> Vector:
    """Several environments of a name.

    Steps differ in length: have four or more environments for each process. max_episode_steps: as registered,
    if not given.
    """
    try:
        spec = gymnasium.spec(name)
    except gymnasium.error.Error:
        raise unknown_name("environment", name, gymnasium.registry) from None
    for what, value in (("envs", envs), ("processes", processes)):
        if not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(what, expected="a positive number", got=repr(value))
    modes = {mode.value: mode for mode in AutoresetMode}
    mode = modes.get(str(getattr(autoreset_mode, "value", autoreset_mode)))
    if mode is None:
        raise unknown_name("autoreset_mode", str(autoreset_mode), modes)
    options = {} if render_mode is None else {"render_mode": render_mode}
    count = min(int(processes), int(envs))
    crew = Here(spec, options, int(envs)) if count == 1 else Crew(spec, options, int(envs), count)
    steps = spec.max_episode_steps if max_episode_steps is None else max_episode_steps
    return Vector(spec, crew, mode, np.inf if steps is None else steps, render_mode)


class Vector(VectorEnv):
    """The environments of `vector`. `save` and `restore` go back to a moment of all."""

    def __init__(
        self, spec: Any, crew: Here | Crew, mode: AutoresetMode, steps: float, render_mode: str | None
    ) -> None:
        self.spec = self._spec = spec  # Gymnasium sets `spec` to that of the vector
        self.render_mode, self.autoreset_mode = render_mode, mode
        self.metadata = {**crew.metadata, "autoreset_mode": mode}
        self._crew, self._steps, self._painter = crew, steps, getattr(crew, "env", None)
        self.num_envs = len(crew.records)
        self.single_observation_space, self.single_action_space = crew.spaces
        self.observation_space, self.action_space = (batch_space(s, self.num_envs) for s in crew.spaces)
        self._elapsed, self._over = np.zeros(self.num_envs, int), np.zeros(self.num_envs, bool)
        self._begun = np.zeros(self.num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """New episodes, of all or of options["reset_mask"] (n,).

        A seed s gives environment i the seed s + i.
        """
        who = self._mask((options or {}).get("reset_mask"))
        seeds = self._seeds(seed)
        super().reset(seed=seeds[0])
        fresh = np.random.SeedSequence().generate_state(self.num_envs, np.uint64)
        records = self._records()
        for k in np.flatnonzero(who):
            given = seeds[k]
            records["job"][k] = RESET if given is None and self._begun[k] else SEEDED
            records["seed"][k] = fresh[k] if given is None else given
        self._run(who)
        self._begun |= who
        return records["observation"].copy(), self._infos(who)

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One step of all; episodes that are over begin anew as `autoreset_mode` says."""
        everyone, again = np.ones(self.num_envs, bool), self._over.copy()
        if again.any() and self.autoreset_mode == AutoresetMode.DISABLED:
            hint = "reset(options={'reset_mask': …}) begins new ones."
            raise InputError(
                "step", expected="no episode that is over", got=np.flatnonzero(again).tolist(), hint=hint
            )
        if not self._begun.all():
            raise InputError(
                "step", expected="a reset before it", got=f"none of {np.flatnonzero(~self._begun).tolist()}"
            )
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            again[:] = False
        records = self._records()
        records["action"] = self._actions(actions, ~again)
        records["job"] = np.where(again, RESET, STEP)
        self._run(everyone)
        reward, terminated = records["reward"].copy(), records["terminated"].copy()
        truncated = self._elapsed >= self._steps
        self._over, infos = terminated | truncated, {}
        if self._over.any() and self.autoreset_mode == AutoresetMode.SAME_STEP:
            infos = self._renewed(self._over.copy())
        return records["observation"].copy(), reward, terminated, truncated, infos | self._infos(everyone)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Pictures of all, for render_mode="rgb_array"."""
        if self.render_mode is None:
            return None
        if self._painter is None:
            self._painter = made(self._spec, {"render_mode": self.render_mode})
        return tuple(self._picture(self._painter, moment) for moment in self.save())

    def save(self) -> tuple[Saved, ...]:
        """The moments that the environments are in; plain data."""
        self._records()
        known = self._crew.moments
        moments = [known[k] for k in range(self.num_envs)]
        found = tuple(moment for moment in moments if moment is not None)
        if len(found) < self.num_envs:
            raise InputError("save", expected="a reset before it", got="none")
        return found

    def restore(self, moments: Sequence[Saved]) -> None:
        """Go back to moments, one for each environment, of this vector or any other.

        Episodes have their whole length from there.
        """
        if len(moments) != self.num_envs or not all(isinstance(moment, Saved) for moment in moments):
            got = f"{len(moments)} things"
            raise InputError("moments", expected=f"{self.num_envs} of `save`", got=got)
        self._records()
        known = self._crew.moments
        for k, moment in enumerate(moments):
            known[k] = moment
        self._elapsed[:], self._over[:], self._begun[:] = 0, False, True

    @property
    def spent(self) -> np.ndarray:
        """CPU time [s] that each process has spent in steps, (processes,)."""
        self._records()
        return self._crew.spent.copy()

    def close_extras(self, **kwargs: Any) -> None:
        """End the processes."""
        self._crew.close()

    # Inside

    def _records(self) -> np.ndarray:
        if self.closed or self._crew.closed:
            raise PliantError("These environments are closed.")
        return self._crew.records

    def _run(self, who: np.ndarray) -> None:
        """Do the jobs of some, and count the steps of their episodes."""
        self._crew.run(np.flatnonzero(who))
        stepped = self._crew.records["job"] == STEP
        self._elapsed[who & stepped] += 1
        self._elapsed[who & ~stepped] = 0
        self._over[who & ~stepped] = False

    def _renewed(self, over: np.ndarray) -> dict[str, Any]:
        """Begin new episodes of some in the same step; what there was before."""
        records, final = self._crew.records, np.full(self.num_envs, None, object)
        for k in np.flatnonzero(over):
            final[k] = records["observation"][k].copy()
        infos = {"final_obs": final, "_final_obs": over.copy()}
        infos |= {"final_info": self._infos(over), "_final_info": over.copy()}
        records["job"][over] = RESET
        self._run(over)
        return infos

    def _infos(self, who: np.ndarray) -> dict[str, Any]:
        records = self._crew.records
        values = {name: records[name] & who for name in SAID}
        return values | {f"_{name}": who.copy() for name in SAID}

    def _actions(self, actions: Any, needed: np.ndarray) -> np.ndarray:
        shape = self.action_space.shape
        asked = as_floats("actions", actions, f"numbers of shape {shape}")
        if asked.shape != shape:
            raise InputError("actions", expected=f"shape {shape}", got=f"shape {asked.shape}")
        wrong = np.flatnonzero(needed & ~np.isfinite(asked).all(axis=1))
        if len(wrong):
            raise InputError(f"actions[{wrong[0]}]", expected="finite numbers", got=asked[wrong[0]].tolist())
        return asked

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if isinstance(seed, (int, np.integer)):
            seeds: list[int | None] = [int(seed) + k for k in range(self.num_envs)]
        else:
            seeds = [None] * self.num_envs if seed is None else list(seed)
        valid = all(s is None or (isinstance(s, (int, np.integer)) and 0 <= s < 2**64) for s in seeds)
        if len(seeds) != self.num_envs or not valid:
            raise InputError("seed", expected=f"a number ≥ 0, or {self.num_envs} of them", got=repr(seed))
        return seeds

    def _mask(self, mask: Any) -> np.ndarray:
        if mask is None:
            return np.ones(self.num_envs, bool)
        chosen = np.asarray(mask)
        if chosen.shape != (self.num_envs,) or chosen.dtype != bool or not chosen.any():
            raise InputError(
                "reset_mask", expected=f"{self.num_envs} bools, some of them true", got=repr(mask)
            )
        return chosen

    def _picture(self, painter: Environment, moment: Saved) -> np.ndarray:
        painter.restore(moment)
        return painter.picture()


def _entry(name: str, *, num_envs: int = 1, **options: Any) -> Vector:
    return vector(name, envs=num_envs, **options)


def __getattr__(name: str) -> Any:
    """Vector entry points by the name of the class: Gymnasium asks for them by module and name."""
    for environment, (where, _) in ENVIRONMENTS.items():
        if where.split(":")[1] == name:
            return partial(_entry, environment)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
