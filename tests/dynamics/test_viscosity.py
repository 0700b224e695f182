"""Viscous materials: the stress they add, and how bars of them creep and relax."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.bodies import Beam, Circle, Prismatic, Rigid, Shell, Solid
from pliant.bodies.overstress import Overstress
from pliant.dynamics import Damping, KelvinVoigt, Maxwell, Prony, Rayleigh, Simulation, StandardLinear
from pliant.mesh import lines
from tests.bodies.common import ELEMENTS, GRAVITY, MATERIALS, NONE, Probe, distorted, left

YOUNG, AREA, LENGTH, TIME = 1e5, 4e-4, 0.1, 0.1


# The stress that bodies add


def rigid_tip(element: str, material: str) -> Solid:
    kind, options = ELEMENTS[element]
    tip = Rigid(lambda x: x[:, 0] > 0.05)
    return Solid(distorted(kind), MATERIALS[material], density=1000, fixed=left, rigid=tip, **options)


KINDS = [("tet10", m) for m in MATERIALS] + [(e, "hooke") for e in ("tet4", "hex8", "hex20")]
KINDS += [("hex8", "small strain"), ("hex8 mean dilatation", "neo-Hookean")]


@pytest.mark.parametrize("element, material", KINDS)
def test_remembered_stress(element, material):
    """The elastic stress, remembered, makes the elastic forces; K is the derivative of r with any memory."""
    body = rigid_tip(element, material)
    probe = Probe.random(body, 3e-4, turn=0.3)
    q, z, rng = probe.q, probe.z, np.random.default_rng(0)
    memory = body.stress_memory(q, z)
    r = body.linearise(q, NONE, z)[1]
    remembered = body.linearise(q, NONE, z, viscous=Overstress(1e-9, memory))[1]
    np.testing.assert_allclose(remembered, r, atol=2e-9 * np.abs(r).max())
    other = body.stress_memory(Probe.random(body, 5e-4).q, z)
    added = Overstress(1.7, -0.6 * other)
    _, _, K = body.linearise(q, GRAVITY, z, viscous=added)
    d = rng.normal(size=body.ndof) * body.free
    d[-3:] *= 20.0
    h = 1e-7
    ahead, behind = (body.linearise(body.retract(q, s * d), GRAVITY, z, viscous=added)[1] for s in (h, -h))
    expected = (behind - ahead) / (2 * h)
    found = body.pattern.to_csr(K) @ d
    # The tangent of rotations is the symmetric part: compare forces on nodes, and the power of all.
    np.testing.assert_allclose(found[:-3], expected[:-3], atol=1e-6 * np.abs(expected).max())
    assert d @ found == pytest.approx(d @ expected, rel=1e-6)


@pytest.mark.parametrize("element", ["tet10", "hex8", "hex20"])
def test_memory_turns_with_the_material(element):
    """Turned as a whole, a body remembers the same numbers, and their forces turn along."""
    kind, options = ELEMENTS[element]
    body = Solid(distorted(kind), MATERIALS["hooke"], density=1000, **options)
    R = Rotation.from_rotvec([0.7, -1.1, 0.4]).as_matrix()
    q = Probe.random(body, 3e-4).q
    turned = (body.positions(q) @ R.T + [0.1, 0.2, 0.3]).ravel()
    memory = body.stress_memory(q)
    np.testing.assert_allclose(body.stress_memory(turned), memory, atol=1e-9 * np.abs(memory).max())
    r, there = (body.linearise(at, NONE, viscous=Overstress(0.3, memory))[1] for at in (q, turned))
    np.testing.assert_allclose(there.reshape(-1, 3), r.reshape(-1, 3) @ R.T, atol=1e-10 * np.abs(r).max())


# Creep and relaxation


def bar(law=None, kind: str = "hex") -> pl.Robot:
    """A light bar with a rigid end that slides along it, so that stress is uniform."""
    mesh = pl.mesh.box((LENGTH, 0.02, 0.02), cells=(2, 1, 1), kind=kind)
    end = Rigid(lambda x: x[:, 0] > LENGTH - 1e-9, "end", joint=Prismatic((1, 0, 0)))
    clamp = pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    body = Solid(mesh, law or pl.Hooke(YOUNG, 0.0), density=1.0, fixed=clamp, rigid=end)
    return pl.Robot(body, {"end": pl.Row(pl.Slider(body.region_points("end"), direction=(1, 0, 0)))})


Curve = Callable[[float], float]
LAWS: dict[str, tuple[Damping, Curve, Curve | None]] = {
    "Kelvin–Voigt": (KelvinVoigt(TIME), lambda t: 1 - np.exp(-t), None),
    "Maxwell": (Maxwell(TIME), lambda t: 1 + t, lambda t: np.exp(-t)),
    "standard linear": (
        StandardLinear(TIME, 2.0),
        lambda t: 1 - 2 / 3 * np.exp(-t / 3),
        lambda t: 1 + 2 * np.exp(-t),
    ),
}
BARS = {
    "hexahedra": {},
    "tetrahedra": {"kind": "tet"},
    "neo-Hookean": {"law": pl.NeoHookean(YOUNG, 0.0)},
    "small strain": {"law": pl.Hooke(YOUNG, 0.0, small_strain=True)},
}
STRAIN = 1e-5


def creep(robot: pl.Robot, damping: Damping, scheme: str, steps: int) -> list[float]:
    """Strain, relative to σ/E, in steps of time/`steps` up to twice the time, under a force held."""
    sim = Simulation(robot, scheme=scheme, time_step=TIME / steps, damping=damping)
    pull = {"end": pl.Known(effort=STRAIN * YOUNG * AREA)}
    return [sim.step(pull).displacement["end"][0] / (STRAIN * LENGTH) for _ in range(2 * steps)]


def relax(robot: pl.Robot, damping: Damping, scheme: str, steps: int) -> list[float]:
    """Force, relative to EAε, under a stretch held."""
    sim = Simulation(robot, scheme=scheme, time_step=TIME / steps, damping=damping)
    hold = {"end": pl.Known(displacement=STRAIN * LENGTH)}
    return [sim.step(hold).effort["end"][0] / (STRAIN * YOUNG * AREA) for _ in range(2 * steps)]


@pytest.mark.parametrize("case", BARS)
@pytest.mark.parametrize("law", LAWS)
def test_creep_and_relaxation(law, case, within):
    """Against the closed forms of springs and dashpots, from a fifth of the time constant on."""
    damping, strain, force = LAWS[law]
    robot, steps = bar(**BARS[case]), 50
    t = np.arange(1, 2 * steps + 1) / steps
    late = t > 0.2
    within((creep(robot, damping, "bdf2", steps) - strain(t))[late], 1e-3, "creep")
    if force is not None:
        within((relax(robot, damping, "bdf2", steps) - force(t))[late], 1e-3, "relaxation")


@pytest.mark.parametrize("scheme, order", [("euler", 1.0), ("bdf2", 2.0)])
def test_relaxation_converges_with_the_order_of_the_scheme(scheme, order):
    errors = [
        abs(relax(bar(), StandardLinear(TIME, 2.0), scheme, n)[-1] - (1 + 2 * np.exp(-2)))
        for n in (20, 40, 80)
    ]
    found = np.log2(errors[0] / errors[1]), np.log2(errors[1] / errors[2])
    np.testing.assert_allclose(found, order, atol=0.15)


def test_branches_add_up():
    """A Prony series relaxes as the sum of its terms."""
    pairs = [(0.5, 0.02), (1.5, 0.2)]
    force = relax(bar(), Prony(pairs, long_term=0.7), "bdf2", 100)
    t = TIME * np.arange(1, 201) / 100
    expected = 0.7 + sum(g * np.exp(-t / time) for g, time in pairs)
    np.testing.assert_allclose(force[20:], expected[20:], atol=2e-3)


@pytest.mark.parametrize("step, stiffness", [(TIME / 1000, 1 + 3 * np.exp(-0.03)), (10 * TIME, 1.0)])
def test_sudden_and_slow_stiffness(step, stiffness):
    """At once a standard linear solid is 1 + ratio times as stiff; after long it is as statics says."""
    sim = Simulation(bar(), time_step=step, damping=StandardLinear(TIME, 3.0))
    for _ in range(30):
        moment = sim.step({"end": pl.Known(displacement=STRAIN * LENGTH)})
    assert moment.effort["end"][0] == pytest.approx(stiffness * STRAIN * YOUNG * AREA, rel=1e-3)


# Damping of vibrations


@pytest.mark.parametrize(
    "damping, ratio",
    [
        (Rayleigh(mass=4.0), lambda w: 4.0 / (2 * w)),
        (Rayleigh(stiffness=2e-4), lambda w: 2e-4 * w / 2),
        (KelvinVoigt(2e-4), lambda w: 2e-4 * w / 2),
        ([Rayleigh(mass=4.0), KelvinVoigt(2e-4)], lambda w: 4.0 / (2 * w) + 1e-4 * w),
    ],
    ids=["mass", "stiffness", "Kelvin–Voigt", "both"],
)
def test_vibrations_decay_as_they_should(damping, ratio):
    """A bar that stretches along itself, ω = π/2L √(E/ρ): the amplitude falls as e^(−ξωt)."""
    mesh = pl.mesh.box((LENGTH, 0.02, 0.02), cells=(8, 1, 1), kind="hex")
    body = Solid(
        mesh, pl.Hooke(YOUNG, 0.0), density=1000, fixed=pl.mesh.near_plane(mesh, (0, 0, 0), (1, 0, 0))
    )
    robot = pl.Robot(
        body, {"end": pl.Row(pl.Position(body.points([[LENGTH, 0.01, 0.01]]), directions=(1, 0, 0)))}
    )
    omega = np.pi / (2 * LENGTH) * np.sqrt(YOUNG / 1000)
    X = body.coordinates.rest[body.node_block >= 0]
    v = np.zeros_like(X)
    v[:, 0] = 1e-4 * np.sin(np.pi * X[:, 0] / (2 * LENGTH))
    sim = Simulation(
        robot,
        scheme="midpoint",
        time_step=2 * np.pi / omega / 60,
        damping=damping,
        state=robot.rest.with_(v=v.ravel()),
    )
    x = np.array([sim.step().displacement["end"][0] for _ in range(180)]) - LENGTH
    first, last = np.abs(x[:60]).max(), np.abs(x[120:]).max()
    assert np.log(first / last) == pytest.approx(ratio(omega) * 2 * np.pi * 2, rel=0.03)


def test_each_body_has_its_own_damping():
    """Two bars side by side, one of them damped."""
    meshes = [pl.mesh.box((0.05, 0.01, 0.01), cells=(2, 1, 1), kind="hex") for _ in range(2)]
    meshes[1] = meshes[1].transformed(translation=(0, 0.1, 0))
    bodies = [
        Solid(m, pl.Hooke(YOUNG, 0.3), density=1000, fixed=pl.mesh.near_plane(m, (0, 0, 0), (1, 0, 0)))
        for m in meshes
    ]
    robot = pl.Robot(bodies, gravity=(0, 0, -9.81))
    for damping in ({1: KelvinVoigt(0.05)}, {1: Rayleigh(stiffness=0.05)}):
        alone = Simulation(pl.Robot(bodies[0], gravity=(0, 0, -9.81)), time_step=2e-3)
        sim = Simulation(robot, time_step=2e-3, damping=damping)
        for _ in range(10):
            free, both = alone.step(), sim.step()
        np.testing.assert_allclose(both.q[robot.q_spans[0]], free.q, atol=1e-12)
        assert np.abs(both.v[robot.dq_spans[1]]).max() < 0.6 * np.abs(free.v).max()


ROD = Beam(
    lines.line((0, 0, 0), (0.1, 0, 0), elements=4), Circle(0.002), pl.Hooke(1e6, 0.3), density=1000, fixed=[0]
)
SHEET = Shell(pl.mesh.sheet((0.1, 0.02), cells=(6, 2)), pl.Hooke(1e6, 0.3), 0.002, density=1000, fixed=left)


@pytest.mark.parametrize("scheme", ["euler", "bdf2"])
@pytest.mark.parametrize("body", [ROD, SHEET], ids=["rod", "shell"])
def test_thin_bodies_with_rayleigh_damping_come_to_rest(body, scheme):
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    sim = Simulation(robot, scheme=scheme, damping=Rayleigh(mass=20.0, stiffness=0.02))
    for _ in range(150):
        moment = sim.step()
    np.testing.assert_allclose(moment.positions, pl.static(robot).positions, atol=1e-5)


@pytest.mark.parametrize("body", [ROD, SHEET], ids=["rod", "shell"])
def test_thin_bodies_keep_energy(body):
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    sim = Simulation(robot, scheme="midpoint", time_step=2e-3)
    start, kinetic = sim.energy.total, 0.0
    for _ in range(100):
        sim.step()
        kinetic = max(kinetic, sim.energy.kinetic)
    assert sim.energy.total == pytest.approx(start, abs=1e-4 * kinetic)
