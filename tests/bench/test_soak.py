"""The soak: a short sample of what `pliant bench soak` does at length, and that it notices what is wrong."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.bench.soak import findings as f
from pliant.bench.soak import soaked
from pliant.bench.soak.case import Case, cases
from pliant.bench.soak.episode import Episode
from pliant.bench.soak.findings import found_in
from pliant.bench.soak.judge import Judge, distance
from pliant.bench.soak.random_obstacles import MAKERS, obstacle_beside
from pliant.bench.soak.record import FAR, REACHABLE, Hold, Moment, Record
from pliant.bench.soak.skin import Skins
from pliant.bench.soak.tables import tables
from pliant.bodies import Beam, Circle
from pliant.cli import main
from pliant.contact.obstacles import KINDS
from pliant.inverse.model import PIVOTS
from pliant.mesh.lines import line

SIZE = (0.1, 0.02, 0.02)


@pytest.fixture(scope="module")
def bar() -> Case:
    """A coarse bar, clamped at one end, with a cable on either side."""
    mesh = pl.mesh.box(SIZE, cells=(5, 1, 1), kind="hex")
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.4), density=1000, fixed=mesh.nodes[:, 0] < 1e-9)
    line = lambda z: body.points([[x, 0.01, z] for x in np.linspace(0.0, 0.095, 6)])
    pull = pl.Bounded(effort=(0.0, 3.0))
    tip = pl.Position(body.points([[0.1, 0.01, 0.01]]), directions="xz")
    rows = {
        "upper": pl.Row(pl.Cable(line(0.017)), pl.Bounded(effort=(0.0, 3.0), displacement=(-0.02, 0.02))),
        "lower": pl.Row(pl.Cable(line(0.003)), pull),
        "tip": pl.Row(tip, pl.Target()),
    }
    return Case("bar", pl.Robot(body, rows, gravity=(0, 0, -9.81), name="bar"))


@pytest.fixture(scope="module")
def skins(bar) -> Skins:
    return Skins(bar.robot)


def test_an_episode_is_driven_measured_and_repeatable(bar, skins):
    """No exception and nothing but numbers; the same seed and number give the same episode."""
    first, again = (Episode(bar, skins, 5, 1).run(150) for _ in range(2))
    assert not first.failure and len(first.moments) >= 100 and first.holds
    said = lambda record: [(m.status, m.linearisations, m.motion, m.certified) for m in record.moments]
    assert said(first) == said(again) and first.disturbances == again.disturbances
    assert said(first) != said(Episode(bar, skins, 6, 1).run(150))
    assert all(m.finite and m.linearisations >= 0 and math.isfinite(m.motion) for m in first.moments)
    measured = [m.depth for m in first.moments if not math.isnan(m.depth)]
    assert len(measured) >= len(first.moments) // 3 and min(measured) >= 0.0


@pytest.mark.parametrize("name", ["beam", "rod"])
def test_robots_of_the_gallery_in_short(name):
    """No exception, no number that is not finite; budgets take turns."""
    records = soaked(cases(name)[name](), 100, seed=7)
    found = [one for one in found_in(records) if one.what in (f.EXCEPTION, f.NOT_FINITE)]
    assert not found
    assert sum(len(r.moments) for r in records) >= 100
    assert [r.punctual for r in records] == [k % 2 == 1 for k in range(len(records))]


def test_every_robot_and_scene_takes_part():
    named = cases()
    assert {f"scene: {name}" for name in pl.robots.scenes} <= set(named)
    assert set(pl.robots.gallery) <= set(named)
    assert list(cases("rod")) == ["rod"]
    assert list(cases("trunk, ")) == [name for name in named if name.startswith("scene: trunk, ")]
    with pytest.raises(pl.InputError, match="robot or scene"):
        cases("no such robot")


# Depth


@given(st.floats(0.02, 0.08), st.floats(0.001, 0.019), st.floats(0.01, 1.0), st.floats(1e-3, 3e-2))
@settings(max_examples=50, deadline=None)
def test_depth_of_a_ball_in_a_face(bar, skins, x, y, share, radius):
    """A ball over a flat face: its lowest point, wherever the nodes are."""
    depth, (skin,) = min(share * radius, 5e-3), skins.parts
    if min(y, SIZE[1] - y) < radius:  # the side faces would come nearer
        y = SIZE[1] / 2
    ball = pl.Sphere((x, y, SIZE[2] + radius - depth), radius)
    found = skin.deepest(skin.nodes(bar.robot.rest.q), ball, 1e-6)
    assert found == pytest.approx(depth, abs=1.1e-6)


def test_depth_of_a_ball_that_the_body_has_swallowed(bar, skins):
    (skin,), place = skins.parts, (0.05, 0.01, 0.012)
    nodes = skin.nodes(bar.robot.rest.q)
    assert skin.deepest(nodes, pl.Sphere(place, 1e-3), 1e-6) >= 8e-3
    assert skin.deepest(nodes, pl.Sphere((0.05, 0.01, 0.03), 1e-3), 1e-6) == 0.0


def test_depth_of_a_corner_between_nodes_and_of_flush_faces(bar, skins):
    turn = np.linalg.qr(np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]).T)[0]
    turn *= np.linalg.det(turn)
    size, depth, length = 0.01, 7e-4, bar.robot.length
    corners = (np.indices((2, 2, 2)).reshape(3, -1).T - 0.5) * size @ turn.T
    lowest = corners[np.argmin(corners[:, 2])]
    tip = np.array([0.0533, 0.0117, SIZE[2] - depth])
    block = pl.contact.Box(tip - lowest, (size,) * 3, turn)
    detector = lambda o: bar.robot.surroundings.detector(bar.robot, o)
    q = bar.robot.rest.q
    # the skin's deepest point in the block is where its surface is farthest: of the face, under the corner
    brute = _brute(block, depth)
    assert skins.depth(q, detector(block))[0] == pytest.approx(brute, abs=3e-5 * length) and brute > 3e-4
    table = pl.Plane((0, 0, 0), (0, 0, 1))
    assert skins.depth(q, detector(table))[0] == pytest.approx(0.0, abs=1e-15)
    pipe = pl.contact.Pipe([(-0.1, 0.01, 0.01), (0.3, 0.01, 0.01)], 0.0135)
    assert skins.depth(q, detector(pipe))[0] == pytest.approx(0.01 * math.sqrt(2) - 0.0135, rel=1e-9)


def _brute(block, depth: float) -> float:
    x, y = np.meshgrid(np.linspace(0.045, 0.06, 401), np.linspace(0.005, 0.018, 401))
    points = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, SIZE[2])])
    return float(-block.distance(points)[0].min())


@pytest.mark.parametrize("kind", KINDS)
def test_obstacles_of_every_kind_are_put_beside_the_skin(bar, skins, kind, monkeypatch):
    monkeypatch.setattr("pliant.bench.soak.random_obstacles.KINDS", {kind: KINDS[kind]})
    assert set(MAKERS) == set(KINDS)
    x, mobile = skins.places(bar.robot.rest.q)
    length, placed = bar.robot.length, 0
    for seed in range(6):
        for gap in (0.01 * length, -0.01 * length):
            made = obstacle_beside(np.random.default_rng(seed), x, mobile, length, gap, "thing")
            if made is not None:
                placed += 1
                assert made.kind == kind and made.name == "thing"
                assert made.distance(x[mobile])[0].min() == pytest.approx(gap, rel=0.11)
                assert made.distance(x[~mobile])[0].min() > 0.0
    assert placed >= 2


# Judging


def test_places_are_equilibria_within_the_bounds(bar):
    ball = pl.Sphere((0.07, 0.01, -0.004), 0.005, name="ball")
    detector = bar.robot.surroundings.detector(bar.robot, ball)
    judge = Judge(bar.robot, bar.robot.chosen_laws({}), detector)
    places = judge.places(np.random.default_rng(0), 3)
    assert len(places) > 6
    for place in places:
        result = place.result
        assert result.certificate.converged and result.contacts.gap.min(initial=0.0) > -1e-9
        assert all(0.0 <= result.effort[name] <= 3.0 for name in ("upper", "lower"))
        assert abs(result.displacement["upper"]) <= 0.02 * (1 + 1e-5)
    assert np.ptp([place.targets["tip"][1] for place in places]) > 0.01  # they are different places


def test_a_command_that_is_too_strong_to_be_followed_is_made_weaker(bar):
    """An actuator that could do a hundred times as much leaves as much to reach."""
    strong = {"lower": pl.Bounded(effort=(0.0, 300.0)), "upper": pl.Known(effort=0.0)}
    detector = bar.robot.surroundings.detector(bar.robot)
    places = Judge(bar.robot, bar.robot.chosen_laws(strong), detector).places(np.random.default_rng(0), 2)
    assert len(places) > 6 and max(place.result.effort["lower"][0] for place in places) > 1.0


@pytest.mark.parametrize("load, stands", [(0.8, True), (1.3, False)])
def test_no_place_is_where_the_robot_would_buckle(load, stands):
    """A column under so many of Euler's loads is straight in an equilibrium that statics finds."""
    length, young, section = 0.2, 35e6, Circle(0.003)
    euler = np.pi**2 * young * (np.pi * 0.003**4 / 4) / (4 * length**2)
    column = Beam(line((0, 0, 0), (0, 0, length), elements=16), section, pl.Hooke(young, 0.3), fixed=0)
    top = column.at([length])
    rows = {
        "load": pl.Row(pl.PointForce(top, direction=(0, 0, -1)), pl.Known(effort=load * euler)),
        "side": pl.Row(pl.PointForce(top, direction=(0, 1, 0)), pl.Bounded(effort=(0.0, 1e-3))),
        "tip": pl.Row(pl.Position(top, directions="z"), pl.Target()),
    }
    robot = pl.Robot(column, rows)
    judge = Judge(robot, robot.chosen_laws({}), robot.surroundings.detector(robot))
    assert bool(judge.places(np.random.default_rng(0), 0)) == stands


