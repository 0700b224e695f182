"""What studies are made of: checks, findings, reports, logs, rest, soak runs, maps of the cost."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant as pl
from pliant.bench.instances import instance
from pliant.errors import InputError
from pliant.io.table import Table
from pliant.studies import Check, Findings, Picture, Study, registry, reproduce, study
from pliant.studies.check import check_table
from pliant.studies.coevoet2017.cost_map import cost_map, map_figure
from pliant.studies.figures import new_figure, save_png
from pliant.studies.log import follow
from pliant.studies.report import plain, write_report
from pliant.studies.settle import CHANGE, DECREMENT, settle
from pliant.studies.setup import Setup, seed_of
from pliant.studies.soak import LEAST_EXTENT, PACE, WIDER, soak, walk

finite = st.floats(-1e6, 1e6)


@pytest.fixture(scope="module")
def arm():
    """A bar with four cables, as in the page on the inverse model."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(8, 2, 2), kind="hex")
    clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(1, 0, 0))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.3), density=1100, fixed=clamp)
    rows = {"tip": pl.Row(pl.Position(body.points([[0.1, 0.01, 0.01]])), pl.Target())}
    for k, (y, z) in enumerate([(0.003, 0.01), (0.017, 0.01), (0.01, 0.003), (0.01, 0.017)]):
        path = body.points([[x, y, z] for x in np.linspace(0.0, 0.095, 8)])
        rows[f"cable {k}"] = pl.Row(pl.Cable(path), pl.Bounded(effort=(0, 10)))
    return pl.Robot(body, rows, gravity=(0, 0, -9.81))


# Checks


@given(finite, finite)
def test_checks_say_whether_a_limit_holds(measured, limit):
    assert Check.at_most("x", measured, limit).passed is (measured <= limit)
    assert Check.at_least("x", measured, limit).passed is (measured >= limit)
    assert Check.within("x", measured, limit, limit + 1.0).passed is (limit <= measured <= limit + 1.0)


def test_what_is_not_a_number_fails_every_limit():
    assert not Check.at_most("x", math.nan, 1.0).passed
    assert not Check.at_least("x", math.nan, 1.0).passed
    assert not Check.within("x", math.nan, 0.0, 1.0).passed


def test_a_claim_decides_a_comparison_and_a_number_do_not():
    claim, other = (
        Check.at_most("error", 2.0, 1.0, paper=0.5),
        Check.compared("rate", 3.0, paper=9.0, why="x"),
    )
    assert [claim.kind, other.kind, Check("rate", 3.0).kind] == ["claim", "comparison", "number"]
    assert not Findings("a", checks=[claim, other]).passed and Findings("a", checks=[other]).passed
    table = Table("t", ("what", "check"))
    table.add(what="asked", check=True)
    table.add(what="shown", check=None)
    found = Findings("b", tables=[table], checks=[other])
    assert found.kinds == ["comparison", "claim", "comparison"] and found.claims == 1
    shown, compared = found.all_tables
    assert [row["kind"] for row in shown.rows] == ["claim", "comparison"] and "kind" not in table.columns
    assert compared.rows[0]["why"] == "x" and compared.columns[-1] == "why"


def test_a_number_without_a_limit_is_shown_and_not_judged():
    table = check_table("Checks", [Check("speed", 3.0, paper=2.0), Check.holds("at rest", False)])
    assert table.rows[0]["check"] is None and table.rows[0]["paper"] == 2.0
    assert not table.passed and check_table("Checks", [Check("speed", 3.0)]).passed


# Studies and reports


def good(shared):
    figure, ((ax,),) = new_figure(3.0, 2.0)
    ax.plot([0.0, 1.0], [0.0, shared])
    table = Table("Numbers", ("what", "value"), notes=["A note."])
    table.add(what="a | b", value=np.float64(1.5))
    return Findings(
        "Good",
        "Text.",
        [table],
        [Check.at_most("small", 0.5, 1.0, paper=0.7)],
        [Picture("line", "A line.", figure)],
        {"series": np.array([1.0, math.nan])},
    )


def broken(shared):
    raise pl.InputError("pipe", expected="open", got="closed")


def toy(**parts):
    return Study("toy", "A toy", "Nobody, nowhere.", parts, prepare=lambda c: 1.0 if c.quick else 2.0)


def test_a_part_that_breaks_down_fails_and_the_others_run():
    found = dict(toy(broken=broken, good=good).run(Setup(quick=True)))
    assert found["good"].passed and not found["broken"].passed
    assert "pipe" in found["broken"].checks[0].measured and "Traceback" in found["broken"].data["traceback"]


def test_parts_can_be_chosen_and_unknown_ones_are_refused():
    assert [name for name, _ in toy(a=good, b=good).run(only=["b"])] == ["b"]
    with pytest.raises(InputError, match="part"):
        list(toy(a=good).run(only=["c"]))


