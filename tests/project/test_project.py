"""Project files: robots read back are the same robots; a wrong file is an error with its line and key."""

from __future__ import annotations

import copy
import math
import re
import string
import tomllib
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.errors import InputError
from pliant.project import load, save, start
from pliant.project.lines import line_map, spelled
from pliant.project.toml import dumps

PLACE = re.compile(r"^robot\.toml, line (\d+), (.+?): expected ", re.DOTALL)
ROBOT = """
format = 1
name = "block"
summary = "everything a file can say"
gravity = [0.0, 0.0, -9.81]

[[bodies]]
name = "block"
mesh = "block.vtu"
unit = "mm"
order = 1
fixed = [
    { plane = { point = [0.0, 0.0, 0.0], normal = [0, 0, 1] } },
    { nodes = [0, 1], axes = "xy" },
]

[[bodies.materials]]
law = "NeoHookean"
young = 300e3
poisson = 0.45
density = 1100.0

[[bodies.rigid]]
name = "cap"
where = [{ box = { low = [-inf, -inf, 0.0299], high = [inf, inf, inf] } }]
hinge = { axis = [0, 1, 0], centre = [0.0, 0.0, 0.03] }

[[bodies.fibres]]
helix = { radius = 0.012, length = 0.026, pitch = 0.05, hand = -1, count = 2, start = [0.0, 0.0, 0.002] }
stiffness = 5.0
prestretch = 0.99

[[bodies]]
name = "rod"
path = [[0.1, 0.0, 0.0], [0.1, 0.0, 0.05]]
elements = 4
section = { radius = 0.002 }
materials = [{ library = "dragon skin 30", poisson = 0.45 }]
fixed = [{ sphere = { centre = [0.1, 0.0, 0.0], radius = 0.001 } }]

[cables."cable 1"]
body = "block"
through = [
    [0.012, 0.0, 0.002],
    [0.012, 0.0, 0.015],
    [0.012, 0.0, 0.028],
]
anchor = [0.012, 0.0, -0.01]
effort = [0.0, 10.0]
displacement = [-0.01, 0.01]
speed = 0.1

[cables."cable 2"]
body = "rod"
along = { arc = [0.005, 0.025, 0.045], offset = [0.002, 0.0], branch = 0 }
friction = 0.2
sheath = 1.5
housing = 3.0
slack = 0.001
pulled = "last"
stiffness = 4e4
drive = { lag = 0.05, rate = 0.2 }

[cavities.chamber]
body = "block"
inner = 1
effort = [-5e3, 2e4]

[cavities.chamber.line]
volume = "2 ml"
exponent = 1.2
conductance = 2e-9
leak = 1e-11
supply = "3 bar"
lag = 0.02

[motors.turn]
body = "block"
region = "cap"
axis = [0, 1, 0]
effort = [-0.5, 0.5]
drive = { backlash = 0.02, limit = 2.0 }

[forces.load]
body = "block"
points = [[-0.012, 0.0, 0.02]]
direction = [1, 0, 0]
role = "unknown"

[effectors.tip]
body = "block"
points = [[0.0, 0.0, 0.03]]
target = [0.0, 0.0, 0.03]
weight = 2.0

[sensors.mark]
body = "rod"
points = [[0.1, 0.0, 0.05]]
directions = "xz"
measured = true

[obstacles.ball]
kind = "sphere"
centre = [0.0, 0.05, 0.02]
radius = 0.01

[obstacles.ground]
kind = "plane"
point = [0.0, 0.0, -0.02]
normal = [0, 0, 1]

[contact]
alarm = 0.002
friction = 0.3
samples = [{ body = "block", spacing = 0.01 }, { body = "rod", points = [[0.1, 0.0, 0.05]], radius = 0.002 }]
between_bodies = false

[demonstration]
view = [-60, 16]
effector = "tip"

[demonstration.commands."cable 1"]
displacement = 0.002

[hardware]
rate = 50
watchdog = 0.2

[hardware.devices.winch]
driver = "serial"
port = "COM3"

[hardware.channels."cable 1"]
device = "winch"
id = 1
spool_radius = 0.01
counts_per_turn = 4096
sign = -1
limits = [-0.01, 0.01]
rate = 0.05
safe = 0.0
"""


