"""What cannot be used is refused, with the thing, the place and the way out in the message."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pliant.interactions as pi
from pliant.errors import InputError
from tests.interactions.test_forms import CUBE, FACES, FRAME, points

LINE = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 1, 0]]
LID = (FACES > 3).all(axis=1)
FLAT = [[0, 1, 2], [0, 2, 1]]

CASES = {
    "plain coordinates": (
        lambda: pi.Cable([[0, 0, 0], [1, 0, 0]]),
        "points of a Cable.*material points.*body.points",
    ),
    "no points": (lambda: pi.Position(points(LINE)[:0]), "at least 1 points, got 0"),
    "one point": (lambda: pi.Cable(points(LINE[:1])), "at least 2 points, got 1"),
    "no point but anchors": (
        lambda: pi.Cable(points(LINE)[:0], anchor=[0, 0, 0], end=[1, 0, 0]),
        "at least 1",
    ),
    "coincident": (lambda: pi.Cable(points([*LINE[:2], LINE[1], LINE[3]])), "point 1 and point 2 coincide"),
    "coincident anchor": (lambda: pi.Cable(points(LINE), anchor=LINE[0]), "the anchor and point 0 coincide"),
    "coincident end": (lambda: pi.Cable(points(LINE), end=LINE[-1]), "point 3 and the end coincide"),
    "anchor shape": (lambda: pi.Cable(points(LINE), anchor=[0, 1]), r"anchor of a Cable.*shape \(2,\)"),
    "anchor not finite": (lambda: pi.Cable(points(LINE), anchor=[0, 1, np.nan]), "not finite"),
    "anchor a word": (lambda: pi.Cable(points(LINE), anchor="base"), "anchor of a Cable.*'base'"),
    "stretch coincident": (lambda: pi.Stretch(points([LINE[0], LINE[0]])), "point 0 and point 1 coincide"),
    "open": (lambda: pi.Cavity(points(CUBE), FACES[~LID]), 'open cavity.*4 open edges.*cap="flat"'),
    "cap name": (lambda: pi.Cavity(points(CUBE), FACES, cap="round"), "cap of a Cavity.*'flat'.*'round'"),
    "flat": (lambda: pi.Cavity(points(CUBE[[0, 1, 2]]), FLAT), "some volume"),
    "three at an edge": (
        lambda: pi.Cavity(points(CUBE), [*FACES, [0, 1, 7]]),
        "two at each edge.*1 edges with more",
    ),
    "misoriented": (
        lambda: pi.Cavity(points(CUBE), [FACES[0, ::-1], *FACES[1:]]),
        "3 edges whose triangles disagree",
    ),
    "node numbers": (lambda: pi.Cavity(points(CUBE), FACES + 5), "0 to 7, got 5 to 12.*not the nodes"),
    "float triangles": (lambda: pi.Cavity(points(CUBE), FACES / 1.0), "integer indices, got float64"),
    "folded triangle": (lambda: pi.Cavity(points(CUBE), [[0, 1, 1]]), "repeated corner in triangle 0"),
    "pinched rim": (
        lambda: pi.Cavity(points(CUBE), [[0, 1, 2], [2, 3, 4]], cap="flat"),
        "crossing at point 2",
    ),
    "density": (lambda: pi.Cavity(points(CUBE), FACES, liquid_density=-1), "liquid_density"),
    "zero axis": (lambda: pi.Motor(points(FRAME), [0, 0, 0]), "axis of a Motor.*non-zero"),
    "all on the axis": (lambda: pi.Motor(points(LINE[:3]), [1, 0, 0]), "a point off the axis"),
    "aligned magnet": (
        lambda: pi.Magnet(points(FRAME), moment=[1, 0, 0], field=[2, 0, 0]),
        "axis=.*alignment",
    ),
    "magnet axis": (
        lambda: pi.Magnet(points(FRAME), moment=[1, 0, 0], field=[0, 1, 0], axis=[0, 1, 0]),
        "across moment and field",
    ),
    "magnet points": (
        lambda: pi.Magnet(points(LINE[:3]), moment=[0, 0, 1], field=[1, 0, 0]),
        "span the vector",
    ),
    "magnet measure": (
        lambda: pi.Magnet(points(FRAME), moment=[0, 0, 1], field=[1, 0, 0], measure="sine"),
        "'angle' or 'alignment'",
    ),
    "directions": (lambda: pi.Position(points(LINE), directions="xq"), "'xq'"),
    "zero direction": (
        lambda: pi.Position(points(LINE), directions=[[1, 0, 0], [0, 0, 0]]),
        "zero at index 1",
    ),
    "weights": (
        lambda: pi.Position(points(LINE), weights=[1, 2]),
        r"one number, 3, or 4 × 3, got shape \(2,\)",
    ),
    "negative weight": (lambda: pi.Position(points(LINE), weights=-1), "non-negative"),
    "collinear": (lambda: pi.Orientation(points(LINE[:3])), "not all on one line"),
    "masses": (lambda: pi.CentreOfMass(points(LINE), [1, 2]), "weights of a CentreOfMass.*4 numbers"),
    "no mass": (lambda: pi.CentreOfMass(points(LINE), np.zeros(4)), "not all zero"),
    "straight": (lambda: pi.Curvature(points(LINE)), "straight at point 1.*normal="),
    "normal along": (lambda: pi.Curvature(points(LINE), normal=[1, 0, 0]), "along segment 0"),
    "no area": (lambda: pi.SurfaceForce(points(LINE), [[0, 1, 3], [0, 1, 2]]), "none in triangle 1"),
    "basis": (lambda: pi.Combined(pi.Stretch(points(LINE)), np.ones((2, 1))), r"3 rows.*shape \(2, 1\)"),
    "negative basis": (lambda: pi.Combined(pi.Cable(points(LINE)), [[-1.0]]), "non-negative"),
}


@pytest.mark.parametrize("case", list(CASES))
def test_what_cannot_be_used_is_refused(case):
    make, message = CASES[case]
    with pytest.raises(InputError) as raised:
        make()
    assert re.search(message, str(raised.value), re.DOTALL), str(raised.value)
