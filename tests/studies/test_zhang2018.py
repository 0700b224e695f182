"""The study of Zhang 2018 in its quick setting: exact where the model is, proportional where it is wrong."""

import numpy as np
import pytest

from pliant.studies import study
from pliant.studies.zhang2018 import paper
from pliant.studies.zhang2018.lab import FULL, QUICK, Lab

STUDY = study("zhang2018")


@pytest.fixture(scope="module")
def lab():
    return Lab(QUICK)


def test_figures_of_the_paper_are_complete_and_grow():
    assert len(paper.I_E) == len(paper.I_W) == 16
    for table in (paper.TABLE_II, paper.TABLE_III):
        for case, rows in table.items():
            first, second, third = np.array(rows)
            assert (first < second).all() and (second < third).all()
            assert first.shape == (6,)
            size = {"modulus": 3.0, "offset": 3.0, "tension": 2.0}[case]
            assert third / first == pytest.approx(np.full(6, size), rel=0.2)  # a digit typed wrong would show


def test_objects_have_the_papers_size():
    full = Lab(FULL)
    assert len(full.build("s").body.mesh.cells) == pytest.approx(4923, rel=0.02)
    assert len(full.build("r").body.mesh.cells) == pytest.approx(4147, rel=0.02)


def test_accurate_models_feel_exactly(lab):
    found = STUDY.parts["accurate"](lab)
    (table,) = found.tables
    assert len(table.rows) == 16 and found.passed
    assert sum(row["check"] is True for row in table.rows) >= 10
    assert all(row["converged [mN]"] < 0.01 for row in table.rows if row["I_w [N/mm]"] < 10)


def test_wrong_tensions_are_felt_in_proportion_and_found_when_doubted(lab):
    from pliant.studies.zhang2018.wrong import _error

    trusting = [_error(lab, "r7", "tension", k, False) for k in range(3)]
    assert trusting == pytest.approx(trusting[0] * np.array([1.0, 1.5, 2.0]), rel=0.05)
    doubting = [_error(lab, "r7", "tension", k, True) for k in range(3)]
    assert max(doubting) < 0.1 * min(trusting)
    softer = [_error(lab, "s7", "modulus", k, False) for k in range(3)]
    scale = 800.0 * (1.0 - np.array(paper.MODULI) / paper.YOUNG)  # all forces, and no marker tells
    assert softer == pytest.approx(scale, rel=1e-6)


def test_a_weight_on_the_tip_is_felt_by_near_and_far_markers(monkeypatch):
    """A case of table V with one small mesh for both models: the modulus is calibrated, the weight found."""
    from pliant.studies.zhang2018 import tip

    assert not set(tip.KNOWN) & set(paper.PULLS)  # nothing is calibrated on a case that is scored
    monkeypatch.setattr(tip, "KNOWN", ((5, 0), (8, 859)))
    monkeypatch.setattr(tip, "PULLS", ((8, 659),))
    subject = tip.Subject.own((8, 4, 1), (8, 4, 1))
    bench = tip.Bench(subject, np.random.default_rng(0))
    young = tip._modulus(bench)
    assert young == pytest.approx(tip.YOUNG, rel=0.06)
    table, off, shown = tip._table(bench, tip.estimators(subject, young), 1)
    assert len(table.rows) == len(shown) == 1
    assert np.mean(off["near"]) < 0.05 and np.mean(off["far"]) < 0.1


def test_position_and_contact_force_are_held_at_once(lab, monkeypatch):
    """The loop of the last part, one demand: it lands, and follows although the plant is another."""
    from pliant.studies.zhang2018 import hybrid

    monkeypatch.setattr(hybrid, "ASKED", ((70, (1.0e-3, 0.5e-3), 0.8),))
    moments, estimate = hybrid._run(lab)
    assert moments[0].true[2] == 0.0  # it begins in the air
    last = np.mean([m.true for m in moments[-15:]], axis=0)
    assert last[:2] == pytest.approx([1.0e-3, 0.5e-3], abs=1e-4)
    assert last[2] == pytest.approx(0.8, rel=0.08)
    assert estimate.certificate.status == "tracking"