def hollow(counts: tuple[int, int, int]) -> pl.mesh.Mesh:
    """A block of 7.5 mm cubes with a void inside, one cube from the skin."""
    full = np.ones(counts, bool)
    full[1:-1, 1:-1, 1:-1] = False
    return pl.mesh.from_voxels(full, 0.0075)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("project")
    mesh = hollow((4, 4, 4)).transformed(translation=(-0.015, -0.015, 0.0))
    pl.mesh.write(mesh, where / "block.vtu", unit="mm")
    (where / "robot.toml").write_text(ROBOT, encoding="utf-8")
    return where


def fault(folder, text: str) -> tuple[int, str, str]:
    """Line, key and whole message of the error of a text."""
    (folder / "robot.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load(folder / "robot.toml")
    found = PLACE.match(str(caught.value))
    assert found, str(caught.value)
    return int(found[1]), found[2], str(caught.value)


# Where things stand


def leaves(value: Any, path: tuple = ()) -> list[tuple[tuple, Any]]:
    """Every path of nested dictionaries and lists, with what stands there."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(path, value), *(leaf for key, v in inside for leaf in leaves(v, (*path, key)))]


KEYS = st.text(string.ascii_letters + string.digits + "_- .\"'é", min_size=1, max_size=6)
SCALARS = (
    st.integers(-9, 9)
    | st.floats(allow_nan=False)
    | st.booleans()
    | st.text(string.printable.replace("\r", ""), max_size=8)
)
TABLES = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS,
        lambda v: st.lists(v, max_size=3) | st.dictionaries(KEYS, v, max_size=3),
        max_leaves=12,
    ),
    max_size=5,
)


@given(TABLES)
@settings(max_examples=150)
def test_what_is_written_is_read_and_every_key_has_its_line(data):
    text = dumps(data)
    assert tomllib.loads(text) == data
    lines = line_map(text)
    rows = text.split("\n")
    for path, value in leaves(data):
        assert path in lines, (path, text)
        if path and isinstance(path[-1], str) and not isinstance(value, (dict, list)):
            spelt = path[-1] if re.fullmatch("[A-Za-z0-9_-]+", path[-1]) else path[-1][:1]
            assert spelt in rows[lines[path] - 1] or '"' in rows[lines[path] - 1]


def test_lines_of_every_kind_of_value():
    text = (
        "a = '''one\ntwo'''\n"  # 1, 2
        'b = """x\\"""y\n"""\n'  # 3, 4
        "c = [1, # ]\n  [2,\n   3]]\n"  # 5 – 7
        "[[t]]\nd.e = 1\n[[t]]\nd = { f = [\n1], g = 'h' }\n"  # 8 – 12
        "[t.u]\n'k = 2' = 3\n"  # 13, 14
    )
    lines = line_map(text)
    assert tomllib.loads(text)["t"][1]["u"] == {"k = 2": 3}
    expected = {
        ("a",): 1,
        ("b",): 3,
        ("c",): 5,
        ("c", 1, 0): 6,
        ("c", 1, 1): 7,
        ("t", 0, "d", "e"): 9,
        ("t", 1, "d", "f", 0): 12,
        ("t", 1, "d", "g"): 12,
        ("t", 1, "u", "k = 2"): 14,
    }
    assert {path: lines[path] for path in expected} == expected


# A file with everything


def test_a_file_makes_the_robot_it_describes(folder):
    (folder / "robot.toml").write_text(ROBOT, encoding="utf-8")
    project = load(folder / "robot.toml")
    robot = project.robot
    assert list(robot.rows) == ["cable 1", "cable 2", "chamber", "turn", "load", "tip", "mark"]
    assert robot.by_role("actuator") == ["cable 1", "cable 2", "chamber", "turn"]
    assert robot.rows["cable 1"].interaction.rest_length == pytest.approx(0.038)
    assert robot.rows["cable 2"].interaction.rest_length == pytest.approx(0.04)
    assert np.ptp(robot.rows["cable 2"].interaction.rest[:, 2]) == pytest.approx(0.04)  # the rod is upright
    assert robot.rows["chamber"].interaction.rest_volume == pytest.approx(0.015**3, rel=1e-9)
    assert robot.bodies[0].material == pl.NeoHookean(young=3e5, poisson=0.45)
    assert [o.name for o in robot.surroundings.obstacles] == ["ball", "ground"]
    entry = project.entry()
    assert entry.effector == "tip" and entry.laws["cable 1"].displacement == 0.002
    result = pl.static(entry.build(), entry.laws)
    assert result.displacement["cable 1"][0] == pytest.approx(0.002, abs=1e-9)


