"""What is measured between two frames: how far a joint is open, how far a hinge has turned, a slider moved.

With the axes a of the first frame and b of the second, and d from the origin of the first to that of the
second, everything is a function of inner products s of the seven vectors V = (a₁ a₂ a₃ d b₁ b₂ b₃), which
are linear in the points:

    ∂δ/∂V_i = Σ_r F_r ∂s_r/∂V_i,      s_r = V_I·V_J

Turns are rotation vectors, φ = w θ/sin θ with w = n sin θ and u = cos θ from inner products: the relative
rotation of both frames, or the least one that brings the z axis of the first into that of the second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.errors import InputError
from pliant.interactions import angles
from pliant.interactions.frame import Frame
from pliant.interactions.interaction import Interaction

SERIES = 0.01  # tan² θ below which θ/sin θ is its series
OPPOSITE = 1e-6  # |sin θ| below which frames more than a right angle apart are opposite to each other
A, D, B = (0, 1, 2), 3, (4, 5, 6)  # places of a, d and b in V

Pair = tuple[int, int]
ALONG: list[Pair] = [(i, D) for i in A]
MATRIX: list[Pair] = [(i, j) for i in A for j in B]  # a_i·b_j, row by row


class BetweenFrames(Interaction):
    """δ(s) of the inner products s of two frames' vectors. The second may be fixed in space."""

    inner: Sequence[Pair]  # (r,) which vectors s is made of

    def __init__(self, a: Frame, b: Frame | None = None) -> None:
        for frame in (a, b):
            if frame is not None and not isinstance(frame, Frame):
                hint = "pl.joints.Frame(part, region, at=…, axis=…) makes one."
                raise InputError("joint", expected="frames", got=type(frame).__name__, hint=hint)
        if a.points is None and (b is None or b.points is None):
            raise InputError("joint", expected="a frame of a part", got="frames fixed in space")
        self.a, self.b = a, a.at_rest() if b is None else b
        super().__init__([f.points for f in (self.a, self.b) if f.points is not None])
        self._lay_out()

    def _lay_out(self) -> None:
        """V = C p + V₀."""
        C, V0, first = np.zeros((7, self.point_count)), np.zeros((7, 3)), 0
        for frame, axes, sign in ((self.a, A, -1.0), (self.b, B, 1.0)):
            if frame.points is None:
                V0[list(axes)], V0[D] = frame.axes.T, V0[D] + sign * frame.origin
                continue
            for k in range(3):
                C[axes[k], [first, first + 1 + k]] = -1.0 / frame.arm, 1.0 / frame.arm
            C[D, first] = sign
            first += 4
        self._C, self._V0 = C, V0
        self._left, self._right = (np.array(side) for side in zip(*self.inner, strict=True))
        i, j = np.tril_indices(self.point_count)
        self._pairs = np.ascontiguousarray(np.column_stack([i, j]))

    def of(self, s: np.ndarray) -> np.ndarray:
        """δ(s), (m,)."""
        raise NotImplementedError

    def first(self, s: np.ndarray) -> np.ndarray:
        """∂δ/∂s, (m, r)."""
        raise NotImplementedError

    def second(self, s: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """Σₖ λₖ ∂²δₖ/∂s², (r, r)."""
        raise NotImplementedError

    def value(self, p: np.ndarray) -> np.ndarray:
        return self.of(self._inner(self._vectors(p)))

    def gradient(self, p: np.ndarray) -> np.ndarray:
        V = self._vectors(p)
        slope = self.first(self._inner(V)) @ self._slopes(V).reshape(len(self._left), -1)
        return np.matmul(self._C.T, slope.reshape(self.size, 7, 3)).reshape(-1, 3)

    def pairs(self) -> np.ndarray:
        return self._pairs

    def hessian(self, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
        V, C = self._vectors(p), self._C
        s, slopes = self._inner(V), self._slopes(V).reshape(len(self._left), -1)
        weight = lam @ self.first(s)
        G = np.zeros((7, 7))
        np.add.at(G, (self._left, self._right), weight)
        H = (slopes.T @ self.second(s, lam) @ slopes).reshape(7, 3, 7, 3)
        H += (G + G.T)[:, None, :, None] * np.eye(3)[None, :, None, :]
        points = np.tensordot(np.tensordot(C, H, (0, 0)), C, (2, 0))  # (P, 3, 3, P)
        i, j = self._pairs.T
        return np.ascontiguousarray(points.transpose(0, 3, 1, 2)[i, j])

    def _vectors(self, p: np.ndarray) -> np.ndarray:
        return self._C @ p + self._V0

    def _inner(self, V: np.ndarray) -> np.ndarray:
        return np.einsum("ri,ri->r", V[self._left], V[self._right])

    def _slopes(self, V: np.ndarray) -> np.ndarray:
        """∂s/∂V, (r, 7, 3)."""
        out, r = np.zeros((len(self._left), 7, 3)), np.arange(len(self._left))
        out[r, self._left], out[r, self._right] = V[self._right], V[self._left]
        return out


class Turning:
    """φ = w θ/sin θ, with w = Ws and cos θ = u·s + u₀ linear in inner products."""

    def __init__(self, W: np.ndarray, u: np.ndarray, u0: float) -> None:
        self.W, self.u, self.u0 = W, u, u0

    def of(self, s: np.ndarray) -> np.ndarray:
        """φ (k,) [rad]."""
        w = self.W @ s
        return w * _ratio(float(w @ w), float(self.u @ s) + self.u0)[0]

    def first(self, s: np.ndarray) -> np.ndarray:
        """∂φ/∂s, (k, r)."""
        w = self.W @ s
        f, f_square, f_u, *_ = _ratio(float(w @ w), float(self.u @ s) + self.u0)
        return f * self.W + np.outer(w, 2.0 * f_square * (w @ self.W) + f_u * self.u)

    def second(self, s: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """Σₖ λₖ ∂²φₖ/∂s², (r, r)."""
        w, u = self.W @ s, self.u
        _, f_square, f_u, f_ss, f_su, f_uu = _ratio(float(w @ w), float(u @ s) + self.u0)
        g, along = 2.0 * (w @ self.W), lam @ self.W  # ∂(w·w)/∂s
        slope = np.outer(along, f_square * g + f_u * u)
        curved = f_ss * np.outer(g, g) + f_su * (np.outer(g, u) + np.outer(u, g)) + f_uu * np.outer(u, u)
        return slope + slope.T + (lam @ w) * (curved + 2.0 * f_square * self.W.T @ self.W)


def _ratio(square: float, u: float) -> tuple[float, float, float, float, float, float]:
    """f = θ/sin θ of sin² θ and cos θ, as if both were independent, and its derivatives.

    f, ∂f/∂(sin²), ∂f/∂u, then the second ones: twice by sin², mixed, twice by u.
    """
    radius = square + u * u
    by_u, mixed, twice = -1.0 / radius, 1.0 / radius**2, 2.0 * u / radius**2
    if u > 0 and square < SERIES * u * u:
        x, k = square / (u * u), np.arange(10)
        c = (-1.0) ** k / (2 * k + 1)
        f = float(c @ x**k) / u
        f1 = float((c * k)[1:] @ x ** k[:-1]) / u**3
        f2 = float((c * k * (k - 1))[2:] @ x ** k[:-2]) / u**5
        return f, f1, by_u, f2, mixed, twice
    sine = max(float(np.sqrt(square)), 1e-300)
    f = float(np.arctan2(sine, u)) / sine
    f1 = (u / radius - f) / (2.0 * sine * sine)
    f2 = (-u / radius**2 - 3.0 * f1) / (2.0 * sine * sine)
    return f, f1, by_u, f2, mixed, twice


def _whole() -> Turning:
    """The rotation vector of R with R_ij = a_i·b_j."""
    W = np.zeros((3, 9))
    for k, (i, j) in enumerate(((2, 1), (0, 2), (1, 0))):
        W[k, 3 * i + j], W[k, 3 * j + i] = 0.5, -0.5
    return Turning(W, 0.5 * np.eye(3).ravel(), -0.5)


def _of_axis() -> Turning:
    """The turn from a₃ to b₃, in the axes a₁ and a₂, of the inner products (a₁·b₃, a₂·b₃, a₃·b₃)."""
    return Turning(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]), np.array([0.0, 0.0, 1.0]), 0.0)


TURNS = {"whole": (_whole(), MATRIX), "axis": (_of_axis(), [(i, B[2]) for i in A])}
# What a joint forbids: how many of the distances along a₁, a₂, a₃, and which turn.
KINDS: dict[str, tuple[int, str | None]] = {
    "weld": (3, "whole"),
    "hinge": (3, "axis"),
    "slider": (2, "whole"),
    "ball": (3, None),
}


class Joint(BetweenFrames):
    """δ [m]: how far a joint between two frames is open, zero when it is mounted; λ [N] is its reaction.

    kind: "weld" (no motion is left), "hinge" (the z axes are one, about which it turns), "slider" (likewise,
    along which it slides) or "ball" (the origins are one place). First the distances of the second origin
    from the first along the first frame's axes, of a slider x and y only; then the turn between the frames as
    a rotation vector in these axes, of a hinge about x and y only, times `arm` [m].

    λ are the force of the first part on the second along these axes and, divided by `arm`, the torque; see
    `reaction`. The parts may be drawn apart and turned by less than half a turn to each other: the load path
    of `static` closes the joint.
    """

    def __init__(self, kind: str, a: Frame, b: Frame | None = None) -> None:
        if kind not in KINDS:
            raise InputError("kind of a Joint", expected=" | ".join(KINDS), got=repr(kind))
        self.kind = kind
        self.lengths, turn = KINDS[kind]
        self._turn = None if turn is None else TURNS[turn][0]
        self.inner = ALONG[: self.lengths] + ([] if turn is None else TURNS[turn][1])
        super().__init__(a, b)
        self.arm = self.a.arm or self.b.arm
        if self._turn is not None:
            s = self._inner(self._vectors(self.rest))[self.lengths :]
            if np.linalg.norm(self._turn.W @ s) < OPPOSITE and self._turn.u @ s + self._turn.u0 < 0:
                hint = "Draw one of the parts turned a little, or turn the axes of one frame."
                expected = "frames less than half a turn apart"
                raise InputError(f"frames of a {kind}", expected=expected, got="opposite ones", hint=hint)

    @property
    def swings(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether its parts may turn: a hinge or a ball."""
        return self.kind in ("hinge", "ball")

    @property
    def size(self) -> int:
        return self.lengths + (0 if self._turn is None else len(self._turn.W))

    def of(self, s: np.ndarray) -> np.ndarray:
        n = self.lengths
        return s if self._turn is None else np.append(s[:n], self.arm * self._turn.of(s[n:]))

    def first(self, s: np.ndarray) -> np.ndarray:
        out, n = np.zeros((self.size, len(s))), self.lengths
        out[:n, :n] = np.eye(n)
        if self._turn is not None:
            out[n:, n:] = self.arm * self._turn.first(s[n:])
        return out

    def second(self, s: np.ndarray, lam: np.ndarray) -> np.ndarray:
        out, n = np.zeros((len(s), len(s))), self.lengths
        if self._turn is not None:
            out[n:, n:] = self.arm * self._turn.second(s[n:], lam[n:])
        return out

    def reaction(self, effort: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Force (3,) [N] and torque (3,) [N·m] of the first part on the second, along the first's axes."""
        n, out = self.lengths, np.zeros((2, 3))
        out[0, :n] = effort[:n]
        out[1, : self.size - n] = self.arm * np.asarray(effort[n:])
        return out[0], out[1]


class Turn(BetweenFrames):
    """δ = θ [rad]: how far the second frame is turned about the z axis of the first; λ is the torque [N·m].

    Zero where their x axes agree. A motor on a hinge between two parts. Angles lie in
    (middle − π, middle + π]: put `middle` in the centre of the motor's range.
    """

    unit, effort_unit = "rad", "N·m"
    inner = ((A[0], B[0]), (A[1], B[0]))

    def __init__(self, a: Frame, b: Frame | None = None, *, middle: float = 0.0) -> None:
        self.middle = float(middle)
        self.displacement_range = angles.turn_about(self.middle)
        c, s = np.cos(self.middle), np.sin(self.middle)
        self._back = np.array([[c, s], [-s, c]])
        super().__init__(a, b)

    def of(self, s: np.ndarray) -> np.ndarray:
        x, y = self._back @ s
        return np.array([self.middle + np.arctan2(y, x)])

    def first(self, s: np.ndarray) -> np.ndarray:
        return np.array([[-s[1], s[0]]]) / (s @ s)

    def second(self, s: np.ndarray, lam: np.ndarray) -> np.ndarray:
        x, y = s
        return lam[0] / (s @ s) ** 2 * np.array([[2 * x * y, y * y - x * x], [y * y - x * x, -2 * x * y]])


class Travel(BetweenFrames):
    """δ [m]: how far the second origin is from the first along the first's z axis; λ is the force [N].

    A drive on a slider between two parts.
    """

    inner = ((A[2], D),)

    def of(self, s: np.ndarray) -> np.ndarray:
        return s

    def first(self, s: np.ndarray) -> np.ndarray:
        return np.eye(1)

    def second(self, s: np.ndarray, lam: np.ndarray) -> np.ndarray:
        return np.zeros((1, 1))
