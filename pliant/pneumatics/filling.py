"""Gas that flows into and out of a chamber while its volume changes.

The first law of thermodynamics for a chamber of volume V, with an exponent n in place of the ratio of
specific heats (n = 1 isothermal, n = 1.4 adiabatic):

    V Ṗ = n (P₀ Σ (T/T₀) Q − P V̇),        Ȧ = Σ Q,        T/T₀ = P V/(P₀ A)

Q > 0 flows in with T₀, Q < 0 flows out with the chamber's T. With the content N = V (P/P₀)^(1/n), which does
not change while nothing flows,

    Ṅ = Σ (P/P₀)^(1/n − 1) Q  inwards,      Ṅ = Σ (N/A) Q  outwards

integrated by a diagonally implicit scheme of second order (Alexander 1977, γ = 1 − 1/√2): a chamber that is
nearly full is stiff.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.pneumatics.fluid import REFERENCE
from pliant.pneumatics.orifice import flow

GAMMA = 1.0 - np.sqrt(0.5)
FINE = 40.0  # parts of a time in which the content changes once
FEWEST, MOST = 4, 400  # parts of a time
NEWTON = 60  # iterations in a stage
CORRECTIONS = 3  # of the temperature in a stage
EXACT = 1e-14  # relative change of the content that is none


@njit(cache=True, error_model="numpy")
def _rates(content, amount, exponent, volume, ports, late):
    """Ṅ and Ȧ; late: what is left of the sources' way from their first to their last pressure."""
    P = REFERENCE * (content / volume) ** exponent
    dN = dA = 0.0
    for k in range(len(ports)):
        if ports[k, 0] == 0.0:
            continue
        there = ports[k, 3] + late * (ports[k, 2] - ports[k, 3])
        if there >= P:
            Q = flow(ports[k, 0], ports[k, 1], there, P, 1.0)
            dN += (P / REFERENCE) ** (1.0 / exponent - 1.0) * Q
            dA += Q
        else:
            Q = flow(ports[k, 0], ports[k, 1], P, there, P * volume / (REFERENCE * amount))
            dN -= content / amount * Q
            dA -= Q
    return dN, dA


@njit(cache=True, error_model="numpy")
def _stage(known_N, known_A, guess_N, guess_A, h, exponent, volume, ports, late):
    """N and A with N = known + h Ṅ(N, A), and A alike. N − h Ṅ grows with N: it is bracketed."""
    N, A = guess_N, guess_A
    for _ in range(CORRECTIONS):
        low, high = 0.0, np.inf
        for _ in range(NEWTON):
            f = N - h * _rates(N, A, exponent, volume, ports, late)[0] - known_N
            if f > 0.0:
                high = N
            else:
                low = N
            step = 1e-6 * N
            slope = (
                N + step - h * _rates(N + step, A, exponent, volume, ports, late)[0] - known_N - f
            ) / step
            new = N - f / slope if slope > 0.0 else 0.5 * (low + high)
            if not low < new < high:
                new = 0.5 * (low + high) if high < np.inf else 2.0 * N
            done = abs(new - N) <= EXACT * N
            N = new
            if done:
                break
        A = known_A + h * _rates(N, A, exponent, volume, ports, late)[1]
    return N, A


@njit(cache=True, error_model="numpy")
def filled(content, amount, exponent, begin, end, time, ports, lag):
    """Content and amount after a time [s] in which the volume goes from `begin` to `end` [m³].

    ports (k, 4): conductance, critical ratio, and the absolute pressure behind it at first and at last, which
    is approached with a lag [s].
    """
    N, A = content, amount
    first = abs(_rates(N, A, exponent, begin, ports, 1.0)[0])
    last = abs(_rates(N, A, exponent, end, ports, 0.0)[0])
    parts = int(min(max(FINE * time * max(first, last) / N, FEWEST), MOST))
    h = time / parts
    for k in range(parts):
        a, b = (k + GAMMA) / parts, (k + 1.0) / parts
        late_a = np.exp(-a * time / lag) if lag > 0.0 else 0.0
        late_b = np.exp(-b * time / lag) if lag > 0.0 else 0.0
        Va, Vb = begin + a * (end - begin), begin + b * (end - begin)
        Na, Aa = _stage(N, A, N, A, GAMMA * h, exponent, Va, ports, late_a)
        dN, dA = (Na - N) / (GAMMA * h), (Aa - A) / (GAMMA * h)
        N, A = _stage(
            N + (1.0 - GAMMA) * h * dN,
            A + (1.0 - GAMMA) * h * dA,
            Na,
            Aa,
            GAMMA * h,
            exponent,
            Vb,
            ports,
            late_b,
        )
    return N, A