def test_fibres_are_wound_as_they_are_said(folder):
    """Every winding, in the words and units of the file; what `save` writes has the same points."""
    wound = """
[[bodies.fibres]]
braid = { radius = "12 mm", length = 0.026, angle = "30 deg", count = 3, start = [0, 0, 0.002] }
stiffness = "5 N"

[[bodies.fibres]]
straight = { start = [0.01, 0.0, 0.002], end = [0.01, 0.0, 0.028], points = 5 }
stiffness = 5.0
tension_only = false

[[bodies.fibres]]
rings = { radius = 0.012, length = 0.02, count = 3, start = [0, 0, 0.005], phase = 0.1 }
stiffness = 5.0

[[bodies.fibres]]
paths = [[[0.01, 0, 0.002], [0.01, 0, 0.028]], [[0, 0.01, 0.002], [0, 0.01, 0.015], [0, 0.01, 0.028]]]
stiffness = 5.0

[[bodies]]
name = "rod"
"""
    (folder / "robot.toml").write_text(ROBOT.replace('\n[[bodies]]\nname = "rod"\n', wound), encoding="utf-8")
    body = load(folder / "robot.toml").robot.bodies[0]
    assert [len(group.fibres.paths) for group in body.fibres] == [2, 6, 1, 3, 2]
    assert np.linalg.norm(body.fibres[1].fibres.paths[0][:, :2], axis=1) == pytest.approx(0.012)
    again = load(save(pl.Robot(body), folder / "again.toml")).robot.bodies[0]
    for mine, other in zip(body.fibres, again.fibres, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(mine.fibres.paths, other.fibres.paths, strict=True))
        assert (mine.fibres.stiffness, mine.fibres.tension_only) == (
            other.fibres.stiffness,
            other.fibres.tension_only,
        )


def test_what_softens_is_read_and_written(folder):
    said = ROBOT.replace(
        'law = "NeoHookean"', 'law = "NeoHookean"\nsoftening = { r = 1.5, m = 2e3, beta = 0.1 }'
    )
    (folder / "robot.toml").write_text(said, encoding="utf-8")
    body = load(folder / "robot.toml").robot.bodies[0]
    assert body.softens
    assert body.material == pl.materials.Mullins(pl.NeoHookean(young=3e5, poisson=0.45), 1.5, 2e3, 0.1)
    assert load(save(pl.Robot(body), folder / "again.toml")).robot.bodies[0].material == body.material
    _, key, message = fault(folder, said.replace("r = 1.5", "r = 0.5"))
    assert "materials" in key and "greater than 1" in message


ALSO_RIGHT = [("radius", [0.002]), ("displacement", [0.002]), ("port", 17)]


def test_values_may_have_units_and_limits_the_words_of_their_rows(folder):
    """The same robot, said in millimetres, kilopascals and degrees, with tension, pressure and torque."""
    said = ROBOT
    for old, new in [
        ("[0.012, 0.0, 0.015],", '["12 mm", 0.0, "1.5cm"],'),
        (
            "effort = [0.0, 10.0]\ndisplacement = [-0.01, 0.01]",
            'tension = [0, "10N"]\nlength = ["-10mm", "10mm"]',
        ),
        ("speed = 0.1", 'speed = "100 mm/s"'),
        ("effort = [-5e3, 2e4]", 'pressure = ["-5 kPa", "20 kPa"]'),
        ("effort = [-0.5, 0.5]", 'torque = ["-500 mNm", "0.5 N·m"]'),
        ("young = 300e3", 'young = "0.3 MPa"'),
        ("density = 1100.0", 'density = "1.1 g/cm3"'),
        ("0.02]\nradius = 0.01", '0.02]\nradius = "10 mm"'),
        ("displacement = 0.002", 'length = "2 mm"'),
    ]:
        assert said.count(old) == 1, old
        said = said.replace(old, new)
    (folder / "robot.toml").write_text(ROBOT, encoding="utf-8")
    plain = load(folder / "robot.toml")
    (folder / "robot.toml").write_text(said, encoding="utf-8")
    worded = load(folder / "robot.toml")
    for name, row in plain.robot.rows.items():
        law, other = row.law, worded.robot.rows[name].law
        assert getattr(law, "effort", None) == pytest.approx(getattr(other, "effort", None)), name
        if isinstance(law, pl.Bounded):
            assert law.displacement == pytest.approx(other.displacement)
            assert law.speed == pytest.approx(other.speed)
    assert worded.laws["cable 1"].displacement == pytest.approx(0.002)
    one, two = (pl.compliance(p.robot).matrix for p in (plain, worded))
    assert np.allclose(one, two, rtol=1e-9, atol=1e-12 * np.abs(one).max())


