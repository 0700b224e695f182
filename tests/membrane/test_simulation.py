"""Mechanisms in motion: against equilibrium, energy and constraints over time, states and recordings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.io.recording import Recorder, Recording
from pliant.membrane.bodies import At, Motor, PlanarBody
from pliant.membrane.cable import Cable, Membrane, Over
from pliant.membrane.grasp import grasp
from pliant.membrane.hand import soft_hand
from pliant.membrane.joints import Free, Prismatic, Revolute, Translating
from pliant.membrane.mechanism import Mechanism
from pliant.membrane.moving_hand import Moving
from pliant.membrane.session import OBJECT_REGION, HandSession
from pliant.membrane.shapes import Disc, regular
from pliant.membrane.simulation import Simulation
from pliant.membrane.staging import frame_of, stage_of
from pliant.membrane.wrapping import LEFT, RIGHT

G = 9.81


def undamped_hand() -> Mechanism:
    """Two fingers on springs with skins, a hexagon between them that turns; nothing is damped."""
    bodies, cables = [], []
    for k, (sign, side) in enumerate(((-1.0, LEFT), (1.0, RIGHT))):
        bodies += [
            PlanarBody(
                f"finger {k}",
                Revolute(at=(-0.3, 0.12 * sign), start=-0.05 * sign, stiffness=3.0),
                0.2,
                2e-3,
                (0.15, 0.0),
            ),
            PlanarBody(f"slide {k}", Prismatic(parent=f"finger {k}", at=(0.3, 0.0), stiffness=200.0), 0.1),
            PlanarBody(
                f"paddle {k}", Revolute(parent=f"slide {k}", start=0.05 * sign, stiffness=1.0), 0.1, 2e-3
            ),
        ]
        path = [At(f"paddle {k}", (-0.12, 0.0)), Over("object", side), At(f"paddle {k}", (0.12, 0.0))]
        cables.append(Membrane(f"skin {k}", path, 150.0, preload=0.02))
    bodies.append(
        PlanarBody(
            "object",
            Free(start=(0.02, 0.02, 0.2), stiffness=(25.0, 5.0, 0.0)),
            0.1,
            3e-4,
            shape=regular(6, 0.09),
        )
    )
    return Mechanism(bodies, cables=cables)


def test_an_undamped_hand_keeps_its_energy(within):
    """Ten seconds of shaking with contacts made and broken: within 0.1 % of what there is to exchange."""
    sim = Simulation(undamped_hand(), v=[0.3, 0.0, -0.5, 0.2, 0.1, 0.4, 0.3, 0.4, 2.0])
    start, energy, touched = sim.energy, [], []
    for _ in range(200):
        sim.run(0.05)
        energy.append(sim.energy.total - start.total)
        touched.append([sim.moment.contact(f"skin {k}")["object"] == "touching" for k in (0, 1)])
    assert 0.05 < np.mean(touched) < 1.0
    within(np.array(energy) / start.total, 1e-3, "energy in 10 s")


def test_the_moving_hand_comes_to_rest_where_the_equilibrium_says(within):
    """Two ways to the same place: time steps of the mechanism, and Newton on the energy of the skins."""
    for rotates in (False, True):
        hand = soft_hand(rotates=rotates)
        home = grasp(hand, (0.0, 0.0))
        plant = Moving(hand, home.joints, home.pose, time_step=2e-3)
        for change in ([0.06, 0.004, 0.1, 0.05, 0.0, 0.05], [-0.05, -0.004, 0.05, -0.06, 0.004, 0.1]):
            reading = plant.advance(home.joints + np.array(change), 8.0)
            rest = hand.rest(reading.joints, reading.pose)
            within((reading.pose - rest.pose)[:2], 1e-7, "place [m]")
            tension = np.array(list(plant.simulation.moment.tension.values()))
            within(tension - rest.rest.tension, 1e-4, "tension [N]")


@pytest.mark.parametrize(("rotates", "friction"), [(False, 0.0), (True, 0.0), (True, 0.5)])
def test_no_command_stops_the_simulation(rotates, friction):
    """Random joints within their limits, also such that throw the object out or close on it with a paddle."""
    rng, hand = np.random.default_rng(4), soft_hand(rotates=rotates)
    home = grasp(hand, (0.0, 0.0))
    plant = Moving(hand, home.joints, home.pose, time_step=2e-3, friction=friction)
    for _ in range(25):
        reading = plant.advance(rng.uniform(hand.lower, hand.upper), 0.25)
        assert np.isfinite(reading.pose).all() and np.abs(reading.velocity[:2]).max() < 20.0


def bead_scene(start: list[tuple[float, float]], tether: float = 0.0) -> Mechanism:
    """Beads above a skin, held along it by springs or free to slide."""
    bodies = [
        PlanarBody(
            f"bead {k}",
            Translating(start=p, stiffness=(tether, 0.0), damping=0.3),
            0.05 * (k + 1),
            shape=Disc(0.03),
        )
        for k, p in enumerate(start)
    ]
    path = [At("world", (-0.5, 0.0)), *(Over(b.name, LEFT) for b in bodies), At("world", (0.5, 0.0))]
    return Mechanism(bodies, cables=[Membrane("skin", path, 120.0, 0.5, 0.1)], gravity=(0.0, -G))


def test_several_objects_rest_on_one_skin():
    """Each is carried: the forces of the skin are their weights."""
    sim = Simulation(bead_scene([(-0.25, 0.04), (0.0, 0.04), (0.25, 0.04)], 20.0))
    moment = sim.run(12.0)
    assert set(moment.contact("skin").values()) <= {"touching", "front"}
    carried = sum(moment.wrench("skin", f"bead {k}") for k in range(3))
    assert carried[1] == pytest.approx(0.05 * 6 * G, rel=1e-4)


def test_objects_that_pass_each_other_change_places_on_the_skin():
    """In the air above the skin; then both are pressed in, in the new order."""
    sim = Simulation(
        Mechanism(
            bead_scene([(-0.2, 0.3), (0.2, 0.4)]).bodies, cables=bead_scene([(-0.2, 0.3), (0.2, 0.4)]).cables
        )
    )
    sim.run(0.8, efforts={"bead 0 x": 0.16, "bead 1 x": -0.2})
    assert sim.q[0] > sim.q[2]
    names = [sim.mechanism.bodies[b].name for b in sim.model.paths.body[1:3]]
    assert names == ["bead 1", "bead 0"]
    sim.run(1.5, efforts={"bead 0 x": 0.0, "bead 1 x": 0.0, "bead 0 y": -1.0, "bead 1 y": -1.0})
    moment = sim.moment
    assert moment.contact("skin") == {"bead 1": "touching", "bead 0": "touching"}
    x = moment.polyline("skin")[:, 0]
    assert (np.diff(x) > 0.0).all()  # no zigzag
    original = sim.mechanism.model.paths.body[1:3]
    assert original.tolist() == [0, 1]  # the mechanism itself is as it was


def test_an_object_that_goes_round_an_end_does_not_catch_the_skin():
    mech = Mechanism(
        [PlanarBody("ball", Translating(start=(0.65, 0.2)), 0.1, shape=Disc(0.05))],
        cables=[
            Membrane(
                "skin",
                [At("world", (-0.5, 0.0)), Over("ball", LEFT), At("world", (0.5, 0.0))],
                100.0,
                preload=0.1,
            )
        ],
    )
    sim = Simulation(mech, v=[0.0, -1.0])
    moment = sim.run(0.4)
    assert moment.contact("skin")["ball"] == "behind" and moment.q == pytest.approx([0.65, -0.2], abs=1e-12)
    moment = sim.run(0.3, efforts={"ball x": -2.0})  # under the skin: it may pass, the skin is above it
    assert moment.contact("skin")["ball"] == "behind" and moment.tension["skin"] == pytest.approx(10.0)


def test_an_object_pressed_in_stays_hooked_past_the_end():
    mech = Mechanism(
        [PlanarBody("ball", Translating(start=(0.3, 0.04)), 0.1, shape=Disc(0.05))],
        cables=[
            Membrane(
                "skin",
                [At("world", (-0.5, 0.0)), Over("ball", LEFT), At("world", (0.5, 0.0))],
                20.0,
                preload=0.05,
            )
        ],
        motors=[Motor("ball", 400.0, 15.0), Motor("ball", 400.0, 15.0, coordinate=1)],
    )
    sim, last = Simulation(mech), 0.0
    for x, y in [(0.3, -0.3), (0.8, -0.3), (0.8, 0.3)]:
        for s in np.linspace(0.0, 1.0, 30):
            here = sim.q
            sim.run(0.02, {"ball x": here[0] + s * (x - here[0]), "ball y": here[1] + s * (y - here[1])})
            assert abs(sim.moment.length["skin"] - last) < 0.2 or last == 0.0
            last = sim.moment.length["skin"]
    assert sim.moment.contact("skin")["ball"] == "touching" and sim.state.memory.turn[1] > np.pi


def test_a_state_can_be_kept_and_run_again():
    sim = Simulation(undamped_hand(), v=np.linspace(-0.5, 0.5, 9))
    sim.run(0.3)
    kept = sim.state
    first = sim.run(0.3)
    sim.state = kept
    second = sim.run(0.3)
    assert first.t == pytest.approx(second.t) and np.allclose(first.q, second.q, rtol=0, atol=1e-9)
    single = Simulation(undamped_hand(), v=np.linspace(-0.5, 0.5, 9))
    for _ in range(20):
        single.step()
    whole = Simulation(undamped_hand(), v=np.linspace(-0.5, 0.5, 9))
    whole.run(0.02)
    assert np.array_equal(single.q, whole.q)


def test_large_steps_are_parted_until_they_converge():
    """A stiff skin hit at speed with steps of 50 ms: a step that does not converge is made in parts."""
    mech = Mechanism(
        [PlanarBody("ball", Free(start=(0.0, 0.06, 0.0)), 0.1, 1e-4, shape=regular(5, 0.05))],
        cables=[
            Membrane(
                "skin",
                [At("world", (-0.3, 0.0)), Over("ball", LEFT), At("world", (0.3, 0.0))],
                2e5,
                preload=0.01,
            )
        ],
    )
    sim = Simulation(mech, v=[0.1, -5.0, 3.0], time_step=0.05)
    start = sim.energy.total
    sim.run(0.5)
    assert np.isfinite(sim.q).all() and sim.energy.total < 1.5 * start


def test_a_recording_of_a_mechanism_can_be_read(tmp_path):
    sim = Simulation(undamped_hand(), v=np.linspace(-0.5, 0.5, 9))
    stage = stage_of(sim.mechanism, summary="a hand")
    tensions = []
    with Recorder(tmp_path / "hand.mcap", stage) as recorder:
        for k in range(5):
            moment = sim.run(0.02)
            tensions.append(moment.tension["skin 0"])
            recorder.write(frame_of(moment, step=k))
    run = Recording.read(tmp_path / "hand.mcap")
    assert run.positions.shape == (5, len(stage.rest), 3)
    assert run.signals["effort skin 0"] == pytest.approx(tensions)
    assert run.signals["displacement skin 1"][-1] == pytest.approx(sim.moment.length["skin 1"])
    assert stage.triangles.max() == len(stage.rest) - 1
    frame = frame_of(sim.moment)
    edge = np.linalg.norm(np.diff(frame.lines[:48, :2], axis=0), axis=1).sum()
    assert edge == pytest.approx(sim.moment.length["skin 0"], rel=1e-9)


def test_a_frame_tells_the_efforts_of_motors():
    arm = PlanarBody("arm", Revolute(), 1.0, 0.1, (0.5, 0.0))
    rope = Cable("rope", [At("world", (0.0, 1.0)), At("arm", (1.0, 0.0))])
    mech = Mechanism([arm], cables=[rope], motors=[Motor("arm", 100.0, 5.0, limit=3.0)], gravity=(0.0, -G))
    sim = Simulation(mech)
    moment = sim.run(0.5, {"arm": 0.02})
    frame = frame_of(moment)
    assert frame.effort["arm"][0] == pytest.approx(100.0 * (0.02 - moment.q[0]) - 5.0 * moment.v[0])
    assert frame.slack == (() if moment.tension["rope"] > 0.0 else ("rope",))
    assert stage_of(mech).rows[0].effort == (-3.0, 3.0)


def test_a_hand_session_follows_a_target_and_its_joints():
    """The surface that the studio drives: aim, refuse, switch, drive, pull, reset."""
    session = HandSession(period=0.02)
    seen = []
    session.listeners.append(seen.append)
    session.aim("object", (0.008, 0.006, 0.0))
    for _ in range(200):
        frame = session.step()
    assert frame.status == "reached" and np.linalg.norm(frame.error["object"]) < 0.01 * session.hand.size
    assert len(seen) == 200 and frame.time == pytest.approx(4.0)
    assert frame.displacement["object"][:2] == pytest.approx([0.008, 0.006], abs=0.01 * session.hand.size)
    session.aim("object", (0.5, 0.0, 0.0))
    frame = session.step()
    assert frame.status == "out of reach" and "short of it" in frame.words
    session.switch("dynamic")
    session.drive("paddle 0", displacement=[9.0])
    assert session.commands["paddle 0"][1][0] == session.hand.upper[2]  # within its limits
    assert "The object is held with" in session.step().words
    session.reset()
    assert session.mode == "inverse" and session.frame.time == 0.0
    at = np.flatnonzero(session.stage.region == OBJECT_REGION)[:3]
    before = session.step().displacement["object"]
    session.push(at, [1.0, 0.0, 0.0], [0.0, 0.05, 0.0])
    for _ in range(5):
        frame = session.step()
    assert frame.push is not None and frame.displacement["object"][1] > before[1] + 1e-5
    with pytest.raises(InputError, match="object"):
        session.push([0, 1, 2], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    with pytest.raises(InputError, match="effector"):
        session.aim("tip", (0.0, 0.0, 0.0))


def test_a_desk_shows_and_records_a_hand(tmp_path):
    from pliant.io.packet import frame_packet, stage_packet
    from pliant.studio.desk import Desk
    from pliant.studio.messages import Aim, Cut

    robots: Any = {"hand": HandSession}
    desk = Desk(robots, "hand", folder=tmp_path)
    desk.start_recording()
    desk.do(Aim(do="aim", row="object", value=[0.004, 0.0, 0.0]))
    for _ in range(10):
        desk.tick()
    view = desk.view(frozenset({"displacement"}))
    assert not view.alterable  # no obstacles, nothing to cut
    assert not desk.notice and len(frame_packet(view.frame, view.stage, {}, None)) > 100
    assert len(stage_packet(view.stage, {})) > 100
    desk.do(Cut(do="cut", row="skin 0", on=True))
    assert "skin 0" in desk.notice  # said, not done
    desk.stop_recording()
    assert len(Recording.read(desk.recordings[0])) == 11
