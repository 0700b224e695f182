"""q is geometry: equal coordinates have equal tangents on every kind of body; predictions come beside q."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.bodies import Beam, Body, Hinge, Membrane, Net, Reduced, Rigid, RigidBody, Shell, Solid
from tests.bodies.beams.common import BEAMS
from tests.bodies.common import ELEMENTS, MATERIALS, NONE, distorted, left
from tests.bodies.shells.common import BODIES as SHEETS
from tests.bodies.shells.common import dense, scales, wiggled
from tests.bodies.test_fibres import wound
from tests.reduction.test_body import smaller


def solid(element: str) -> Solid:
    kind, options = ELEMENTS[element]
    plate = Rigid(lambda x: x[:, 0] > 0.06 - 1e-9, name="plate")
    return Solid(distorted(kind), MATERIALS["neo-Hookean"], fixed=left, rigid=plate, **options)


REGISTRY: dict[str, Any] = {
    **{f"solid, {name}": lambda name=name: solid(name) for name in ELEMENTS},
    "solid with fibres": wound,
    "reduced with fibres": lambda: smaller(wound(material="hooke")),
    "reduced": lambda: smaller(Solid(distorted("hex8"), MATERIALS["hooke"], fixed=left)),
    **{f"rod, {name}": make for name, make in BEAMS.items()},
    **SHEETS,
    "rigid body": lambda: RigidBody(distorted("hex8"), density=1000.0),
    "rigid body on a hinge": lambda: RigidBody(
        distorted("tet10"), density=1000.0, joint=Hinge(axis=(1, 2, 0), centre=(0, 0, 0))
    ),
}
SLENDER = [name for name in REGISTRY if REGISTRY[name]().predicted_size]


@pytest.fixture(scope="module", params=list(REGISTRY))
def body(request: Any) -> Body:
    return REGISTRY[request.param]()


@pytest.fixture(scope="module", params=SLENDER)
def slender(request: Any) -> Body:
    return REGISTRY[request.param]()


def change(body: Body, seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=body.ndof) * scales(body) * body.free


def tangent(body: Body, q: np.ndarray, **options: Any) -> np.ndarray:
    """K (ndof, ndof) in units in which displacements and rotations compare."""
    K = body.linearise(q, NONE, **options)[2]
    return dense(body, K) * np.outer(scales(body), scales(body))


def test_the_registry_has_every_kind() -> None:
    kinds = {type(make()) for make in REGISTRY.values()}
    assert kinds == {Solid, Reduced, Beam, Shell, Membrane, Net, RigidBody}
    assert SLENDER and all(isinstance(REGISTRY[name](), (Beam, Shell)) for name in SLENDER)


def test_coordinates_are_places_and_rotations(body: Body) -> None:
    if body.modes is None:
        assert len(body.q0) == 3 * len(body.node_block) + 12 * len(body.region_block)
    else:
        assert len(body.q0) == body.ndof


def test_the_difference_of_two_places_is_the_motion_between_them(body: Body, within: Any) -> None:
    q, dq = wiggled(body), np.where(body.free, change(body), 0.0)
    within(np.abs(body.difference(q, body.retract(q, dq)) - dq).max() / np.abs(dq).max(), 1e-8, "dq")


def test_there_and_back_the_tangent_is_the_same(body: Body, within: Any) -> None:
    """q ⊕ dq ⊕ −dq is q, whatever was between: the same energy, forces and stiffness."""
    q = wiggled(body)
    there = body.retract(q, change(body))
    back = body.retract(there, -change(body))
    within(np.abs(back - q).max() / np.abs(q).max(), 1e-13, "coordinates")
    K = tangent(body, q)
    changed = np.abs(tangent(body, there) - K).max() > 1e-6 * np.abs(K).max()
    assert changed or isinstance(body, (Net, RigidBody))
    largest = max(np.abs(K).max(), 1e-300)  # a free rigid body has no stiffness
    within(np.abs(tangent(body, back) - K).max() / largest, 1e-10, "tangent")


def test_what_is_predicted_differs_from_what_comes_to_second_order(slender: Body, within: Any) -> None:
    """Section forces at q ⊕ dq less those predicted from q, in steps ten times smaller."""
    q, d, still = wiggled(slender), change(slender), np.zeros(slender.ndof)
    off = [
        np.abs(slender.predict(slender.retract(q, s * d), still) - slender.predict(q, s * d)).max()
        for s in (1e-2, 1e-3)
    ]
    assert off[1] > 0
    within(np.log10(off[0] / off[1]) - 2, 0.05, "order")


def test_what_is_there_predicts_the_exact_tangent(slender: Body, within: Any) -> None:
    q = wiggled(slender)
    K, still = tangent(slender, q), np.zeros(slender.ndof)
    with_prediction = tangent(slender, q, predicted=slender.predict(q, still))
    within(np.abs(with_prediction - K).max() / np.abs(K).max(), 1e-12, "tangent")


def test_clamped_tangents_are_not_negative(slender: Body, within: Any) -> None:
    """Compressed until K is indefinite, the clamped one is not, whatever is predicted; forces are equal."""
    assert isinstance(slender, (Beam, Shell))
    q = np.array(slender.q0)
    centre = slender.coordinates.region_centre
    for _ in range(3):
        dq = np.zeros((len(centre), 2, 3))
        dq[:, 0] = -0.02 * np.einsum("rji,rj->ri", slender.region_frame, centre - centre[0])
        q = slender.retract(q, dq.ravel())
    exact, r = np.linalg.eigvalsh(tangent(slender, q)), slender.linearise(q, NONE)[1]
    predicted = slender.predict(q, change(slender))
    both = slender.linearise(q, NONE, clamp=True, predicted=predicted)
    np.testing.assert_array_equal(both[1], r)
    clamped = np.linalg.eigvalsh(tangent(slender, q, clamp=True, predicted=predicted))
    np.testing.assert_array_equal(
        tangent(slender, q, clamp=True), tangent(slender, q, clamp=True, predicted=predicted)
    )
    assert exact[0] < clamped[0]
    within(min(clamped[0], 0.0) / clamped[-1], 1e-10, "lowest eigenvalue")