@pytest.mark.parametrize(
    ("old", "new", "line_has", "says"),
    [
        ("effort = [-5e3, 2e4]", 'pressure = ["-5 kPa", "20 N"]', "pressure", "Pa, hPa"),
        ("effort = [-5e3, 2e4]", "tension = [0, 2e4]", "tension", "no such key"),
        ("speed = 0.1", "tension = [0, 3]", "cables", "effort or tension"),
        ("displacement = 0.002", 'pressure = "2 kPa"', "pressure", "tension or length, as it is a cable"),
        ("displacement = 0.002", 'length = "2 kPa"', "length", "a number in m"),
        ("[obstacles.ball]", "[[obstacles]]", "obstacles", "such as [obstacles.NAME]"),
    ],
)
def test_words_and_units_that_do_not_fit_name_what_does(folder, old, new, line_has, says):
    text = ROBOT.replace(old, new)
    line, _, message = fault(folder, text)
    assert line_has in text.split("\n")[line - 1] and says in message


def test_a_mesh_in_another_unit_is_doubted_by_its_size(folder):
    (folder / "robot.toml").write_text(ROBOT.replace('unit = "mm"', 'unit = "m"', 1), encoding="utf-8")
    with (
        pytest.warns(pl.errors.PliantWarning, match='Is the file in mm. Then say unit = "mm"'),
        pytest.raises(InputError),
    ):
        load(folder / "robot.toml")


def test_the_hardware_table_makes_devices(folder):
    (folder / "robot.toml").write_text(ROBOT, encoding="utf-8")
    (device,) = load(folder / "robot.toml").devices()
    assert type(device).__name__ == "SerialLine" and device.name == "winch" and device.watchdog == 0.2
    (channel,) = device.channels
    assert channel.counts(2 * math.pi * 0.01) == -4096 and channel.safe == 0.0 and channel.rate == 0.05
    for old, new, says in [
        ("spool_radius = 0.01\n", "", "gain or spool_radius"),
        ('port = "COM3"', "port = 3", "serial port"),
        ("safe = 0.0", "safe = 1.0", "within its limits"),
        (
            "[hardware.channels",
            '[hardware.devices.idle]\ndriver = "osc"\n[hardware.channels',
            "a channel on it",
        ),
    ]:
        assert says in fault(folder, ROBOT.replace(old, new, 1))[2]
    text = ROBOT.replace('port = "COM3"', 'port = "COM3"\nguard = true')
    (folder / "robot.toml").write_text(text, encoding="utf-8")
    assert type(load(folder / "robot.toml").devices()[0]).__name__ == "Guarded"


def mutations(text: str = ROBOT) -> list[tuple[str, dict, tuple]]:
    """Wrong files: what was done, the data, and the path that is to blame."""
    data, out = tomllib.loads(text), []
    for path, value in leaves(data)[1:]:
        wrong: list[Any] = []
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            wrong = ["twelve", math.nan, [value], True]
        elif isinstance(value, str) and not re.match(r"-?[\d.]+ \S", value):  # no quantity
            wrong = [17]
        elif isinstance(value, bool):
            wrong = ["yes"]
        for bad in wrong:
            if (path[-1], bad) in ALSO_RIGHT:
                continue
            out.append((f"{spelled(path)} = {bad!r}", changed(data, path, bad), path))
        if isinstance(path[-1], str) and path[0] != "summary" and not _names_things(path):
            out.append((f"{spelled(path)} misspelt", renamed(data, path), (*path[:-1], f"{path[-1]}_x")))
    return out


def _names_things(path: tuple) -> bool:
    """Whether the last key is a name that the file's author chooses."""
    groups = ("cables", "cavities", "motors", "forces", "effectors", "sensors", "obstacles")
    groups += ("things", "joints", "turns", "travels")
    return (len(path) == 2 and path[0] in groups) or (path[:1] == ("hardware",) and len(path) == 3)


def changed(data: dict, path: tuple, value: Any) -> dict:
    data = copy.deepcopy(data)
    at: Any = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return data


def renamed(data: dict, path: tuple) -> dict:
    data = copy.deepcopy(data)
    at: Any = data
    for key in path[:-1]:
        at = at[key]
    kept = {(f"{k}_x" if k == path[-1] else k): v for k, v in at.items()}
    at.clear()
    at.update(kept)
    return data


