"""Cables with friction against closed forms, back and forth, in time and in the inverse model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.core.sliding import direction
from pliant.static import Tolerance, continuation

MU = 0.2
EXACT = Tolerance(residual=1e-12, length=1e-13)


def over_a_drum(friction: float = 0.0, turn: float = np.pi, **options) -> pl.Robot:
    """A bar that is fixed up to its middle, pulled along its axis by a cable that first goes round a drum."""
    mesh = pl.mesh.box((0.2, 0.06, 0.02), cells=(8, 3, 1))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.3), fixed=mesh.nodes[:, 0] < 0.1 + 1e-9)
    angle = np.pi / 2 + np.linspace(turn, 0.0, 13)
    arc = np.column_stack([0.06 + 0.02 * np.cos(angle), 0.01 + 0.02 * np.sin(angle), np.full(13, 0.01)])
    tangent = np.array([-np.sin(angle[0]), np.cos(angle[0]), 0.0])
    path = np.vstack([arc, [[0.2, 0.03, 0.01]]])
    cable = pl.Cable(
        body.points(path, outside="nearest"), anchor=arc[0] + 0.02 * tangent, friction=friction, **options
    )
    return pl.Robot(body, {"cable": pl.Row(cable, pl.Bounded(effort=(0, 20)))})


def finger(friction: float = 0.0, count: int = 2, **options) -> pl.Robot:
    """A bar with cables off its axis."""
    mesh = pl.mesh.box((0.1, 0.012, 0.012), cells=(7, 2, 2), order=1)
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.45), density=1100, fixed=mesh.nodes[:, 0] < 1e-9)
    x, rows = np.linspace(0.004, 0.098, 8), {}
    for n, (y, z) in enumerate([(0.006, 0.010), (0.006, 0.002), (0.002, 0.006), (0.010, 0.006)][:count]):
        path = np.column_stack([x, np.full(8, y), np.full(8, z)])
        cable = pl.Cable(body.points(path), anchor=(-0.01, y, z), friction=friction, **options)
        rows[f"cable {n}"] = pl.Row(cable, pl.Bounded(effort=(0, 20)))
    tip = pl.Position(body.points([[0.1, 0.006, 0.006]]), directions="z" if count == 2 else "xyz")
    rows["tip"] = pl.Row(tip, pl.Target())
    return pl.Robot(body, rows)


def run(robot: pl.Robot, commands, name: str, key: str, state=None):
    """The equilibria under commands to one cable, one after the other."""
    out = []
    for value in commands:
        result = pl.static(robot, {name: pl.Known(**{key: value})}, state=state, tolerance=EXACT)
        state = result.state
        out.append(result)
    return out


def curve(results, name: str) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.array([r.displacement[name][0] for r in results]),
        np.array([r.effort[name][0] for r in results]),
    )


@pytest.mark.parametrize("turn", [0.5 * np.pi, np.pi])
def test_capstan(turn):
    """Round a drum the pull loses exp(−μθ), as much again on the way back."""
    factor = np.exp(MU * turn)
    far, near = run(over_a_drum(turn=turn), [1.0, 0.9], "cable", "effort")
    there, back = run(over_a_drum(MU, turn), [factor, 0.9 / factor], "cable", "effort")
    assert np.isclose(there.displacement["cable"][0], far.displacement["cable"][0], rtol=1e-6)
    assert np.isclose(back.displacement["cable"][0], near.displacement["cable"][0], rtol=1e-6)
    assert there.state.internal[-1] == 1.0 and back.state.internal[-1] == -1.0


def test_pulled_at_the_other_end():
    robot = over_a_drum(MU, pulled="last")
    cable = robot.rows["cable"].interaction
    assert np.isclose(cable.tension(cable.rest, 1.0, 1.0)[0], np.exp(-MU * np.pi))
    assert np.isclose(cable.tension(cable.rest, 1.0, 1.0)[-1], 1.0)


def test_a_loop_by_displacement():
    """Its sides are exp(±μθ) times the free cable's tension: 2 sinh(μθ) of its work is the area."""
    way, factor = np.linspace(0.0005, 0.003, 6), np.exp(MU * np.pi)
    _, plain = curve(run(over_a_drum(), way, "cable", "displacement"), "cable")
    _, T = curve(run(over_a_drum(MU), [*way, *way[-2::-1]], "cable", "displacement"), "cable")
    up, down = T[:6], np.append(T[6:][::-1], plain[-1] / factor)  # the corner is where it turns
    assert np.allclose(up, factor * plain, rtol=1e-5)
    assert np.allclose(down, plain / factor, rtol=1e-5)
    assert np.isclose(up[-2] / down[-2], factor**2, rtol=1e-5)
    area = lambda T: float(np.trapezoid(T, way))
    assert np.isclose(area(up - down), 2 * np.sinh(MU * np.pi) * area(plain), rtol=1e-5)


