"""The mechanics behind sensing: from a pose and readings to a move, and how good the pose reached is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import cached_property

import numpy as np

from pliant.contact import Contacts, Obstacle
from pliant.core.rows import units
from pliant.core.scene import Scene
from pliant.core.situation import Situation
from pliant.core.support import Support
from pliant.core.tangent import EXACT, SHIFTED, condensed
from pliant.core.view import linearise
from pliant.errors import InputError, SingularError
from pliant.interactions import Interaction, Position
from pliant.laws import Law
from pliant.robot import Robot
from pliant.sensing.condensed import Commands, Condensed, SensingRows, blocks, recovered, solve, system
from pliant.sensing.judgement import AS_STATED, Judgement, judge
from pliant.sensing.places import Skin
from pliant.sensing.pose import Move, Pose
from pliant.sensing.roles import Noise, Roles, compile_roles
from pliant.sensing.weights import Weights
from pliant.state import State
from pliant.static import resting
from pliant.timing import Stopwatch

LONGEST_STEP = 0.1  # of the robot's length: no node moves farther in a step
LINE_SEARCH_TRIALS = 8  # step lengths, each half of the last
LADDER = (EXACT, SHIFTED)
NO_COMMANDS = Commands(np.zeros(0, int), np.zeros(0), False)
Choose = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Model:
    """A robot, possibly among obstacles, with the sensing roles of its rows."""

    def __init__(
        self,
        robot: Robot,
        laws: Mapping[str, Law] | None,
        noise: Noise,
        obstacles: Obstacle | Iterable[Obstacle] = (),
        state: State | None = None,
        *,
        doubt_young: bool = False,
        offset: float = 0.0,
    ) -> None:
        self.robot, self.laws, self.noise = robot, dict(laws or {}), noise
        self.doubt_young = doubt_young  # whether ∂δ/∂ln E is wanted
        self.roles: Roles = compile_roles(robot, self.laws, noise)
        self.weights = Weights(self.roles.noise, self._offsets(offset))
        self.work = Stopwatch()
        detector = None
        if obstacles or not robot.surroundings.empty(robot):
            detector = robot.surroundings.detector(robot, obstacles)
        self.scene = Scene(robot, detector, Support.of(robot, self.roles.conditions.supporting))
        begin = resting(robot, self.laws, detector=detector) if state is None else robot.checked(state)
        self.internal = begin.internal
        self.start = self.pose(begin.q, np.array(begin.effort))

    def with_laws(self, laws: Mapping[str, Law]) -> Model:
        """The same model with other commands: laws of actuators."""
        other = copy(self)
        other.laws = {**self.laws, **laws}
        other.roles = compile_roles(self.robot, other.laws, self.noise)
        return other

    def state(self, pose: Pose) -> State:
        """A pose as a state of the robot."""
        return State(
            pose.q, np.zeros(self.robot.ndof), pose.lam, self.internal, pose.scale * self.robot.gravity
        )

    def sensed(self, pose: Pose) -> np.ndarray:
        """δ of the sensors (ns,)."""
        return pose.delta[self.roles.sensors]

    def _offsets(self, offset: float) -> np.ndarray:
        """(ns, 3): what one deviation [m] of an offset of all markers along x, y, z adds to the readings."""
        rows = self.robot.rows
        parts = [_along(rows[name].interaction) for name in self.roles.sensor_spans]
        return offset * np.concatenate(parts) if offset else np.zeros((len(self.roles.sensors), 0))

    @cached_property
    def units(self) -> np.ndarray:
        """δ of each sensor row per metre of motion, see `pliant.core.rows.units`."""
        return units(self.robot)[self.roles.sensors]

    def pose(self, q: np.ndarray, lam: np.ndarray, before: tuple[Contacts, np.ndarray] | None = None) -> Pose:
        """The pose at q with efforts λ and forces of contacts known before.

        Raises InputError if cells are inside out there.
        """
        pose = self._look(q, lam, before)
        if pose is None:
            raise InputError("state", expected="cells that are not inside out", got="inverted cells")
        return pose

    def _look(
        self,
        q: np.ndarray,
        lam: np.ndarray,
        before: tuple[Contacts, np.ndarray] | None,
        scale: float = 1.0,
        predicted: np.ndarray | None = None,
    ) -> Pose | None:
        contacts, force = (None, np.zeros(0)) if before is None else before
        gravity = scale * self.robot.gravity
        at = Situation(q, lam, self.internal, gravity, contacts, force, predicted=predicted)
        view = self.scene.look(at, self.work)
        if view is None:
            return None
        if view.contacts is not None and view.contacts.frictional:
            raise InputError("friction", expected="contacts without friction", got="frictional ones")
        return Pose(view, scale)

    # From a pose to a move

    def move(
        self,
        pose: Pose,
        goal: np.ndarray,
        seen: np.ndarray,
        prior: np.ndarray,
        commands: Commands,
        choose: Choose | None = None,
        judgement: Judgement | None = AS_STATED,
    ) -> Move:
        """One linearisation: efforts that bring the sensors nearest to their goal (ns,), and the new pose.

        What readings do not determine stays what it is. `choose` says which of the unknown rows may act, from
        the whitened A and b; `judgement` how stated noise and doubts are to be taken, None: as the residuals
        say.
        """
        work, roles = self.work, self.roles
        condensed = self._condense(pose, commands)
        columns = self._columns(commands)
        if choose is not None and seen.any():
            mask = work.timed("choose", self._chosen, condensed, pose, goal, seen, choose)
            columns[: len(roles.unknown)] = mask
        taken = judgement or self._judged(condensed, pose, goal, seen, commands)
        columns[len(roles.unknown) :] &= taken.loads
        weights = self.weights.judged(taken.scale, taken.offset)
        x, fit, linear, white, lam_u, active = work.timed(
            "solve", self._solve, condensed, pose, goal, seen, prior, columns, weights
        )
        dq = work.timed("recover", recovered, condensed, roles, x, lam_u)
        lam = self._efforts(x, lam_u, commands, pose, dq)
        scale = 1.0 + (float(x[-1]) if condensed.load is not None else 0.0)
        moved, longest = self._advance(pose, dq, lam, lam_u[len(roles.solved) :], scale)
        parts = (fit, linear, white, columns, condensed, active, longest, weights, taken)
        return Move(pose, moved, x, *parts)

    def _judged(self, condensed, pose, goal, seen, commands: Commands) -> Judgement:
        """What the residuals say, with the active set at hand."""
        linear = system(condensed, goal, self._active(condensed, pose))
        return self.work.timed("judge", judge, linear, self.weights, seen, self.roles, commands)

    def _solve(self, condensed, pose, goal, seen, prior, columns, weights):
        roles, free = self.roles, np.full(len(columns) - len(self.roles.unknown), np.inf)
        low, high = (np.append(side, sign * free)[columns] for side, sign in zip(roles.effort, (-1, 1)))
        here = np.append(pose.lam[roles.unknown], np.zeros(len(free)))[columns]
        active = self._active(condensed, pose)
        fit, linear, white, lam_u, active = solve(
            condensed, goal, weights, seen, prior, columns, (low, high, here), active
        )
        x = np.zeros(len(columns))
        x[columns] = fit.x
        return x, fit, linear, white, lam_u, active

    def _columns(self, commands: Commands) -> np.ndarray:
        """Which x are estimated: unknown efforts; errors of commands and the scale of loads if asked for."""
        parts = [np.ones(len(self.roles.unknown), bool), np.full(len(commands.rows), commands.estimated)]
        return np.concatenate([*parts, np.ones(int(commands.scale > 0), bool)])

    def influence(self, pose: Pose, commands: Commands) -> np.ndarray:
        """W_sf (ns, nf) with the active set of a pose: how readings move with the unknown efforts."""
        condensed = self._condense(pose, commands)
        linear = system(condensed, np.zeros(len(self.roles.sensors)), self._active(condensed, pose))
        return linear.A[:, : len(self.roles.unknown)]

    def field(self, pose: Pose, values: np.ndarray, skin: Skin) -> tuple[np.ndarray, np.ndarray]:
        """(A (ns, n, 3), b (ns,)) of forces anywhere on the skin, with the active set of an equilibrium.

        A are readings per force along x, y, z on each of the skin's n nodes; b are readings less what they
        would be without any unknown force.
        """
        condensed = self._condense(pose, NO_COMMANDS)
        tangent = condensed.tangent
        active, ns = self._active(condensed, pose), len(self.roles.sensors)
        a, first = np.flatnonzero(active), ns + len(self.roles.unknown)
        rows = np.concatenate([np.arange(ns), first + a])
        X = tangent.factor.solve(tangent.H.take(rows).to_csr().toarray().T)
        moved = np.asarray(skin.rows(pose.q).to_csr() @ X).T  # (ns + active rows, 3n)
        out = moved[:ns]
        if len(a):
            out = out - condensed.W_su[:, a] @ np.linalg.solve(condensed.W_uu[np.ix_(a, a)], moved[ns:])
        A = system(condensed, values, active).A
        return out.reshape(ns, -1, 3), values - self.sensed(pose) + A @ pose.lam[self.roles.unknown]

    def _chosen(self, condensed, pose, goal, seen, choose: Choose) -> np.ndarray:
        linear, nf = system(condensed, goal, self._active(condensed, pose)), len(self.roles.unknown)
        both = self.weights.whitened(np.column_stack([linear.A[:, :nf], linear.b]), seen)
        return choose(both[:, :-1], both[:, -1])

    def _active(self, condensed: Condensed, pose: Pose) -> np.ndarray:
        """The active set (nu,) bool at a pose: all two-sided rows, and those that push."""
        active = ~condensed.one_sided
        efforts = np.concatenate([pose.lam[self.roles.solved], pose.force])
        active[condensed.one_sided] = efforts[condensed.one_sided] > 0.0
        return active

    def decrement(self, move: Move) -> float:
        """How far the pose that the move began at was from equilibrium [m].

        Where the scale of loads is estimated, it is that of the pose reached, with the factor at hand.
        """
        if move.condensed.load is None:
            return self._longest(move.condensed.free)
        solve = move.condensed.tangent.factor.solve
        return self._longest(self.work.timed("recover", solve, move.pose.view.residual()))

    def _condense(self, pose: Pose, commands: Commands) -> Condensed:
        internal = self._elastic_forces(pose) if self.doubt_young else None
        rows = SensingRows(self.roles, commands, pose.view, internal, pose.scale)
        tangent = condensed(self.scene, pose.view, rows, LADDER, self.work)
        if tangent is None:
            raise SingularError(f"{self.robot.name!r}: no tangent of use at this pose.")
        return self.work.timed("condense", blocks, rows, tangent)

    def _elastic_forces(self, pose: Pose) -> np.ndarray:
        """f(q) (ndof,) [N]: near equilibrium, what all loads and efforts balance."""
        linear = linearise(
            self.robot, pose.q, pose.lam, self.internal, 0.0 * self.robot.gravity, tangent=False
        )
        assert linear is not None
        return -linear.r

    def _efforts(self, x, lam_u, commands: Commands, pose: Pose, dq: np.ndarray) -> np.ndarray:
        roles, nf = self.roles, len(self.roles.unknown)
        scale = 1.0 + (x[-1] if commands.scale else 0.0)
        lam = np.where(roles.conditions.given, scale * roles.conditions.effort, 0.0)
        lam[roles.unknown] = x[:nf]
        given = roles.conditions.given[commands.rows]
        lam[commands.rows[given]] += x[nf : nf + len(given)][given]
        lam[roles.solved] = lam_u[: len(roles.solved)]
        return self.scene.support.efforts(lam, pose.view.H, dq)

    def _advance(
        self, pose: Pose, dq: np.ndarray, lam: np.ndarray, force: np.ndarray, scale: float
    ) -> tuple[Pose, float]:
        """(pose, distance moved [m]) by a line search: half the step while it inverts cells, at last none."""
        far = self._longest(dq)
        fraction = min(1.0, LONGEST_STEP * self.robot.length / far) if far > 0 else 1.0
        for _ in range(LINE_SEARCH_TRIALS):
            mixed = pose.lam + fraction * (lam - pose.lam)
            pushed = pose.force + fraction * (force - pose.force)
            before = None if pose.contacts is None else (pose.contacts, pushed)
            part = pose.scale + fraction * (scale - pose.scale)
            predicted = self.robot.predict(pose.q, fraction * dq)
            reached = self._look(self.robot.retract(pose.q, fraction * dq), mixed, before, part, predicted)
            if reached is not None:
                return reached, fraction * far
            fraction *= 0.5
        return pose, far

    def _longest(self, dq: np.ndarray) -> float:
        return self.robot.farthest(dq)


def _along(interaction: Interaction) -> np.ndarray:
    """Directions (m, 3) along which positions are read; zeros for other sensors."""
    if isinstance(interaction, Position):
        return interaction.gradient(interaction.rest)
    return np.zeros((interaction.size, 3))
