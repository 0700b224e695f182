"""Does the mesh of a project fit: its estimated error against a much finer mesh, and what is said of it."""

import numpy as np
import pytest

import pliant as pl
from pliant.compliance import compliance
from pliant.errors import InputError
from pliant.project import Fit, load
from pliant.project.fit import motions
from pliant.project.mesh_error import difference, discretisation_error, estimated, field, volumes

BAR = """
format = 1
name = "bar"

[[bodies]]
mesh = "bar.vtu"
fixed = [{ plane = { point = [0, 0, 0], normal = [1, 0, 0] } }]
materials = [{ law = "Hooke", young = "0.3 MPa", poisson = 0.45 }]
order = ORDER
support_layers = false

[forces.push]
points = [[0.1, 0.01, 0.01]]
direction = [0, 0, 1]

[effectors.middle]
points = [[0.05, 0.01, 0.01]]
"""


def bar(folder, mesh, order=2):
    folder.mkdir(exist_ok=True)
    pl.mesh.write(mesh, folder / "bar.vtu")
    (folder / "robot.toml").write_text(BAR.replace("ORDER", str(order)), encoding="utf-8")
    return load(folder / "robot.toml")


@pytest.mark.parametrize("order", [1, 2])
def test_the_estimated_error_is_that_against_a_much_finer_mesh_within_a_factor_of_two(tmp_path, order):
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(6, 2, 2), kind="tet")
    estimated = discretisation_error(bar(tmp_path / "coarse", mesh, order))
    (coarse,) = motions(load(tmp_path / "coarse" / "robot.toml").robot)
    exact = pl.mesh.box((0.1, 0.02, 0.02), cells=(18, 6, 6), kind="tet")
    (fine,) = motions(bar(tmp_path / "fine", exact, 2).robot)
    true = np.linalg.norm(fine - coarse) / np.linalg.norm(fine)
    assert true / 2 < estimated < 2 * true


def test_tetrahedra_cut_into_eight_fill_the_same_body():
    mesh = pl.mesh.box((0.1, 0.02, 0.03), cells=(4, 2, 2), kind="tet")
    for finer in (mesh.refined(), mesh.quadratic().refined()):
        assert len(finer.cells) == 8 * len(mesh.cells)
        assert finer.volume == pytest.approx(mesh.volume, rel=1e-12)
        assert finer.surface.area == pytest.approx(mesh.surface.area, rel=1e-12)
        eighth = finer.cell_volumes.reshape(-1, 8)
        assert eighth == pytest.approx(np.repeat(mesh.cell_volumes[:, None] / 8, 8, axis=1), rel=1e-9)


def test_numbers_of_nodes_cannot_be_refined(tmp_path):
    project = bar(tmp_path, pl.mesh.box((0.1, 0.02, 0.02), cells=(2, 1, 1), kind="tet"))
    path = tmp_path / "robot.toml"
    path.write_text(
        path.read_text().replace("plane = { point = [0, 0, 0], normal = [1, 0, 0] }", "nodes = [0, 1, 2]")
    )
    assert project.refined().ndof > project.robot.ndof
    with pytest.raises(InputError, match="places instead of numbers"):
        load(path).refined()


def test_the_advice_follows_from_rate_and_error():
    assert Fit(1, 3, 70.0, 60.0, 0.01).advice == "It fits."
    assert "2 times as long bring 25 Hz" in Fit(1, 3, 70.0, 25 / 16, 0.01).advice
    assert Fit(1, 3, 60.0, 70.0, 0.1).advice.startswith("Finer")
    assert "reduce" in Fit(1, 3, 6.0, 70.0, 0.1).advice
    assert "fits" not in Fit(1, 3, 60.0, 60.0, None, "rods").advice
    assert "not known (rods)" in str(Fit(1, 3, 60.0, 60.0, None, "rods"))


def test_figures_are_printed_as_a_person_would():
    said = str(Fit(2045, 6003, 127.46, 27.49, 1.42))
    assert "about 130 Hz here, 27 Hz in contact; error of its mesh 140 %" in said


def test_rates_are_measured_within_the_limits_of_actuators(tmp_path, monkeypatch):
    """A weak actuator takes its effector half as far as it can, and no farther."""
    from pliant.inverse import Inverse
    from pliant.project.fit import STEPS, WARM, rates

    asked, step = [], Inverse.step
    monkeypatch.setattr(Inverse, "step", lambda self, to: (asked.append(to["middle"]), step(self, to))[1])
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(4, 1, 1), kind="tet")
    project = bar(tmp_path, mesh)
    path = tmp_path / "robot.toml"
    text = path.read_text().replace("direction = [0, 0, 1]", "direction = [0, 0, 1]\neffort = [0, 0.01]")
    path.write_text(text.replace("poisson = 0.45", "poisson = 0.45, density = 1000"))
    project = load(path)
    (move,) = motions(project.robot)
    rates(project.robot)
    farthest = max(np.linalg.norm(to - asked[0]) for to in asked[: WARM + STEPS])
    assert 0 < farthest < 0.5 * 0.01 * np.linalg.norm(move)