def test_a_loop_by_effort_has_a_dead_band():
    """Nothing moves until the tension has fallen by exp(−2μθ); then δ is that of exp(−μθ) less loss."""
    top, band = 3.0, np.exp(-2 * MU * np.pi)
    robot, free = over_a_drum(MU), over_a_drum()
    results = run(robot, [top, 0.6 * top, 1.001 * band * top, 0.9 * band * top], "cable", "effort")
    d, _ = curve(results, "cable")
    assert np.allclose(d[1:3], d[0], rtol=1e-9) and d[3] < 0.95 * d[0]
    expected = pl.static(free, {"cable": pl.Known(effort=0.9 * band * top * np.exp(MU * np.pi))})
    assert np.isclose(d[3], expected.displacement["cable"][0], rtol=1e-6)


def test_a_tendon_in_a_bent_sheath():
    """T = λ exp(−(μθ + κs)), and more by the housing that leads to it."""
    turn, kappa, housing = np.pi, 3.0, 0.7
    robot = over_a_drum(MU, turn, sheath=kappa, housing=housing)
    cable = robot.rows["cable"].interaction
    length = cable.rest_length - 0.5 * 0.14  # to the middle of the last piece
    expected = np.exp(-(MU * (turn + housing) + kappa * length))
    assert np.isclose(cable.tension(cable.rest, 1.0, 1.0)[-1], expected, rtol=1e-9)
    free = pl.static(over_a_drum(), {"cable": pl.Known(effort=1.0)})
    pulled = pl.static(robot, {"cable": pl.Known(effort=1.0 / expected)})
    assert np.isclose(pulled.displacement["cable"][0], free.displacement["cable"][0], rtol=1e-6)


def test_loops_close_and_lose_energy():
    """After the first round every round is the same to 1e-9, and each takes energy out."""
    robot = finger(0.3)
    legs = [(1.9, 0.4), (0.4, 1.9)]
    round_trip = np.concatenate([np.linspace(*leg, 5)[1:] for leg in legs])
    rest = run(robot, np.concatenate([[1.9], round_trip, round_trip]), "cable 0", "effort")
    n = len(round_trip)
    for a, b in zip(rest[1 : n + 1], rest[n + 1 :]):
        assert np.abs(a.q - b.q).max() < 1e-9 * robot.length
        assert np.allclose(a.state.internal, b.state.internal, atol=1e-8)
    d, T = curve(rest[n:], "cable 0")
    assert float(np.trapezoid(T, d)) > 0.1 * 1.9 * np.ptp(d)
    # A small loop inside the dead band loses nothing, as nothing moves.
    inner = run(robot, [1.7, 1.8, 1.75, 1.9], "cable 0", "effort", rest[-1].state)
    assert np.ptp(curve(inner, "cable 0")[0]) < 1e-12


def test_no_coefficient_is_no_friction():
    """Bit for bit what a plain cable does, and nothing is remembered."""
    plain, zero = finger(), finger(0.0, sheath=0.0, housing=2.0)
    assert zero.rest.internal.size == 0
    law = {"cable 0": pl.Known(effort=1.0), "cable 1": pl.Known(displacement=-0.001)}
    assert np.array_equal(pl.static(plain, law).q, pl.static(zero, law).q)


def test_a_tiny_coefficient_is_nearly_none():
    plain, tiny = finger(), finger(1e-7)
    law = {"cable 0": pl.Known(displacement=0.01)}
    a, b = pl.static(plain, law), pl.static(tiny, law)
    assert np.isclose(a.effort["cable 0"][0], b.effort["cable 0"][0], rtol=1e-5)


