"""What objects show in a notebook."""

import base64
import html
import json
import re

import numpy as np

import pliant as pl
from pliant.io.notebook import recording_of
from tests.studio.robots import bar


def drawn_points(shown):
    """Places (frames, n, 3) [m], from the middle of their box, that the picture in a cell is drawn from."""
    page = html.unescape(re.search(r'srcdoc="(.*?)">', shown, flags=re.DOTALL)[1])
    found = re.search(r"const facts = (.*), data = (.*);", page)
    facts, data = json.loads(found[1]), json.loads(found[2])
    whole = np.frombuffer(base64.b64decode(data[0]), "<u2").reshape(-1, facts["points"], 3)
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


def test_dir_lists_what_exists():
    assert {"Inverse", "Simulation", "robots", "sensing", "Solid"} <= set(dir(pl))
    assert not {"arrays", "newton", "TYPE_CHECKING"} & set(dir(pl))
    assert all(getattr(pl, name) is not None for name in dir(pl))
