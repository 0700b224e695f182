"""Every robot of the gallery: its demonstration converges, and forces, work and symmetry are right."""

import inspect
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.core.view import linearise
from pliant.laws import Known
from pliant.robots import FIGURE_2, drive, entry, gallery

STEPS = 6
COARSE = {
    "trunk": {"discs": 6, "size": 0.03},
    "tower": {"sections": 2},
    "pneunet": {"chambers": 3},
    "tripod": {"along": 6, "layers": 1, "across": 2},
    "bellows": {"steps": 4},
    "manipulator": {"length": 0.4, "vertebrae": 6},
    "muscle": {"around": 12, "along": 16},
}

LEAST = {
    "two bodies": 0.015,
    "tower": 0.05,
}  # motion in the demonstration, as a share of the length: contact is in the way


def build(name, **changes):
    return gallery[name].build(**{**COARSE.get(name, {}), **changes})


@pytest.fixture(scope="module", params=list(gallery))
def demonstration(request):
    """(entry, results along the load path), on a coarse mesh."""
    chosen = gallery[request.param]
    return chosen, list(drive(build(request.param), chosen.laws, steps=STEPS))


def pull(name, laws, **changes):
    """One equilibrium, and where the tip was under gravity alone."""
    robot = build(name, **changes)
    rest = pl.static(robot)
    return pl.static(robot, laws, state=rest.state), rest.displacement["tip"]


def test_demonstration_converges_to_its_commands(demonstration):
    chosen, results = demonstration
    last = results[-1]
    for k, result in enumerate(results):
        assert result.certificate.converged
        if (
            k or result.robot.gravity.any()
        ):  # before the first command a robot without weight has no load to compare with
            assert result.certificate.residual < 1e-8
        assert result.certificate.shift == 0.0
    for name, law in chosen.laws.items():
        if law.effort is None:
            span = max(abs(float(law.displacement)), float(abs(results[0].displacement[name][0])))
            assert last.displacement[name] == pytest.approx(law.displacement, abs=1e-6 * span)
        else:
            assert last.effort[name] == pytest.approx(law.effort)


def test_demonstration_moves_visibly_and_plausibly(demonstration):
    chosen, results = demonstration
    tip = np.array([r.displacement[chosen.effector] for r in results])
    robot, q = results[-1].robot, results[-1].q
    least = LEAST.get(robot.name, 0.08)
    assert least * robot.length < np.linalg.norm(tip[-1] - tip[0]) < 1.2 * robot.length
    for body, span in zip(robot.bodies, robot.q_spans, strict=True):
        F = body.deformation_gradient(q[span])
        assert np.linalg.det(F).min() > 0  # nothing turned inside out
        assert np.linalg.svd(F, compute_uv=False).max() < 2.5


def test_work_of_the_rows_is_stored_in_the_body(demonstration):
    _, results = demonstration
    robot = results[-1].robot
    energy = []
    for r in results:
        linear = linearise(robot, r.q, r.state.effort, r.state.internal, robot.gravity, tangent=False)
        energy.append(linear.energy)
    liquid = [_liquid_energy(robot, r) for r in results]
    work = 0.0
    for before, after in pairwise(results):
        for name in robot.rows:  # ∫ λ·dδ by trapezoids
            work += float(
                (before.effort[name] + after.effort[name])
                / 2
                @ (after.displacement[name] - before.displacement[name])
            )
    stored = energy[-1] + liquid[-1] - energy[0] - liquid[0]
    assert work == pytest.approx(stored, rel=0.03)


def _liquid_energy(robot, result):
    """−∫ ρ g·(x − x_level) dV of the liquids in a robot's cavities [J]."""
    total = 0.0
    for row in robot.rows.values():
        cavity = row.interaction
        if isinstance(cavity, pl.Cavity) and cavity.liquid_density:
            p = cavity.points[0].position(result.q)
            total -= cavity._volume.integral(p, cavity.level, 0.0, cavity.liquid_density * robot.gravity)
    return total


def test_rows_have_roles(demonstration):
    chosen, results = demonstration
    robot = results[-1].robot
    assert robot.by_role("actuator")
    assert chosen.effector in robot.by_role("effector")
    assert set(chosen.laws) <= set(robot.by_role("actuator"))
    for name in robot.by_role("actuator"):
        law = robot.rows[name].law
        assert np.isfinite(law.effort).all() or np.isfinite(law.displacement).all()
    for name, law in chosen.laws.items():  # the demonstration respects the limits
        limits = robot.rows[name].law
        assert limits.effort[0] <= results[-1].effort[name][0] <= limits.effort[1]
        assert limits.displacement[0] <= (law.displacement or 0.0) <= limits.displacement[1]


