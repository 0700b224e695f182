"""Is this installation healthy? Versions, threads, caches, extras, speed, and a solve with a known answer."""

from __future__ import annotations

import os
import platform
from importlib import metadata, util
from typing import Any

import numpy as np

from pliant import kernel_cache
from pliant.io.table import Table

PACKAGES = (
    "pliant",
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "threadpoolctl",
    "meshio",
    "matplotlib",
    "rich",
    "tyro",
)
EXTRAS = {
    "stl": ("pytetwild", "trimesh"),
    "solid": ("manifold3d", "trimesh"),
    "step": ("netgen",),
    "hardware": ("serial", "dynamixel_sdk", "pythonosc", "zenoh"),
    "learning": ("gymnasium",),
    "conic": ("clarabel",),
    "cluster": ("distributed",),
}
SLOW_PRODUCT = 1000.0  # [ms] for dgemm(1500): something is wrong with the BLAS


def examine() -> Table:
    """All findings; `check` says which are good, bad, or only told."""
    bar = _hanging_bar()  # first: it loads every BLAS that solving uses
    table = Table("Health of this installation", ("what", "found", "check"))
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    table.add(what="Python", found=f"{platform.python_version()} on {system}")
    for name in PACKAGES:
        version = _version(name)
        table.add(what=name, found=version or "missing", check=None if version else False)
    for found in _blas():
        table.add(what="BLAS", **found)
    table.add(what="compiled code", **_cache())
    for extra, modules in EXTRAS.items():
        missing = [m for m in modules if util.find_spec(m) is None]
        state = "installed" if not missing else f'not installed: pip install "pliant[{extra}]"'
        table.add(what=f"extra {extra}", found=state)
    table.add(what="dgemm(1500)", **_dgemm())
    table.add(what="hanging bar", **bar)
    return table


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _blas() -> list[dict[str, Any]]:
    """Every BLAS loaded, with its threads: pliant wants one."""
    from threadpoolctl import threadpool_info

    loaded = [info for info in threadpool_info() if info["user_api"] == "blas"]
    return [
        {
            "found": f"{i['internal_api']} {i['version']} ({i.get('architecture', '?')}), "
            f"{i['num_threads']} thread(s)",
            "check": i["num_threads"] == 1,
        }
        for i in loaded
    ]


def _cache() -> dict[str, Any]:
    """Where Numba keeps compiled code, how much is there, and how long it stays."""
    own = kernel_cache.where()
    if own is None:
        return {"found": "none: NUMBA_DISABLE_JIT is set, everything is slow", "check": False}
    folder, stay = own.parent, kernel_cache.STAY
    size = sum(f.stat().st_size for f in folder.rglob("*.nbc")) / 1e6
    place = folder / "**" / own.name if own.name == "__pycache__" else folder
    found = f"{len(list(folder.rglob('*.nbi')))} functions, {size:.1f} MB in {place}, {stay}"
    if stay != kernel_cache.KEPT:
        found += f". Set {kernel_cache.VARIABLE} to a folder of yours."
    return {"found": found, "check": {kernel_cache.KEPT: True, kernel_cache.LOST: False}.get(stay)}


def _dgemm() -> dict[str, Any]:
    from pliant.timing import Yardstick

    ms = Yardstick.measure().milliseconds
    return {"found": f"{ms:.0f} ms on one thread", "check": ms < SLOW_PRODUCT}


def _hanging_bar() -> dict[str, Any]:
    """The end of a bar that hangs by its weight sinks by ρ g L²/2E (ν = 0): quadratic elements are exact."""
    from pliant.bodies import Solid
    from pliant.interactions import Position
    from pliant.materials import Hooke
    from pliant.mesh import box, near_plane
    from pliant.robot import Robot, Row
    from pliant.static import static

    length, young, density, g = 0.1, 1e6, 1000.0, 9.81e-3
    mesh = box((0.02, 0.02, length), cells=(1, 1, 3))
    top = near_plane(mesh, (0.0, 0.0, length), (0.0, 0.0, 1.0))
    body = Solid(mesh, Hooke(young=young, poisson=0.0), density=density, fixed=top)
    robot = Robot(body, {"end": Row(Position(body.points([[0.01, 0.01, 0.0]])))}, gravity=(0.0, 0.0, -g))
    sunk = -float(static(robot).displacement["end"][2])
    exact = density * g * length**2 / (2 * young)
    error = abs(sunk / exact - 1.0)
    return {
        "found": f"sinks by ρ g L² / 2E to {error:.1e}",
        "check": bool(np.isfinite(error) and error < 1e-4),
    }
