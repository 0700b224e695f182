"""A robot: bodies, and rows (an interaction with a law) that act on them or read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from pliant.algebra import Pattern, analyse
from pliant.bodies.body import Body
from pliant.conditions import Conditions
from pliant.contact import Surroundings
from pliant.errors import InputError, SingularError, as_floats, unknown_name
from pliant.interactions.bundle import Bundle
from pliant.interactions.interaction import Interaction
from pliant.laws import Condition, Law, Observed
from pliant.state import State

ROUNDING = 1e-9  # of a displacement that an interaction can just have
STRONGEST_GRAVITY = 1e9  # [m/s²]: more is a slip of units, and forces would overflow


@dataclass(frozen=True)
class Row:
    """An interaction and the law that says what it is for."""

    interaction: Interaction
    law: Law = field(default_factory=Observed)


class Robot:
    """One body or several, named rows, gravity [m/s²], and the surroundings that it can touch.

    The coordinates of the bodies are concatenated; K is one block matrix, without blocks between bodies
    that only touch.
    """

    def __init__(
        self,
        body: Any,
        rows: Mapping[str, Row] | None = None,
        *,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        name: str = "robot",
        surroundings: Surroundings = Surroundings(),  # noqa: B008  (frozen)
    ) -> None:
        self.bodies = tuple(body) if isinstance(body, (tuple, list)) else (body,)
        self._check_bodies()
        if rows is not None and not isinstance(rows, Mapping):
            raise InputError("rows", expected="a dictionary from name to Row", got=type(rows).__name__)
        self.rows = dict(rows or {})
        self.name = name
        if not isinstance(surroundings, Surroundings):
            hint = "pl.contact.Surroundings(obstacles=[…]) makes them."
            raise InputError(
                "surroundings", expected="Surroundings", got=type(surroundings).__name__, hint=hint
            )
        self.surroundings = surroundings
        expected = f"three finite numbers up to {STRONGEST_GRAVITY:g} [m/s²]"
        self.gravity = as_floats("gravity", gravity, expected)
        self.gravity.setflags(write=False)
        if self.gravity.shape != (3,) or not (np.abs(self.gravity) <= STRONGEST_GRAVITY).all():
            raise InputError("gravity", expected=expected, got=repr(gravity))
        for key, row in self.rows.items():
            self._check_row(key, row)
        self._lay_out()

    def _check_bodies(self) -> None:
        if not self.bodies:
            raise InputError("body", expected="at least one", got="none")
        for body in self.bodies:
            if not isinstance(body, Body):
                hint = "pl.Solid(mesh, material) makes one of a mesh."
                raise InputError(
                    "body", expected="a body, such as a Solid", got=type(body).__name__, hint=hint
                )
        if len({id(body) for body in self.bodies}) < len(self.bodies):
            raise InputError("bodies", expected="different ones", got="the same body twice")

    def _check_row(self, key: str, row: Any) -> None:
        if not isinstance(row, Row):
            raise InputError(f"row {key!r}", expected="a Row(interaction, law)", got=type(row).__name__)
        interaction, law = row.interaction, row.law
        if not isinstance(interaction, Interaction):
            raise InputError(
                f"row {key!r}", expected="an interaction, such as a Cable", got=type(interaction).__name__
            )
        _check_law(key, law)
        if any(all(points.owner is not body for body in self.bodies) for points in interaction.points):
            raise InputError(
                f"row {key!r}", expected="points of the robot's bodies", got="points of another body"
            )
        law.check(interaction.size, interaction.effort_range, key)

    def _lay_out(self) -> None:
        ends_q = np.cumsum([len(b.q0) for b in self.bodies])
        ends_dq = np.cumsum([b.ndof for b in self.bodies])
        self.nq, self.ndof = int(ends_q[-1]), int(ends_dq[-1])
        self.q_spans = [slice(e - len(b.q0), e) for e, b in zip(ends_q, self.bodies, strict=True)]
        self.dq_spans = [slice(e - b.ndof, e) for e, b in zip(ends_dq, self.bodies, strict=True)]
        ends_z = np.cumsum([len(b.z0) for b in self.bodies])
        self.z_spans = [slice(e - len(b.z0), e) for e, b in zip(ends_z, self.bodies, strict=True)]
        ends_p = np.cumsum([b.predicted_size for b in self.bodies])
        self.predicted_spans = [
            slice(e - b.predicted_size, e) for e, b in zip(ends_p, self.bodies, strict=True)
        ]
        block_offset = [s.start // 3 for s in self.dq_spans]
        interactions = [row.interaction for row in self.rows.values()]
        self.bundle = Bundle(
            interactions, self.bodies, [s.start for s in self.q_spans], block_offset, self.ndof
        )
        bodies_z = int(ends_z[-1])
        self.row_z = slice(bodies_z, bodies_z + self.bundle.internal)
        self.sliding_z = bodies_z + self.bundle.sliding
        start = self.bundle.row_start
        self.spans = {key: slice(int(start[k]), int(start[k + 1])) for k, key in enumerate(self.rows)}
        separate = Pattern.concatenate([b.pattern for b in self.bodies])
        self.pattern = separate.union(*self.bundle.couplings)
        # Where the bodies' own blocks stand in K, and where the geometric stiffness of the rows lands.
        self.body_placement, _ = self.pattern.find(separate.rows, separate.cols)
        ends_b = np.cumsum([len(b.pattern.rows) for b in self.bodies])
        self.block_spans = [
            slice(e - len(b.pattern.rows), e) for e, b in zip(ends_b, self.bodies, strict=True)
        ]
        self.row_placement = self.bundle.place(self.pattern)
        self.rotation_placement = self.pattern.diagonal[self.bundle.rotation_blocks]

    @property
    def body(self) -> Any:
        """The body, when there is only one."""
        return self.bodies[0]

    @cached_property
    def symbolic(self) -> Any:
        """The symbolic factorisation of K: done once."""
        return analyse(self.pattern, np.concatenate([b.block_position for b in self.bodies]))

    @cached_property
    def length(self) -> float:
        """Diagonal of the bounding box at rest [m]: the scale of displacements."""
        positions = self.positions(self.rest.q)
        return float(np.linalg.norm(np.ptp(positions, axis=0)))

    @cached_property
    def rest(self) -> State:
        """Undeformed, unloaded."""
        q = np.concatenate([b.q0 for b in self.bodies])
        z = np.concatenate(
            [*(b.z0 for b in self.bodies), *(row.interaction.remembered for row in self.rows.values())]
        )
        return State(q, np.zeros(self.ndof), np.zeros(self.bundle.rows), z)

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Node positions of all bodies, (k, 3) [m]."""
        return np.concatenate([b.positions(q[s]) for b, s in zip(self.bodies, self.q_spans, strict=True)])

    def retract(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """q ⊕ dq: translations add, rotations compose."""
        parts = zip(self.bodies, self.q_spans, self.dq_spans, strict=True)
        moved = [b.retract(q[s], dq[d]) for b, s, d in parts]
        return moved[0] if len(moved) == 1 else np.concatenate(moved)

    def difference(self, q: np.ndarray, to: np.ndarray) -> np.ndarray:
        """dq (ndof,) with q ⊕ dq = `to`."""
        parts = zip(self.bodies, self.q_spans, strict=True)
        return np.concatenate([b.difference(q[s], to[s]) for b, s in parts])

    def predict(self, q: np.ndarray, dq: np.ndarray) -> np.ndarray:
        """What `Body.predict` predicts of slender bodies at q ⊕ dq, one after the other."""
        parts = zip(self.bodies, self.q_spans, self.dq_spans, strict=True)
        return np.concatenate(
            [b.predict(q[s], dq[d]) for b, s, d in parts if b.predicted_size] or [np.zeros(0)]
        )

    @cached_property
    def reach(self) -> np.ndarray:
        """How far [m] a unit of each coordinate of dq moves the robot, (ndof,); rotations half its length."""
        out = np.ones(self.ndof)
        for body, span in zip(self.bodies, self.dq_spans, strict=True):
            turning = 3 * (np.asarray(body.region_block, int) + 1)
            out[span.start + (turning[:, None] + np.arange(3)).ravel()] = 0.5 * self.length
        return out

    def farthest(self, dq: np.ndarray) -> float:
        """How far [m] a motion dq (ndof,) moves the robot at most, about."""
        return _farthest(self.reach, dq)

    def split(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """A vector over all scalar rows as one array per row name."""
        return {name: values[span] for name, span in self.spans.items()}

    def named(self, name: str) -> slice:
        """The scalar rows of a named row; an unknown name is an error with the nearest names."""
        if not isinstance(name, str) or name not in self.spans:
            raise unknown_name("row", name, self.spans)
        return self.spans[name]

    def by_role(self, role: str) -> list[str]:
        """Names of the rows whose law has this role: 'actuator', 'effector', 'sensor' …"""
        return [name for name, row in self.rows.items() if row.law.role == role]

    def chosen_laws(self, laws: Mapping[str, Law] | None) -> dict[str, Law]:
        """The law of every row: those given for this call instead of the robot's own."""
        self._check_laws(laws)
        return {name: (laws or {}).get(name, row.law) for name, row in self.rows.items()}

    def _check_laws(self, laws: Mapping[str, Law] | None) -> None:
        if laws is not None and not isinstance(laws, Mapping):
            raise InputError("laws", expected="a dictionary from row name to law", got=type(laws).__name__)
        for name, law in (laws or {}).items():
            self.named(name)
            _check_law(name, law)

    def forward(self, laws: Mapping[str, Law] | None = None) -> Conditions:
        """The rows' laws in a forward problem, after those given for this call."""
        self._check_laws(laws)
        given = {name: self._condition(name, law) for name, law in (laws or {}).items()}
        return self.conditions(list({**self._asked, **given}.values()))

    @cached_property
    def _asked(self) -> dict[str, Condition]:
        """What each row's own law asks for."""
        return {name: self._condition(name, row.law) for name, row in self.rows.items()}

    def _condition(self, name: str, law: Law) -> Condition:
        acting = self.rows[name].interaction
        asked = law.forward(acting.size, acting.effort_range, name)
        _require_possible(name, acting, asked)
        return behind(name, acting, asked)

    @cached_property
    def compliance(self) -> np.ndarray:
        """Of what stands between the drive of each row and its δ (m,) [m/N]."""
        each = [np.full(row.interaction.size, row.interaction.compliance) for row in self.rows.values()]
        return np.concatenate([np.zeros(0), *each])

    @cached_property
    def slack(self) -> np.ndarray:
        """How far the drive of each row goes before it acts (m,) [m]."""
        each = [np.full(row.interaction.size, row.interaction.slack) for row in self.rows.values()]
        return np.concatenate([np.zeros(0), *each])

    def conditions(self, of_rows: Sequence[Condition]) -> Conditions:
        """Conditions of the rows, one each, as arrays over all scalar rows."""
        if not of_rows:
            return Conditions(np.zeros(0, bool), *np.zeros((5, 0)), valve=np.zeros(0))
        alike = np.array([(c.given, c.compliance, c.low, c.high, c.valve) for c in of_rows], float)
        given, compliance, low, high, valve = alike.T.repeat(np.diff(self.bundle.row_start), axis=1)
        effort, imposed = np.concatenate([(c.effort, c.imposed) for c in of_rows], axis=1)
        return Conditions(given.astype(bool), effort, imposed, compliance, low, high, valve=valve)

    def remembered(self, name: str, internal: np.ndarray) -> np.ndarray:
        """What the interaction of a named row remembers, of all internal variables of a state."""
        self.named(name)
        return internal[self.row_z][self.bundle.own_internal[list(self.rows).index(name)]]

    @cached_property
    def softens(self) -> bool:
        """Whether a body remembers what it has been through, see `materials.Mullins`."""
        return any(body.softens for body in self.bodies)

    def arrived(self, q: np.ndarray | None, internal: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Internal variables with what softening materials have been through: `before`, and at q if given."""
        if not self.softens:
            return internal
        parts = zip(self.bodies, self.q_spans, self.z_spans, strict=True)
        own = [b.arrived(None if q is None else q[s], internal[z], before[z]) for b, s, z in parts]
        return np.concatenate([*own, internal[self.row_z]])

    def rigid_modes(self) -> int:
        """How many rigid motions of all bodies no support prevents."""
        return sum(self.loose_motions)

    @cached_property
    def loose_motions(self) -> tuple[int, ...]:
        """How many rigid motions of each body its own supports leave."""
        return tuple(b.rigid_modes() for b in self.bodies)

    def checked(self, state: State | None) -> State:
        """The state to start from (default: rest), or an InputError if it is not one of this robot."""
        state = self.rest if state is None else state
        if not isinstance(state, State):
            hint = "A result has a state: result.state." if hasattr(state, "state") else ""
            raise InputError("state", expected="a State", got=type(state).__name__, hint=hint)
        rest = self.rest
        for name, noun in (
            ("q", "coordinates"),
            ("effort", "efforts"),
            ("internal", "internal variables"),
            ("gravity", "numbers of gravity"),
        ):
            given, size = getattr(state, name), getattr(rest, name).size
            if given.shape != (size,):
                old = name == "q" and given.shape == (size + sum(b.predicted_size for b in self.bodies),)
                hint = "States of pliant 0.1 contain section forces of rods and shells: solve for it again."
                raise InputError(
                    "state", expected=f"{size} {noun}", got=f"shape {given.shape}", hint=hint if old else ""
                )
            if not np.isfinite(given).all():
                raise InputError("state", expected=f"finite {noun}", got="some that are not finite")
        return state

    def view(self, **options: Any) -> Any:
        """Open the studio on this robot in the browser; see `pliant.studio.view`."""
        studio = import_module("pliant.studio")  # by name: the studio stands above the robot
        return studio.view(self, **options)

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} ({type(row.interaction).__name__})" for name, row in self.rows.items())
        return f"<Robot {self.name!r}: {', '.join(map(repr, self.bodies))}; rows: {rows or 'none'}>"

    def _repr_html_(self) -> str:
        """In a notebook: the robot, to be turned, and its rows."""
        return import_module("pliant.io.notebook").robot_html(self)  # by name: pictures stand above

    def check_supported(self) -> None:
        """Raise SingularError if no support prevents some rigid motion: K has no inverse then."""
        if self.rigid_modes():
            raise self.unsupported()

    def unsupported(self) -> SingularError:
        """The error for rigid motions without support."""
        modes = self.rigid_modes()
        pieces = sum(len(b.mesh.components) for b in self.bodies)
        what = f" of its {pieces} separate pieces" if pieces > len(self.bodies) else ""
        return SingularError(
            f"{self.name!r} is not fixed: {modes} rigid mode{'s' * (modes > 1)}{what} left. "
            "Give fixed= nodes to its body, or impose the displacement of rows that support it."
        )


def behind(name: str, acting: Interaction, asked: Condition) -> Condition:
    """A law for what stands behind an interaction: a tendon that stretches, a chamber's line."""
    if acting.line is not None:
        if acting.line.syringe and abs(asked.valve) > 0.0:
            hint = "Known(displacement=…) is its stroke, Valve() leaves it where it is."
            raise InputError(f"law of {name!r}", expected="no open valve", got="a syringe", hint=hint)
        return asked.through(acting.line.syringe > 0.0)
    if not np.isnan(asked.valve):
        hint = "Cavity(…, line=pl.pneumatics.Line(…)) has one."
        raise InputError(f"law of {name!r}", expected="a chamber with a line", got="none", hint=hint)
    return asked.driven(acting.compliance, acting.slack)


def _require_possible(name: str, acting: Interaction, asked: Condition) -> None:
    """Raise InputError where an imposed displacement is none that the interaction can have."""
    low, high = acting.displacement_range
    if low == -np.inf or asked.given or asked.compliance > 0.0:
        return
    if (asked.imposed < low - ROUNDING).any() or (asked.imposed > high + ROUNDING).any():
        raise InputError(
            f"displacement of {name!r}",
            expected=f"within [{low:.4g}, {high:.4g}] {acting.unit}",
            got=str(asked.imposed),
            hint="Angles cannot count turns: middle=… of the interaction is the centre of their range.",
        )


def _check_law(name: str, law: Any) -> None:
    if not isinstance(law, Law):
        raise InputError(f"law of {name!r}", expected="a law such as Known(effort=…)", got=repr(law))


@njit(cache=True, error_model="numpy")
def _farthest(reach, dq):
    far = 0.0
    for i in range(len(dq)):
        part = abs(reach[i] * dq[i])
        if np.isnan(part):
            return part
        far = max(far, part)
    return far
