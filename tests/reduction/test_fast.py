"""A robot made fast from the limits of its own rows, its errors, and what is refused."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Circle
from pliant.errors import InputError
from pliant.mesh.lines import line
from pliant.reduction.fast import Fast, fast
from pliant.reduction.workspace import attainable, limit_reaches, toward_limits
from tests.core.test_models import DOWN, cables

TENSION = 1.5  # [N] at most


def limited(robot: pl.Robot, law: pl.Bounded) -> pl.Robot:
    rows = {
        name: pl.Row(row.interaction, law if row.law.role == "actuator" else row.law)
        for name, row in robot.rows.items()
    }
    return pl.Robot(robot.bodies, rows, gravity=robot.gravity, name=robot.name)


@cache
def arm() -> pl.Robot:
    return limited(cables(cells=(10, 2, 2), gravity=DOWN), pl.Bounded(effort=(0, TENSION)))


@cache
def made() -> Fast:
    return fast(arm())


def test_the_error_that_it_states_is_met_by_commands_it_has_never_seen():
    """Random tensions, solved on both robots: the largest error is at most twice the stated one."""
    worst, rng = 0.0, np.random.default_rng(5)
    for _ in range(5):
        top, bottom = TENSION * rng.uniform(0, 1, 2) * rng.permutation([1.0, 0.0])
        laws = {"top": pl.Known(effort=top), "bottom": pl.Known(effort=bottom)}
        full, small = pl.static(arm(), laws), pl.static(made().robot, laws)
        worst = max(worst, float(np.linalg.norm(full.displacement["tip"] - small.displacement["tip"])))
    assert made().share <= 0.01
    assert worst <= 2.0 * made().facts["error"]
    assert worst <= 0.01 * made().facts["stroke"]
    assert made().robot.ndof < arm().ndof / 10


def test_commands_go_as_far_as_the_rows_limits():
    reach = limit_reaches(arm())
    assert {(r.drive, r.rest, r.most, r.least) for r in reach.values()} == {("effort", 0.0, TENSION, None)}
    both = limited(arm(), pl.Bounded(effort=(0, TENSION), displacement=(-0.01, 0.01)))
    idle = {name: pl.Known(effort=0.0) for name in both.by_role("actuator")}
    pulled = pl.static(both, {**idle, "top": pl.Known(effort=TENSION)}).displacement["top"][0]
    top = limit_reaches(both)["top"]
    assert top.drive == "displacement" and top.most == pytest.approx(pulled) and pulled < 0.01
    assert top.rest == pytest.approx(-top.most)
    plan = toward_limits(both, limit_reaches(both), steps=2)
    commands = np.concatenate(plan.trajectories)
    assert commands.max(axis=0) == pytest.approx([r.most for r in limit_reaches(both).values()])


def test_a_limit_beyond_what_has_equilibria_is_cut_to_what_has():
    """The arm's cables at 200 N: it would buckle long before, and is shown what it can do."""
    strong = limited(arm(), pl.Bounded(effort=(0, 200.0)))
    limits = limit_reaches(strong)
    assert attainable(arm(), limit_reaches(arm())) == limit_reaches(arm())
    reach = attainable(strong, limits)
    for name, of in reach.items():
        assert 1.0 < of.most < 100.0
        assert pl.static(strong, {name: pl.Known(effort=of.most)}).certificate.converged


def test_what_is_driven_both_ways_is_shown_both_ways():
    """A motor, whose limits lie on either side of rest."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(6, 1, 1), kind="hex")
    end = pl.Rigid(mesh.nodes[:, 0] > 0.099, "end")
    body = pl.Solid(mesh, pl.Hooke(3e5, 0.45), density=1000, fixed=mesh.nodes[:, 0] < 1e-9, rigid=[end])
    motor = pl.Motor(body.region_points("end"), (0, 0, 1))
    turned = pl.Robot(body, {"motor": pl.Row(motor, pl.Bounded(effort=(-0.02, 0.01)))})
    reach = limit_reaches(turned)["motor"]
    assert (reach.rest, reach.most, reach.least) == (0.0, 0.01, -0.02)
    commands = np.concatenate(toward_limits(turned, {"motor": reach}, steps=3).trajectories)
    assert commands.min() == -0.02 and commands.max() == 0.01


def test_rods_and_rows_without_limits_are_refused_in_words():
    rod = pl.Beam(line((0, 0, 0), (0.1, 0, 0), elements=4), Circle(0.002), pl.Hooke(1e6, 0.3))
    with pytest.raises(InputError, match="Rods and shells"):
        fast(pl.Robot(rod, {"pull": pl.Row(pl.Cable(rod.points([[0.05, 0, 0], [0.1, 0, 0]])))}))
    with pytest.raises(InputError, match="finite limit"):
        fast(limited(arm(), pl.Bounded(effort=(0, np.inf))))


def test_a_saved_one_belongs_to_its_robot(tmp_path):
    made().save(tmp_path / "arm.npz")
    again = Fast.load(tmp_path / "arm.npz", arm())
    law = {"top": pl.Known(effort=0.7)}
    assert pl.static(again.robot, law).displacement["tip"] == pytest.approx(
        pl.static(made().robot, law).displacement["tip"], abs=1e-12
    )
    assert again.share == made().share and again.bound >= 2 * made().facts["error"]
    with pytest.raises(InputError, match="belongs to"):
        Fast.load(tmp_path / "arm.npz", cables(cells=(8, 2, 2), gravity=DOWN))


def test_two_solids_are_reduced_each():
    """A bar beside another, each with a cable of its own."""
    parts, rows = [], {}
    for k in range(2):
        mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(8, 1, 1), kind="hex").transformed(
            translation=(0, 0.05 * k, 0)
        )
        body = pl.Solid(mesh, pl.Hooke(3e5, 0.4), density=1000, fixed=mesh.nodes[:, 0] < 1e-9)
        path = [[x, 0.05 * k + 0.01, 0.018] for x in np.linspace(0, 0.1, 5)]
        rows[f"cable {k}"] = pl.Row(pl.Cable(body.points(path)), pl.Bounded(effort=(0, TENSION)))
        rows[f"tip {k}"] = pl.Row(pl.Position(body.points([[0.1, 0.05 * k + 0.01, 0.01]])), pl.Target())
        parts.append(body)
    pair = pl.Robot(parts, rows, gravity=DOWN)
    quick = fast(pair)
    assert len(quick.models) == 2 and quick.share < 0.01
    assert quick.robot.ndof < pair.ndof / 5
