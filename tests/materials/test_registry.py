"""Properties that every law must have: one suite over the registry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from pliant.materials import NPARAM, Hooke, Incompressible, Isotropic, registry
from pliant.materials.kernels import dilatation, evaluate, volumetric
from pliant.materials.tensors import polar_rotation, signed_svd

quick = settings(deadline=None, max_examples=15, derandomize=True)
every_law = pytest.mark.parametrize("material", registry, ids=lambda m: f"{type(m).__name__}-{m.code}")
objective = pytest.mark.parametrize(
    "material", [m for m in registry if not getattr(m, "small_strain", False)], ids=lambda m: type(m).__name__
)
isotropic = pytest.mark.parametrize(
    "material", [m for m in registry if isinstance(m, Isotropic)], ids=lambda m: type(m).__name__
)
both_splits = pytest.mark.parametrize("split", [False, True], ids=["whole", "split"])


def matrices(size: float):
    return arrays(float, (3, 3), elements=st.floats(-size, size, allow_subnormal=False))


@st.composite
def rotations(draw):
    return Rotation.from_rotvec(
        draw(arrays(float, 3, elements=st.floats(-3, 3, allow_subnormal=False)))
    ).as_matrix()


@st.composite
def deformations(draw):
    """A rotated deformation gradient with stretches of roughly 0.5 to 2."""
    F = np.eye(3) + draw(matrices(0.3))
    assume(np.linalg.det(F) > 0.2)
    return draw(rotations()) @ F


def response(material, F, *, split=False, s=0.0):
    """ψ_loc, P and A of the compiled kernel."""
    P, A = np.full((3, 3), np.nan), np.full((9, 9), np.nan)
    psi = evaluate(material.code, material.parameters(split), np.ascontiguousarray(F), s, P, A, True)
    return psi, P, A


def dilate(material, F):
    D = np.full((3, 3), np.nan)
    return dilatation(material.code, np.ascontiguousarray(F), D), D


def difference(function, F, step=1e-5):
    """Central difference of a function of F, last axis over the nine entries."""
    columns = []
    for k in range(9):
        d = np.zeros(9)
        d[k] = step
        d = d.reshape(3, 3)
        columns.append((np.asarray(function(F + d)) - np.asarray(function(F - d))) / (2 * step))
    return np.stack(columns, axis=-1)


@every_law
@both_splits
@given(F=deformations(), s=st.floats(-1e5, 1e5))
@quick
def test_stress_and_tangent_are_derivatives(material, split, F, s):
    """P = ∂(ψ_loc + sϑ)/∂F and A = ∂P/∂F, A symmetric and fully filled."""
    _, P, A = response(material, F, split=split, s=s)
    scale = np.abs(A).max()
    energy = lambda X: response(material, X, split=split, s=s)[0] + s * dilate(material, X)[0]
    np.testing.assert_allclose(P.ravel(), difference(energy, F), atol=2e-8 * scale)
    numeric = difference(lambda X: response(material, X, split=split, s=s)[1].ravel(), F)
    np.testing.assert_allclose(A, numeric, atol=2e-7 * scale)
    np.testing.assert_allclose(A, A.T, atol=1e-13 * scale)


@every_law
@given(F=deformations())
@quick
def test_dilatation_gradient(material, F):
    """D = ∂ϑ/∂F, and ϑ = 1 at rest."""
    np.testing.assert_allclose(
        dilate(material, F)[1].ravel(), difference(lambda X: dilate(material, X)[0], F), atol=1e-8
    )
    assert dilate(material, np.eye(3))[0] == pytest.approx(1.0, abs=1e-15)


@every_law
@pytest.mark.parametrize("theta", [0.8, 1.0, 1.3])
def test_volumetric_derivatives(material, theta):
    """U' and U'' are derivatives of U; everything is zero without the split."""
    c, h = material.parameters(True), 1e-5
    _, slope, curvature = volumetric(material.code, c, theta)
    above, below = volumetric(material.code, c, theta + h), volumetric(material.code, c, theta - h)
    assert slope == pytest.approx((above[0] - below[0]) / (2 * h), rel=1e-7, abs=1e-4)
    assert curvature == pytest.approx((above[1] - below[1]) / (2 * h), rel=1e-7)
    assert volumetric(material.code, material.parameters(False), theta) == (0.0, 0.0, 0.0)


@every_law
@given(F=deformations())
@quick
def test_split_adds_up_to_the_law(material, F):
    """ψ_loc(F) + U(ϑ(F)) is the whole law: energy, stress and tangent."""
    psi, P, A = response(material, F)
    theta, D = dilate(material, F)
    U, slope, curvature = volumetric(material.code, material.parameters(True), theta)
    psi_split, P_split, A_split = response(material, F, split=True, s=slope)
    scale = np.abs(A).max()
    assert psi_split + U == pytest.approx(psi, rel=1e-12, abs=1e-12 * scale)
    np.testing.assert_allclose(P_split, P, atol=1e-12 * scale)
    np.testing.assert_allclose(A_split + curvature * np.outer(D, D), A, atol=1e-12 * scale)


@objective
@given(F=deformations(), Q=rotations())
@quick
def test_frame_indifference(material, F, Q):
    """ψ(QF) = ψ(F) and P(QF) = Q P(F)."""
    psi, P, A = response(material, F)
    turned, PQ, _ = response(material, Q @ F)
    scale = np.abs(A).max()
    assert turned == pytest.approx(psi, abs=1e-12 * scale)
    np.testing.assert_allclose(PQ, Q @ P, atol=1e-12 * scale)


