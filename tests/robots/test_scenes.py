"""The scenes of Coevoet et al. 2017: sizes of Table 12, and paths followed without jumps or penetration."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import pliant as pl
from pliant.algebra import factorise
from pliant.core.view import linearise
from pliant.robots import Event, follow, scene, scenes
from pliant.robots.beam import HEIGHT_2, HEIGHT_3
from pliant.robots.scene import through
from pliant.solvers import qpcc, qpcc_global, work_scale

TABLE = {
    "tower": (21, 1680),
    "rod": (47, 66),
    "beam": (16, 480),
    "two bodies": (16, 2313),
    "trunk": (76, 1665),
}
STEPS = 200
STILL = 100  # at the end: a robot rests within 80 steps after its tip does


class Run:
    """A run along a scene's path, and some steps at its end with the target still."""

    def __init__(self, name):
        self.scene = scenes[name]()
        self.controller = self.scene.controller()
        self.outcomes = list(follow(self.scene, steps=STEPS, controller=self.controller))
        self.still = [self.controller.step() for _ in range(STILL)]

    def efforts(self, outcomes):
        """(steps, actuators)"""
        names = self.scene.robot.by_role("actuator")
        return np.array([np.concatenate([o.effort[n] for n in names]) for o in outcomes])

    def errors(self, outcomes):
        """Distance to the target as a share of the length, (steps,)."""
        return np.array([np.linalg.norm(o.error[self.scene.effector]) for o in outcomes]) / self.scene.length


@pytest.fixture(scope="module", params=list(TABLE))
def run(request):
    return Run(request.param)


def test_sizes_are_those_of_table_12(run):
    contacts, dofs = TABLE[run.scene.name]
    assert run.scene.paper[:2] == (contacts, dofs)
    assert run.scene.dofs == run.scene.robot.ndof == pytest.approx(dofs, rel=0.1)
    touching = [
        len(np.unique(o.contacts.index)) for o in run.outcomes
    ]  # several rows may report on one sample
    assert np.mean(touching) == pytest.approx(contacts, rel=0.1)


def test_contacts_push(run):
    assert max(o.contact_force.max(initial=0.0) for o in run.outcomes) > 0.0
    assert min(o.contact_force.min(initial=0.0) for o in run.outcomes) >= 0.0


def test_the_target_is_followed(run):
    moving, still = run.errors(run.outcomes), run.errors(run.still)
    assert moving.mean() < 1e-3
    assert moving.max() < 1e-2
    assert still[-1] < 1e-4


def test_every_step_is_an_equilibrium_with_contact(run):
    for o in run.outcomes:
        assert o.certificate.decrement < 1e-3 * run.scene.length
        assert o.certificate.solver.complementarity < 1e-6
    assert run.still[-1].certificate.decrement < 1e-5 * run.scene.length


def test_nothing_penetrates_by_a_tenth_of_a_millimetre(run):
    # Soft opponents are looked for only as far as the alarm distance: measure with a larger one.
    around = replace(run.scene.robot.surroundings, alarm=0.02 * run.scene.length)
    detector = around.detector(run.scene.robot)
    assert max(detector.penetration(o.q) for o in (*run.outcomes[::20], run.still[-1])) < 1e-4


def test_efforts_are_calm(run):
    efforts = run.efforts(run.outcomes)
    if run.scene.name != "rod":  # which leans on the pipe now here, now there
        assert np.abs(np.diff(efforts, axis=0)).max() < 0.05 * np.ptp(efforts, axis=0).max()
    still = run.efforts(run.still)
    assert np.abs(np.diff(still[-10:], axis=0)).max() < 1e-3 * np.abs(efforts).max()


