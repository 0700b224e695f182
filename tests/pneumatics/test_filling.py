"""Flow of gas and the filling of rigid volumes against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.pneumatics import REFERENCE, Gas, Line, Liquid, Orifice

VOLUME, SUPPLY = 2e-5, 4e5
WAY = Orifice(1e-9, 0.3)


def test_flow_is_choked_below_the_critical_ratio():
    """ISO 6358: C P₁ up to b, an ellipse beyond; back as forth; √(T₀/T₁) from warm gas."""
    assert WAY.flow(5e5, 1e5) == WAY.flow(5e5, 0.0) == pytest.approx(1e-9 * 5e5, rel=1e-15)
    assert WAY.flow(5e5, 0.65 * 5e5) == pytest.approx(5e-4 * np.sqrt(1.0 - 0.25), rel=1e-14)
    assert WAY.flow(1e5, 5e5) == -WAY.flow(5e5, 1e5)
    assert WAY.flow(2e5, 2e5) == 0.0
    assert WAY.flow(5e5, 1e5, warmer=1.21) == pytest.approx(5e-4 / 1.1, rel=1e-15)


def charged(exponent: float, times: np.ndarray, **options) -> tuple[Line, list]:
    line = Line(Gas(exponent), orifice=WAY, **options)
    charge = line.charge(0.0, VOLUME)
    out = []
    for h in np.diff(times, prepend=0.0):
        charge = line.after(charge, (VOLUME, VOLUME), float(h), source=SUPPLY)
        out.append(charge)
    return line, out


@pytest.mark.parametrize("exponent", [1.0, 1.4])
def test_charging_a_rigid_volume(exponent):
    """Choked, P grows evenly by n P₀ Q/V; then P/Pₛ = b + (1 − b) sin(ωt + …) until it is full."""
    line, Ps, b = Line(Gas(exponent), orifice=WAY), SUPPLY + 101325.0, WAY.critical
    rate = exponent * REFERENCE * WAY.conductance * Ps / VOLUME
    choked = (b * Ps - 101325.0) / rate
    omega = rate / ((1.0 - b) * Ps)  # Ṗ = rate √(1 − y²), y = (P/Pₛ − b)/(1 − b): y = sin ωt
    times = np.append(choked * np.array([0.5, 1.0]), choked + np.array([0.3, 0.8, 1.3]) / omega)
    pressure = [line.gauge(VOLUME, c.content)[0] + 101325.0 for c in charged(exponent, times)[1]]
    assert np.allclose(pressure[:2], 101325.0 + rate * times[:2], rtol=1e-4)
    assert np.allclose(pressure[2:], Ps * (b + (1.0 - b) * np.sin([0.3, 0.8, 1.3])), rtol=1e-4)


def test_emptying_through_a_choked_hole():
    """Isothermal, choked: P falls as exp(−P₀ C t/V)."""
    line = Line(leak=WAY)
    charge = line.charge(SUPPLY, VOLUME)
    charge = line.after(charge, (VOLUME, VOLUME), 0.05)
    left = np.exp(-REFERENCE * WAY.conductance * 0.05 / VOLUME)
    assert line.gauge(VOLUME, charge.content)[0] + 101325.0 == pytest.approx(
        (SUPPLY + 101325.0) * left, rel=1e-4
    )


def test_energy_of_gas_that_comes_in():
    """Adiabatic: V ΔP/(κ − 1) = κ/(κ − 1) P₀ ΔA, the enthalpy that came in; and the gas is warmer for it."""
    line, (charge,) = charged(1.4, np.array([0.5]))
    gained = VOLUME * line.gauge(VOLUME, charge.content)[0]
    came = 1.4 * REFERENCE * (charge.amount - line.charge(0.0, VOLUME).amount)
    assert gained == pytest.approx(came, rel=1e-4)
    assert line.warmth(SUPPLY, VOLUME, charge.amount) == pytest.approx(1.295, abs=1e-3)


@pytest.mark.parametrize("fluid", [Gas(1.0), Gas(1.25), Liquid(1e7)])
def test_work_of_what_is_closed_in(fluid):
    """The energy is ∫ (P − Pₐ) dV, and dP/dV its slope."""
    content = fluid.content(3e5, VOLUME)
    assert fluid.pressure(VOLUME, content)[0] == pytest.approx(3e5, rel=1e-12)
    V = np.linspace(0.9, 1.1, 2001) * VOLUME
    P = np.array([fluid.pressure(v, content)[0] for v in V])
    work = float(np.trapezoid(P - fluid.atmosphere, V))
    assert fluid.energy(V[0], content) - fluid.energy(V[-1], content) == pytest.approx(work, rel=1e-6)
    slope = np.gradient(P, V)[1000]
    assert fluid.pressure(VOLUME, content)[1] == pytest.approx(slope, rel=1e-5)


def test_regulator_sensor_and_leak():
    """A regulator and a sensor of first order; with a leak as large as the supply's way, half way between."""
    line = Line(lag=0.05, delay=0.02)
    charge = line.after(line.charge(0.0, VOLUME), (VOLUME, VOLUME), 0.05, source=SUPPLY)
    assert charge.source == pytest.approx(SUPPLY * (1.0 - np.exp(-1.0)), rel=1e-12)
    assert line.gauge(VOLUME, charge.content)[0] == pytest.approx(charge.source, rel=1e-12)
    held = line.after(charge._replace(sensed=0.0), (VOLUME, VOLUME), 0.02)
    assert held.sensed == pytest.approx(charge.source * (1.0 - np.exp(-1.0)), rel=1e-9)
    leaking = Line(orifice=WAY, leak=WAY)
    p = leaking.settled(SUPPLY)
    assert WAY.flow(SUPPLY + 101325.0, p + 101325.0) == pytest.approx(WAY.flow(p + 101325.0, 101325.0))
    charge = leaking.after(leaking.charge(0.0, VOLUME), (VOLUME, VOLUME), 5.0, source=SUPPLY)
    assert leaking.gauge(VOLUME, charge.content)[0] == pytest.approx(p, rel=1e-6)


def test_lines_that_make_no_sense():
    with pytest.raises(InputError, match="exponent"):
        Gas(2.0)
    with pytest.raises(InputError, match="a Gas to flow"):
        Line(Liquid(), leak=WAY)
    with pytest.raises(InputError, match="no valve or supply"):
        Line(syringe=1e-6, supply=1e5)
    with pytest.raises(InputError, match="a pressure"):
        Line(orifice=WAY).source(1.0)