def test_the_report_holds_every_table_figure_and_number(tmp_path):
    one = toy(good=good, broken=broken)
    page = write_report(one, list(one.run()), tmp_path, Setup(3, quick=True))
    html, markdown = page.read_text("utf-8"), (tmp_path / "report.md").read_text("utf-8")
    for text in ("A toy", "A line.", "A note.", "Text.", "ran to its end"):
        assert text in html and text in markdown
    assert "FAILED" in html and "data:image/png;base64," in html and "(line.png)" in markdown
    assert "a ∣ b" in markdown  # a bar would end the cell
    assert (tmp_path / "line.png").read_bytes().startswith(b"\x89PNG")
    data = json.loads((tmp_path / "result.json").read_text("utf-8"))
    assert data["passed"] is False and [p["passed"] for p in data["parts"]] == [True, False]
    assert data["parts"][0]["data"]["series"] == [1.0, None]
    assert data["parts"][0]["checks"][0]["paper"] == 0.7 and data["seed"] == 3


@given(
    st.recursive(finite | st.booleans() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s))
)
def test_plain_values_stay_as_they_are_and_survive_json(value):
    assert json.loads(json.dumps(plain(value))) == value


def test_the_same_figure_is_the_same_file(tmp_path):
    files = [save_png(good(1.0).pictures[0].figure, tmp_path / f"{k}.png").read_bytes() for k in range(2)]
    assert files[0] == files[1]


def test_the_registry_knows_its_studies():
    assert study("coevoet2017") is registry["coevoet2017"]
    with pytest.raises(InputError, match="coevoet2017"):
        study("coevoet2016")


def test_reproduce_writes_where_it_is_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(registry, "toy", toy(good=good, broken=broken))
    page, passed = reproduce("toy", out=tmp_path / "out", quick=True, json=tmp_path / "deep" / "toy.json")
    assert page == tmp_path / "out" / "index.html" and not passed
    assert json.loads((tmp_path / "deep" / "toy.json").read_text("utf-8"))["quick"] is True
    assert "paper | measured" in capsys.readouterr().out
    assert reproduce("toy", out=tmp_path / "out", only=["good"])[1]


# Setup


def test_every_part_has_its_own_draws_and_the_seed_decides_them():
    one, same, other = Setup(1), Setup(1, quick=True), Setup(2)
    draws = lambda c, part: c.rng(part).normal(size=4).tolist()
    assert draws(one, "a") == draws(same, "a") != draws(one, "b")
    assert draws(one, "a") != draws(other, "a")
    assert one.seeds("a", 5)[:3] == one.seeds("a", 3) and len(set(one.seeds("a", 50))) == 50


def test_a_study_has_the_seed_of_its_name_unless_one_is_given():
    one = study("zhang2018")
    assert one.setup().seed == seed_of("zhang2018") != study("mirano2017").setup().seed
    assert one.setup(seed=7).seed == 7
    with pytest.raises(InputError, match="seed"):
        one.setup(seed=-1)


def test_a_folder_of_meshes_is_read_where_it_has_the_file(tmp_path):
    (tmp_path / "a.vtk").write_text("")
    found = Setup(data=tmp_path)
    assert found.file("a.vtk") == tmp_path / "a.vtk" and found.file("b.vtk") is None
    assert Setup().file("a.vtk") is None
    with pytest.raises(InputError, match="folder"):
        Setup(data=tmp_path / "a.vtk")


@pytest.mark.parametrize("name", sorted(registry))
def test_every_study_says_whose_robots_and_settings_it_has(name, tmp_path):
    one = registry[name]
    text = write_report(one, [], tmp_path).with_name("report.md").read_text("utf-8")
    _, _, first, *_ = text.splitlines()
    assert first == one.robots(one.setup()) and str(seed_of(name)) in text
    assert "What is the paper's, what is ours and why" in text and "What was chosen, and on what" in text
    assert all(share.what and share.paper and share.here for share in one.shares) and len(one.shares) >= 4
    assert all(choice.on for choice in one.choices)
    assert one.robots(one.setup(data=tmp_path))  # a folder without the meshes is no error


# Logs, rest, soak


def test_a_log_tells_what_the_controller_did(arm):
    controller = pl.Inverse(arm)
    rest = controller.step().displacement["tip"]
    targets = [{"tip": rest + np.array([0.0, 1e-3 * k, 0.0])} for k in range(1, 6)]
    lost = []
    log = follow(controller, targets, keep=2, measure=1, before=lost.append)
    assert lost == list(range(5)) and len(log) == 5 and sorted(log.kept) == [0, 2, 4]
    np.testing.assert_allclose(log.target, [t["tip"] for t in targets], atol=1e-15)
    last, obstacles = log.kept[4]
    assert obstacles == ()
    np.testing.assert_array_equal(log.effort[4], np.concatenate([last.effort[n] for n in log.names]))
    assert log.error[4] == pytest.approx(np.linalg.norm(last.error["tip"]), rel=1e-12)
    assert log.finite and sum(log.counts.values()) == 5 and not log.depth.any()
    assert log.changes().shape == (4, 4) and (log.timings["total"] > 0).all()


