"""Critical loads against closed forms, and paths through limit points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.bodies.beams import Stiffness
from pliant.mesh.lines import line
from pliant.static import continuation

EI, EA = 1.0, 1e6
COLUMN = Stiffness(EA=EA, GJ=1.0, EI=EI)  # does not shear
ELEMENTS = 12


def column(**options) -> pl.Beam:
    return pl.Beam(line((0, 0, 0), (0, 0, 1), elements=ELEMENTS), COLUMN, **options)


def pushed(beam: pl.Beam, **rows) -> pl.Robot:
    top = beam.attached_points(ELEMENTS, [[0, 0, 1]])
    return pl.Robot(beam, {"push": pl.Row(pl.PointForce(top, direction=(0, 0, -1))), **rows})


@pytest.mark.parametrize("load", [0.02, 5.0])
def test_euler_column_clamped_and_free(load):
    """P = π²EI/4L², whatever the load that it is a multiple of; the mode is 1 − cos(πz/2L)."""
    found = pl.buckling(pushed(column(fixed=0)), {"push": pl.Known(effort=load)})
    assert found.kind == "bifurcation"
    assert found.factor * load == pytest.approx(np.pi**2 / 4, rel=2e-4)
    z = np.linspace(0, 1, ELEMENTS + 1)
    np.testing.assert_allclose(found.mode[: ELEMENTS + 1, 0], 1 - np.cos(np.pi * z / 2), atol=2e-3)
    assert found.result.effort["push"][0] == pytest.approx(found.factor * load)


def test_euler_column_pinned_by_rows():
    """P = π²EI/L²: the foot turns freely, rows keep the top over it."""
    fixed = np.zeros((ELEMENTS + 1, 6), bool)
    fixed[0] = True, True, True, False, False, True
    beam = column(fixed=fixed)
    top = beam.attached_points(ELEMENTS, [[0, 0, 1]])
    pin = pl.Row(pl.Position(top, directions=[[1, 0, 0], [0, 1, 0]]), pl.Known(displacement=[0.0, 0.0]))
    found = pl.buckling(pushed(beam, pin=pin), {"push": pl.Known(effort=1.0)})
    assert found.factor == pytest.approx(np.pi**2, rel=2e-3)
    middle = np.linalg.norm(found.mode[ELEMENTS // 2, :2])
    assert middle == pytest.approx(1.0, rel=1e-6) and np.linalg.norm(found.mode[ELEMENTS]) < 1e-6


def test_a_column_under_its_weight():
    """ρgA L³/EI = 7.837 (Greenhill), along a path on which the load is gravity."""
    beam = pl.Beam(
        line((0, 0, 0), (0, 0, 1), elements=ELEMENTS), Stiffness(EA=EA, GJ=1.0, EI=EI, mass=1.0), fixed=0
    )
    found = pl.buckling(pl.Robot(beam, gravity=(0, 0, -1.0)))
    assert found.factor == pytest.approx(7.8373, rel=5e-3)


def test_nothing_buckles_in_tension():
    with pytest.raises(pl.ConvergenceError, match="nothing buckles"):
        pl.buckling(pushed(column(fixed=0)), {"push": pl.Known(effort=-1.0)}, most=10.0)


# A truss of two bars (von Mises), by half: one bar that shortens and turns, its top on a vertical guide

HALF, RISE, STIFF = 1.0, 0.2, 1e4


def truss() -> pl.Robot:
    fixed = np.array([[1, 1, 1, 1, 0, 1], [1, 1, 0, 1, 0, 1]], bool)
    bar = pl.Beam(line((0, 0, 0), (HALF, 0, RISE), elements=1), Stiffness(STIFF, STIFF, 1e6), fixed=fixed)
    top = bar.attached_points(1, [[HALF, 0, RISE]])
    return pl.Robot(bar, {"push": pl.Row(pl.PointForce(top, direction=(0, 0, -1)))})


def carried(w: np.ndarray) -> np.ndarray:
    """The force that a top carries which has sunk by w: EA (1 − l/L) h/l."""
    rest, h = np.hypot(HALF, RISE), RISE - w
    return STIFF * (1 - np.hypot(HALF, h) / rest) * h / np.hypot(HALF, h)


GREATEST = carried(np.linspace(0, RISE, 100001)).max()


def test_a_truss_snaps_through_along_its_path():
    """Every equilibrium on its curve, the load at both limits, stable outside of these."""
    path = continuation(truss(), {"push": pl.Known(effort=2 * GREATEST)})
    w, force = path.displacement("push")[:, 0], path.effort("push")[:, 0]
    np.testing.assert_allclose(force, carried(w), atol=1e-8 * GREATEST)
    np.testing.assert_allclose(2 * np.array(path.limits), [1.0, -1.0], atol=1e-3)
    assert path.shares[-1] == 1.0 and w[-1] > 2 * RISE
    summit = np.sqrt(np.cbrt(np.hypot(HALF, RISE) * HALF**2) ** 2 - HALF**2)  # h at the limits: l³ = L b²
    np.testing.assert_array_equal(path.stable, np.abs(RISE - w) > summit)


def test_buckling_finds_a_limit_point():
    found = pl.buckling(truss(), {"push": pl.Known(effort=1.0)})
    assert found.kind == "limit point" and found.factor == pytest.approx(GREATEST, rel=1e-6)


def test_imposed_displacements_pass_a_limit_point_and_stay_stable():
    result = pl.static(truss(), {"push": pl.Known(displacement=0.9 * RISE)})
    assert result.effort["push"][0] == pytest.approx(carried(np.array(0.9 * RISE)), rel=1e-6)
    assert result.certificate.stability == "stable" and result.certificate.negative == 1


def test_a_truss_loaded_beyond_its_limit_falls_to_the_other_side():
    """Statics ends on the far branch of its curve, and is stable there."""
    load = 1.5 * GREATEST
    result = pl.static(truss(), {"push": pl.Known(effort=load)})
    w = result.displacement["push"][0]
    assert w > 2 * RISE and carried(np.array(w)) == pytest.approx(load, rel=1e-6)
    assert result.certificate.stability.startswith("stable")


def arch() -> pl.Robot:
    """A shallow arch of rubber cells, clamped at both ends: stiff along, soft to bend."""
    mesh = pl.mesh.box((0.1, 0.01, 0.002), cells=(32, 1, 1), kind="hex")
    x, y, z = mesh.nodes.T
    mesh = replace(mesh, nodes=np.column_stack([x, y, z + 0.006 * np.sin(np.pi * x / 0.1)]))
    body = pl.Solid(mesh, pl.NeoHookean(1e6, 0.3), fixed=(x < 1e-9) | (x > 0.1 - 1e-9))
    top = body.points([[0.05, 0.005, 0.007]])
    return pl.Robot(body, {"push": pl.Row(pl.PointForce(top, direction=(0, 0, -1)))})


def test_a_path_is_not_left_for_another_one_near_by():
    """An arch's summit is narrow, and its far branch as near to a long step as its own: limits are those of
    `buckling`, stability ends between them, and no step sinks by more than a third of the rise.
    """
    found = pl.buckling(arch(), {"push": pl.Known(effort=0.01)})
    assert found.kind == "limit point"
    path = continuation(arch(), {"push": pl.Known(effort=0.02)})
    up, down = 2 * np.array(path.limits)
    assert up == pytest.approx(found.factor, rel=1e-4) and 0.3 < down < 0.5
    assert np.ptp(np.flatnonzero(~path.stable)) + 1 == np.count_nonzero(~path.stable) > 10
    sunk = np.diff(path.displacement("push")[:, 0])
    assert (sunk > 0).all() and sunk.max() < 0.002


def test_inputs_of_paths():
    for bad in ({"until": 0.0}, {"steps": 0}, {"first": -1.0}, {"budget": "much"}):
        with pytest.raises(pl.InputError):
            continuation(truss(), **bad)
    with pytest.raises(pl.InputError, match="most"):
        pl.buckling(truss(), most=-1)


# Among obstacles


def test_euler_column_pressed_against_a_ceiling():
    """A foot on a guide pushes it up: P = π²EI/4L², carried by a contact on which the top slides."""
    guided = np.zeros((ELEMENTS + 1, 6), bool)
    guided[0] = True, True, False, True, True, True
    beam = column(fixed=guided)
    foot = beam.attached_points(0, [[0, 0, 0]])
    robot = pl.Robot(beam, {"push": pl.Row(pl.PointForce(foot, direction=(0, 0, 1)))})
    ceiling = pl.Plane((0, 0, 1), (0, 0, -1))
    found = pl.buckling(robot, {"push": pl.Known(effort=1.0)}, obstacles=ceiling)
    assert found.kind == "bifurcation" and found.factor == pytest.approx(np.pi**2 / 4, rel=2e-4)
    assert found.result.contact_force.sum() == pytest.approx(found.factor, rel=1e-6)
    assert abs(found.mode[ELEMENTS, 2]) < 1e-4 < found.mode[ELEMENTS, 0]  # along the ceiling, not into it
    rough = pl.Robot(beam, robot.rows, surroundings=pl.contact.Surroundings([ceiling], friction=0.2))
    with pytest.raises(pl.InputError, match=r"no friction.*static"):
        pl.buckling(rough, {"push": pl.Known(effort=1.0)})


def test_a_truss_that_snaps_through_lands_on_a_floor():
    """Past both limits on its curve, then it lies on the floor, which carries what the truss does not."""
    sunk = 2.2 * RISE
    floor = pl.Plane((0, 0, RISE - sunk), (0, 0, 1))
    load = 4 * carried(np.array(sunk))
    path = continuation(truss(), {"push": pl.Known(effort=load)}, obstacles=floor)
    w, force = path.displacement("push")[:, 0], path.effort("push")[:, 0]
    floor_force = np.array([result.contact_force.sum() for result in path.results])
    lying = floor_force > 0
    np.testing.assert_allclose(force[~lying], carried(w)[~lying], atol=1e-7 * load)
    # The bar turned on its way: what touches is a point of its rim, 0.02 % off the line of the load.
    np.testing.assert_allclose(force, carried(w) + floor_force, rtol=5e-4, atol=1e-7 * load)
    assert lying.sum() > 2 and np.ptp(w[lying]) < 1e-7 and w[~lying].max() < w[lying].min()
    assert 0 < sunk - w[-1] < 1e-3  # the bar is 2 mm thick
    assert path.shares[-1] == 1.0 and floor_force[-1] > 0.7 * load and len(path.limits) == 2
