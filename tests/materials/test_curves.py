"""Laws against closed forms: tension, sheets, shear, fibres, and each other."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.materials import (
    ArrudaBoyce,
    Hooke,
    Incompressible,
    MooneyRivlin,
    NeoHookean,
    Ogden,
    Orthotropic,
    StVenantKirchhoff,
    TransverselyIsotropic,
    Yeoh,
    measures,
)
from pliant.materials.kernels import evaluate, volumetric

x = np.array([0.6, 0.8, 1.0, 1.1, 1.5, 2.0, 3.0])


def i1(stretch):
    return stretch**2 + 2 / stretch


def series(shear, locking, i1):
    """dw/dĪ₁ of the five-term Arruda–Boyce law."""
    a = [1 / 2, 1 / 20, 11 / 1050, 19 / 7000, 519 / 673750]
    return shear * sum((n + 1) * c * i1**n / locking ** (2 * n) for n, c in enumerate(a))


UNIAXIAL = [
    (NeoHookean.from_shear(1e5), lambda s: 1e5 * (s - s**-2)),
    (MooneyRivlin(4e4, 1e4), lambda s: 2 * (s - s**-2) * (4e4 + 1e4 / s)),
    (Yeoh(5e4, 2e3, 1e2), lambda s: 2 * (s - s**-2) * (5e4 + 4e3 * (i1(s) - 3) + 3e2 * (i1(s) - 3) ** 2)),
    (
        Ogden([6e4, -1e4], [2.5, -1.5]),
        lambda s: 6e4 * (s**1.5 - s**-2.25) - 1e4 * (s**-2.5 - s**-0.25),
    ),
    (ArrudaBoyce(1e5, 3.0), lambda s: 2 * (s - s**-2) * series(1e5, 3.0, i1(s))),
]

EQUIBIAXIAL = [
    (NeoHookean.from_shear(1e5), lambda s: 1e5 * (s - s**-5)),
    (MooneyRivlin(4e4, 1e4), lambda s: 2 * (s - s**-5) * (4e4 + 1e4 * s**2)),
    (Ogden([6e4], [2.5]), lambda s: 6e4 * (s**1.5 - s**-6.0)),
]


def name(value):
    return type(value).__name__ if not callable(value) else ""


@pytest.mark.parametrize(("law", "closed_form"), UNIAXIAL, ids=name)
def test_uniaxial_tension(law, closed_form):
    """Held volume: exact. A bulk modulus of 10⁵ μ: the same to 10⁻⁴."""
    np.testing.assert_allclose(Incompressible(law).uniaxial(x), closed_form(x), rtol=1e-12, atol=1e-7)
    np.testing.assert_allclose(law.uniaxial(x), closed_form(x), rtol=1e-12, atol=1e-7)
    nearly = law.with_bulk(1e5 * law.shear_modulus)
    np.testing.assert_allclose(nearly.uniaxial(x), closed_form(x), rtol=2e-4, atol=1e-3)


@pytest.mark.parametrize(("law", "closed_form"), EQUIBIAXIAL, ids=name)
def test_equibiaxial_tension(law, closed_form):
    sheet = x[(x > 0.7) & (x < 2.5)]
    np.testing.assert_allclose(
        Incompressible(law).equibiaxial(sheet), closed_form(sheet), rtol=1e-12, atol=1e-7
    )
    nearly = law.with_bulk(1e5 * law.shear_modulus)
    np.testing.assert_allclose(nearly.equibiaxial(sheet), closed_form(sheet), rtol=5e-4, atol=1e-3)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 2.0])
def test_simple_shear(gamma):
    """Mooney–Rivlin and neo-Hookean: σ₁₂ = μγ and σ₁₁ − σ₂₂ = μγ² for any γ."""
    F = np.eye(3)
    F[0, 1] = gamma
    for law in (NeoHookean.from_shear(1e5, 1e6), MooneyRivlin(3e4, 2e4, 1e6), Yeoh(5e4, bulk=1e6)):
        sigma = measures.cauchy(F, law.stress(F))
        assert sigma[0, 1] == pytest.approx(1e5 * gamma, rel=1e-12)
        assert sigma[0, 0] - sigma[1, 1] == pytest.approx(1e5 * gamma**2, rel=1e-12)


@pytest.mark.parametrize("young", [3e5, 2e6])
def test_hooke_in_tension(young):
    """Corotational Hooke is linear in tension; St Venant–Kirchhoff is λ E (λ² − 1)/2."""
    np.testing.assert_allclose(Hooke(young, 0.4).uniaxial(x), young * (x - 1), rtol=1e-9, atol=1e-5)
    mild = x[(x > 0.7) & (x < 1.8)]  # beyond λ² = 1 + 1/ν its sides vanish
    expected = young * mild * (mild**2 - 1) / 2
    np.testing.assert_allclose(StVenantKirchhoff(young, 0.4).uniaxial(mild), expected, rtol=1e-9, atol=1e-5)


@pytest.mark.parametrize("law", [case[0] for case in UNIAXIAL], ids=name)
def test_augmented_lagrangian_holds_the_volume(law):
    """The updates p ← p + κ(ϑ − 1) on a stretched sample with free sides reach J = 1 and the closed form."""
    material, stretch = Incompressible(law, ratio=50.0), 1.8
    c, P, A = material.parameters(True), np.empty((3, 3)), np.empty((9, 9))
    F, pressure = np.diag([stretch, 0.8, 0.8]), 0.0
    for _ in range(12):
        for _ in range(30):  # equilibrium of the sides at this pressure
            J = np.linalg.det(F)
            _, slope, curvature = volumetric(material.code, c, J)
            evaluate(material.code, c, F, slope + pressure, P, A, True)
            D = J * np.linalg.inv(F).T
            K = (A + curvature * np.outer(D, D))[np.ix_([4, 8], [4, 8])]
            step = -np.linalg.solve(K, P.flat[[4, 8]])
            F.flat[[4, 8]] += step
            if np.abs(step).max() < 1e-14:
                break
        gap = np.linalg.det(F) - 1.0
        pressure += material.penalty * gap
    assert gap == pytest.approx(0.0, abs=1e-9)
    assert P[0, 0] == pytest.approx(material.uniaxial(stretch), rel=1e-7)


STRETCHES = [
    (1.0, 1.0, 1.0),
    (1.3, 1.3, 0.7),
    (1.3, 1.3 + 1e-9, 0.7),
    (1.2, 1.2 - 1e-5, 1.2),
    (0.5, 2.0, 1.0),
]


@pytest.mark.parametrize("stretches", STRETCHES)
@pytest.mark.parametrize(
    ("ogden", "twin"),
    [
        (Ogden([1e5], [2.0], 1e6), Yeoh(5e4, bulk=1e6)),
        (Ogden([8e4, -2e4], [2.0, -2.0], 1e6), MooneyRivlin(4e4, 1e4, 1e6)),
        (Ogden.from_shear([1e5], [2.0], 1e6), Yeoh(5e4, bulk=1e6)),
    ],
    ids=["neo-hookean", "mooney-rivlin", "from_shear"],
)
def test_ogden_contains_the_invariant_laws(ogden, twin, stretches):
    """α = 2 is neo-Hookean, α = ±2 Mooney–Rivlin: energy, stress and tangent, repeated stretches included."""
    rng = np.random.default_rng(5)
    U, V = (np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(2))
    F = U @ np.diag(stretches) @ V.T * np.sign(np.linalg.det(U @ V.T))
    assert ogden.energy(F) == pytest.approx(twin.energy(F), rel=1e-12, abs=1e-8)
    np.testing.assert_allclose(ogden.stress(F), twin.stress(F), atol=1e-7)
    np.testing.assert_allclose(ogden.tangent(F), twin.tangent(F), atol=1e-6)


def test_limits_of_the_families():
    """MooneyRivlin(c01=0) = Yeoh(c2=c3=0); ArrudaBoyce with a far lock is neo-Hookean."""
    F = np.array([[1.2, 0.3, 0.0], [-0.1, 0.9, 0.2], [0.0, 0.1, 1.1]])
    neo = Yeoh(5e4, bulk=1e6)
    np.testing.assert_allclose(MooneyRivlin(5e4, 0.0, 1e6).tangent(F), neo.tangent(F), rtol=1e-12, atol=1e-7)
    far = ArrudaBoyce(1e5, 1e4, 1e6)
    np.testing.assert_allclose(far.tangent(F), neo.tangent(F), rtol=1e-6, atol=0.1)
    assert far.shear_modulus == pytest.approx(1e5, rel=1e-7)
    lock = 3.0
    expected = (
        1 + 3 / (5 * lock**2) + 99 / (175 * lock**4) + 513 / (875 * lock**6) + 42039 / (67375 * lock**8)
    )
    assert ArrudaBoyce(1.0, lock).shear_modulus == pytest.approx(expected, rel=1e-12)


def test_fibres_stiffen_one_direction():
    """Moduli, contraction and shear along and across the fibres, in any orientation."""
    fibre = np.array([1.0, 2.0, -0.5])
    law = TransverselyIsotropic(fibre, 3e6, 5e5, 2e5, 0.35, 0.4)
    a = fibre / np.linalg.norm(fibre)
    b = np.cross(a, [0.0, 0.0, 1.0])
    b /= np.linalg.norm(b)
    eps = 1e-6
    assert law.uniaxial(1 + eps, direction=a) == pytest.approx(3e6 * eps, rel=1e-5)
    assert law.uniaxial(1 + eps, direction=b) == pytest.approx(5e5 * eps, rel=1e-5)
    shear = lambda u, v: np.einsum("ijkl,i,j,k,l", law.tangent(np.eye(3)), u, v, u, v)
    assert shear(a, b) == pytest.approx(2e5, rel=1e-10)
    assert shear(b, np.cross(a, b)) == pytest.approx(5e5 / 2.8, rel=1e-10)
    compliance = np.linalg.inv(law.stiffness)
    along = np.outer(a, a)
    strain = compliance @ along[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]
    E = np.array(
        [[strain[0], strain[5] / 2, strain[4] / 2], [0, strain[1], strain[3] / 2], [0, 0, strain[2]]]
    )
    E = E + np.triu(E, 1).T
    assert -(b @ E @ b) / (a @ E @ a) == pytest.approx(0.35, rel=1e-10)


def test_orthotropic_axes():
    """Each Young's modulus appears along its axis, wherever the axes point."""
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    young, eps = (1.2e6, 6e5, 4e5), 1e-6
    law = Orthotropic(young, (0.3, 0.25, 0.4), (3e5, 2e5, 1.5e5), axes=Q)
    for axis, E in zip(Q.T, young):
        assert law.uniaxial(1 + eps, direction=axis) == pytest.approx(E * eps, rel=1e-5)
    shears = [((0, 1), 3e5), ((1, 2), 2e5), ((0, 2), 1.5e5)]
    for (i, j), G in shears:
        value = np.einsum("ijkl,i,j,k,l", law.tangent(np.eye(3)), Q[:, i], Q[:, j], Q[:, i], Q[:, j])
        assert value == pytest.approx(G, rel=1e-10)


@pytest.mark.parametrize("poisson", [0.2, 0.45])
def test_anisotropic_laws_contain_the_isotropic_one(poisson):
    """With isotropic constants both are St Venant–Kirchhoff, with the same split."""
    E, G = 1e6, 1e6 / (2 * (1 + poisson))
    twin = StVenantKirchhoff(E, poisson)
    F = np.array([[1.2, 0.3, 0.0], [-0.1, 0.9, 0.2], [0.0, 0.1, 1.1]])
    for law in (
        TransverselyIsotropic((0.3, 1.0, 0.2), E, E, G, poisson, poisson),
        Orthotropic((E,) * 3, (poisson,) * 3, (G,) * 3),
    ):
        np.testing.assert_allclose(law.stress(F), twin.stress(F), rtol=1e-9, atol=1e-5)
        np.testing.assert_allclose(law.tangent(F), twin.tangent(F), rtol=1e-9, atol=1e-4)
        assert law.parameters(True)[2] == pytest.approx(twin.parameters(True)[2], rel=1e-9, abs=1e-6)