@isotropic
@given(F=deformations(), Q=rotations())
@quick
def test_isotropy(material, F, Q):
    """ψ(QFQᵀ) = ψ(F)."""
    psi, _, A = response(material, F)
    assert response(material, Q @ F @ Q.T)[0] == pytest.approx(psi, abs=1e-12 * np.abs(A).max())


@every_law
@both_splits
def test_rest_is_stress_free_and_stable(material, split):
    """ψ = 0 and P = 0 at rest, and A is positive definite on strains."""
    psi, P, A = response(material, np.eye(3), split=split)
    scale = np.abs(A).max()
    assert psi == pytest.approx(0.0, abs=1e-14 * scale)
    np.testing.assert_allclose(P, 0.0, atol=1e-14 * scale)
    strains = [np.diag(row).ravel() for row in np.eye(3)]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        e = np.zeros((3, 3))
        e[i, j] = e[j, i] = np.sqrt(0.5)
        strains.append(e.ravel())
    B = np.array(strains)
    assert np.linalg.eigvalsh(B @ A @ B.T)[0] > 1e-3 * scale


@isotropic
def test_small_strain_is_hooke(material):
    """A(I) is Hooke's tensor with the law's own shear and bulk modulus."""
    bulk = material.parameters(False)[1] if isinstance(material, Incompressible) else material.bulk_modulus
    mu = material.shear_modulus
    young, poisson = 9 * bulk * mu / (3 * bulk + mu), (3 * bulk - 2 * mu) / (6 * bulk + 2 * mu)
    expected = response(Hooke(young, poisson, small_strain=True), np.eye(3))[2]
    np.testing.assert_allclose(response(material, np.eye(3))[2], expected, atol=1e-12 * bulk)


@every_law
@both_splits
@given(F=matrices(1.5))
@quick
def test_any_matrix_is_safe(material, split, F):
    """Inverted, singular or zero F: ψ is finite or +inf, P and A are finite, no exception."""
    for X in (F, np.zeros((3, 3)), -np.eye(3), np.diag([1.0, 1.0, -1.0]), np.outer(F[0], F[1])):
        psi, P, A = response(material, X, split=split, s=1e4)
        assert not np.isnan(psi) and psi > -np.inf
        assert np.isfinite(P).all() and np.isfinite(A).all()
        theta, D = dilate(material, X)
        assert np.isfinite(theta) and np.isfinite(D).all()
        assert not np.isnan(volumetric(material.code, material.parameters(split), theta)).any()


@given(F=matrices(2.0))
@settings(deadline=None, max_examples=60, derandomize=True)
def test_corotated_hooke_through_inversion(F):
    """Exact stress and tangent for det F < 0 as well, away from the fold where R is not unique."""
    material = registry[0]
    _, y, z = np.linalg.svd(F, compute_uv=False) * [1, 1, np.sign(np.linalg.det(F))]
    assume(y + z > 0.05)
    _, P, A = response(material, F)
    scale = np.abs(A).max()
    np.testing.assert_allclose(
        P.ravel(), difference(lambda X: response(material, X)[0], F), atol=1e-6 * scale
    )
    numeric = difference(lambda X: response(material, X)[1].ravel(), F)
    np.testing.assert_allclose(A, numeric, atol=1e-5 * scale)


@given(F=matrices(2.0), Q=rotations())
@settings(deadline=None, max_examples=100, derandomize=True)
def test_polar_rotation_is_the_nearest_rotation(F, Q):
    """R is a rotation, RᵀF is symmetric, and no other rotation is nearer to F."""
    R = np.empty((3, 3))
    polar_rotation(F, R)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0, abs=1e-12)
    S = R.T @ F
    np.testing.assert_allclose(S, S.T, atol=1e-11)
    assert np.trace(Q.T @ F) <= np.trace(S) + 1e-11


@given(F=matrices(2.0))
@example(
    F=np.array([[0.0, 2e-308, 5e-324], [1e-160, 0.0, 1e-150], [1e-160, 0.0, 1e-170]])
)  # squares underflow
@settings(deadline=None, max_examples=100, derandomize=True)
def test_signed_svd(F):
    """F = U diag(σ) Vᵀ with rotations and the sign on the last value."""
    U, V = np.empty((3, 3)), np.empty((3, 3))
    sigma = signed_svd(F, U, V)
    np.testing.assert_allclose(U @ np.diag(sigma) @ V.T, F, atol=1e-13)
    np.testing.assert_allclose(np.abs(sigma), np.linalg.svd(F, compute_uv=False), atol=1e-13)
    for M in (U, V):
        np.testing.assert_allclose(M.T @ M, np.eye(3), atol=1e-12)
        assert np.linalg.det(M) == pytest.approx(1.0, abs=1e-12)
    assert sigma[0] >= sigma[1] >= abs(sigma[2]) - 1e-15


@every_law
def test_python_methods_match_the_kernel(material):
    """energy, stress, tangent take one F or a batch."""
    rng = np.random.default_rng(3)
    F = np.eye(3) + 0.1 * rng.standard_normal((4, 2, 3, 3))
    assert material.parameters(True).shape == (NPARAM,)
    psi, P, A = response(material, F[2, 1])
    assert material.energy(F).shape == (4, 2)
    assert material.energy(F[2, 1]) == psi
    np.testing.assert_array_equal(material.stress(F)[2, 1], P)
    np.testing.assert_array_equal(material.tangent(F)[2, 1].reshape(9, 9), A)
