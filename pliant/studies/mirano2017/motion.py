"""The hand in motion (§§2, 4.3): faster than real time, its constraints kept and its energy conserved."""

from __future__ import annotations

from time import process_time

import numpy as np

from pliant.membrane.bodies import At, PlanarBody
from pliant.membrane.cable import Cable, Membrane, Over
from pliant.membrane.drawing import draw
from pliant.membrane.joints import Free, Prismatic, Revolute
from pliant.membrane.mechanism import Mechanism
from pliant.membrane.moving_hand import Moving
from pliant.membrane.shapes import regular
from pliant.membrane.simulation import Simulation
from pliant.membrane.wrapping import LEFT
from pliant.studies.check import Check
from pliant.studies.figures import heading, line, new_figure
from pliant.studies.mirano2017.lab import Lab
from pliant.studies.mirano2017.paper import DAMPING
from pliant.studies.mirano2017.tracking import ASIDE, THESIS, run, thesis_hand
from pliant.studies.study import Findings, Picture

TEXT = (
    "The hand with its object under changing commands, steps of 2 ms, on one core; and that of part "
    "'tracking' with the thesis's stiffness and damping and its controller, steps of 1 ms. Constraints: a "
    "cable of constant length from a lever past a hexagon to a weight, swinging for 60 s. Energy: a hexagon "
    "that bounces on a skin for 10 s, nothing damped, against the largest kinetic energy."
)
THESIS_SECONDS = 10.0
MOVES = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.12, 0.008, 0.15), (-0.12, -0.008, -0.15), (0.0, 0.0, 0.0))


def motion(lab: Lab) -> Findings:
    """Speed, constraints, energy."""
    rate, pictures = _hand(lab)
    seconds = min(5.0 * lab.setting.settle, 60.0)
    violation, length = _swinging(seconds)
    drift, curve = _bouncing()
    pictures.append(curve)
    checks = [
        Check.at_least("hand, times faster than life (CPU)", rate, 20.0, paper="slower than life"),
        Check.at_least(
            f"the thesis's hand, damping {DAMPING:g}, with its controller: times faster than life (CPU)",
            _thesis_rate(),
            1.0,
            paper="slower than life",
            unit="× life",
        ),
        Check.at_most(f"cable too long in {seconds:.0f} s, of its length", violation / length, 1e-6),
        Check.at_most("energy in 10 s without damping, relative", drift, 1e-3),
    ]
    return Findings("The hand in motion", TEXT, checks=checks, pictures=pictures)


def _hand(lab: Lab) -> tuple[float, list[Picture]]:
    """Simulated seconds per second of CPU time, the best of a few runs; and postures on the way."""
    plant = Moving(lab.hand, lab.home.joints, lab.home.pose, time_step=2e-3)
    figure, axes = new_figure(9.6, 2.6, 1, 3)
    best, shown = 0.0, iter(axes[0])
    for k, (p, slide, d) in enumerate(MOVES):
        command = lab.home.joints + np.array([p, slide, d, p, slide, d])
        begin = process_time()
        plant.advance(command, 1.0)
        best = max(best, 1.0 / (process_time() - begin))
        if k in (0, 2, 3):
            ax = next(shown)
            draw(ax, plant.simulation.moment, force=0.02)
            ax.locator_params(nbins=4)
            heading(ax, f"t = {plant.simulation.t:.0f} s")
    caption = (
        "The hand after three commands: fingers (grey), skins (teal), object and the skins' forces on it."
    )
    return best, [Picture("motion", caption, figure)]


def _thesis_rate() -> float:
    """Simulated seconds per second of CPU time, with the stiffness, damping and controller of the thesis."""
    hand, first = thesis_hand()
    run(hand, first, THESIS, lambda t: np.array(ASIDE), 0.5)  # compiles
    begin = process_time()
    run(hand, first, THESIS, lambda t: np.array(ASIDE), THESIS_SECONDS)
    return THESIS_SECONDS / (process_time() - begin)


def _swinging(duration: float) -> tuple[float, float]:
    """The worst excess of length of a cable [m] over a duration [s], and its length."""
    bodies = [
        PlanarBody(
            "lever", Revolute(at=(-0.6, -0.2), angle=np.pi / 2, stiffness=20.0), 0.5, 0.02, (0.1, 0.0)
        ),
        PlanarBody("hexagon", Free(start=(0.0, -0.05, 0.1)), 0.6, 0.01, shape=regular(6, 0.15)),
        PlanarBody("weight", Prismatic(at=(0.7, -0.3), angle=-np.pi / 2), 1.2),
    ]
    path = [At("lever", (0.2, 0.0)), Over("hexagon", LEFT), At("world", (0.7, 0.0)), At("weight")]
    mech = Mechanism(bodies, cables=[Cable("rope", path)], gravity=(0.0, -9.81))
    sim, worst = Simulation(mech, v=[0.0, 0.2, 0.0, 0.0, 0.0]), 0.0
    for _ in range(round(duration / 0.05)):
        sim.run(0.05)
        worst = max(worst, sim.violation)
    return worst, float(mech.length(mech.q0)[0])


def _bouncing() -> tuple[float, Picture]:
    """Relative drift of the energy of a hexagon on a skin in 10 s, and a curve of it."""
    body = PlanarBody("hexagon", Free(start=(0.03, 0.3, 0.3)), 0.2, 1e-3, shape=regular(6, 0.1))
    skin = Membrane(
        "skin",
        [At("world", (-0.5, 0.0)), Over("hexagon", LEFT), At("world", (0.5, 0.0))],
        150.0,
        preload=0.05,
    )
    home = Mechanism([body], cables=[skin], gravity=(0.0, -9.81))
    sim = Simulation(home)
    start, t, energy, kinetic, height = sim.energy.total, [], [], [], []
    for _ in range(1000):
        sim.run(0.01)
        now = sim.energy
        t.append(sim.t)
        energy.append(now.total - start)
        kinetic.append(now.kinetic)
        height.append(sim.q[1])
    drift = float(np.abs(energy).max() / max(kinetic))
    figure, axes = new_figure(9.6, 3.0, 1, 2)
    axes[0, 0].plot(t, height, **line(0))
    axes[0, 0].set_ylabel("height of the hexagon [m]")
    axes[0, 1].plot(t, np.array(energy) / max(kinetic), **line(1))
    axes[0, 1].set_ylabel("change of energy, relative")
    for ax in axes[0]:
        ax.set_xlabel("time [s]")
    return drift, Picture(
        "bouncing", "A hexagon that bounces on a skin: its height, and how its energy is kept.", figure
    )
