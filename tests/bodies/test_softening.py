"""Rubber that softens with the largest energy it has seen (Mullins): statics, time, the inverse model."""

from __future__ import annotations

from math import erf

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Beam, Circle, Reduced, Shell, Solid
from pliant.dynamics import Simulation
from pliant.materials import Hooke, Incompressible, Mullins, NeoHookean, Yeoh
from tests.bodies.common import ELEMENTS, NONE, Probe, distorted, left
from tests.reduction.test_body import polynomials

R, M, BETA = 1.5, 2e3, 0.2
LAWS = {
    "neo-Hookean": NeoHookean(3e5, 0.45),
    "Hooke": Hooke(3e5, 0.4),
    "incompressible": Incompressible(NeoHookean(3e5)),
}


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("element", ["tet10", "hex8", "hex20"])
def test_forces_and_tangent_are_derivatives_of_the_energy(element: str, law: str) -> None:
    """At points that were stretched farther and at points that were not."""
    kind, options = ELEMENTS[element]
    body = Solid(distorted(kind), Mullins(LAWS[law], R, M, BETA), density=900, fixed=left, **options)
    rng = np.random.default_rng(5)
    far = body.retract(body.q0, 4e-4 * rng.normal(size=body.ndof))
    z = body.arrived(far, 1e3 * rng.normal(size=len(body.z0)) * ~body.assembly.largest, body.z0)
    probe = Probe(body, Probe.random(body, 4e-4).q, z)
    probe.check()
    more = (body.arrived(probe.q, z, z) > z)[body.assembly.largest]
    assert more.any() and not more.all()
    stiffer = Solid(distorted(kind), LAWS[law], density=900, fixed=left, **options)
    ratio = body.energy(probe.q, z) / stiffer.energy(probe.q, z[~body.assembly.largest])
    assert ratio < 0.9999


def sample(law, size: float = 0.01) -> tuple[pl.Robot, np.ndarray]:
    """A cube between smooth plates, and its upper nodes."""
    mesh = pl.mesh.box((size, size, size), cells=(1, 1, 1), kind="hex")
    fixed = mesh.nodes < 1e-9
    fixed[:, 2] |= mesh.nodes[:, 2] > size - 1e-9
    body = Solid(mesh, law, fixed=fixed, support_layers=False)
    return pl.Robot(body, {}, gravity=NONE), mesh.nodes[:, 2] > size - 1e-9


def stretched(robot: pl.Robot, top: np.ndarray, stretches, size: float = 0.01):
    """Nominal stress [Pa] at stretches one after the other, and the states."""
    body, state, found, states = robot.body, None, [], []
    for stretch in stretches:
        q = (robot.rest if state is None else state).q
        q = body.move_supports(q, translation=(0, 0, (stretch - 1) * size), nodes=top)
        result = pl.static(robot, state=(state or robot.rest).with_(q=q))
        state = result.state
        found.append(body.reactions(state.q, NONE, state.internal[robot.z_spans[0]])[top, 2].sum() / size**2)
        states.append(state)
    return np.array(found), states


def neo_hookean(stretch: float, mu: float) -> tuple[float, float]:
    """W [J/m³] and nominal stress [Pa] of uniaxial tension that keeps the volume."""
    return mu / 2 * (stretch**2 + 2 / stretch - 3), mu * (stretch - stretch**-2)


def test_loading_and_unloading_follow_ogden_and_roxburgh(within) -> None:
    """P = η P₀ with η = 1 − erf((W_m − W)/(m + β W_m))/r: up, down, up, farther, down."""
    mu = 1e5
    robot, top = sample(Mullins(Incompressible(NeoHookean.from_shear(mu)), R, 5e3, BETA))
    ways = [1.3, 1.6, 1.9, 1.6, 1.3, 1.1, 1.3, 1.6, 1.9, 2.2, 1.9, 1.5, 1.2]
    found, _ = stretched(robot, top, ways)
    largest, expected = 0.0, []
    for stretch in ways:
        W, P = neo_hookean(stretch, mu)
        largest = max(largest, W)
        expected.append((1 - erf((largest - W) / (5e3 + BETA * largest)) / R) * P)
    within(found / expected - 1, 1e-6, "stress")
    assert found[4] < 0.6 * found[0]  # much softer on the way back
    within(found[6] / found[4] - 1, 1e-6, "stress at 1.3 on the way back and up again")
    law = robot.body.material
    W, _ = neo_hookean(1.5, mu)
    most, _ = neo_hookean(2.2, mu)
    within(law.factor(W, most) - (1 - erf((most - W) / (5e3 + BETA * most)) / R), 1e-14, "η")


def test_no_energy_is_made_over_a_cycle(within) -> None:
    """∮ P dλ > 0 where it is stretched farther than before, and 0 where it is not."""
    robot, top = sample(Mullins(NeoHookean(3e5, 0.45), R, 5e3, 0.0))
    up, down = np.linspace(1.0, 1.6, 25), np.linspace(1.6, 1.0, 25)
    ways = np.concatenate([up, down[1:], up[1:], down[1:]])
    found, states = stretched(robot, top, ways)
    work = np.concatenate([[0.0], np.cumsum(0.5 * (found[1:] + found[:-1]) * np.diff(ways))])
    first, second = work[48], work[96] - work[48]
    assert first > 0.1 * work[24]
    within(second / first, 1e-9, "work of the second cycle")
    stored = [robot.body.energy(s.q, s.internal) / 0.01**3 for s in states]
    heat = work - stored
    assert (np.diff(heat) > -2e-3 * first).all()  # trapezoids
    within((heat[-1] - first) / first, 1e-6, "heat")


