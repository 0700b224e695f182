"""Snapshots: what a robot did under a plan of commands, as arrays. Saved without pickles."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import numpy as np

from pliant.errors import InputError
from pliant.files import read_saved, reading
from pliant.reduction.fingerprint import Fingerprint

FORMAT, VERSION = "pliant snapshots", 1


@dataclass(frozen=True, eq=False, repr=False)
class Snapshots:
    """s equilibria of one robot.

    `commands` (s, a) are those of `actuators` (a,), efforts or displacements as `drives` say; `coordinates`
    (s, nq); `contact` (s, C) [N] normal forces by stable contact index, see `Contacts.index`; `trajectory`
    and `step` (s,) the place of each in the plan. `extra` are more arrays (s, …) by name, such as element
    forces. `skipped` says what was left out, and why.
    """

    fingerprint: Fingerprint
    actuators: tuple[str, ...]
    drives: tuple[str, ...]
    commands: np.ndarray
    coordinates: np.ndarray
    contact: np.ndarray
    trajectory: np.ndarray
    step: np.ndarray
    extra: Mapping[str, np.ndarray] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "extra", dict(self.extra))
        for name, array in self._arrays().items():
            if array.ndim != AXES.get(name, array.ndim) or array.dtype.kind not in "fiub":
                expected = f"numbers along {AXES.get(name, array.ndim)} axes"
                raise InputError(f"snapshots, {name}", expected=expected, got=f"{array.dtype} {array.shape}")
            if len(array) != len(self):
                expected = f"{len(self)} rows, one for each snapshot"
                raise InputError(f"snapshots, {name}", expected=expected, got=len(array))
            array.setflags(write=False)
        if not len(self.actuators) == len(self.drives) == self.commands.shape[1]:
            got = f"{self.commands.shape[1]} commands, {len(self.drives)} drives"
            raise InputError("snapshots", expected=f"one of each of {len(self.actuators)} actuators", got=got)

    def __len__(self) -> int:
        return len(self.commands)

    def __repr__(self) -> str:
        left = f", {len(self.skipped)} skipped" if self.skipped else ""
        return f"Snapshots({len(self)} of {self.fingerprint.robot!r}, {self.contact.shape[1]} contacts{left})"

    def _arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in ARRAYS} | {
            f"extra/{k}": v for k, v in self.extra.items()
        }

    def take(self, which: np.ndarray) -> Snapshots:
        """Some of them, by mask or place."""
        chosen = {name: getattr(self, name)[which] for name in ARRAYS}
        return replace(self, **chosen, extra={k: v[which] for k, v in self.extra.items()})

    def finite(self) -> Snapshots:
        """Those of which all numbers are finite; `skipped` names the others."""
        bad: dict[int, list[str]] = {}
        for name, array in self._arrays().items():
            if array.dtype.kind == "f":
                for k in np.flatnonzero(~np.isfinite(array).all(axis=tuple(range(1, array.ndim)))).tolist():
                    bad.setdefault(k, []).append(name)
        if not bad:
            return self
        keep = np.ones(len(self), bool)
        keep[list(bad)] = False
        names = [f"{self.label(k)}: nan or inf in {' and '.join(where)}" for k, where in sorted(bad.items())]
        return replace(self.take(keep), skipped=(*self.skipped, *names))

    def label(self, k: int) -> str:
        """How messages call snapshot k."""
        return f"trajectory {self.trajectory[k] + 1}, step {self.step[k] + 1}"

    @staticmethod
    def join(parts: Sequence[Snapshots]) -> Snapshots:
        """Several sets of the same robot, one after the other."""
        if not parts:
            raise InputError("snapshots", expected="at least one set", got="none")
        first = parts[0]
        for other in parts[1:]:
            same = first.fingerprint == other.fingerprint and first.actuators == other.actuators
            if not same or first.contact.shape[1] != other.contact.shape[1]:
                got = f"{first!r} and {other!r}"
                raise InputError("snapshots", expected="sets of one robot and its contacts", got=got)
            if set(first.extra) != set(other.extra):
                raise InputError(
                    "snapshots", expected=f"extra {sorted(first.extra)}", got=sorted(other.extra)
                )
        joined = {name: np.concatenate([getattr(p, name) for p in parts]) for name in ARRAYS}
        extra = {k: np.concatenate([p.extra[k] for p in parts]) for k in first.extra}
        return replace(first, **joined, extra=extra, skipped=sum((p.skipped for p in parts), ()))

    def save(self, path: str | Path) -> None:
        """Write an .npz file, at once or not at all: a kill leaves no half of it."""
        facts = {
            "format": FORMAT,
            "version": VERSION,
            "fingerprint": self.fingerprint.data(),
            "actuators": self.actuators,
            "drives": self.drives,
            "skipped": self.skipped,
        }
        path = Path(path)
        draft = path.with_name(f".{path.name}.{os.getpid()}.part")
        with draft.open("wb") as file:
            arrays = {"facts": np.array(json.dumps(facts)), **self._arrays()}
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)

    @staticmethod
    def load(path: str | Path) -> Snapshots:
        """Read what `save` wrote."""
        with reading(path, "snapshots", "a file of snapshots that pliant wrote") as file:
            facts, arrays = read_saved(file, FORMAT, VERSION)
            extra = {k.removeprefix("extra/"): v for k, v in arrays.items() if k.startswith("extra/")}
            return Snapshots(
                Fingerprint.from_data(facts["fingerprint"]),
                tuple(facts["actuators"]),
                tuple(facts["drives"]),
                *(arrays[name] for name in ARRAYS),
                extra=extra,
                skipped=tuple(facts["skipped"]),
            )


AXES = {"commands": 2, "coordinates": 2, "contact": 2, "trajectory": 1, "step": 1}
ARRAYS = tuple(AXES)
assert set(ARRAYS) < {f.name for f in fields(Snapshots)}