def test_the_nearest_equilibrium_is_sought_from_places(bar):
    """Of a target that commands reach, from others that are far from it; of one too far, at the bounds."""
    detector = bar.robot.surroundings.detector(bar.robot)
    judge = Judge(bar.robot, bar.robot.chosen_laws({}), detector)
    rest, *_, goal = judge.places(np.random.default_rng(0), 1)
    length = bar.robot.length
    first = distance(goal.targets, rest.targets)
    assert first > 0.02 * length and judge.nearest(goal.targets, [rest]) < 0.1 * first
    far = {"tip": rest.targets["tip"] + [0.0, 1.0]}
    places = judge.places(np.random.default_rng(1), 3)
    assert judge.nearest(far, places) <= min(distance(far, place.targets) for place in places)


def test_states_are_solved_again(bar):
    """An equilibrium stays where it is; one that was moved away does not."""
    controller, length = bar.controller(True), bar.robot.length
    judge = Judge(bar.robot, bar.robot.chosen_laws({}), controller.detector)
    goal = judge.places(np.random.default_rng(0), 1)[-1].targets
    for _ in range(40):
        out = controller.step(targets=goal)
    assert out.certificate.status == "reached"
    assert judge.moved(out, controller.detector) < 1e-3 * length
    other = replace(out, command={**out.command, "lower": out.command["lower"] + 0.005})
    assert judge.moved(other, controller.detector) > 0.01 * length


