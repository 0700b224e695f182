"""What objects show in a notebook."""

import base64
import html
import json
import re

import numpy as np

import pliant as pl
from pliant.io.notebook import recording_of
from pliant.io.policy import policy, scripts_of
from pliant.studies import duriez2024
from tests.studio.robots import bar


def document(shown):
    """The document in the frame of a cell."""
    return html.unescape(re.search(r'srcdoc="([^"]*)">', shown)[1])


def drawn_points(shown):
    """Places (frames, n, 3) [m], from the middle of their box, that the picture in a cell is drawn from."""
    held = {
        name: base64.b64decode(re.search(rf'id="{name}">([^<]*)<', document(shown))[1])
        for name in ("facts", "points")
    }
    facts = json.loads(held["facts"])
    whole = np.frombuffer(held["points"], "<u2").reshape(-1, facts["points"], 3)
    return (whole - facts["half"]) * facts["step"]


def test_a_result_is_drawn_where_it_is():
    robot = bar()
    result = pl.static(robot)
    for thing, nodes in ((robot, robot.positions(robot.rest.q)), (result, result.positions)):
        points = drawn_points(thing._repr_html_())
        span = np.ptp(points.reshape(-1, 3), axis=0)
        np.testing.assert_allclose(span, np.ptp(nodes, axis=0), rtol=0.02, atol=1e-6)


def test_a_recording_of_results_plays_them():
    robot = bar()
    results = [pl.static(robot), pl.static(robot)]
    recording = recording_of(results)
    assert len(drawn_points(recording._repr_html_())) == len(recording) == 2
    np.testing.assert_array_equal(recording.positions[1], results[1].positions)


def test_without_a_front_end_a_line_says_what_it_is(tmp_path):
    robot = bar()
    result, out = pl.static(robot), pl.Inverse(robot).step()
    shown = [repr(thing) for thing in (robot, result, out, recording_of([result]), duriez2024.study)]
    assert all("\n" not in line and len(line) < 400 and "array" not in line for line in shown), shown
    assert "upper (Cable)" in shown[0] and "converged" in shown[1] and "1 frames" in shown[3]
    for suffix, begin in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
        drawn = result.plot(tmp_path / f"bar{suffix}")
        assert drawn == tmp_path / f"bar{suffix}"  # a path, and in a cell the picture
        own, other = (drawn._repr_png_(), drawn._repr_svg_())[:: 1 if suffix == ".png" else -1]
        assert drawn.read_bytes().startswith(begin) and own and other is None


def test_names_in_a_cell_stay_text_and_one_script_may_run():
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    plain = bar()
    rows = {f"{name} {evil}": row for name, row in plain.rows.items()}
    shown = pl.static(pl.Robot(plain.body, rows, gravity=plain.gravity, name=evil))._repr_html_()
    assert "<script" not in shown and "<img" not in shown  # the frame's document is an attribute
    inner = document(shown)
    (script,) = scripts_of(inner)
    assert html.escape(policy([script])) in inner and "alert(" not in script


def test_a_mesh_shows_its_skin():
    mesh = pl.mesh.box((0.1, 0.02, 0.03), cells=(4, 1, 2))
    np.testing.assert_allclose(
        np.ptp(drawn_points(mesh._repr_html_())[0], axis=0), (0.1, 0.02, 0.03), rtol=1e-4
    )


def test_a_study_names_its_parts():
    study = duriez2024.study
    assert all(f"<li>{part}</li>" in study._repr_html_() for part in study.parts)


def test_dir_lists_what_exists():
    assert {"Inverse", "Simulation", "robots", "sensing", "Solid"} <= set(dir(pl))
    assert not {"arrays", "newton", "TYPE_CHECKING"} & set(dir(pl))
    assert all(getattr(pl, name) is not None for name in dir(pl))