def test_hundreds_of_wrong_files_name_key_and_line(folder):
    """Every number, word and flag of the file replaced by what it cannot be, and every key misspelt."""
    tried = mutations()
    assert len(tried) > 500
    blame(folder, tried)


def blame(folder, tried: list[tuple[str, dict, tuple]]) -> None:
    """Each wrong file is an error with the line and the key that are to blame."""
    for what, data, path in tried:
        text = dumps(data)
        line, key, message = fault(folder, text)
        lines = line_map(text)
        # what is to blame, or the table it stands in (a misspelt key is missing there, too)
        blamed = {lines[path[:n]] for n in range(len(path) - 1, len(path) + 1) if path[:n] in lines}
        named = str(path[-1]).removesuffix("_x") if isinstance(path[-1], str) else str(path[-2])
        assert line in blamed, (what, message)
        assert named in key or named in message, (what, message)


@pytest.mark.parametrize(
    ("old", "new", "line_has", "says"),
    [
        ('mesh = "block.vtu"', 'mesh = "lost.vtu"', "lost.vtu", "nothing there"),
        ('unit = "mm"', 'unit = "parsec"', 'mesh = "block.vtu"', "one of"),
        ("[0.012, 0.0, 0.015]", "[0.2, 0.0, 0.015]", "[0.2, 0.0, 0.015]", "cables"),
        ("[0.012, 0.0, 0.015]", "[1e308, 0.0, 0.015]", "[1e308, 0.0, 0.015]", "through[1][0]"),
        ("arc = [0.005,", "arc = [0.9,", "arc = [0.9,", "from 0 to 0.05 m"),
        ('body = "rod"\nalong', 'body = "block"\nalong', "along", "a body of rods"),
        ('region = "cap"', 'region = "hat"', 'region = "hat"', "cap"),
        ('body = "rod"\npoints', 'body = "rood"\npoints', 'body = "rood"', "rod"),
        ("inner = 1", "inner = 2", "inner = 2", "1 inner surfaces"),
        ("poisson = 0.45\ndensity", "poisson = 0.55\ndensity", "poisson = 0.55", "0.5"),
        ('law = "NeoHookean"', 'law = "NeoHookaen"', "NeoHookaen", "NeoHookean"),
        ('library = "dragon skin 30"', 'library = "dragon"', "dragon", "dragon skin"),
        ("axis = [0, 1, 0], ", "axis = [0, 0, 0], ", "axis = [0, 0, 0]", "direction"),
        ("low = [-inf, -inf, 0.0299]", "low = [-inf, -inf, 9.0]", "9.0", "some nodes"),
        ("effort = [0.0, 10.0]", "effort = [10.0, 0.0]", "effort = [10.0, 0.0]", "low ≤ high"),
        ("effort = [0.0, 10.0]", "effort = [-9.0, -1.0]", '[cables."cable 1"]', "overlap"),
        ("target = [0.0, 0.0, 0.03]", "target = [0.0, 0.03]", "[effectors.tip]", "3 numbers"),
        ('effector = "tip"', 'effector = "top"', 'effector = "top"', "tip"),
        ('device = "winch"', 'device = "witch"', "witch", "winch"),
        ('[hardware.channels."cable 1"]', '[hardware.channels."cable 9"]', "cable 9", "cable 1"),
        ("format = 1", "format = 2", "format = 2", "1"),
        ("0.02]\nradius = 0.01", "0.02]\nradius = -0.01", "radius = -0.01", "greater than 0"),
        ("spacing = 0.01", "spacing = 1e-9", "samples", "a thousandth"),
        ("nodes = [0, 1]", "nodes = [0, 99999]", "99999", "nodes from 0"),
        ('name = "rod"', 'name = "block"', 'name = "block"', "of its own"),
        ("[sensors.mark]", "[sensors.tip]", "[sensors.tip]", "no other row"),
        ("radius = 0.012, length", "radius = 0.12, length", "helix", "glued"),
        ("pitch = 0.05, ", "", "helix", "one of angle, pitch"),
        ('driver = "serial"', 'driver = "telepathy"', "telepathy", "dynamixel"),
    ],
)
def test_what_does_not_fit_together_names_key_and_line(folder, old, new, line_has, says):
    assert ROBOT.count(old) == 1, old
    text = ROBOT.replace(old, new)
    line, _, message = fault(folder, text)
    row = text.split("\n")[line - 1]
    assert line_has in row, (row, message)
    assert says in message


