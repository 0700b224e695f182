"""Points glued together: bodies joined in one robot."""

from __future__ import annotations

import numpy as np

from pliant.errors import InputError
from pliant.interactions.affine import Affine
from pliant.points import Points


class Attachment(Affine):
    """δ = (p_b − p_a) − (p_b − p_a at rest), how far P points have come apart from P others [m]; m = 3 P.

    Rows go point by point. λ are the forces [N] that push them apart. With the law Known(displacement=0)
    the two sides are glued: a sheet on a block, a rod in silicone, a joint that does not turn. With an
    Elastic law springs join them. Either side may be of any body; a body that is glued to others needs no
    other support.
    """

    def __init__(self, points: Points, others: Points) -> None:
        super().__init__([points, others])
        P = len(points)
        if len(others) != P:
            raise InputError(
                "points of an Attachment", expected=f"{P} on either side", got=f"{P} and {len(others)}"
            )
        first = np.repeat(np.arange(P), 3)
        both = np.column_stack([first, P + first]).ravel()
        axes = np.tile(np.eye(3), (P, 1))
        gradient = np.stack([-axes, axes], axis=1).reshape(-1, 3)
        self._set_rows(2 * np.arange(3 * P + 1), both, gradient, from_rest=True)
        self._pairs = np.column_stack([P + np.arange(P), np.arange(P)])

    def pairs(self) -> np.ndarray:
        return (
            self._pairs
        )  # δ is linear, but K must have the pattern of HᵀH, which may be a body's only support

    def hessian(self, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
        return np.zeros((len(self._pairs), 3, 3))
