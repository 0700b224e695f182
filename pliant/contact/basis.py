"""ContactBasis: a few patterns of contact forces that stand for very many contacts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import frozen
from pliant.contact.detect.detector import Detector
from pliant.errors import InputError
from pliant.files import read_saved, reading
from pliant.inputs import positive

FORMAT, VERSION = "pliant contact basis", 1


@dataclass(frozen=True, eq=False, repr=False)
class ContactBasis:
    """λ = Ψβ on the n contacts `index` (n,) that ever pushed; see `Modes` for what a mode does.

    modes (n, k): Ψ ≥ 0, columns that sum to one, so that β are total forces [N].
    corner[corner_ptr[i]:corner_ptr[i+1]] (·, 3): the triangles that contact i was ever near, as nodes of a
    body of the robot, `touched` (n,) its number (−1: an obstacle). fade [m]: ℓ, how much farther than the
    nearest of its mode a contact must be to count 1/e of its share (inf: rows are Ψᵀδ, as in the paper);
    offset (k,) [m]: o, so that modes close as they did in the snapshots. opponents: names by slot; samples:
    how many there are; digest: of where they are, and of what they may touch.
    """

    index: np.ndarray
    modes: np.ndarray
    touched: np.ndarray
    corner_ptr: np.ndarray
    corner: np.ndarray
    offset: np.ndarray
    fade: float
    opponents: tuple[str, ...]
    samples: int
    digest: str

    def __post_init__(self) -> None:
        kinds = {
            "index": int,
            "modes": float,
            "touched": int,
            "offset": float,
            "corner_ptr": int,
            "corner": int,
        }
        for name, kind in kinds.items():
            object.__setattr__(self, name, frozen(getattr(self, name), kind))
        n = len(self.index)
        if self.modes.ndim != 2 or len(self.modes) != n or not self.modes.size:
            expected = f"modes ({n}, k) of at least one contact and mode"
            raise InputError("contact basis", expected=expected, got=f"shape {self.modes.shape}")
        if not np.isfinite(self.modes).all() or (self.modes < 0).any() or not self.modes.any(axis=0).all():
            raise InputError("contact basis", expected="non-negative modes, none of them zero", got="others")
        ptr = self.corner_ptr
        if ptr.shape != (n + 1,) or ptr[0] or (np.diff(ptr) < 0).any() or self.corner.shape != (ptr[-1], 3):
            raise InputError("contact basis", expected="triangles of every contact", got="others")
        if (
            self.touched.shape != (n,)
            or self.offset.shape != (len(self),)
            or not np.isfinite(self.offset).all()
        ):
            expected = "a body for every contact, a finite offset for every mode"
            raise InputError("contact basis", expected=expected, got="others")
        known = self.samples * len(self.opponents)
        if self.index.shape != (n,) or (self.index < 0).any() or (self.index >= known).any():
            raise InputError("contact basis", expected=f"contacts below {known}", got="others")
        object.__setattr__(self, "fade", positive("fade", self.fade, "m", infinite=True))

    def __len__(self) -> int:
        return self.modes.shape[1]

    def __repr__(self) -> str:
        return f"ContactBasis({len(self)} modes of {len(self.index)} contacts, fade {1e3 * self.fade:.3g} mm)"

    @property
    def sample(self) -> np.ndarray:
        """Sample (n,) of each contact."""
        return self.index % self.samples

    @property
    def slot(self) -> np.ndarray:
        """Opponent (n,) of each contact, a place in `opponents`."""
        return self.index // self.samples

    def check(self, detector: Detector) -> None:
        """Raise InputError unless it was made on samples like those of the detector."""
        hint = "A contact basis belongs to the mesh and samples that it was made on."
        if self.samples != detector.cloud.size:
            got = f"{detector.cloud.size}"
            raise InputError("contact basis", expected=f"{self.samples} samples", got=got, hint=hint)
        if self.digest != digest(detector):
            raise InputError("contact basis", expected="the samples it was made on", got="others", hint=hint)

    def save(self, path: str | Path) -> None:
        """Write an .npz file."""
        facts = {
            "format": FORMAT,
            "version": VERSION,
            "fade": self.fade,
            "opponents": self.opponents,
            "samples": self.samples,
            "digest": self.digest,
        }
        arrays = {name: getattr(self, name) for name in ARRAYS}
        with Path(path).open("wb") as file:
            np.savez_compressed(file, **{"facts": np.array(json.dumps(facts))}, **arrays)  # type: ignore[arg-type]

    @staticmethod
    def load(path: str | Path) -> ContactBasis:
        """Read what `save` wrote."""
        with reading(path, "contact basis", "a file that pliant wrote") as file:
            facts, arrays = read_saved(file, FORMAT, VERSION)
            others = {name: facts[name] for name in ("fade", "samples", "digest")}
            own = {name: arrays[name] for name in ARRAYS}
            return ContactBasis(**own, **others, opponents=tuple(facts["opponents"]))


ARRAYS = ("index", "modes", "touched", "corner_ptr", "corner", "offset")


def require_one_cloud(detector: Detector) -> None:
    """Raise InputError where obstacles, if there are any, meet other samples than bodies do."""
    if detector.obstacles and detector.outer is not detector.cloud:
        raise InputError(
            "contact basis",
            expected="obstacles that touch the samples it is made on",
            got="some that touch all of the skin",
            hint="Surroundings(…, against_obstacles=samples) has them touch these only.",
        )


def digest(detector: Detector) -> str:
    """Of where a detector's samples are at rest, to a nanometre, and of the bodies that they may touch."""
    rest = np.round(detector.cloud.rest, 9) + 0.0
    touched: list[Any] = [(o.name, o.body, o.patch.triangles.tobytes()) for o in detector.soft]
    return sha256(rest.tobytes() + repr(touched).encode()).hexdigest()[:16]
