"""A line: what stands between a chamber and what one sends to it, and what the chamber remembers of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pliant.errors import InputError
from pliant.inputs import not_negative, positive
from pliant.pneumatics.filling import filled
from pliant.pneumatics.fluid import REFERENCE, Gas, Liquid
from pliant.pneumatics.orifice import Orifice

INF = float("inf")
REMEMBERED = 5  # numbers of a chamber in `State.internal`, see `Charge`
BISECTIONS = 100


class Charge(NamedTuple):
    """What a chamber and its line remember: `Charge(*robot.remembered(name, state.internal))`.

    Pressures are above the atmosphere's [Pa].
    """

    content: float  # N [m³], which says the pressure at a volume, see `pliant.pneumatics.fluid`
    amount: float  # [m³] of gas at 100 kPa and 293.15 K: its mass
    pushed: float  # [m³] by the syringe
    source: float  # pressure behind the regulator
    sensed: float  # pressure that the sensor says


@dataclass(frozen=True)
class Line:
    """Between a chamber and its supply: a regulator, a valve or a syringe; all of it optional.

    fluid: a `Gas` or a `Liquid`. volume: of the tube and whatever else is open to the chamber [m³]. orifice:
    what the supply comes through, valve and tube together; None: no resistance. exhaust: the same to the
    atmosphere, by default alike. supply: pressure of the supply, above the atmosphere's [Pa]. leak: to the
    atmosphere. lag: time constant of the regulator [s]. delay: of the sensor [s]. syringe: volume [m³] that a
    piston can push in; a chamber with one is closed but for it.
    """

    fluid: Gas | Liquid = field(default_factory=Gas)
    volume: float = 0.0
    orifice: Orifice | None = None
    exhaust: Orifice | None = None
    supply: float = INF
    leak: Orifice | None = None
    lag: float = 0.0
    delay: float = 0.0
    syringe: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.fluid, (Gas, Liquid)):
            raise InputError("fluid of a Line", expected="a Gas or a Liquid", got=repr(self.fluid))
        for name in ("orifice", "exhaust", "leak"):
            part = getattr(self, name)
            if part is not None and not isinstance(part, Orifice):
                raise InputError(f"{name} of a Line", expected="an Orifice, or None", got=repr(part))
            if part is not None and not self.fluid.flows:
                hint = "Liquids are pushed by a syringe here."
                raise InputError(f"{name} of a Line", expected="a Gas to flow", got="a Liquid", hint=hint)
        positive("supply of a Line", self.supply, "Pa", infinite=True)
        for name, unit in (("volume", "m³"), ("lag", "s"), ("delay", "s"), ("syringe", "m³")):
            not_negative(f"{name} of a Line", getattr(self, name), unit)
        if self.syringe and (self.orifice or self.exhaust or self.supply < INF):
            hint = "A chamber has one or the other."
            raise InputError("syringe of a Line", expected="no valve or supply", got="both", hint=hint)

    @property
    def dead(self) -> float:
        """Volume [m³] besides the chamber's own, with the syringe not pushed in."""
        return self.volume + self.syringe

    def charge(self, gauge: float, volume: float, pushed: float = 0.0) -> Charge:
        """What fills a volume [m³] (line and syringe with it) at a pressure [Pa], settled and at 293.15 K."""
        P = max(gauge + self.fluid.atmosphere, 1e-9 * REFERENCE)
        content = self.fluid.content(P, volume)
        amount = volume * P / REFERENCE if self.fluid.flows else content
        return Charge(content, amount, pushed, gauge, gauge)

    def gauge(self, volume: float, content: float) -> tuple[float, float]:
        """Pressure above the atmosphere's [Pa] of a content in a volume [m³], and its slope [Pa/m³]."""
        P, slope = self.fluid.pressure(volume, content)
        return P - self.fluid.atmosphere, slope

    def pushed(self, gauge: float, volume: float, content: float) -> float:
        """How far [m³] the syringe is in at a pressure [Pa]; volume: what is there when it is out [m³]."""
        return volume - self.fluid.volume(gauge + self.fluid.atmosphere, content)

    def warmth(self, gauge: float, volume: float, amount: float) -> float:
        """T/T₀ of the gas: the absolute temperature over 293.15 K."""
        return (gauge + self.fluid.atmosphere) * volume / (REFERENCE * amount)

    def way(self, opening: float) -> Orifice | None:
        """What gas comes through at an opening of the valve; None: nothing resists it."""
        return self.exhaust or self.orifice if opening < 0.0 else self.orifice

    def source(self, opening: float) -> float:
        """Pressure [Pa] of what the valve opens to: the supply, or the atmosphere."""
        if opening > 0.0 and self.supply == INF:
            hint = "Line(supply=…) says what is behind the valve."
            raise InputError("supply of a Line", expected="a pressure [Pa] for a valve", got="inf", hint=hint)
        return self.supply if opening > 0.0 else 0.0

    def settled(self, source: float, opening: float = 1.0) -> float:
        """The chamber's pressure [Pa] after long, by that of the source.

        With a leak the flows in and out are the same.
        """
        source, way = min(source, self.supply), self.way(opening)
        if self.leak is None or way is None:
            return source
        low, high, atmosphere = min(source, 0.0), max(source, 0.0), self.fluid.atmosphere
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            gained = abs(opening) * way.flow(source + atmosphere, middle + atmosphere)
            gains = gained > self.leak.flow(middle + atmosphere, atmosphere)
            low, high = (middle, high) if gains else (low, middle)
        return 0.5 * (low + high)

    def after(
        self,
        charge: Charge,
        volumes: tuple[float, float],
        time: float,
        *,
        source: float | None = None,
        opening: float = 1.0,
    ) -> Charge:
        """What is remembered after a time [s] in which the volume [m³] goes evenly from one to the other.

        source: the pressure [Pa] asked of the regulator, or that of what the valve opens to; None: closed.
        opening: of the valve, negative to the exhaust.
        """
        asked = charge.source if source is None else min(max(source, -self.fluid.atmosphere), self.supply)
        left = float(np.exp(-time / self.lag)) if self.lag and source is not None else 0.0
        behind = asked + left * (charge.source - asked) if source is not None else charge.source
        way = self.way(opening)
        if source is not None and way is None:
            at_end = self.charge(behind, volumes[1], charge.pushed)
            content, amount = at_end.content, at_end.amount
        elif source is None and self.leak is None:
            content, amount = charge.content, charge.amount
        else:
            conductance = way.conductance * abs(opening) if source is not None and way is not None else 0.0
            ports = np.zeros((2, 4))  # conductance, critical ratio, absolute pressure at first and at last
            ports[0] = conductance, 0.3 if way is None else way.critical, charge.source, asked
            if self.leak is not None:
                ports[1] = self.leak.conductance, self.leak.critical, 0.0, 0.0
            ports[:, 2:] += self.fluid.atmosphere
            if not self.lag:
                ports[0, 2] = ports[0, 3]
            exponent = self.fluid.exponent  # type: ignore[union-attr]  (liquids have no orifices)
            content, amount = filled(charge.content, charge.amount, exponent, *volumes, time, ports, self.lag)
        before = self.gauge(volumes[0], charge.content)[0]
        now = self.gauge(volumes[1], content)[0]
        return Charge(content, amount, charge.pushed, behind, self._sensed(charge.sensed, before, now, time))

    def _sensed(self, sensed: float, before: float, now: float, time: float) -> float:
        """What a sensor of first order says after a pressure went evenly from one to the other."""
        if not self.delay or not time:
            return now
        slope, left = (now - before) / time, float(np.exp(-time / self.delay))
        return now - slope * self.delay + (sensed - before + slope * self.delay) * left