def test_nothing_is_lost_at_infinite_r() -> None:
    """Bit for bit, with every law and element that has a kernel of its own."""
    for law in LAWS.values():
        for element in ("tet10", "hex8"):
            kind, options = ELEMENTS[element]
            plain, wrapped = (
                Solid(distorted(kind), one, fixed=left, **options) for one in (law, Mullins(law, np.inf, 1e3))
            )
            assert len(plain.z0) == len(wrapped.z0)
            q = Probe.random(plain, 4e-4).q
            for mine, other in zip(plain.linearise(q, NONE), wrapped.linearise(q, NONE), strict=True):
                assert np.array_equal(mine, other)


def finger(kind: str = "tet") -> pl.Robot:
    """A bar that a cable bends, of rubber that softens."""
    mesh = pl.mesh.box((0.1, 0.012, 0.012), cells=(5, 1, 1), kind=kind)
    law = Mullins(NeoHookean(3e5, 0.45), R, 500.0)
    body = Solid(mesh, law, density=1100, fixed=left, support_layers=False)
    path = np.column_stack([np.linspace(0.004, 0.098, 6), np.full(6, 0.006), np.full(6, 0.010)])
    cable = pl.Cable(body.points(path), anchor=(-0.01, 0.006, 0.010))
    tip = pl.Row(pl.Position(body.points([[0.1, 0.006, 0.006]])), pl.Target(value=(0.1, 0.006, 0.006)))
    return pl.Robot(body, {"cable": pl.Row(cable, pl.Bounded(effort=(0, 20))), "tip": tip}, gravity=NONE)


def test_a_load_path_remembers_its_largest_energies(within) -> None:
    """In one step or in many; what was pulled hard once yields more to a small pull."""
    robot = finger()
    small, large = {"cable": pl.Known(effort=0.5)}, {"cable": pl.Known(effort=3.0)}
    once, often = pl.static(robot, large), pl.static(robot, large, load_steps=7)
    within(np.abs(once.q - often.q).max() / robot.length, 1e-8, "coordinates")
    within(np.abs(once.state.internal / often.state.internal - 1).max(), 1e-6, "largest energies")
    fresh, worn = pl.static(robot, small), pl.static(robot, small, state=once.state)
    assert worn.displacement["cable"][0] > 1.2 * fresh.displacement["cable"][0]
    assert np.array_equal(worn.state.internal, once.state.internal)


def test_the_inverse_model_remembers_them(within) -> None:
    """After a large bend less tension brings the tip to a place, and the state replays in statics."""
    robot = finger()
    reach = lambda effort: pl.static(robot, {"cable": pl.Known(effort=effort)}).displacement["tip"]
    places = {"near": reach(0.5), "far": reach(2.0)}
    controller, tension = pl.Inverse(robot), []
    for name in ("near", "far", "near"):
        for _ in range(65):
            out = controller.step({"tip": places[name]})
        tension.append(float(out.effort["cable"][0]))
        again = pl.static(robot, {"cable": pl.Known(effort=tension[-1])}, state=controller.state)
        within(np.abs(again.q - controller.state.q).max() / robot.length, 1e-4, "coordinates")
    assert tension[0] == pytest.approx(0.5, rel=0.02) and tension[1] == pytest.approx(2.0, rel=0.02)
    assert tension[2] < 0.5 * tension[0]
    assert np.linalg.norm(out.displacement["tip"] - places["near"]) < 5e-4


@pytest.mark.parametrize("scheme", ["midpoint", "euler"])
def test_motion_loses_what_softens_and_makes_nothing(scheme: str) -> None:
    """A bent bar is let go: never more energy than before, and no loss at all in the second swing."""
    robot = finger("hex")
    start = pl.static(robot, {"cable": pl.Known(effort=3.0)})
    unworn = start.state.with_(internal=robot.rest.internal)
    sim = Simulation(robot, scheme=scheme, time_step=1e-3, state=unworn)
    energies = [sim.energy.total]
    for _ in range(80):
        sim.step({"cable": pl.Known(effort=0.0)})
        energies.append(sim.energy.total)
    assert np.diff(energies).max() < 1e-7 * energies[0]
    assert (sim.state.internal >= unworn.internal).all() and sim.state.internal.max() > 0
    if scheme == "midpoint":  # its own loss is none
        assert energies[-1] < 0.99 * energies[0]


def test_refused() -> None:
    law = Mullins(NeoHookean(3e5, 0.45), R, M)
    for make, message in [
        (lambda: Mullins(law, R, M), "does not soften"),
        (lambda: Mullins(Yeoh(c1=1e5, bulk=1e7), 0.9, M), "above 1"),
        (lambda: Mullins(Yeoh(c1=1e5, bulk=1e7), R, 0.0), "above 0"),
        (lambda: Mullins(Yeoh(c1=1e5, bulk=1e7), R, -1.0), "Mullins: m"),
        (lambda: Shell(pl.mesh.sheet((0.1, 0.1), cells=(2, 2)), law, 0.001), "material of a sheet"),
        (lambda: Beam(pl.mesh.line((0, 0, 0), (0.1, 0, 0)), Circle(0.01), law), "material of a Beam"),
    ]:
        with pytest.raises(pl.InputError, match=message):
            make()
    body = Solid(distorted("hex8"), law, fixed=left)
    with pytest.raises(pl.InputError, match="softens"):
        Reduced(body, polynomials(body))
