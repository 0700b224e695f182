"""A reduced model in place of the full one: its error is the true one, and beyond its trust it yields."""

from __future__ import annotations

from functools import cache
from time import monotonic, sleep

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InputError
from pliant.io.packet import frame_facts
from pliant.io.plain import frame_data, frame_from
from pliant.reduction.fast import Fast, fast
from pliant.reduction.watch import Watch, apart, balanced, commands_of, on_full
from pliant.session import Session
from tests.core.test_models import DOWN, cables

LONGEST = 120.0  # [s] for a process to start and answer on a busy machine; it takes two


def arm() -> pl.Robot:
    full = cables(cells=(10, 2, 2), gravity=DOWN)
    law = pl.Bounded(effort=(0, 1.5))
    rows = {
        n: pl.Row(r.interaction, law if r.law.role == "actuator" else r.law) for n, r in full.rows.items()
    }
    return pl.Robot(full.bodies, rows, gravity=DOWN, name="arm")


@cache
def quick() -> Fast:
    return fast(arm())


def test_the_error_seen_is_the_true_one_within_a_factor_of_two():
    """In poses of the inverse model, some far outside of what the snapshots show (drawn sideways)."""
    full, small = quick().full, quick().robot
    controller = pl.Inverse(small)
    tip = controller.target.copy()
    for aim in ([-0.004, 0.0, 0.012], [-0.002, 0.0, -0.008]):
        for _ in range(6):
            out = controller.step({"tip": tip + aim})
        told = commands_of(small, out.effort, out.displacement)
        start = on_full(full, small, out.state)
        there, settled = balanced(full, start, told, ())
        shown = apart(full, there.q, start.q)
        true = np.linalg.norm(pl.static(full, told).displacement["tip"] - out.displacement["tip"])
        assert settled and true / 2 < shown < 2 * true


def test_another_process_sees_the_same():
    full, small = quick().full, quick().robot
    at = pl.static(small, {"top": pl.Known(effort=1.1)})
    told = commands_of(small, at.effort, at.displacement)
    here = apart(
        full, balanced(full, on_full(full, small, at.state), told, ())[0].q, on_full(full, small, at.state).q
    )
    with Watch(full, small) as watch:
        assert watch.heard() is None
        assert watch.see(at.state, told, step=7)
        assert not watch.see(at.state, told, step=8)  # it is busy: this one goes by unseen
        look = watch.heard(LONGEST)
        assert look is not None and (look.step, look.settled) == (7, True)
        assert look.error == pytest.approx(here, rel=1e-3)
        watch.see(at.state, {"no such row": pl.Known(effort=0)})
        assert watch.heard(LONGEST) is None and "no such row" in watch.lost


def test_outside_its_trust_the_full_model_goes_on_and_gives_back():
    """A hand pushes sideways, which no snapshot shows; then it lets go."""
    session = Session(quick().full, fast=quick())
    stand_in = session.stand_in
    assert stand_in is not None and session.step().model == "reduced"
    skin = session.stage.rest
    end = [int(np.argmax(skin[:, 0]))]
    session.push(end, [1.0], [0.0, 0.4, 0.0])
    late = monotonic() + LONGEST
    while session.step().model == "reduced" and monotonic() < late:
        sleep(0.02)
    frame = session.frame
    assert frame.model == "full" and (frame.model_error or 0.0) > quick().bound
    assert "full model runs" in frame.words and "mm" in frame.words
    for _ in range(30):
        frame = session.step()
    alone = Session(quick().full)
    alone.push(end, [1.0], [0.0, 0.4, 0.0])
    for _ in range(30):
        alone.step()
    moved = np.linalg.norm(alone.frame.positions - quick().full.body.mesh.nodes, axis=1).max()
    assert np.abs(frame.positions - alone.frame.positions).max() < 0.02 * moved  # where the full robot rests
    session.release()
    for _ in range(80):
        frame = session.step()
    assert frame.model == "reduced" and (frame.model_error or 0.0) < quick().bound
    again = frame_from(frame_data(frame), frame.positions, {})
    assert (again.model, again.model_error) == (frame.model, frame.model_error)
    assert frame_facts(frame)["model"] == ["reduced", frame.model_error]
    session.reset()
    assert session.frame.model == "reduced" and session.frame.model_error is None
    session.switch("dynamic")
    assert "not watched" in session.step().words
    stand_in.watch.close()


def test_a_stand_in_belongs_to_its_robot():
    with pytest.raises(InputError, match="another"):
        Session(arm(), fast=quick())