def test_rest_is_what_it_claims(arm):
    controller = pl.Inverse(arm)
    tip = controller.step().displacement["tip"]
    rest = settle(controller, {"tip": tip + np.array([-0.005, 0.015, 0.0])}, most=100)
    assert rest.settled and rest.change <= CHANGE and rest.decrement <= DECREMENT * arm.length
    before = np.concatenate(list(rest.out.command.values()))
    after = np.concatenate(list(controller.step().command.values()))
    assert np.abs(after - before).max() < 2 * CHANGE * np.abs(before).max()  # and stays at rest


def test_too_few_steps_are_not_rest(arm):
    controller = pl.Inverse(arm)
    rest = settle(controller, {"tip": [0.09, 0.04, 0.01]}, most=3)
    assert not rest.settled and rest.steps == 3


@given(st.integers(0, 1000))
def test_a_walk_stays_in_the_box_round_its_path_and_is_slow(seed):
    length, turn = 0.2, np.linspace(0.0, np.pi, 50)
    path = 0.1 * np.column_stack([np.cos(turn), np.sin(turn), 0.0 * turn])
    walker = walk(path, length, seed)
    points = np.array([next(walker) for _ in range(300)])
    aside = WIDER * np.maximum(np.ptp(path, axis=0), LEAST_EXTENT * length)
    assert (points >= path.min(axis=0) - aside).all() and (points <= path.max(axis=0) + aside).all()
    pace = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert np.median(pace) < 2 * PACE * length and pace.max() < 6 * PACE * length
    assert np.ptp(points, axis=0).max() > 3 * PACE * length  # it gets somewhere


def around(tip, size):
    """A loop of a path about a place."""
    turn = np.linspace(0.0, 2 * np.pi, 40)
    return tip + size * np.column_stack([0.0 * turn, np.sin(turn), 1.0 - np.cos(turn)])


def test_a_soak_run_counts_and_reports(arm):
    controller = pl.Inverse(arm)
    tip = controller.step().displacement["tip"]
    result = soak(controller, ({"tip": p} for p in walk(around(tip, 0.02), arm.length, 3)), 40)
    assert result.steps == 40 == sum(result.counts.values()) and result.failure == ""
    assert math.isnan(result.kept) and result.rate > 0 and result.decrement < 1e-3 * arm.length


@pytest.mark.parametrize("leak", [0, 20_000])
def test_a_soak_run_sees_memory_that_is_not_given_back(arm, leak):
    kept, controller = [], pl.Inverse(arm)
    tip = controller.step().displacement["tip"]

    def targets():
        for place in walk(around(tip, 0.01), arm.length, 3):
            kept.append(bytes(leak))
            yield {"tip": place}

    result = soak(controller, targets(), 600)  # the trail that a controller keeps is full by then
    assert result.failure == "" and abs(result.kept - leak / 1e3) < 2.0


def test_a_soak_run_tells_of_exceptions_and_of_what_is_not_finite(arm):
    controller = pl.Inverse(arm)
    tip = controller.step().displacement["tip"]
    good_then_bad = iter([{"tip": tip}, {"tip": tip}, {"nose": tip}, {"tip": tip}])
    result = soak(controller, good_then_bad, 4)
    assert result.steps == 2 and "nose" in result.failure


# Maps


def test_a_map_agrees_with_the_solver():
    p = instance(2, 8, seed=3, hard=True)
    most = float(max(p.effort[1]))
    p = p.with_(effort=(np.zeros(2), np.full(2, most)))
    drawn = cost_map(p, most, size=40)
    assert drawn.cost.shape == drawn.region.shape == (40, 40) and len(drawn.visited) + 1 == len(drawn.path)
    assert drawn.costs[0] <= drawn.cost.min() + 1e-12 and (np.diff(drawn.costs) >= 0).all()
    assert len(drawn.regions) <= drawn.total
    # The first actuator runs along columns, and the costs on the way are those of the map, ever lower.
    alone = pl.solvers.landscape([[most, 0.0]], *p.matrices)
    assert drawn.cost[0, -1] == pytest.approx(float(alone.cost[0]), rel=1e-12)
    assert (np.diff(drawn.steps) <= 1e-12 * drawn.steps[0]).all()
    assert (
        np.abs(drawn.path[-1] - drawn.minima).max(axis=1).min() < 1e-6 * most
    )  # it ends in one of the minima


def test_a_map_is_drawn(tmp_path):
    p = instance(2, 8, seed=3, hard=True)
    figure = map_figure(cost_map(p, 10.0, size=30), title="Map", names=("lower", "upper"))
    assert save_png(figure, tmp_path / "map.png").stat().st_size > 20_000
