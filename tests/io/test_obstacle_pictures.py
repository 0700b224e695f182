"""Obstacles in pictures: surfaces are where the obstacles are; they hide and are hidden as they should."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact import obstacles as kinds
from pliant.io.picture import View, picture
from pliant.io.raster import Camera
from pliant.io.render import Renderer
from pliant.laws import Known

TURN = np.array([[0.0, -1.0, 0.0], [0.6, 0.0, -0.8], [0.8, 0.0, 0.6]])
EXACT = [
    kinds.Sphere((0.1, -0.2, 0.3), 0.05),
    kinds.Capsule((0.0, 0.0, 0.0), (0.1, 0.2, -0.1), 0.03),
    kinds.Cylinder((0.0, 0.1, 0.0), (0.1, 0.0, 0.1), 0.04),
    kinds.Box((0.1, 0.0, 0.0), (0.1, 0.2, 0.3), TURN),
    kinds.Plane((0.0, 0.0, 0.1), (0.0, 0.6, 0.8)),
    kinds.TriangleMesh.of(pl.mesh.box((0.1, 0.1, 0.1), cells=(1, 1, 1))),
]


@pytest.mark.parametrize("obstacle", EXACT, ids=lambda o: type(o).__name__)
def test_vertices_lie_on_the_obstacle_and_normals_point_out(obstacle):
    vertices, triangles = obstacle.surface(np.zeros(3), 0.3)
    assert np.abs(obstacle.distance(vertices)[0]).max() < 1e-12
    corners = vertices[triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    real = np.linalg.norm(area, axis=1) > 1e-12
    _, outward = obstacle.distance(corners[real].mean(axis=1))
    assert (np.einsum("ti,ti->t", area[real], outward) > 0).all()


@pytest.mark.parametrize(
    "pipe",
    [
        kinds.Pipe([(0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.3, 0.1, 0.0)], 0.02),
        kinds.ForkedPipe(
            [[(0, 0, 0), (0.1, 0, 0)], [(0.1, 0, 0), (0.2, 0.1, 0)], [(0.1, 0, 0), (0.2, -0.1, 0)]], 0.01
        ),
    ],
    ids=lambda o: type(o).__name__,
)
def test_pipes_are_drawn_as_tubes(pipe):
    vertices, triangles = pipe.surface(np.zeros(3), 0.3)
    assert pipe.distance(vertices)[0].min() > -1e-12  # on the wall, or within another branch
    assert len(triangles) and triangles.max() < len(vertices)


def test_an_obstacle_hides_what_is_behind_it_only():
    robot = pl.robots.cantilever(cells=(4, 1, 1))
    nodes = robot.positions(robot.rest.q)
    renderer = Renderer(robot, Camera.looking(0.0, 0.0), 2000.0)  # seen from +x
    coverage = []
    for x in (-0.05, 0.15):  # a ball behind the bar, and one before it
        ball = kinds.Sphere((x, 0.0, 0.0), 0.03).surface(np.zeros(3), 0.1)
        behind, before = renderer.things(nodes, *ball)
        assert behind.pixels.shape == before.pixels.shape
        assert behind.pixels[..., 3].max() > 0.5
        coverage.append((before.pixels[..., 3] > 0).sum() / (behind.pixels[..., 3] > 0).sum())
    assert coverage[1] > 0.97  # but for the outline
    assert 0.5 < coverage[0] < 0.95  # the bar's end stands before a part of the ball


def test_a_picture_shows_the_obstacles_of_the_surroundings(tmp_path):
    from matplotlib.image import imread

    robot = pl.robots.beam()
    result = pl.static(robot, {"lower": Known(effort=100.0)})
    options = {"view": View(azimuth=-75.0), "size": (3.0, 3.0), "dpi": 50}
    whole = imread(picture(result, tmp_path / "whole.png", **options))
    alone = imread(picture(result, tmp_path / "alone.png", obstacles=(), **options))

    def warm_grey(image):  # the obstacles' own colour, lit
        r, b = image[..., 0], image[..., 2]
        return np.mean((r > 0.4) & (r < 0.9) & (r - b > 0.03) & (r - b < 0.12))

    assert warm_grey(whole) > 0.05 and warm_grey(alone) < 0.01
