"""Points on rods by arc length, so that they come back from a file the same to the last digit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.bodies import Beam
from pliant.bodies.beams import places
from pliant.points import Points
from pliant.project.fault import Source
from pliant.project.schema_rows import AlongSpec

NEIGHBOURS = 256  # numbers on either side, next to each other, among which an arc length is looked for
DIGITS = 12  # of the rods' size: a number that a person would write


def points_along(source: Source, said: AlongSpec, body: Any, here: Sequence[Any]) -> Points:
    """The points that a table `along` means."""
    if not isinstance(body, Beam):
        raise source.fault(here, expected="a body of rods", got=f"a {type(body).__name__}")
    with source.at(*here):
        return body.at(said.arc, branch=said.branch, offset=said.offset)


def along_data(body: Any, points: Points) -> dict[str, Any] | None:
    """Points of rods as a table `along`; None where it would not give the same points again."""
    if not isinstance(body, Beam) or not len(points):
        return None
    lines = body.lines
    _, place = places.near(lines, body.element_lengths, points.rest, None)
    branch = int(lines.branch[place.element[0]])
    begin, end = lines.arc[place.element].T
    digits = DIGITS - int(np.floor(np.log10(lines.size)))
    offset = (np.round(place.offset[0, 1:], digits) + 0.0).tolist()
    arc = [
        _arc(body, points[k], branch, offset, float(s), digits)
        for k, s in enumerate(begin + place.share * (end - begin))
    ]
    if any(s is None for s in arc):
        return None
    data: dict[str, Any] = {"arc": arc} | ({"offset": offset} if any(offset) else {})
    return {"along": data | ({"branch": branch} if branch else {})}


def _arc(body: Beam, point: Points, branch: int, offset: Any, near: float, digits: int) -> float | None:
    """The arc length of one point, to the last digit: a short number, or one next to the one computed."""
    about = near + np.spacing(max(near, 1e-300)) * np.arange(-NEIGHBOURS, NEIGHBOURS + 1)
    tried = np.clip([np.round(near, digits), near, *about], 0.0, _length(body, branch))
    again = body.at(tried, branch=branch, offset=offset)
    for k in np.flatnonzero((again.rest == point.rest).all(axis=1)):
        one = again[k]
        if all(np.array_equal(getattr(one, a), getattr(point, a)) for a in ("node_index", "node_weight")):
            return float(tried[k])
    return None


def _length(body: Beam, branch: int) -> float:
    return float(body.lines.arc[body.lines.branch == branch].max())