def test_text_that_is_no_toml_names_its_line(folder):
    for old, new in [
        ("rate = 50", "rate = "),
        ("format = 1", "format = 1\nformat = 1"),
        ("[contact]", "[contact"),
        ('name = "rod"', 'name = "rod'),
        ("weight = 2.0", "weight = 2.0.0"),
        ("    [0.012, 0.0, 0.028],\n]", "    [0.012, 0.0, 0.028],\n"),
    ]:
        text = ROBOT.replace(old, new, 1)
        line, _, _ = fault(folder, text)
        assert abs(line - 1 - text[: text.index(new)].count("\n")) <= 2 or line > 50
    (folder / "robot.toml").write_bytes(ROBOT.encode() + b"\n# \xff\n")
    with pytest.raises(InputError, match=r"line \d+.*UTF-8"):
        load(folder / "robot.toml")
    with pytest.raises(InputError, match=r"gone\.toml"):
        load(folder / "gone.toml")


@pytest.mark.parametrize(
    "key", ["a." * 20_000 + "a", "'a' . " * 20_000 + "b", "a." * 100 + "a", "b = {" + "a." * 20_000 + "a"]
)
def test_keys_that_are_very_deep_name_their_line(folder, key):
    """The parser's time would grow with the square of their parts, and so would the room for their lines."""
    close = "}" if "{" in key else ""
    line, _, said = fault(folder, f"{ROBOT}\n[deep]\n{key} = 1{close}\n")
    assert line == ROBOT.count("\n") + 3 and "32 deep" in said


@pytest.mark.parametrize("depth", [40, 300, 20_000])
def test_values_that_are_very_deep_are_refused(folder, depth):
    for value in ("[" * depth + "]" * depth, "{a=" * depth + "1" + "}" * depth):
        _, _, said = fault(folder, f"deep = {value}\n{ROBOT}")
        assert "32 deep" in said


def test_numbers_of_thousands_of_digits_are_refused(folder):
    assert "digits" in fault(folder, ROBOT.replace("rate = 50", f"rate = {'9' * 5000}", 1))[2]


def test_meshes_are_merged_if_the_file_says_so(tmp_path):
    part = pl.mesh.box((0.02, 0.01, 0.01), cells=(2, 1, 1), kind="hex")
    pl.mesh.write(pl.mesh.join([part.subset([0]), part.subset([1])]), tmp_path / "part.vtu")
    text = """format = 1
name = "part"
[[bodies]]
mesh = "part.vtu"
merge = MERGE
fixed = [{ plane = { point = [0, 0, 0], normal = [1, 0, 0] } }]
materials = [{ library = "dragon skin 30" }]
"""
    for merge, pieces in (("true", 1), ("1e-5", 1), ("false", 2)):
        (tmp_path / "part.toml").write_text(text.replace("MERGE", merge), encoding="utf-8")
        assert len(load(tmp_path / "part.toml").robot.body.mesh.components) == pieces
    assert "merge" in fault(tmp_path, text.replace("MERGE", "-1"))[2]


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_random_damage_never_ends_in_a_traceback(folder, data):
    """Characters deleted, doubled or replaced anywhere: the file still works, or the error names a line."""
    text = ROBOT
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        size = data.draw(st.integers(0, 6))
        text = text[:at] + data.draw(st.text("01.-e[]{}\"'=,\n#abz ", max_size=3)) + text[at + size :]
    readable(folder, text)


def readable(folder, text: str) -> None:
    """It can be read, or the error names line and key."""
    (folder / "robot.toml").write_text(text, encoding="utf-8")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as of a robot of 100 m
            load(folder / "robot.toml")
    except InputError as error:
        assert PLACE.match(str(error)), str(error)


AWKWARD = [
    "1e308",
    "-1e308",
    "1e-300",
    "0",
    "-1",
    "inf",
    "nan",
    "true",
    '""',
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    "1979-05-27",
]


@given(st.data())
@settings(max_examples=150)
def test_awkward_values_never_end_in_a_traceback(folder, data):
    """In the place of any number or word, once or twice."""
    text = ROBOT
    for _ in range(data.draw(st.integers(1, 2))):
        found = data.draw(
            st.sampled_from(list(re.finditer(r'(?<=[ \[])(-?[\d.]+(e\d+)?|"[^"]*")(?=[ ,\]\n])', text)))
        )
        text = text[: found.start()] + data.draw(st.sampled_from(AWKWARD)) + text[found.end() :]
    readable(folder, text)


# The gallery


ASSEMBLED = {"emio"}  # project files know no rigid bodies and joints yet