@pytest.mark.parametrize("name", list(gallery))
def test_builders_take_keywords_and_say_where_they_come_from(name):
    parameters = inspect.signature(gallery[name].build).parameters.values()
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters)
    assert gallery[name].build.__name__ == name
    assert getattr(pl.robots, name) is gallery[name].build
    assert len(inspect.getdoc(gallery[name].build)) > 200


def test_cantilever_sags_as_measured_by_others():
    result = pl.static(build("cantilever"))
    assert result.displacement["tip"][2] == pytest.approx(-13.38e-3, rel=0.01)


def test_cantilever_carries_load_and_weight_at_its_clamp():
    robot = build("cantilever")
    result = pl.static(robot, {"load": Known(effort=-0.15)})
    body = robot.body
    support = body.reactions(result.q, robot.gravity)[body.mesh.nodes[:, 0] < 1e-9].sum(axis=0)
    assert support == pytest.approx([0.0, 0.0, 9.81 * body.total_mass + 0.15], abs=1e-6)


def test_finger_bends_towards_its_cable_and_the_cable_cannot_push():
    result, rest = pull("finger", {"cable": Known(displacement=0.005)})
    assert result.effort["cable"][0] > 0
    assert result.displacement["tip"][2] - rest[2] > 0.01
    slack, rest = pull("finger", {"cable": Known(displacement=-0.02)})
    assert slack.effort["cable"] == pytest.approx(0.0)
    assert slack.displacement["tip"] == pytest.approx(rest, abs=1e-9)


@pytest.mark.parametrize("cable", range(1, 9))
def test_each_cable_of_the_trunk_bends_it_to_its_own_side(cable):
    result, rest = pull("trunk", {f"cable {cable}": Known(displacement=0.008)})
    angle = np.pi / 2 * (cable - 1) if cable <= 4 else np.pi / 2 * (cable - 5) + np.pi / 4
    moved = (result.displacement["tip"] - rest)[:2]
    assert np.linalg.norm(moved) > 0.01
    assert moved @ [np.cos(angle), np.sin(angle)] > 0.99 * np.linalg.norm(moved)


def test_the_trunk_is_as_compliant_to_every_side():
    W = pl.compliance(build("trunk"))
    for group in (range(1, 5), range(5, 9)):
        own = np.array([W[f"cable {k}", f"cable {k}"].item() for k in group])
        following = np.array(
            [W[f"cable {k}", f"cable {group[(i + 1) % 4]}"].item() for i, k in enumerate(group)]
        )
        assert np.ptp(own) < 1e-6 * own[0]  # the mesh has the same symmetry
        assert np.ptp(following) < 1e-6 * own[0]
    assert np.abs(W.matrix - W.matrix.T).max() < 1e-12 * np.abs(W.matrix).max()


@pytest.mark.parametrize("chamber, away", [(1, (-1, 0)), (2, (0, -1)), (3, (1, 0)), (4, (0, 1))])
def test_an_inflated_section_pushes_the_tower_away(chamber, away):
    result, rest = pull("tower", {f"chamber {chamber}": Known(effort=12e3)}, sections=max(2, chamber))
    moved = (result.displacement["tip"] - rest)[:2]
    assert moved @ away > max(0.2e-3, 0.75 * np.linalg.norm(moved))


def test_sections_of_the_tower_do_not_enter_each_other():
    robot = build("tower")
    result = pl.static(robot, {"chamber 1": Known(effort=12e3), "chamber 2": Known(effort=12e3)})
    gap, force = result.contacts.gap, result.contact_force
    assert gap.min() > -1e-9
    assert force.min() >= 0.0
    assert np.abs(gap * force).max() < 1e-9
    assert force.sum() > 0.05  # they do touch
    deepest = robot.surroundings.detector(robot).penetrations(result.q)
    assert max(deepest.values()) < 1e-4


def test_the_trunk_rides_on_its_base():
    robot = build("trunk", travel=0.02)
    rest, moved = (pl.static(robot, {"base": Known(displacement=s)}) for s in (0.0, 0.015))
    assert moved.displacement["tip"] - rest.displacement["tip"] == pytest.approx([0.0, 0.0, 0.015], abs=1e-8)
    assert moved.effort["base"] == pytest.approx(-9.81 * robot.body.total_mass)  # it carries the weight


@pytest.mark.parametrize("around", [4, 8, 12])
def test_a_trunk_of_hexahedra_is_as_thick_as_a_round_one(around):
    flat = build("trunk", around=around).body.mesh
    radius = np.linalg.norm(flat.nodes[:, :2], axis=1)[np.abs(flat.nodes[:, 2]) < 1e-9].max()
    out, inside = radius - 0.016, 0.016 - radius * np.cos(np.pi / around)
    assert out == pytest.approx(inside, rel=1e-6)  # corners stand out as far as sides stand in