# What is found


GOOD = Moment("reached", 3, 0, 1e-3, 0.0, 0.0, "", 0.0, 0.001, True)
KEPT = Hold(REACHABLE, 10, 4, (), 1e-5, 0.0, math.nan, 1e-6, "reached")


def _found(moment: Moment = GOOD, hold: Hold = KEPT, failure: str = "") -> list[str]:
    record = Record("bar", 2, True, 0.1, 1e-4, [GOOD, moment], [KEPT, hold], [], failure)
    by_robot, _, _, checks = tables([record], 3)
    found = found_in([record])
    assert by_robot.passed == checks.passed == (not found)
    assert all('--seed 3 --only "bar" --repeat 2' in note for note in by_robot.notes)
    return [one.what for one in found]


def test_nothing_is_found_where_all_is_well():
    assert _found() == []
    deep_and_said = GOOD._replace(depth=5e-4, certified=5.2e-4)
    assert _found(deep_and_said) == _found(deep_and_said._replace(certified=0.0, status="infeasible")) == []
    far = KEPT._replace(kind=FAR, after=-1, said=("out of reach",), status="out of reach", left=2.0)
    assert _found(hold=far._replace(nearer=1.995, rest=1e-5)) == []


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"moment": GOOD._replace(depth=5e-4, certified=2e-4)}, f.SILENT),
        ({"moment": GOOD._replace(depth=1.5e-4, certified=9e-5)}, f.SILENT),
        ({"moment": GOOD._replace(finite=False)}, f.NOT_FINITE),
        ({"moment": GOOD._replace(motion=0.2)}, f.JUMP),
        ({"failure": "KeyError: 'tip'"}, f.EXCEPTION),
        ({"hold": KEPT._replace(after=-1, left=0.1, moved=math.nan)}, f.NO_RETURN),
        ({"hold": KEPT._replace(said=("at its limits",))}, f.FALSE_CANNOT),
        ({"hold": KEPT._replace(kind=FAR, said=("out of reach",), status="out of reach", left=2.0, rest=0.0)},
         f.FALSE_CANNOT),
        ({"hold": KEPT._replace(rest=2e-3)}, f.RESTLESS),
        ({"hold": KEPT._replace(rest=math.inf)}, f.RESTLESS),
        ({"hold": KEPT._replace(moved=2e-3)}, f.UNBALANCED),
        ({"hold": KEPT._replace(said=("no way found from here",))}, f.NO_WAY),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(wrong, what):
    assert _found(**wrong) == [what]