def test_series_stiffness_and_slack():
    """The drive goes δ + λ/k + slack; where it turns, as far again as friction holds the cable."""
    k, slack = 500.0, 0.002
    robot = over_a_drum(MU, stiffness=k, slack=slack)
    (loose,) = run(robot, [0.5 * slack], "cable", "displacement")
    assert loose.effort["cable"][0] == 0.0 and abs(loose.displacement["cable"][0]) < 1e-12
    (top,) = run(robot, [0.02], "cable", "displacement")
    d, T = top.displacement["cable"][0], top.effort["cable"][0]
    assert np.isclose(d + T / k + slack, 0.02, atol=1e-10)
    band = T * (1.0 - np.exp(-2 * MU * np.pi)) / k  # how far the drive goes back for nothing
    inside, outside = run(robot, [0.02 - 0.9 * band, 0.02 - 1.1 * band], "cable", "displacement", top.state)
    assert np.isclose(inside.displacement["cable"][0], d, rtol=1e-9)
    assert np.isclose(inside.effort["cable"][0], T - 0.9 * band * k, rtol=1e-9)
    assert outside.displacement["cable"][0] < d * (1 - 1e-4)


def test_four_cables_at_once():
    """Each ends where its law and its direction agree: δ grew, fell or stayed as ρ says."""
    robot = finger(0.3, count=4)
    names, state = [f"cable {n}" for n in range(4)], None
    for tensions in [(1.0, 0.1, 0.2, 0.3), (0.9, 0.5, 0.2, 0.1), (0.2, 0.6, 1.0, 0.1)]:
        before = state
        result = pl.static(robot, dict(zip(names, (pl.Known(effort=t) for t in tensions))), state=state)
        state = result.state
        assert np.allclose([result.effort[n][0] for n in names], tensions, rtol=1e-12)
        if before is None:
            continue
        old = robot.split(robot.bundle.delta(robot.bundle.positions(before.q)))
        for name, rho in zip(names, state.internal):
            moved = result.displacement[name][0] - old[name][0]
            assert abs(moved) < 1e-8 if abs(rho) < 1.0 else moved * rho > -1e-8


def test_shares_are_inverted():
    robot = finger(0.4)
    cable = robot.rows["cable 0"].interaction
    p = cable.rest + 0.01 * np.random.default_rng(1).normal(size=cable.rest.shape)
    for rho in (-1.0, -0.3, 0.0, 0.8):
        assert np.isclose(direction(cable, p, cable.transmitted(p, rho)[0]), rho, atol=1e-12)
    eps = 1e-6
    slope = (cable.transmitted(p, 0.2 + eps)[0] - cable.transmitted(p, 0.2 - eps)[0]) / (2 * eps)
    assert np.isclose(slope, cable.transmitted(p, 0.2)[1], rtol=1e-6)


@pytest.mark.parametrize("scheme", ["bdf2", "euler"])
def test_in_time(scheme):
    """Slowly pulled it goes where statics goes; let out a little, it stays where it is."""
    robot = finger(0.3)
    damping = pl.dynamics.KelvinVoigt(0.03)
    sim = pl.Simulation(robot, time_step=0.02, scheme=scheme, damping=damping)
    still, at = None, 0.0
    found = []
    for tension in (1.2, 1.0, 0.3):
        still = pl.static(robot, {"cable 0": pl.Known(effort=tension)}, state=still and still.state)
        for share in np.minimum(1.0, np.arange(1, 41) / 30):
            moment = sim.step({"cable 0": pl.Known(effort=at + share * (tension - at))})
        at = tension
        found.append(moment.displacement["cable 0"][0])
        assert np.isclose(moment.effort["cable 0"][0], tension, rtol=1e-12)
        assert np.isclose(found[-1], still.displacement["cable 0"][0], rtol=0.05)
    assert np.isclose(found[1], found[0], rtol=5e-3) and found[2] < 0.5 * found[0]


def test_in_time_held_for_ever():
    """A cable that sticks does not creep."""
    robot = finger(0.3)
    stuck = run(robot, [1.5, 1.2], "cable 0", "effort")[-1]
    sim = pl.Simulation(robot, time_step=0.02, state=stuck.state, damping=pl.dynamics.KelvinVoigt(0.03))
    for _ in range(40):
        moment = sim.step({"cable 0": pl.Known(effort=1.2)})
    assert np.abs(moment.displacement["cable 0"] - stuck.displacement["cable 0"]).max() < 1e-8