def test_the_upper_cable_of_the_beam_lowers_its_tip_by_turning_it_about_the_ball():
    robot = pl.robots.beam(**FIGURE_2)
    free = pl.robots.beam(**{**FIGURE_2, "above": None, "below": None})
    pull = {"upper": Known(effort=400.0)}
    assert pl.static(free, pull).displacement["tip"][0] > 0.05
    held = pl.static(robot, pull)
    assert held.displacement["tip"][0] < -0.005
    pushing = held.contacts.opponent[held.contact_force > 0]
    assert set(pushing) == {robot.surroundings.detector(robot).opponents.index("above")}


def test_two_bodies_pass_on_what_the_probe_presses():
    robot = build("two_bodies")
    result = pl.static(robot, {"force": Known(effort=0.3)})
    wall, organ = robot.bodies
    push = result.contacts.push(result.q, result.contact_force)
    on_organ = push[robot.dq_spans[1]].reshape(-1, 3).sum(axis=0)
    side = np.abs(wall.mesh.nodes[:, :2]).max(axis=1)
    rim = wall.reactions(result.q[robot.q_spans[0]], robot.gravity)[side > side.max() - 1e-9].sum(axis=0)
    low = organ.mesh.nodes[:, 2]
    foot = organ.reactions(result.q[robot.q_spans[1]], robot.gravity)[low < low.min() + 1e-9].sum(axis=0)
    assert foot == pytest.approx(-on_organ, abs=1e-8)
    assert foot + rim == pytest.approx([0.0, 0.0, 0.3], abs=1e-8)
    assert 0.1 < foot[2] < 0.3


def test_pressure_curls_the_pneunet_and_suction_uncurls_it():
    blown, rest = pull("pneunet", {"chamber": Known(effort=10e3)})
    drawn, _ = pull("pneunet", {"chamber": Known(effort=-5e3)})
    assert blown.displacement["tip"][2] < rest[2] - 2e-3
    assert drawn.displacement["tip"][2] > rest[2] + 0.5e-3
    assert blown.displacement["chamber"][0] > 0 > drawn.displacement["chamber"][0]


def test_three_equal_motors_move_the_hub_of_the_tripod_straight():
    angle = np.radians(20.0)
    result, rest = pull("tripod", {f"motor {k}": Known(displacement=angle) for k in (1, 2, 3)})
    for k in (1, 2, 3):
        assert result.displacement[f"motor {k}"] == pytest.approx(angle)
        axis, turned = _turn(result, f"arm {k}")
        assert turned == pytest.approx(angle)
        assert abs(axis[2]) < 1e-9
    moved = result.displacement["tip"] - rest
    assert np.abs(moved[:2]).max() < 1e-3 * abs(moved[2])
    W = pl.compliance(result.robot)
    own = np.array([W[f"motor {k}", f"motor {k}"].item() for k in (1, 2, 3)])
    assert np.ptp(own) < 1e-3 * own[0]


def _turn(result, region):
    """Axis and angle by which a rigid region has turned since rest."""
    vector = Rotation.from_matrix(result.robot.body.pose(result.q, region)[0]).as_rotvec()
    angle = float(np.linalg.norm(vector))
    return vector / angle, angle


def test_bellows_lengthen_with_the_volume_pumped_in():
    full, rest = pull("bellows", {"chamber": Known(displacement=5e-6)})
    empty, _ = pull("bellows", {"chamber": Known(displacement=-10e-6)})
    assert full.displacement["tip"][2] > rest[2] > empty.displacement["tip"][2]
    assert full.effort["chamber"][0] > empty.effort["chamber"][0]
    assert np.abs(full.displacement["tip"][:2]).max() < 1e-5  # it stays straight


def test_the_liquid_in_the_bellows_weighs_on_its_base():
    robot = build("bellows")
    result = pl.static(robot)
    body, chamber = robot.body, robot.rows["chamber"].interaction
    volume = chamber.rest_volume + result.displacement["chamber"][0]
    support = body.reactions(result.q, robot.gravity)[body.mesh.nodes[:, 2] < 1e-9].sum(axis=0)
    assert support[2] == pytest.approx(9.81 * (body.total_mass + 1000.0 * volume), rel=1e-6)


def test_an_unknown_robot_names_the_nearest():
    with pytest.raises(pl.InputError, match="Did you mean 'trunk'"):
        entry("trnuk")


def test_an_unknown_material_names_the_nearest():
    with pytest.raises(pl.InputError, match="dragon skin 30"):
        pl.robots.finger(material="dragonskin 30")


@pytest.mark.parametrize(
    "laws, steps, message",
    [
        ({"load": Known(effort=0.1)}, 0, "steps"),
        ({"laod": Known(effort=0.1)}, 2, "Did you mean 'load'"),
        ({"load": pl.Bounded()}, 2, "Known"),
    ],
)
def test_drive_refuses(laws, steps, message):
    with pytest.raises(pl.InputError, match=message):
        list(drive(build("cantilever"), laws, steps=steps))