def test_work_that_is_not_punctual_is_found():
    moments = [GOOD._replace(linearisations=3)] * 99 + [GOOD._replace(linearisations=16)]
    _, work, *_ = tables([Record("bar", 1, True, 0.1, 1e-4, moments)], 0)
    assert not work.passed and work.rows[0]["p99.9 / median"] == pytest.approx(16 / 3)
    _, work, *_ = tables([Record("bar", 0, False, 0.1, 1e-4, moments)], 0)
    assert work.passed  # the default budget is shown, not judged
    moments = [GOOD._replace(linearisations=2)] * 99 + [GOOD._replace(linearisations=5, pivots=20 * PIVOTS)]
    _, work, *_ = tables([Record("bar", 1, True, 0.1, 1e-4, moments)], 0)
    assert not work.passed and work.rows[0]["p99.9"] == 25.0


def test_the_command(bar, monkeypatch, capsys, tmp_path):
    """Tables and a file; an episode again; an exception is counted, and raised where it is repeated."""
    monkeypatch.setattr("pliant.bench.soak.cases", lambda only: {"bar": lambda: bar})
    path = tmp_path / "soak.json"
    code = main(["bench", "soak", "--steps", "60", "--seed", "2", "--json", str(path)])
    saved = json.loads(path.read_text())
    assert saved[0]["title"] == "Soak, seed 2" and saved[0]["rows"][0]["steps"] >= 60
    assert code == (0 if all(t["passed"] for t in saved) else 1)

    def broken(self):
        raise KeyError("not ours")

    monkeypatch.setattr("pliant.bench.soak.trouble.Troubles.happen", broken)
    assert main(["bench", "soak", "--steps", "1"]) == 1
    assert "KeyError" in capsys.readouterr().out
    with pytest.raises(KeyError):
        main(["bench", "soak", "--repeat", "0"])