def test_inverse_and_its_commands():
    """A frictional plant that gets its commands follows far nearer than with a plain model's."""
    k = 2000.0
    plant, tip = finger(0.3, stiffness=k), {}
    for name, robot in (("knowing", plant), ("plain", finger(0.0, count=2))):
        inverse, state, worst = pl.Inverse(robot), plant.rest, 0.0
        for target in (0.022, 0.016):
            for _ in range(12):
                out = inverse.step(targets={"tip": [target]})
                laws = {n: pl.Known(displacement=v) for n, v in out.command.items()}
                state = pl.static(plant, laws, state=state).state
            assert abs(out.error["tip"][0]) < 1e-4
            place = plant.split(plant.bundle.delta(plant.bundle.positions(state.q)))["tip"]
            worst = max(worst, float(np.linalg.norm(place - target)))
        tip[name] = worst
    assert tip["knowing"] < 4e-4 and 4 * tip["knowing"] < tip["plain"]


def test_reversing_costs_the_drive_a_dead_band():
    """A cable is let out by a quarter of its way: the drive goes back by the dead band as well."""
    k, (there, back) = 500.0, (0.198, 0.1985)
    robot = over_a_drum(MU, stiffness=k)
    end = robot.body.points([[0.2, 0.03, 0.01]])
    rows = {**robot.rows, "end": pl.Row(pl.Position(end, directions="x"), pl.Target())}
    robot = pl.Robot(robot.body, rows)
    inverse, seen = pl.Inverse(robot), []
    for target in (there, back):
        for _ in range(15):
            out = inverse.step(targets={"end": [target]})
        seen.append([float(of["cable"][0]) for of in (out.effort, out.command, out.displacement)])
        assert abs(out.error["end"][0]) < 1e-6
    (T0, command0, d0), (T1, command1, d1) = seen
    assert np.isclose(T1 / T0, np.exp(-2 * MU * np.pi) * d1 / d0, rtol=0.01)
    assert np.isclose(command0 - command1, d0 - d1 + (T0 - T1) / k, rtol=1e-6)
    assert command0 - command1 > 3 * (d0 - d1) > 0.0


def test_what_makes_no_sense_is_said():
    mesh = pl.mesh.box((0.1, 0.01, 0.01), cells=(4, 1, 1))
    body = pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.45), fixed=mesh.nodes[:, 0] < 1e-9)
    points = body.points([[0.02, 0.005, 0.005], [0.08, 0.005, 0.005]])
    for options, word in [
        ({"friction": -0.1}, "friction of a Cable"),
        ({"sheath": np.inf}, "sheath of a Cable"),
        ({"pulled": "both"}, "pulled of a Cable"),
        ({"stiffness": 0.0}, "stiffness of a Cable"),
        ({"slack": -1.0}, "slack of a Cable"),
    ]:
        with pytest.raises(pl.PliantError, match=word):
            pl.Cable(points, **options)
    with pytest.raises(pl.PliantError, match="Combined"):
        pl.Combined(pl.Cable(points, friction=0.1), [[1.0]])
    robot = pl.Robot(body, {"cable": pl.Row(pl.Cable(points, friction=0.1), pl.Bounded())})
    with pytest.raises(pl.PliantError, match="cables"):
        continuation(robot, {"cable": pl.Known(effort=1.0)})


LOST = {mu: finger(mu) for mu in (0.1, 0.4)}


@settings(max_examples=4)
@given(st.sampled_from(sorted(LOST)), st.integers(0, 10**6), st.sampled_from([0.05, 0.5, 0.9]))
def test_no_cycle_gives_energy(mu, seed, spread):
    """Round any loop of both tensions for the second time, the drives put in no less than nothing.

    Four increments to a side, whose work is that of the mean tension: without friction they are off by less
    than a thousandth of all that goes in and out.
    """
    robot, names, parts = LOST[mu], ("cable 0", "cable 1"), 4
    rng = np.random.default_rng(seed)
    corner = rng.uniform(0.3, 2.0, 2) * (1.0 + spread * rng.uniform(-1.0, 1.0, (3, 2)))
    ends = zip(corner, np.roll(corner, -1, axis=0), strict=True)
    way = [a + (b - a) * k / parts for a, b in ends for k in range(1, parts + 1)]
    laws = lambda pull: {name: pl.Known(effort=float(x)) for name, x in zip(names, pull, strict=True)}
    last = pl.static(robot, laws(corner[0]))
    for _ in range(2):
        put_in = []
        for pull in way:
            now = pl.static(robot, laws(pull), state=last.state)
            for name in names:
                mean = 0.5 * (now.effort[name] + last.effort[name])
                put_in.append(float(mean[0] * (now.displacement[name] - last.displacement[name])[0]))
            last = now
    assert sum(put_in) >= -1e-3 * np.abs(put_in).sum() - 1e-12
