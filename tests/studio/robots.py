"""A small robot for the tests of sessions, recordings and the studio: a bar with a cable on either side."""

from __future__ import annotations

import numpy as np

import pliant as pl


def bar(**options) -> pl.Robot:
    """A silicone bar along x, 100 × 20 × 20 mm, clamped at x = 0, with two cables and a tip."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(6, 2, 2))
    clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(1, 0, 0))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.45), density=1100, fixed=clamp)
    path = lambda z: [[x, 0.01, z] for x in np.linspace(0.0, 0.095, 11)]
    pull = pl.Bounded(effort=(0, 2.5), displacement=(-0.03, 0.03))
    rows = {
        "upper": pl.Row(pl.Cable(body.points(path(0.017))), pull),
        "lower": pl.Row(pl.Cable(body.points(path(0.003))), pull),
        "tip": pl.Row(pl.Position(body.points([[0.1, 0.01, 0.01]])), pl.Target()),
    }
    return pl.Robot(body, rows, gravity=(0, 0, -9.81), name="bar", **options)
