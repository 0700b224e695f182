"""Stability of equilibria: what is stable, what would buckle, and where it goes then."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.bench.validation.stability import leaves_its_plane, rolled
from pliant.bodies.beams import Circle, Rectangle, Stiffness
from pliant.errors import PliantWarning
from pliant.interactions import SurfaceForce
from pliant.mesh.lines import line

SOFT = pl.Hooke(young=3e5, poisson=0.3)
LENGTH, SIDE = 0.1, 0.01
EULER = np.pi**2 * 3e5 * (SIDE**4 / 12) / (4 * LENGTH**2)  # [N] clamped at its foot, free at its top


def column(**options) -> pl.Robot:
    """A slender column on its foot, with a force down on its top and one sideways."""
    mesh = pl.mesh.box((SIDE, SIDE, LENGTH), cells=(1, 1, 10), kind="hex")
    body = pl.Solid(mesh, SOFT, density=1000.0, fixed=mesh.nodes[:, 2] < 1e-9)
    top = body.points([[SIDE / 2, SIDE / 2, LENGTH]])
    rows = {
        "push": pl.Row(pl.PointForce(top, direction=(0, 0, -1))),
        "aside": pl.Row(pl.PointForce(top, direction=(1, 0, 0))),
        "other": pl.Row(pl.PointForce(top, direction=(0, 1, 0))),
    }
    return pl.Robot(body, rows, **options)


def test_a_column_below_its_buckling_load_is_stable():
    result = pl.static(column(), {"push": pl.Known(effort=0.9 * EULER)})
    assert result.certificate.stability == "stable" and not result.events
    assert abs(result.displacement["aside"][0]) < 1e-9


def test_a_column_above_its_buckling_load_buckles_and_says_so():
    """To the side that the rule names, always the same; a column pushed that way a little ends there too."""
    load = {"push": pl.Known(effort=1.3 * EULER)}
    result = pl.static(column(), load)
    certificate = result.certificate
    assert certificate.converged and certificate.status == "converged"
    assert certificate.stability == "stable, after leaving an unstable state"
    assert certificate.stability in str(certificate)
    (event,) = result.events
    assert event.what == "left an unstable state" and event.motion > 0.2 * LENGTH
    np.testing.assert_array_equal(result.q, pl.static(column(), load).q)
    bent = np.hypot(result.displacement["aside"][0], result.displacement["other"][0])
    assert bent > 0.3 * LENGTH
    aside = np.array([result.displacement[name][0] for name in ("aside", "other")]) / bent
    nudge = {name: pl.Known(effort=1e-4 * EULER * part) for name, part in zip(("aside", "other"), aside)}
    nudged = pl.static(column(), {**load, **nudge})
    np.testing.assert_allclose(nudged.positions, result.positions, atol=2e-3 * LENGTH)


def test_an_unstable_state_is_kept_if_asked_for():
    """Two directions in which a square column of its second to third buckling load would give way."""
    load = {"push": pl.Known(effort=2.0 * EULER)}
    result = pl.static(column(), load, unstable="keep")
    certificate = result.certificate
    assert certificate.status == "converged, unstable" and certificate.converged
    assert certificate.stability == "unstable" and certificate.negative == 2
    assert abs(result.displacement["aside"][0]) < 1e-9 and not result.events
    unasked = pl.static(column(), load, unstable="ignore").certificate
    assert unasked.status == "converged" and unasked.stability == "not judged"


def test_rows_that_keep_a_column_straight_make_it_stable():
    """K has negative eigenvalues, and those of W on the rows account for them."""
    still = {name: pl.Known(displacement=0.0) for name in ("aside", "other")}
    load = {"push": pl.Known(effort=2.0 * EULER)}
    held = pl.static(column(), {**load, **still}).certificate
    assert held.negative == 2 and held.stability == "stable"
    one = pl.static(column(), {**load, "aside": still["aside"]}, unstable="keep").certificate
    assert one.stability == "unstable"


@pytest.mark.parametrize(("stiffness", "word"), [(0.5, "unstable"), (3.0, "stable")])
def test_a_spring_at_the_top_holds_a_column_if_it_is_stiff_enough(stiffness, word):
    """A column with EI and a spring k at its top buckles at P with tan u/u = 1 − P/(kL), u² = PL²/EI.

    At P = 1.5 Euler loads: k L/P = 1/(1 − tan u/u).
    """
    load, u = 1.5 * EULER, 0.5 * np.pi * np.sqrt(1.5)
    k = stiffness * load / LENGTH / (1.0 - np.tan(u) / u)
    springs = {name: pl.Elastic(stiffness=k) for name in ("aside", "other")}
    result = pl.static(column(), {"push": pl.Known(effort=load), **springs}, unstable="keep")
    assert result.certificate.stability == word


def test_friction_and_follower_forces_are_not_judged():
    mesh = pl.mesh.box((0.02, 0.02, 0.02), cells=(2, 2, 2), kind="hex")
    body = pl.Solid(mesh, SOFT, density=1000.0, fixed=mesh.nodes[:, 2] < 1e-9)
    top = np.flatnonzero((mesh.surface.triangles >= 0).all(axis=1))
    patch = mesh.surface.triangles[
        top[(mesh.nodes[mesh.surface.triangles[top], 2] > 0.02 - 1e-9).all(axis=1)]
    ]
    robot = pl.Robot(body, {"press": pl.Row(SurfaceForce.on(body, patch))})
    assert pl.static(robot).certificate.stability == "stable"
    pressed = pl.static(robot, {"press": pl.Known(effort=-0.5)})
    assert pressed.certificate.stability == "not judged"
    rough = pl.contact.Surroundings([pl.Plane((0, 0, 0.0199), (0, 0, -1))], friction=0.5)
    touched = pl.static(pl.Robot(body, surroundings=rough, gravity=(0, 0, -9.81)))
    assert touched.contact_force.sum() > 0 and touched.certificate.stability == "not judged"


def test_a_rod_balanced_on_a_ball_slips_off_it():
    """Without friction; strictly active contacts are part of what decides."""
    rod = pl.Beam(
        line((0, 0, 0), (0.2, 0, 0), elements=10), Circle(0.004), pl.Hooke(3e5, 0.3), density=1000.0, fixed=0
    )
    robot, ball = pl.Robot(rod, gravity=(0, 0, -9.81)), pl.Sphere((0.15, 0, -0.03), 0.02)
    kept = pl.static(robot, obstacles=[ball], unstable="keep")
    assert kept.certificate.stability == "unstable" and kept.contact_force.sum() > 0
    left = pl.static(robot, obstacles=[ball])
    assert left.certificate.stability.startswith("stable")
    assert np.linalg.norm(left.positions - kept.positions, axis=1).max() > 0.05


def test_a_rod_that_buckles_in_a_pipe_comes_to_rest_as_a_helix_on_its_wall():
    """Its contacts are all that supports it: K is negative, and positive definite only where they push."""
    robot, tension = pl.robots.rod(), 4.08
    laws = {"insertion": pl.Known(displacement=0.01), "cable 2": pl.Known(effort=tension)}
    flat, helix = pl.static(robot, laws, unstable="ignore"), pl.static(robot, laws)
    assert helix.certificate.stability == "stable, after leaving an unstable state"
    assert helix.certificate.tangent == "indefinite" and helix.certificate.negative > 0
    assert (helix.contact_force > 0).sum() > helix.certificate.negative
    assert helix.contacts is not None and helix.contacts.gap.min() > -1e-8
    assert helix.certificate.penetration < 1e-4 * robot.length
    across = lambda result: np.linalg.svd(result.positions[:11, 1:], compute_uv=False)
    assert across(flat)[1] < 1e-6 * across(flat)[0] and across(helix)[1] > 0.3 * across(helix)[0]
    energy = lambda r: robot.body.energy(r.q) - tension * float(r.displacement["cable 2"][0])
    assert energy(helix) < energy(flat)


def test_where_no_state_is_stable_the_error_says_so():
    """A torque about a fixed axis: beyond 90° a rod would leave its plane, and nothing stops it then."""
    rod = pl.Beam(line((0, 0, 0), (1, 0, 0), elements=10), Stiffness(EA=1e4, GJ=0.05, EI=0.06), fixed=0)
    ends = rod.attached_points(10, [[1, 0, 0], [1.1, 0, 0]])
    robot = pl.Robot(rod, {"motor": pl.Row(pl.Motor(ends, (0, -1, 0), middle=np.pi))})
    torque = {"motor": pl.Known(effort=np.pi * 0.06)}
    with pytest.raises(pl.ConvergenceError, match="would buckle") as caught:
        pl.static(robot, torque)
    assert caught.value.result.certificate.status == "converged, unstable"
    kept = pl.static(robot, torque, unstable="keep")
    assert kept.displacement["motor"][0] == pytest.approx(np.pi, rel=1e-6)


def test_a_rod_pushed_far_beyond_its_buckling_load_is_left_on_the_way():
    """Between clamps brought together by nine tenths, straight: the way down from there folds elements.

    What is found has no more energy than the loop that a rod makes in a plane.
    """
    found = []
    for bound in (False, True):
        fixed = np.zeros((17, 6), bool)
        fixed[0], fixed[-1, [0, 1, 3, 4, 5]] = True, True
        fixed[:, [1, 3, 5]] |= bound
        rod = pl.Beam(line((0, 0, 0), (0, 0, 1), elements=16), Stiffness(1e5, 1.0, 1.0), fixed=fixed)
        top = rod.attached_points(16, [[0, 0, 1]])
        robot = pl.Robot(rod, {"push": pl.Row(pl.PointForce(top, direction=(0, 0, -1)))})
        result = pl.static(robot, {"push": pl.Known(displacement=0.9)})
        assert result.certificate.stability == "stable, after leaving an unstable state"
        found.append(rod.energy(result.q))
    free, flat = found
    assert 0.0 < free <= flat * (1 + 1e-9)


def test_supports_that_turn_a_nearly_incompressible_bar_into_a_loop():
    """One end beside the other, turned round, beyond where the path ends: the loop hangs where a hexahedral
    bar of the same size does.
    """
    turn, ends = Rotation.from_euler("y", -180, degrees=True), []
    for kind in ("tet", "hex"):
        mesh = pl.mesh.box((0.1, 0.01, 0.01), cells=(12, 2, 2), kind=kind)
        far = mesh.nodes[:, 0] > 0.1 - 1e-9
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pl.PliantWarning)  # linear tetrahedra lock a little
            body = pl.Solid(
                mesh, pl.NeoHookean(3e5, 0.4999), density=1e3, fixed=far | (mesh.nodes[:, 0] < 1e-9), order=1
            )
        centre = np.array([0.1, 0.005, 0.005])
        way = np.array([0.0, 0.005, 0.055]) - turn.apply(centre)
        q = body.move_supports(body.q0, rotation=turn, translation=way, nodes=np.flatnonzero(far))
        robot = pl.Robot(body, gravity=(0, 0, -9.81))
        result = pl.static(robot, state=robot.rest.with_(q=q))
        assert result.certificate.stability.startswith("stable")
        ends.append(result.positions[:, 0].max())
    assert ends[0] == pytest.approx(ends[1], rel=0.2)


@pytest.mark.parametrize("turns", [-0.1, 1.1])
def test_an_angle_that_a_motor_cannot_have_is_an_error(turns):
    with pytest.raises(pl.InputError, match=r"within \[0, 6.283\] rad.*middle"):
        pl.static(rolled("plane"), {"motor": pl.Known(displacement=2 * np.pi * turns)})


@pytest.mark.parametrize("law", [pl.Known(effort=5.5), pl.Known(displacement=5.5)], ids=["torque", "angle"])
def test_a_free_rod_is_rolled_up_by_a_motor_on_a_shaft(law):
    """By 315° in one call, the long way round, free in space: an arc of κ = M/EI, stable for GJ ≥ EI."""
    result = pl.static(rolled("shaft", 10), {"motor": law})
    assert result.certificate.stability == "stable" and not result.events
    arc = np.array([np.sin(5.5), 0.0, 1.0 - np.cos(5.5)]) / 5.5
    np.testing.assert_allclose(result.displacement["tip"][:3], arc, atol=1e-4)
    assert result.effort["motor"][0] == pytest.approx(5.5, rel=1e-6)


def test_a_rod_soft_in_torsion_leaves_its_plane_when_rolled_up():
    """At tan(θ/2) = (1 − EI/GJ) θ/2; beyond it an imposed angle ends stable, and out of the plane."""
    robot = rolled("shaft", 16, torsion=0.5)
    critical = leaves_its_plane(0.5)
    assert critical == pytest.approx(2 * 2.02876, rel=1e-5)  # tan x = −x
    found = pl.buckling(robot, {"motor": pl.Known(effort=1.0)})
    assert found.factor == pytest.approx(critical, rel=2e-3) and np.abs(found.mode[:, 1]).max() > 0.5
    below, above = (pl.static(robot, {"motor": pl.Known(displacement=x * critical)}) for x in (0.98, 1.1))
    aside = [np.ptp(result.positions[:17, 1]) for result in (below, above)]  # of the axis
    assert aside[0] < 1e-6 and aside[1] > 0.1
    assert above.certificate.stability == "stable, after leaving an unstable state"


def test_bad_words_are_errors():
    with pytest.raises(pl.InputError, match=r"unstable.*leave.*keep"):
        pl.static(column(), unstable="maybe")


def test_a_rubber_column_far_beyond_its_buckling_load_is_followed_to_where_it_lies():
    """Nearly four times as long as it may be: the way down is long, and its end is below the foot."""
    mesh = pl.mesh.box((0.01, 0.01, 0.2), cells=(1, 1, 16), kind="hex")
    body = pl.Solid(mesh, pl.NeoHookean(3e4, 0.4), density=1100.0, fixed=mesh.nodes[:, 2] < 1e-9)
    result = pl.static(pl.Robot(body, gravity=(0, 0, -9.81)))
    assert result.certificate.stability == "stable, after leaving an unstable state"
    assert -0.2 < result.positions[:, 2].min() < -0.15


def test_columns_of_20_node_hexahedra_fold_within_a_cell_and_with_more_points_do_not():
    """How far from its axis a column hangs that is far beyond its buckling load, beside eight-node ones."""
    plain = pl.mesh.box((0.01, 0.01, 0.1), cells=(1, 1, 12), kind="hex")

    def aside(mesh: pl.Mesh, **options) -> float:
        fixed = mesh.nodes[:, 2] < 1e-9
        body = pl.Solid(mesh, pl.NeoHookean(3e4, 0.45), density=1200.0, fixed=fixed, **options)
        result = pl.static(pl.Robot(body, gravity=(0, 0, -9.81)))
        assert result.certificate.stability == "stable, after leaving an unstable state"
        return float(np.abs(result.positions[:, :2]).max())

    with pytest.warns(PliantWarning, match="fold within a cell"):
        folded = aside(plain.quadratic())
    assert folded < 0.5 * aside(plain)
    assert aside(plain.quadratic(), quadrature=5, split=True) == pytest.approx(aside(plain), rel=0.1)


@pytest.mark.parametrize(
    "material", [pl.Hooke(3e4, 0.45), pl.NeoHookean(3e4, 0.49)], ids=["Hooke", "neo-Hookean"]
)
@pytest.mark.parametrize("factor", [66, 129])
def test_a_column_that_only_hangs_ends_where_a_beam_does(material, factor):
    """At 66 and 129 times the weight it can carry (Greenhill: ρgAL³ = 7.8373 EI), its foot's cells cut."""
    side, density, g = 0.01, 1100.0, 9.81
    length = (factor * 7.8373 * material.young * side**2 / (12 * density * g)) ** (1 / 3)
    mesh = pl.mesh.box((side, side, length), cells=(3, 3, 24), kind="hex")
    solid = pl.Solid(mesh, material, density=density, fixed=mesh.nodes[:, 2] < 1e-9)
    result = pl.static(pl.Robot(solid, gravity=(0, 0, -g)))
    assert result.certificate.stability == "stable, after leaving an unstable state"
    beam = pl.Beam(
        line((0, 0, 0), (0, 0, length), elements=40),
        Rectangle(side, side),
        pl.Hooke(material.young, material.poisson),
        density=density,
        fixed=0,
    )
    hanging = pl.static(pl.Robot(beam, gravity=(1e-3 * g, 0, -g)))
    assert hanging.certificate.stability.startswith("stable")
    assert result.positions[:, 2].min() == pytest.approx(hanging.positions[:, 2].min(), rel=0.05)
