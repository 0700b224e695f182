"""What cannot be used is refused with a message that says what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant import contact
from pliant.contact import Samples
from tests.contact.common import bar, icosphere

X, T = icosphere(0.05, 60)
BODY = bar()
ROBOT = pl.Robot(BODY)
BALL = contact.Sphere((0, 0, 0), 0.01, name="ball")
ONE_FLAG: Any = True


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: contact.Sphere((0, 0, 0), 0.0), "radius of a sphere: expected a positive number"),
        (lambda: contact.Sphere((0, 0, 0), -1), "radius of a sphere"),
        (lambda: contact.Sphere((0, 0), 1), "centre of a sphere: expected three finite numbers"),
        (lambda: contact.Sphere((0, 0, np.nan), 1), "centre of a sphere"),
        (
            lambda: contact.Plane((0, 0, 0), (0, 0, 0)),
            "normal of a plane: expected a vector that is not zero",
        ),
        (lambda: contact.Capsule((0, 0, 0), (0, 0, 0), 1), "Use a Sphere"),
        (lambda: contact.Cylinder((0, 0, 0), (0, 0, 0), 1), "two different ends"),
        (lambda: contact.Box((0, 0, 0), (1, 0, 1)), "three positive lengths"),
        (lambda: contact.Box((0, 0, 0), (1, 1, 1), rounding=0.6), "at most half the shortest edge"),
        (lambda: contact.Box((0, 0, 0), (1, 1, 1), 2 * np.eye(3)), "a rotation matrix"),
        (lambda: contact.Pipe([], 1), "path of a pipe: expected two or more points"),
        (lambda: contact.Pipe([(0, 0, 0), (0, 0, 0)], 1), "at the same place"),
        (lambda: contact.Pipe([(0, 0, 0), (0, 0, 1)], 0), "radius of a pipe"),
        (lambda: contact.Pipe([(0, 0, 0), (0, 0, 1)], 1, ONE_FLAG), "two flags"),
        (lambda: contact.ForkedPipe([], 1), "one or more polylines"),
        (lambda: contact.ForkedPipe([[(0, 0, 0), (0, 0, 1)]], (1, 2)), "expected one, or 1"),
        (lambda: contact.ForkedPipe([[(0, 0, 0), (0, 0, 1)]], 1, open=[]), "expected 1 pairs"),
        (lambda: contact.TriangleMesh(X, T[:-1]), "3 edges of one triangle"),
        (lambda: contact.TriangleMesh(X, np.vstack([T, T[:1]])), "a closed surface"),
        (lambda: contact.TriangleMesh(X, np.vstack([T[1:], T[:1, ::-1]])), "a closed surface"),
        (lambda: contact.TriangleMesh(X, T[:0]), "at least four"),
        (lambda: contact.TriangleMesh(X, T + len(X)), "vertex numbers below 60"),
        (lambda: contact.TriangleMesh(X[:, :2], T), "shape (n, 3)"),
        (lambda: contact.TriangleMesh(0 * X, T), "no volume"),
        (lambda: BALL.moved(translation=(1, 2)), "translation: expected three finite numbers"),
        (lambda: BALL.moved(rotation=-np.eye(3)), "a rotation matrix"),
        (lambda: BALL.distance((0, 0, 0)), "expected shape (P, 3)"),
        (lambda: Samples.on(BODY, spacing=0.0), "spacing of samples"),
        (lambda: Samples.on(BODY, lambda x: x[:, 0] > 1), "Check `where`"),
        (lambda: Samples.on(object()), "Samples.around"),
        (lambda: Samples.on(bar(order=2, kind="tet"), bar().mesh.surface), "a patch of body.mesh.surface"),
        (lambda: Samples.around(BODY.points([(0, 0, 0)]), -1.0), "numbers ≥ 0"),
    ],
)
def test_obstacles_and_samples(make, message):
    with pytest.raises(pl.InputError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"obstacles": ["ball"]}, "an Obstacle such as Sphere"),
        ({"obstacles": [BALL, BALL]}, "a name that is not taken"),
        ({"alarm": 0.0}, "alarm distance"),
        ({"margin": -1.0}, "margin"),
        ({"friction": -0.1}, "friction: expected a number ≥ 0"),
        ({"friction": {"bell": 0.3}, "obstacles": [BALL]}, "Did you mean 'ball'"),
        ({"samples": []}, "one Samples"),
        ({"samples": [Samples.on(bar())]}, "those of another body"),
        ({"samples": [Samples.on(BODY), Samples.on(BODY)]}, "two for body 0"),
        ({"between_bodies": [(0, 1)]}, "pairs of body numbers below 1"),
        ({"self_contact": [BODY.mesh.surface]}, "a pair of surfaces"),
        ({"self_contact": [(BODY.mesh.surface, pl.mesh.trunk().surface)]}, "a patch of body.mesh.surface"),
    ],
)
def test_detectors(options, message):
    with pytest.raises(pl.InputError) as error:
        contact.Detector(ROBOT, **options)
    assert message in str(error.value)


def test_names_that_are_not_there():
    detector = contact.Detector(ROBOT, [BALL])
    for action in (
        lambda: detector.remove("bal"),
        lambda: detector.replace(contact.Sphere((0, 0, 0), 1, name="bale")),
    ):
        with pytest.raises(pl.InputError, match="Did you mean 'ball'"):
            action()
    with pytest.raises(pl.InputError, match="replace"):
        detector.add(BALL)


def test_coordinates_that_are_none():
    detector = contact.Detector(ROBOT, [BALL])
    with pytest.raises(pl.InputError, match="coordinates"):
        detector.detect(ROBOT.rest.q[:-3])
    with pytest.raises(pl.InputError, match="finite"):
        detector.detect(ROBOT.rest.q * np.nan)
    with pytest.raises(pl.InputError, match="reach"):
        detector.detect(ROBOT.rest.q, -1.0)
    with pytest.raises(pl.InputError, match="same detector"):
        other = contact.Detector(ROBOT, [BALL]).detect(ROBOT.rest.q)
        detector.detect(ROBOT.rest.q).matched(other)
