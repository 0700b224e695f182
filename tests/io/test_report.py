"""Pictures and reports: right stress, right pixels, complete folders."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.image import imread

import pliant as pl
from pliant.io.facts import certificate_words
from pliant.io.picture import View, picture
from pliant.io.raster import Camera, rasterise
from pliant.io.report import report
from pliant.io.ruled_box import RuledBox
from pliant.laws import Known
from pliant.robots import drive
from pliant.units import quantity


@pytest.fixture(scope="module")
def results():
    """A cantilever on its way down."""
    return list(drive(pl.robots.cantilever(cells=(4, 1, 1)), {"load": Known(effort=-0.1)}, steps=3))


@pytest.fixture(scope="module")
def folder(results, tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    report(results, out, title="A bar", summary="It <sags>.", laws={"load": Known(effort=-0.1)})
    return out


@pytest.mark.parametrize(
    "material",
    [
        pl.Hooke(young=3e5, poisson=0.3),
        pl.NeoHookean(young=3e5, poisson=0.3),
        pl.Hooke(young=3e5, poisson=0.3, small_strain=True),
    ],
    ids=["corotated", "neo-Hookean", "small strain"],
)
def test_von_mises_of_a_stretched_bar_is_force_over_area(material):
    mesh = pl.mesh.box((0.04, 0.01, 0.01), cells=(2, 1, 1))
    body = pl.Solid(
        mesh, material, density=1000.0, fixed=mesh.nodes < 1e-9
    )  # planes that hold their own normal
    end = body.mesh.nodes[:, 0] > 0.04 - 1e-9
    robot = pl.Robot(body, {"end": pl.Row(pl.Position(body.node_points(end), directions="x"))})
    result = pl.static(robot, {"end": Known(displacement=0.041)})
    area = np.prod(np.ptp(body.positions(result.q), axis=0)[1:])
    stress = body.stress(result.q, "von_mises", at="nodes")
    assert np.ptp(stress) < 1e-6 * stress.max()
    assert stress.mean() == pytest.approx(result.effort["end"].sum() / area, rel=1e-6)


def test_von_mises_on_a_bent_bar_meets_beam_theory():
    robot = pl.robots.cantilever(gravity=(0.0, 0.0, -0.981))
    result = pl.static(robot)
    X = robot.body.mesh.nodes
    node = np.argmin(np.linalg.norm(X - [0.04, 0.0, 0.01], axis=1))
    moment = 1100 * 0.981 * 0.02**2 * (0.1 - X[node, 0]) ** 2 / 2
    assert robot.body.stress(result.q, "von_mises", at="nodes")[node] == pytest.approx(
        moment * 0.01 / (0.02**4 / 12), rel=0.08
    )


def test_numpy_stress_is_that_of_the_compiled_law(results):
    from pliant.bodies import fields

    (group,) = results[-1].robot.body.assembly.groups
    P, F, w = group.piola(results[-1].q, np.zeros(0))
    expected = np.empty_like(F)
    fields.piola(group.material.code, group.c, F, w, np.zeros(len(F)), expected)
    assert np.abs(P - expected).max() < 1e-10 * np.abs(expected).max()


def test_raster_covers_the_area_and_the_nearest_triangle_wins():
    xy = np.array([[10.0, 10.0], [90.0, 10.0], [10.0, 90.0], [90.0, 90.0]])
    depth = np.array([0.0, 0.0, 0.0, 5.0])
    seen = rasterise(xy, depth, np.array([[0, 1, 2], [1, 2, 3]]), (100, 100))
    assert seen.covered.sum() == pytest.approx(80 * 80, rel=0.01)
    assert seen.weights[seen.covered].sum(axis=1) == pytest.approx(np.ones(seen.covered.sum()))
    column = seen.interpolate(xy[np.array([[0, 1, 2], [1, 2, 3]])])[:, 0]
    assert column == pytest.approx(np.nonzero(seen.covered)[1] + 0.5, abs=1e-9)
    behind = rasterise(xy, np.array([1.0, 1.0, 1.0, 0.0]), np.array([[0, 1, 2], [0, 1, 3]]), (100, 100))
    assert behind.triangle[20, 30] == 0  # where both are, the first is nearer
    assert behind.depth[20, 30] == pytest.approx(1.0)


@pytest.mark.parametrize("up", [(0, 0, 1), (0, 0, -2), (0, 1, 0), (-1, 0, 0), (1, 2, 3)])
def test_camera_is_a_rotation_with_the_vertical_up(up):
    camera = Camera.looking(-60, 20, up=up)
    assert camera.axes @ camera.axes.T == pytest.approx(np.eye(3))
    assert np.linalg.det(camera.axes) == pytest.approx(1.0)
    vertical = camera.axes @ np.array(up, float)
    assert vertical[0] == pytest.approx(0.0)
    assert vertical[1] > 0
    assert vertical[2] == pytest.approx(np.linalg.norm(up) * np.sin(np.radians(20)))


def test_frame_holds_everything_at_round_numbers():
    points = np.array([[0.003, -0.01, 0.0], [0.197, 0.01, 0.05]])
    frame = RuledBox(points)
    assert (frame.lo < points.min(axis=0)).all() and (frame.hi > points.max(axis=0)).all()
    for axis in range(3):
        ticks = frame.ticks(axis) / frame.step
        assert ticks == pytest.approx(np.round(ticks))
        assert 1 <= len(ticks) <= 9


@pytest.mark.parametrize(
    "values, unit, text",
    [
        (0.0125, "m", "12.5 mm"),
        ([0.0, -0.0031, 0.195], "m", "(0, −3.1, 195) mm"),
        (30e3, "Pa", "30 kPa"),
        (2.5e-5, "m³", "25 ml"),
        (np.pi / 4, "rad", "45°"),
        (1.5, "N", "1.5 N"),
        (0.02, "N·m", "20 mN·m"),
        (3.0, "1/m", "3 1/m"),
    ],
)
def test_quantities_read_well(values, unit, text):
    assert quantity(values, unit) == text


def test_picture_shows_body_ghost_and_scale(results, tmp_path):
    image = imread(picture(results[-1], tmp_path / "a" / "bar.png", trail=results, dpi=60, title="Bar"))
    assert image.shape[2] == 4 and image.shape[0] > 150 and image.shape[1] > 250
    rgb = image[..., :3]
    coloured = np.ptp(rgb, axis=2) > 0.25
    assert 0.03 < coloured.mean() < 0.6
    plain = imread(
        picture(results[-1], tmp_path / "plain.png", ghost=False, axes=False, scale=False, mesh=False, dpi=60)
    )
    assert plain[0, 0, :3] == pytest.approx(1.0)


def test_picture_of_displacement_and_other_views(results, tmp_path):
    path = picture(
        results[-1], tmp_path / "top.svg", field="displacement", view=View(10, 80, up=(0, 1, 0)), dpi=50
    )
    assert "displacement" in path.read_text()


def test_picture_of_an_unknown_field_names_the_nearest(results, tmp_path):
    with pytest.raises(pl.InputError, match="Did you mean 'stress'"):
        picture(results[-1], tmp_path / "x.png", field="stres")


def test_report_folder_is_complete(folder):
    names = {path.name for path in folder.iterdir()}
    assert names == {"index.html", "picture.png", "effort.svg", "path.svg", "result.json", "deformed.vtu"}
    assert all((folder / name).stat().st_size > 500 for name in names)


class Page(HTMLParser):
    """Tags, links and text of a page; every tag must be closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.sources, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in {"meta", "img", "link", "br"}:
            self.open.append(tag)
        self.sources += [value for name, value in attributes if name in {"src", "href"}]

    def handle_startendtag(self, tag, attributes):
        self.sources += [value for name, value in attributes if name in {"src"}]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_page_is_whole_and_fetches_nothing(folder, results):
    text = (folder / "index.html").read_text()
    page = Page(text)
    assert not page.open
    beside = {s for s in page.sources if not s.startswith(("data:", "#"))}
    assert beside == {"result.json", "deformed.vtu"}
    words = " ".join(page.words)
    assert "It <sags>." in words  # escaped in the source
    for expected in (
        "A bar",
        "Converged",
        "−0.1 N",
        "mm from rest",
        "tet10",
        "E = 300 kPa",
        "factorise",
        "44 g",
    ):
        assert expected in words, expected
    assert "prefers-color-scheme: dark" in text


