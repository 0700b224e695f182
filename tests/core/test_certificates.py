"""What goes up with an answer: how the tangent was treated, and what the solver said of the laws."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

DOWN = (0.0, 0.0, -9.81)


def bar(rows=None, *, gravity=DOWN) -> pl.Robot:
    """A clamped bar, with two rows that impose where the end of it is, and a cable."""
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(6, 2, 2), kind="hex")
    clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(1, 0, 0))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.45), density=1100, fixed=clamp)
    end = pl.Position(body.points([[0.1, 0.01, 0.01]]), directions=[[0, 0, 1]])
    path = [[x, 0.01, 0.016] for x in np.linspace(0.0, 0.095, 8)]
    rows = {
        "one": pl.Row(end),
        "other": pl.Row(end),
        "cable": pl.Row(pl.Cable(body.points(path)), pl.Bounded(effort=(0, 20))),
        "tip": pl.Row(pl.Position(body.points([[0.1, 0.01, 0.0]])), pl.Target()),
    }
    return pl.Robot(body, rows, gravity=gravity)


AGAINST = {"one": pl.Known(displacement=0.011), "other": pl.Known(displacement=0.013)}
TOGETHER = {"one": pl.Known(displacement=0.011), "other": pl.Known(displacement=0.011)}


def test_laws_that_contradict_each_other_are_infeasible_in_statics():
    with pytest.raises(pl.ConvergenceError, match="infeasible") as caught:
        pl.static(bar(), AGAINST)
    certificate = caught.value.result.certificate
    assert certificate.status == certificate.solver == "infeasible" and not certificate.converged


def test_laws_that_say_the_same_twice_are_not():
    certificate = pl.static(bar(), TOGETHER).certificate
    assert certificate.converged and certificate.solver == "solved" and certificate.tangent == "exact"


def test_laws_that_contradict_each_other_are_infeasible_in_time():
    simulation = pl.Simulation(bar(), time_step=0.01)
    assert simulation.step(AGAINST).certificate.status == "infeasible"
    moment = simulation.step(TOGETHER)
    assert moment.certificate.status in ("converged", "linearised") and moment.certificate.solver == "solved"


def test_the_treatment_of_the_tangent_is_in_the_certificate():
    """A slender column under twice its buckling load, exactly straight: K is indefinite, nothing holds it,
    and its diagonal is raised.
    """
    mesh = pl.mesh.box((0.01, 0.01, 0.1), cells=(1, 1, 10), kind="hex")
    foot = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(0, 0, 1))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.3), fixed=foot)
    top = pl.PointForce(body.points([[0.005, 0.005, 0.1]]), direction=(0, 0, 1))
    euler = np.pi**2 * 3e5 * (0.01**4 / 12) / (4 * 0.1**2)
    column = pl.Robot(body, {"push": pl.Row(top)})
    light = pl.static(column, {"push": pl.Known(effort=-0.5 * euler)}).certificate
    assert light.tangent == "exact" and light.shift == 0.0 and "tangent" not in str(light)
    load = {"push": pl.Known(effort=-2.0 * euler)}
    heavy = pl.static(column, load, unstable="ignore").certificate
    assert heavy.tangent == "shifted" and heavy.shift > 0.0 and "tangent shifted" in str(heavy)


def test_the_inverse_model_says_how_its_tangent_was_treated():
    controller = pl.Inverse(bar())
    out = controller.step(targets={"tip": controller.targets["tip"] + [0.0, 0.0, 0.002]})
    assert out.certificate.tangent == "exact" and out.certificate.solver.status == "solved"


def test_the_inverse_model_never_raises_where_laws_contradict_each_other():
    """Two rows that want the same point in different places: it says so, and stays where it is."""
    controller = pl.Inverse(bar(), laws=TOGETHER)
    controller.step()
    controller.change(AGAINST)
    for _ in range(3):
        out = controller.step()
    assert out.certificate.status in ("infeasible", "solver not converged", "stuck", "recovering")
    assert np.isfinite(out.q).all()