def test_chosen_places_beat_chance(lab):
    found = STUDY.parts["placement"](lab)
    assert found.passed and len(found.pictures) == 1


def test_the_papers_rules_are_what_the_paper_says():
    """Nearest point within a gate; all above a threshold, half the force or the best there is."""
    from pliant.studies.zhang2018.levels import _thresholds
    from pliant.studies.zhang2018.marker_rule import nearest

    points, model = np.array([[0.0, 0, 0], [1.0, 0, 0]]), np.array([[0.1, 0, 0], [0.4, 0, 0], [3.0, 0, 0]])
    assert nearest(points, model, 0.5).tolist() == [0, 0, -1]  # a point may be taken twice
    sizes = np.array([[0.5, 0.1, 0.0], [0.3, 0.2, 0.3]])
    truths = np.array([[True, False, False], [True, False, True]])
    assert _thresholds(sizes, truths, 0.05) == (0.0, 1.0)
    assert _thresholds(sizes, truths, 0.25) == (1.0, 1.0)


def test_forces_are_located_and_the_threshold_is_no_better(lab):
    from pliant.studies.zhang2018 import levels

    score = levels._score(levels._Scene(lab, "s", "known", 5e-5), 0.45, 4, np.random.default_rng(5))
    assert score.ours == 1.0 and score.rule <= score.best <= score.ours


def test_friction_of_cables_is_outside_every_model(lab):
    """The part's draws: tensions lost to friction move the markers, and nothing else does."""
    from pliant.studies.zhang2018 import unmodelled

    rng = np.random.default_rng(6)
    rubbed = unmodelled._rubbing(lab, "r7", rng)
    assert 1e-5 < np.abs(rubbed - lab.shown("r7")).max() < 5e-3
    left = unmodelled._markers(lab, "r7", lab.laws("r7"), weight=False)
    assert np.abs(left - lab.shown("r7")).max() < 1e-9
    heavy = [unmodelled._markers(lab, "r7", lab.laws("r7"), weight=True, heavier=h) for h in (1.0, 1.1)]
    assert heavy[0][:, 2].mean() > heavy[1][:, 2].mean()


def test_a_study_without_the_mesh_says_so(tmp_path):
    first = STUDY.robots(STUDY.setup(data=tmp_path))
    assert "our own" in first and "diamond.vtk" in first
    (tmp_path / "diamond.vtk").write_text("")
    assert "authors'" in STUDY.robots(STUDY.setup(data=tmp_path))


def test_forces_are_felt_in_motion_and_friction_is_found_by_doubts(lab):
    """Tensions follow their course; friction takes from a cable that is pulled, and adds to others."""
    from dataclasses import replace

    from pliant.studies.zhang2018 import motion

    rng = np.random.default_rng(5)
    course, other = motion.Course.drawn(lab, "r1", rng), motion.drawn("friction", rng)
    t = np.arange(0.2, 0.8, 1e-3)
    tension = lambda loss: np.array([course.laws(x, loss)["cable 1"].effort for x in t])
    asked, left = tension(None), tension(other.loss)
    pulled = np.gradient(asked, t) > 0.0
    assert pulled.any() and not pulled.all()
    assert (left[1:-1] < asked[1:-1])[pulled[1:-1]].mean() > 0.98
    assert left / asked == pytest.approx(np.where(left < asked, 1 - other.loss[0], 1 + other.loss[0]))
    short = Lab(replace(QUICK, frames=8))
    score = motion._score(short, "as modelled", "s1", rng)
    assert score.trusting == score.moving < score.paper
    assert score.covered > 0.8 and score.misfit == pytest.approx(1.0, abs=0.2)