def test_curves_take_the_colour_of_the_page(folder):
    svg = (folder / "effort.svg").read_text()
    assert "currentColor" in svg and "#123456" not in svg
    assert not re.search(r"<text[^>]*fill: ?#000", svg)
    assert "force [N]" in svg and "displacement [mm]" in svg


def test_result_file_has_the_numbers(folder, results):
    data = json.loads((folder / "result.json").read_text())
    assert data["robot"] == "cantilever"
    assert data["rows"]["tip"]["displacement"] == pytest.approx(results[-1].displacement["tip"])
    assert data["rows"]["load"] | {"displacement": 0} == {
        "kind": "PointForce",
        "role": "actuator",
        "unit": "m",
        "effort_unit": "N",
        "displacement": 0,
        "effort": [-0.1],
    }
    assert data["certificate"]["status"] == "converged"
    assert len(data["path"]) == len(results)
    assert data["bodies"][0]["volume"] == pytest.approx(4e-5)


def test_deformed_mesh_can_be_read_back(folder, results):
    mesh = pl.mesh.read(folder / "deformed.vtu")
    assert mesh.nodes == pytest.approx(results[-1].positions, abs=1e-12)


def test_report_of_one_result_has_no_curves(results, tmp_path):
    index = report(results[0], tmp_path / "one")
    assert index.name == "index.html"
    assert not (tmp_path / "one" / "effort.svg").exists()


def test_report_of_nothing_is_refused(tmp_path):
    with pytest.raises(pl.InputError, match="at least one"):
        report([], tmp_path)


def test_certificate_in_words(results):
    good = results[-1].certificate
    assert certificate_words(good, 0.1).startswith("Converged: forces balance")
    bad = type(good)("not converged", 0.3, 1e-3, 0.0, 50, 2)
    assert "Do not use" in certificate_words(bad, 0.1)
    past = type(good)("converged", 1e-9, 1e-12, 0.0, 5, 1, shift=0.0, negative=1)
    assert "would not be stable" in certificate_words(past, 0.1)
