"""The same beam in motion: how it swings and creeps, its losses fitted to one take."""

from __future__ import annotations

import numpy as np

from pliant.dynamics import Damping, Prony, Simulation
from pliant.io.table import Table
from pliant.materials import NeoHookean
from pliant.static import static
from pliant.studies.check import Check
from pliant.studies.real.beam import FITTED, POISSON, Marker, beam, measured
from pliant.studies.real.lab import Lab
from pliant.studies.real.recordings import LOADS, swinging_beam
from pliant.studies.study import Findings

LET_GO = 1e-3  # [m]: who is lower than this has been let go
SMALLEST = 2e-4  # [m] of an amplitude that counts
EARLY, LATE, LONG = 1.0, 3.0, 3.4  # [s] after the release: creep is measured between, so long is simulated
SETTLED = 4.0  # [s] after the release: where the recordings end
FAST, SLOW = (0.01, 0.03, 0.1), (0.3, 1.0, 3.0, 10.0)  # [s] times of the branches that damp, and that creep
TEXT = (
    "Frequency, rate of decay and creep of marker 1 after the beam is let go. Three numbers are fitted "
    "to the take with the middle load: a modulus, the ratio of all fast branches of a Prony series and "
    "that of all slow ones. The other takes are predicted with these; loads are masses at the tip edge. "
    "Where the same law settles after four seconds is asked of statics with time that passes; it is given "
    "as it is and less what it is off under the middle load, because the beam was not held where it is "
    "straight."
)


class Swing:
    """Of a height x (n,) [m] over t (n,) [s]: frequency [Hz], rate of decay [1/s], creep [m]."""

    def __init__(self, t: np.ndarray, x: np.ndarray) -> None:
        begin = int(np.argmax(x < x[0] - LET_GO))
        times, values = _extremes(t[begin:], x[begin:])
        swing = 0.5 * np.abs(np.diff(values))
        large = swing > SMALLEST
        count = len(large) if large.all() else int(np.argmin(large))
        self.frequency = float(0.5 / np.mean(np.diff(times[: count + 1])))
        middle = 0.5 * (times[:count] + times[1 : count + 1])
        self.decay = float(-np.polyfit(middle, np.log(swing[:count]), 1)[0])
        self.creep = self._mean(t, x, t[begin] + EARLY) - self._mean(t, x, t[begin] + LATE)

    def _mean(self, t: np.ndarray, x: np.ndarray, at: float) -> float:
        """What it swings about, at a time: a line and a decaying swing, fitted over two periods around."""
        inside = np.abs(t - at) <= 1.0 / self.frequency
        since = t[inside] - at
        left, angle = np.exp(-self.decay * since), 2 * np.pi * self.frequency * since
        columns = np.stack([np.ones(len(since)), since, left * np.cos(angle), left * np.sin(angle)], axis=1)
        return float(np.linalg.lstsq(columns, x[inside], rcond=None)[0][0])


def _extremes(t: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times and values of the turning points, by parabolas through three samples."""
    k = np.flatnonzero((x[1:-1] - x[:-2]) * (x[2:] - x[1:-1]) < 0) + 1
    first, second = 0.5 * (x[k + 1] - x[k - 1]), x[k + 1] - 2 * x[k] + x[k - 1]
    shift = np.clip(-first / second, -1.0, 1.0)
    return t[k] + shift * (t[1] - t[0]), x[k] + 0.5 * first * shift


def simulated(young: float, losses: Damping, load: str, lab: Lab) -> Swing:
    """The beam let go from straight."""
    robot, step = beam(NeoHookean(young, POISSON), LOADS[load], lab.setting.swinging), lab.setting.time_step
    marker, sim = Marker(robot), Simulation(robot, time_step=step, damping=losses)
    t, x = [0.0], [0.0]
    while sim.t < LONG:
        state = sim.step().state
        t.append(sim.t)
        x.append(-marker.fall(state.q))
    return Swing(np.array(t), np.array(x))


def branches(damp: float, creep: float) -> Damping:
    """The series with these ratios of its fast and its slow branches."""
    return Prony([*((damp, time) for time in FAST), *((creep, time) for time in SLOW)])


def fitted(lab: Lab) -> tuple[float, float, float]:
    """Modulus [Pa], ratio of the fast branches and of the slow ones, by a few tries at one take."""
    goal = Swing(*swinging_beam(FITTED))
    young, damp, creep = lab.young, 0.08, 0.02
    for _ in range(lab.setting.fits):
        swing = simulated(young, branches(damp, creep), FITTED, lab)
        young *= (goal.frequency / swing.frequency) ** 2
        damp *= goal.decay / swing.decay
        creep *= goal.creep / swing.creep
    return young, damp, creep


def settling(young: float, losses: Damping, load: str, lab: Lab) -> float:
    """How far marker 1 has fallen [m] when the recordings end: let go at once, then creeping."""
    robot = beam(NeoHookean(young, POISSON), LOADS[load], lab.setting.swinging)
    now = static(robot, damping=losses, dt=0.0)
    for dt in SETTLED * np.diff([0.0, 0.01, 0.03, 0.1, 0.3, 1.0]):
        now = static(robot, state=now.state, damping=losses, dt=float(dt))
    return Marker(robot).fall(now.q)


def apart(real: float, ours: float, offset: float) -> float:
    """How far a fall is off the measured one [%] without an offset that all loads share."""
    return 100 * abs((ours - offset) / real - 1.0)


def swinging(lab: Lab) -> Findings:
    """Frequency, decay and creep under three loads."""
    young, damp, creep = fitted(lab)
    losses = branches(damp, creep)
    table = Table("The beam let go", ("load", "who", "frequency", "decay", "creep", "settled"))
    checks = [
        Check("modulus that swings", young / 1e3, unit="kPa"),
        Check("modulus that settles under the middle load", lab.young / 1e3, unit="kPa"),
        Check("ratio of each fast branch", damp),
        Check("ratio of each slow branch", creep),
    ]
    falls = {load: (float(np.mean(measured(load)[0])), settling(young, losses, load, lab)) for load in LOADS}
    low = falls[FITTED][1] - falls[FITTED][0]
    checks.append(Check("ours settles lower under the middle load by", 1e3 * low, unit="mm"))
    for load in LOADS:
        real, ours = Swing(*swinging_beam(load)), simulated(young, losses, load, lab)
        for who, swing, down in zip(("measured", "ours"), (real, ours), falls[load], strict=True):
            values = {"frequency": swing.frequency, "decay": swing.decay, "creep": 1e3 * swing.creep}
            table.add(load=load, who=who, settled=1e3 * down, **values)
        off = lambda name, real=real, ours=ours: 100 * abs(getattr(ours, name) / getattr(real, name) - 1.0)
        if load != FITTED:
            checks += [
                Check.at_most(f"{load}: frequency off", off("frequency"), 3.0, unit="%"),
                Check.at_most(f"{load}: decay off", off("decay"), 15.0, unit="%"),
                Check.at_most(f"{load}: creep from 1 to 3 s off", off("creep"), 20.0, unit="%"),
                Check(f"{load}: settled fall off, less that offset", apart(*falls[load], low), unit="%"),
            ]
    table.notes.append("Frequency in Hz, rate of decay in 1/s, creep and settled fall in millimetres.")
    return Findings("The silicone beam in motion", TEXT, [table], checks)
