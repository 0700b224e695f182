"""Schemes of integration in time: a scheme is one file here, and one entry in `registry.py`.

Every implicit scheme is one implicit stage (h: the stage's own step). It asks for a velocity v with

    M (v − v*)/h + c(q, v) + D v = r(q) + Hᵀλ,      q = qₙ ⊕ (σ* + h v)

and arrives at  qₙ₊₁ = qₙ ⊕ (σ* + s v),  vₙ₊₁ = vₙ + (s/h)(v − vₙ).  They differ in v*, σ*, h and s (Δt: the
time step):

| scheme | v* | σ* | h | s |
|---|---|---|---|---|
| euler | vₙ | 0 | Δt | Δt |
| bdf2 | vₙ + κ(vₙ − vₙ₋₁) | κ (qₙ ⊖ qₙ₋₁) | Δt (1 + w)/(1 + 2w) | h |
| midpoint | vₙ | 0 | Δt/2 | Δt |

What viscous materials remember obeys a differential equation too, and is integrated by the same formulas.
`pliant.dynamics.advance` takes the steps of all implicit schemes; an explicit one (`central.py`) takes its
own.
"""