def test_what_project_files_cannot_say_yet_is_an_error_in_words(tmp_path):
    with pytest.raises(pl.InputError, match="expected a Solid or a Beam, got RigidBody"):
        save(pl.robots.emio(), tmp_path / "emio.toml")


@pytest.mark.parametrize("name", [*sorted(set(pl.robots.gallery) - ASSEMBLED), "crawler"])
def test_robots_of_the_gallery_come_back_the_same(tmp_path, name):
    robot = getattr(pl.robots, name)()
    again = load(save(robot, tmp_path / f"{name}.toml", summary="a robot")).robot
    assert list(again.rows) == list(robot.rows)
    for mine, other in zip(robot.bodies, again.bodies, strict=True):
        assert np.array_equal(mine.q0, other.q0) and np.array_equal(mine.free, other.free)
    q = robot.rest.q + 1e-5 * np.sin(np.arange(len(robot.rest.q)))  # no special place
    terms = zip(robot.bodies, again.bodies, robot.q_spans, strict=True)
    for mine, other, span in terms:
        for a, b in zip(
            mine.linearise(q[span], robot.gravity), other.linearise(q[span], again.gravity), strict=True
        ):
            np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12 * np.abs(a).max())
    for mine, other in zip(robot.rows.values(), again.rows.values(), strict=True):
        assert type(mine.law) is type(other.law)
        assert mine.interaction.effort_range == other.interaction.effort_range
    p, p2 = robot.bundle.positions(q), again.bundle.positions(q)
    np.testing.assert_allclose(again.bundle.delta(p2), robot.bundle.delta(p), rtol=1e-12, atol=1e-16)
    first, second = robot.surroundings.detector(robot), again.surroundings.detector(again)
    assert second.opponents == first.opponents and second.alarm == first.alarm
    mine, other = first.detect(robot.rest.q), second.detect(again.rest.q)
    np.testing.assert_allclose(other.gap, mine.gap, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["finger", "tripod", "bellows", "rod", "beam", "parallel"])
def test_results_are_identical(tmp_path, name):
    entry = pl.robots.gallery[name]
    robot = entry.build()
    project = load(save(robot, tmp_path / "r.toml", laws=entry.laws))
    mine, other = pl.static(robot, entry.laws), pl.static(project.robot, project.laws)
    assert np.array_equal(mine.q, other.q)
    assert all(np.array_equal(mine.effort[row], other.effort[row]) for row in robot.rows)


def test_what_cannot_be_written_says_so(tmp_path):
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(2, 1, 1))
    body = pl.Solid(mesh, pl.materials.Incompressible(pl.NeoHookean(young=1e5)), density=1000.0)
    with pytest.raises(InputError, match="Incompressible"):
        save(pl.Robot(body), tmp_path / "r.toml")
    body = pl.Solid(mesh, pl.Hooke(1e5, 0.4), nodal_mass=0.01)
    with pytest.raises(InputError, match="nodal masses"):
        save(pl.Robot(body), tmp_path / "r.toml")
    with pytest.raises(InputError, match=r"\.toml"):
        save(pl.Robot(body), tmp_path / "r.json")


# A new one


def test_start_guesses_a_robot_that_moves(tmp_path):
    mesh = pl.mesh.box((0.02, 0.1, 0.02), cells=(3, 8, 3))
    pl.mesh.write(mesh, tmp_path / "bar.vtk", unit="mm")
    project = start(tmp_path / "bar.vtk", tmp_path / "bar.toml")
    robot = project.robot
    assert project.spec.bodies[0].unit == "mm" and robot.bodies[0].mesh.volume == pytest.approx(4e-5)
    assert robot.rigid_modes() == 0 and len(robot.by_role("actuator")) == 4
    np.testing.assert_allclose(robot.rows["tip"].interaction.rest, [[0.01, 0.1, 0.01]], atol=1e-6)
    pulled, idle = pl.static(robot, project.laws), pl.static(robot)
    assert np.linalg.norm(pulled.displacement["tip"] - idle.displacement["tip"]) > 5e-3
    with pytest.raises(InputError, match="does not exist yet"):
        start(tmp_path / "bar.vtk", tmp_path / "bar.toml")


def test_start_finds_chambers(tmp_path):
    mesh = hollow((4, 4, 6))
    pl.mesh.write(mesh, tmp_path / "block.vtu")
    project = start(tmp_path / "block.vtu", tmp_path / "block.toml")
    assert list(project.spec.cavities) == ["chamber 1"] and not project.spec.cables
    assert project.robot.rows["chamber 1"].interaction.rest_volume == pytest.approx(6.75e-6, rel=1e-9)


