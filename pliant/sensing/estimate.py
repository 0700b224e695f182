"""What a sensing step returns: efforts with their covariance, residuals, and a certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from pliant.contact import Contacts
from pliant.errors import InputError
from pliant.robot import Robot
from pliant.sensing.judgement import AS_STATED, Judgement
from pliant.state import State

NORMAL_95 = 1.959964  # standard deviations within which 95 % lie, on a line …
CHI_95 = 2.795483  # … and in space


@dataclass(frozen=True)
class SensingCertificate:
    """How far an estimate may be trusted.

    `status` is "converged" (equilibrium and best fit, to the tolerance), "tracking" (one linearisation nearer
    to it), "undetermined" (too few readings for the unknowns, which are then of least size), "blind" (no
    readings: forces are kept) or "not converged".

    `misfit` is the root mean square of residuals over their stated noise, per degree of freedom: about 1
    where noise is all there is, NaN without degrees of freedom. `decrement` [m] is how far the state was from
    equilibrium when it was linearised last; the step from there leaves less. `condition` is that of the
    whitened matrix with unit columns. `at_bounds` names unknowns that are at a bound, `tangent` says how K
    was treated, see `pliant.core.tangent`, and `shift` > 0 by how much its diagonal was raised.
    """

    status: str
    misfit: float
    decrement: float
    readings: int
    unknowns: int
    rank: int
    condition: float
    iterations: int
    at_bounds: tuple[str, ...] = ()
    shift: float = 0.0
    tangent: str = "exact"

    @property
    def converged(self) -> bool:
        """Whether the stated tolerances were met."""
        return self.status == "converged"

    def __str__(self) -> str:
        bounds = f", at their bounds: {', '.join(self.at_bounds)}" if self.at_bounds else ""
        return (
            f"{self.status}: {self.readings} readings for {self.unknowns} unknowns (rank {self.rank}, "
            f"condition {self.condition:.1e}), misfit {self.misfit:.2f}, decrement {self.decrement:.1e} m "
            f"after {self.iterations} linearisation(s){bounds}"
        )


@dataclass(frozen=True)
class Estimate:
    """External efforts that explain what was measured.

    `covariance` (n, n) is that of all unknown rows, stacked as in `names`, without their bounds: from stated
    noise and, if stated, from the uncertainty of Young's modulus and of commands. `command_error` are
    estimated errors of commands, by row name (N, m …).
    """

    robot: Robot
    state: State
    effort: Mapping[str, np.ndarray]  # λ of all rows
    displacement: Mapping[str, np.ndarray]  # δ of all rows
    residual: Mapping[str, np.ndarray]  # reading less model, by sensor; NaN where hidden
    covariance: np.ndarray
    names: tuple[str, ...]
    certificate: SensingCertificate
    command_error: Mapping[str, float] = field(default_factory=dict)
    contacts: Contacts | None = None
    contact_force: np.ndarray = field(default_factory=lambda: np.zeros(0))
    contact_deviation: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (n,) [N], from noise alone
    contact_sum_deviation: float = 0.0  # [N], of their sum, as readings hardly show how neighbours share it
    timings: Mapping[str, float] = field(default_factory=dict)
    spans: Mapping[str, slice] = field(default_factory=dict)  # of the unknown rows, in the covariance
    young: float = 1.0  # estimated Young's modulus over the model's
    judgement: Judgement = AS_STATED  # of the residuals, if the estimator was asked to judge them

    def __post_init__(self) -> None:
        for name in ("effort", "displacement", "residual", "command_error", "timings"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def q(self) -> np.ndarray:
        """Coordinates (nq,)."""
        return self.state.q

    @cached_property
    def positions(self) -> np.ndarray:
        """Node positions (k, 3) [m]: the shape estimated."""
        return self.robot.positions(self.state.q)

    def covariance_of(self, name: str) -> np.ndarray:
        """Covariance (m, m) of one unknown row."""
        if name not in self.spans:
            raise InputError(f"unknown {name!r}", expected=f"one of {sorted(self.spans)}", got=repr(name))
        return self.covariance[self.spans[name], self.spans[name]]

    def deviation(self, name: str) -> np.ndarray:
        """Standard deviation (m,) of one unknown row."""
        return np.sqrt(np.diagonal(self.covariance_of(name)))

    def interval(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """95 % intervals (low, high) of one unknown row, component by component, without its bounds.

        They are Student's where the size of the noise was estimated too.
        """
        reach = self._reach * self.deviation(name)
        return self.effort[name] - reach, self.effort[name] + reach

    @cached_property
    def _reach(self) -> float:
        """Standard deviations within which 95 % lie."""
        if not np.isfinite(self.judgement.freedom):
            return NORMAL_95
        from scipy.special import stdtrit  # slow to import

        return float(stdtrit(self.judgement.freedom, 0.975))

    def forces(self, name: str = "forces") -> np.ndarray:
        """Forces in space (n, 3) [N] of a row of point forces, free or along given directions."""
        interaction, lam = self.robot.rows[name].interaction, self.effort[name]
        n = interaction.point_count
        if len(lam) == 3 * n:
            return lam.reshape(n, 3)
        return lam[:, None] * interaction.gradient(interaction.rest)

    def ellipsoids(self, name: str = "forces") -> np.ndarray:
        """Semi-axes (n, 3, 3) [N] of the ellipsoids that contain the forces of a row with 95 %.

        Each row of a matrix is one axis. Forces along given directions have one axis that is not zero. Bounds
        are left aside.
        """
        interaction, C = self.robot.rows[name].interaction, self.covariance_of(name)
        n = interaction.point_count
        if len(C) == n:
            return (
                NORMAL_95
                * np.sqrt(np.diagonal(C))[:, None, None]
                * _first(interaction.gradient(interaction.rest))
            )
        blocks = np.array([C[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] for k in range(n)])
        size, axes = np.linalg.eigh(np.where(np.isfinite(blocks), blocks, 0.0))
        return CHI_95 * np.sqrt(np.maximum(size, 0.0))[:, :, None] * np.swapaxes(axes, 1, 2)


def _first(directions: np.ndarray) -> np.ndarray:
    """Directions (n, 3) as the first row of matrices (n, 3, 3)."""
    out = np.zeros((len(directions), 3, 3))
    out[:, 0] = directions
    return out