def test_commands_bring_a_forward_solve_to_the_same_place(run):
    out, name = run.outcomes[STEPS // 3], run.scene.effector
    laws = {n: pl.Known(displacement=u) for n, u in out.command.items()}
    again = pl.static(run.scene.robot, laws, state=out.state)
    moved = np.linalg.norm(again.displacement[name] - out.displacement[name])
    assert moved < 1e-3 * run.scene.length


# What the scenes are about


def matrices(robot, height):
    """The inverse problem of the beam at rest, for a height of its tip [m]: what `qpcc` takes."""
    rest = robot.rest
    contacts = robot.surroundings.detector(robot).detect(rest.q)
    linear = linearise(robot, rest.q, rest.effort, rest.internal, robot.gravity).touching(contacts)
    W = factorise(robot.symbolic, linear.K).compliance(linear.H)
    delta = linear.delta
    a, e, c = slice(0, 2), robot.spans["tip"], slice(3, None)
    return W[e, a], W[e, c], W[a, a], W[a, c], W[c, c], delta[e] - height, delta[a], delta[c]


def test_the_beam_of_figure_2_has_two_minima():
    """At the paper's ε: pull the lower cable a little, or the upper one much, which is better."""
    problem = matrices(pl.robots.beam(**pl.robots.FIGURE_2), HEIGHT_2)
    options = {"effort": (0.0, 500.0), "eps": 1e-3 * work_scale(*problem[:5])}
    found = qpcc_global(*problem, **options)
    assert found.complete and len(found.minima) == 2
    upper, lower = found.minima
    assert lower.effort[1] == 0.0 and 50.0 < lower.effort[0] < 200.0
    assert upper.effort[0] == 0.0 and 450.0 < upper.effort[1] < 500.0  # inside: ε holds it back
    assert upper.cost < 0.7 * lower.cost
    # The paper's method, from zero, ends in the local one; several descents find the global one.
    assert qpcc(*problem, **options, method="decomposition", starts=1).effort == pytest.approx(
        lower.effort, abs=0.1
    )
    assert qpcc(*problem, **options).effort == pytest.approx(upper.effort, abs=0.1)


def test_the_way_through_figure_3_leads_through_many_modes():
    """At the paper's ε; each mode differs from the one before by one contact, and costs fall."""
    problem = matrices(pl.robots.beam(**pl.robots.FIGURE_3), HEIGHT_3)
    options = {"effort": (0.0, 2000.0), "eps": 1e-3 * work_scale(*problem[:5])}
    found = qpcc_global(*problem, **options)
    way = qpcc(*problem, **options, method="decomposition", starts=1)
    modes = [set(members) for members in way.certificate.path]
    assert len(modes) == 7  # as in the paper
    assert all(len(one ^ other) == 1 for one, other in pairwise(modes))
    assert way.cost == pytest.approx(found.best.cost)
    assert found.complete and len(found.minima) > 1


def test_the_tip_stays_while_an_obstacle_moves():
    here = scenes["trunk, moving obstacle"]()
    outcomes = list(follow(here, steps=STEPS))
    errors = np.array([np.linalg.norm(o.error["tip"]) for o in outcomes[50:]])
    assert errors.max() < 5e-3 * here.length
    assert errors[-1] < 1e-4 * here.length
    pushed = [o for o in outcomes if o.contact_force.sum() > 0.05]
    assert len(pushed) > 20  # the cylinder does push
    bent = [np.abs(o.positions - outcomes[50].positions).max() for o in pushed]
    assert max(bent) > 0.01  # and the trunk gives way


def test_a_trunk_on_a_table_pushes_with_two_dozen_contacts_that_carry_what_its_base_does_not():
    here = scenes["trunk, on a table"]()
    outcomes = list(follow(here, steps=120))
    pushing = [int((o.contact_force > 0).sum()) for o in outcomes]
    assert np.mean(pushing) > 20
    errors = [np.linalg.norm(o.error["tip"]) for o in outcomes]
    assert np.mean(errors) < 1e-2 * here.length
    body, last = here.robot.body, outcomes[-1]
    weight = 9.81 * body.total_mass
    base = body.reactions(last.q, here.robot.gravity)[body.mesh.nodes[:, 2] < 1e-9].sum(axis=0)
    assert base[0] + weight == pytest.approx(last.contact_force.sum(), rel=0.05)


def test_a_trunk_in_a_tube_pushes_with_dozens_of_contacts_all_round():
    """It stays inside, its commands lead there again in a forward solve, and without the tube elsewhere."""
    here = scenes["trunk, in a tube"]()
    controller = here.controller()
    quarter = here.path(280)[:70]
    outcomes = [controller.step(targets={"tip": place}) for place in (*quarter, *[quarter[-1]] * 6)]
    pushing = [int((o.contact_force > 0).sum()) for o in outcomes]
    assert min(pushing) > 15 and np.mean(pushing) > 25 and max(pushing) > 40
    errors = [np.linalg.norm(o.error["tip"]) for o in outcomes]
    assert np.mean(errors) < 1e-2 * here.length
    last = outcomes[-1]
    assert controller.detector.penetration(last.q) < 1e-4
    normals = last.contacts.normal[last.contact_force > 0]
    assert normals[:, 0].max() > 0.5 and normals[:, 0].min() < -0.5
    laws = {n: pl.Known(displacement=u) for n, u in last.command.items()}
    bare = pl.Robot(here.robot.bodies, here.robot.rows, gravity=here.robot.gravity)
    again, free = (pl.static(robot, laws, state=last.state) for robot in (here.robot, bare))
    moved = lambda other: np.linalg.norm(other.displacement["tip"] - last.displacement["tip"])
    assert moved(again) < 1e-4 * here.length < 1e-2 * here.length < moved(free)


def test_tubes_stiffen_a_trunk():
    pull = {"cable 1": pl.Known(effort=0.3)}
    bare, sheathed = (pl.static(pl.robots.trunk(tubes=k), pull) for k in (0.0, 500.0))
    assert 0.0 < sheathed.displacement["tip"][0] < 0.9 * bare.displacement["tip"][0]
    name = "tube 1"
    assert sheathed.effort[name] == pytest.approx(-500.0 * sheathed.displacement[name])
    assert sheathed.effort[name].min() > 0.0  # the tube of the cable that is pulled is compressed


def test_the_tip_comes_back_after_a_cable_is_lost():
    here = scenes["trunk, lost cable"]()
    outcomes = list(follow(here, steps=100))
    errors = np.array([np.linalg.norm(o.error["tip"]) for o in outcomes])
    tension = np.array([o.effort["cable 1"][0] for o in outcomes])
    lost = int(np.argmax((tension[1:] == 0.0) & (tension[:-1] > 0.0))) + 1
    assert lost == 60 and (tension[lost:] == 0.0).all() and tension[lost - 1] > 0.3
    assert errors[lost : lost + 10].max() > 0.1 * here.length  # it mattered
    assert errors[lost + 20 :].max() < 1e-3 * here.length


def test_the_rod_enters_both_branches():
    here = scenes["rod"]()
    tips = np.array([o.displacement["tip"] for o in follow(here, steps=150)])
    assert tips[:, 1].max() > 0.028 and tips[:, 1].min() < -0.028
    assert np.linalg.norm(tips - here.path(150), axis=1).max() < 0.01 * here.length


# Scenes as things


@pytest.mark.parametrize("name", list(scenes))
def test_a_scene_says_what_it_is(name):
    one = scenes[name]()
    assert one.name == name and one.element and one.effector in one.robot.by_role("effector")
    path = one.path(7)
    assert path.shape == (7, one.robot.rows[one.effector].interaction.size) and np.isfinite(path).all()
    assert scenes[name].__doc__


def test_an_unknown_scene_names_the_nearest():
    with pytest.raises(pl.InputError, match="Did you mean 'trunk'"):
        scene("trnuk")


def test_no_steps_are_an_error():
    with pytest.raises(pl.InputError, match="steps"):
        next(follow(scene("beam"), steps=0))


def test_events_happen_once_or_over_a_while():
    seen = []
    once = Event(0.5, 0.5, lambda controller, share: seen.append(("once", share)))
    while_ = Event(0.25, 0.75, lambda controller, share: seen.append(("while", share)))
    moments = np.linspace(0.0, 1.0, 9)
    for before, now in zip([-1.0, *moments], moments, strict=False):
        once.happen(None, before, now)
        while_.happen(None, before, now)
    assert [s for s in seen if s[0] == "once"] == [("once", 1.0)]
    assert [s[1] for s in seen if s[0] == "while"] == pytest.approx([0.25, 0.5, 0.75, 1.0])


def test_an_event_at_the_very_beginning_happens():
    seen = []
    Event(0.0, 0.0, lambda controller, share: seen.append(share)).happen(None, -1.0, 0.0)
    assert seen == [1.0]


def test_a_path_passes_its_waypoints_and_rests_at_its_ends():
    points = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 1.0]])
    path = through(points)(201)
    assert path[[0, 100, 200]] == pytest.approx(points)
    assert np.linalg.norm(path[1] - path[0]) < 0.05 * np.linalg.norm(path[51] - path[50])
    closed = through(points, closed=True)(301)
    assert closed[[0, 100, 200, 300]] == pytest.approx(points[[0, 1, 2, 0]])
