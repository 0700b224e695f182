"""The recordings, as they stand in `data/` under the licences beside them (MIT)."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"
LOADS = {"gravity": 0.0, "load52": 0.51012, "load101": 1.00062}  # [N] on the beam's tip edge, by take


def settled_beam() -> dict[str, list[dict[str, tuple[np.ndarray, np.ndarray]]]]:
    """Markers of the beam by load, take by take: (3,) held and (3,) settled [m]; x is vertical."""
    takes: dict[str, dict] = defaultdict(dict)
    with open(DATA / "beam_static_mm.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            held, settled = (
                np.array([float(row[f"{k}_{when}"]) for k in "xyz"]) for when in ("held", "settled")
            )
            takes[row["file"]][row["marker"]] = 1e-3 * held, 1e-3 * settled
    return {load: [m for name, m in takes.items() if name.startswith(f"beam_{load}_")] for load in LOADS}


def swinging_beam(load: str) -> tuple[np.ndarray, np.ndarray]:
    """Time [s] and height of marker 1 [m] in the first take of a load: held, let go, swinging, creeping."""
    t, x = np.loadtxt(DATA / f"beam_{load}_swing.csv", delimiter=",", skiprows=1).T
    return t, 1e-3 * x


def emio() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Targets, positions that the recorders' own simulation predicted, and measured ones, (515, 3) [m]."""
    all_of = 1e-3 * np.loadtxt(DATA / "emio_run_mm.csv", delimiter=",", skiprows=1)
    return all_of[:, :3], all_of[:, 3:6], all_of[:, 6:]


def tendon_arm() -> tuple[np.ndarray, np.ndarray]:
    """Shortenings of three cables and positions of the tip in the camera's frame, (1000, 3) each [m]."""
    all_of = np.loadtxt(DATA / "tendon_arm.csv", delimiter=",", skiprows=1)
    return 1e-4 * all_of[:, :3], 1e-3 * all_of[:, 3:]