# Which mesh a part gets


@pytest.mark.parametrize("constant", [8.0, 1.0, 1e-3])
def test_the_finest_mesh_that_is_lively_is_taken(tmp_path, monkeypatch, constant):
    """Rates are a law of the number of cells here: nobody's clock."""
    from pliant.project import sizing

    made = []

    def meshed(edge):
        across = max(1, round(0.02 / (edge or 0.01)))
        made.append(across)
        return pl.mesh.box((0.1, 0.02, 0.02), cells=(4 * across, across, across), kind="tet")

    def draft(mesh, folder):
        return bar(folder, mesh)

    speed = lambda robot: constant * 1e5 / robot.ndof ** (4 / 3)
    heard = []
    monkeypatch.setattr(sizing, "rates", lambda robot: (2.0 * speed(robot), speed(robot)))
    trial = sizing.finest(meshed, draft, tmp_path, told=lambda edge, rate: heard.append(rate))
    tried, mesh, (found, lines) = list(made), trial.mesh, sizing.described(trial)
    again = lambda across: bar(tmp_path / f"again {across}", meshed(0.02 / across)).robot
    rates = {across: speed(again(across)) for across in set(made)}
    lively = [across for across, hertz in rates.items() if hertz >= 25.0]
    taken = round((len(mesh.cells) / len(meshed(0.02).cells)) ** (1 / 3))
    assert taken == (max(lively) if lively else min(rates))
    assert heard == [rates[across] for across in tried]
    assert "Hz here" in lines[0] and "edges of" in lines[0] and "not known" not in lines[0]
    assert found.slowest == trial.slowest and (found.error or 0.0) > 0.0


def test_head_and_run_say_rate_error_and_advice(tmp_path, monkeypatch, capsys):
    from pliant import cli

    monkeypatch.chdir(tmp_path)
    pl.mesh.write(pl.mesh.box((0.1, 0.02, 0.02), cells=(5, 1, 1), kind="tet"), tmp_path / "bar.vtu")
    assert cli.main(["new", "bar.vtu"]) == 0
    head = (tmp_path / "bar.toml").read_text(encoding="utf-8").split("\n\n")[0]
    assert "Hz in contact; error of its mesh" in head
    assert cli.main(["run", "bar.toml", "--steps", "1"]) == 0
    said = capsys.readouterr().out.replace("\n", " ")
    assert "coordinates: about" in said and "error of its mesh" in said


# Estimates, on small cases of the shapes that `pliant bench precision` has in full


@pytest.mark.parametrize("name", ["notched finger", "plate with a hole"])
def test_estimates_on_shapes_with_notches_and_holes(name):
    from pliant.bench.precision import SHAPES, errors

    estimated, true, of_effector = errors(SHAPES[name])
    assert true / 2 < estimated < 2 * true and of_effector / 2 < estimated < 2 * of_effector


def test_an_error_that_vanishes_by_chance_at_the_effector_is_seen():
    """Pressure moves the end of a bellows out by the ends and in by the waist."""
    from pliant.bench.precision import SHAPES

    shape = SHAPES["bellows"]
    mesh = shape.mesh()
    coarse, fine = shape.robot(mesh, 2), shape.robot(mesh.refined(), 2)
    of_end = difference(motions(coarse), motions(fine))
    of_chamber = 1.0 - compliance(coarse)["chamber", "chamber"] / compliance(fine)["chamber", "chamber"]
    assert of_end < 0.005 and of_chamber > 0.05
    assert estimated(field(coarse), field(fine, like=coarse), volumes(coarse)) > 10 * of_end


@pytest.mark.parametrize("size", [1.0, 0.1])
def test_nodes_move_as_points_on_them_do(size):
    """Reciprocity: δ of a point by an actuator's unit effort, as W of both rows has it."""
    mesh = pl.mesh.box((0.1 * size, 0.02 * size, 0.02 * size), cells=(3, 1, 1), kind="tet")
    body = pl.Solid(mesh, pl.Hooke(3e5, 0.4), fixed=mesh.nodes[:, 0] < 1e-9)
    push = pl.PointForce(body.points([[0.1 * size, 0.01 * size, 0.01 * size]]), direction=(0, 0, 1))
    seen = {f"node {k}": pl.Row(pl.Position(body.node_points([k])), pl.Target()) for k in (5, 9)}
    robot = pl.Robot(body, {"push": pl.Row(push, pl.Bounded(effort=(0, 1))), **seen})
    (moved,) = field(robot)
    for name in seen:
        exact = compliance(robot)[name, "push"].ravel()
        np.testing.assert_allclose(moved[int(name[5:])], exact, atol=1e-6 * np.abs(exact).max())
    assert volumes(robot).sum() == pytest.approx(mesh.volume)