def test_cables_that_would_fit_into_a_hollow_part_are_offered_behind_a_sign(tmp_path):
    pl.mesh.write(hollow((4, 4, 6)), tmp_path / "block.vtu")
    text = start(tmp_path / "block.vtu", tmp_path / "block.toml").source.text
    assert "Cables along z would fit" in text
    begin = text.index('# [cables."cable 1"]')
    uncommented = text[:begin] + text[begin:].replace("# ", "").replace("#", "")
    (tmp_path / "block.toml").write_text(uncommented, encoding="utf-8")
    rows = load(tmp_path / "block.toml").robot.rows
    assert "chamber 1" in rows and "cable 4" in rows and rows["cable 4"].law.effort[0] == 0.0


@pytest.mark.parametrize(
    ("scale", "read", "said"),
    [
        (1.0, "read in m: 100 × 20 × 20 mm.", ""),
        (1e3, "read in mm: 100 × 20 × 20 mm.", ""),
        (1e6, "read in um: 100 × 20 × 20 mm.", ""),
        (
            1 / 0.0254,
            "read in m: 3937 × 787.4 × 787.4 mm.",
            "39.37 mm if drawn in cm, 100 mm if drawn in in: say so with --unit",
        ),
    ],
)
def test_the_unit_of_a_part_is_guessed_and_others_are_told_where_it_is_long(tmp_path, scale, read, said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.errors.PliantWarning)  # of its size
        mesh = pl.mesh.box(scale * np.array([0.1, 0.02, 0.02]), cells=(4, 1, 1))
        pl.mesh.write(mesh, tmp_path / "bar.vtu")
    text = start(tmp_path / "bar.vtu", tmp_path / "bar.toml").source.text
    assert read in text and said in text and bool(said) == ("--unit" in text)


def test_start_from_an_stl_part_writes_its_mesh(tmp_path, monkeypatch):
    """In millimetres, which is guessed; meshed once. The mesher is an extra: a stand-in fills the box."""
    import meshio

    from pliant.mesh import convert

    bar = pl.mesh.box((0.1, 0.02, 0.02), cells=(6, 2, 2))
    skin = bar.surface
    meshio.write(tmp_path / "bar.stl", meshio.Mesh(1e3 * skin.nodes, [("triangle", skin.triangles)]))
    asked = {}
    monkeypatch.setattr(convert, "mesh_stl", lambda path, **options: asked.update(options) or bar)
    project = start(tmp_path / "bar.stl", tmp_path / "deep" / "bar.toml", size=0.01)
    assert asked == {"scale": 1e-3, "size": 0.01}
    assert "bar.stl, read in mm: 100 × 20 × 20 mm." in (tmp_path / "deep" / "bar.toml").read_text(
        encoding="utf-8"
    )
    (body,) = project.spec.bodies
    assert body.mesh == "bar.vtu" and body.unit == "m" and (tmp_path / "deep" / "bar.vtu").is_file()
    assert np.array_equal(project.robot.bodies[0].input_mesh.nodes, bar.nodes)


def test_start_from_a_step_part_takes_its_own_unit(tmp_path, monkeypatch):
    """The mesher is an extra: a stand-in fills the box."""
    from pliant.mesh import convert

    bar = pl.mesh.box((0.02, 0.1, 0.02), cells=(2, 6, 2))
    (tmp_path / "bar.step").write_text("ISO-10303-21;")
    monkeypatch.setattr(convert, "mesh_step", lambda path, **options: bar)
    project = start(tmp_path / "bar.step", tmp_path / "bar.toml")
    text = (tmp_path / "bar.toml").read_text(encoding="utf-8")
    assert "# bar.step, in the unit that it states: 20 × 100 × 20 mm." in text
    assert project.spec.bodies[0].unit == "m" and project.robot.rigid_modes() == 0
    numbers = [float(n) for n in re.findall(r"\d\.\d+(?:e-\d+)?", text.split("[[bodies]]")[1])]
    assert max(len(repr(n)) for n in numbers) <= 7  # as a person would write them
    with pytest.raises(InputError, match="carries its own"):
        start(tmp_path / "bar.step", tmp_path / "other.toml", unit="cm")


def test_a_missing_part_is_named(tmp_path):
    with pytest.raises(InputError, match=r"gone\.stl"):
        start(tmp_path / "gone.stl", tmp_path / "r.toml")
