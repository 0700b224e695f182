"""External forces from sensors: exact on the same mesh, with drives, contacts and sensors of every kind."""

import numpy as np
import pytest

import pliant as pl
from pliant.laws import Known, Measured, Unknown
from pliant.mesh.lines import line
from pliant.robots.parallel import parallel, parallel_layouts
from pliant.robots.rod import rod
from pliant.robots.sheet import sheet, sheet_layouts
from pliant.sensing import ForceEstimator, instrumented

EXACT = 1e-5  # [N]: 0.01 mN
TENSIONS = {f"cable {n}": Known(effort=2.0) for n in range(1, 5)}
LENGTHS = {f"cable {n}": Known(displacement=0.002 * n) for n in range(1, 5)}


@pytest.fixture(scope="module")
def soft_sheet():
    return sheet(cells=(11, 1))


@pytest.fixture(scope="module")
def cross():
    return parallel(cells=(8, 2, 2))


def truth(robot, forces, laws=None, **options):
    return pl.static(robot, {**(laws or {}), "forces": Known(effort=np.ravel(forces))}, **options)


@pytest.mark.parametrize("name", [n for n in sheet_layouts if n != "s8"])
def test_forces_on_the_sheet_are_found_exactly(soft_sheet, name, within):
    layout = sheet_layouts[name]
    estimator = ForceEstimator(soft_sheet, layout.markers, layout.candidates)
    real = truth(estimator.robot, layout.applied)
    found = estimator.converge(real.displacement["markers"])
    assert found.certificate.converged
    within(found.forces() - layout.applied, EXACT, "force [N]")
    within(found.positions - real.positions, 1e-8, "shape [m]")


@pytest.mark.parametrize("laws", [TENSIONS, LENGTHS], ids=["tensions", "lengths"])
@pytest.mark.parametrize("name", ["r1", "r2", "r7"])
def test_forces_on_a_driven_robot_are_found_exactly(cross, laws, name, within):
    layout = parallel_layouts[name]
    estimator = ForceEstimator(cross, layout.markers, layout.candidates, laws=laws)
    real = truth(estimator.robot, layout.applied, laws)
    found = estimator.converge(real.displacement["markers"])
    assert found.certificate.converged
    within(found.forces() - layout.applied, EXACT, "force [N]")
    for cable in laws:
        within(found.effort[cable] - real.effort[cable], EXACT, "tension [N]")


def test_one_linearisation_per_frame_follows_a_growing_force(soft_sheet, within):
    layout = sheet_layouts["s2"]
    estimator = ForceEstimator(soft_sheet, layout.markers, layout.candidates)
    state = None
    for share in np.linspace(0.1, 1.0, 10):
        real = truth(estimator.robot, share * layout.applied, state=state)
        found, state = estimator.step(real.displacement["markers"]), real.state
    assert found.certificate.status == "tracking" and found.certificate.iterations == 1
    within(np.abs(found.forces() - layout.applied).sum(), 6e-3, "while it grows [N]")
    found = estimator.step(real.displacement["markers"])
    within(np.abs(found.forces() - layout.applied).sum(), 1e-3, "one frame later [N]")  # the paper's: 1.1 mN


def test_a_cable_that_goes_slack_is_known_to(cross, within):
    layout = parallel_layouts["r7"]
    estimator = ForceEstimator(cross, layout.markers, layout.candidates, laws=LENGTHS)
    slack = {**LENGTHS, "cable 1": Known(displacement=-0.002)}
    real = truth(estimator.robot, layout.applied, slack)
    assert real.effort["cable 1"] == 0.0
    found = estimator.converge(real.displacement["markers"], slack)
    assert found.effort["cable 1"] == 0.0
    within(found.forces() - layout.applied, EXACT, "force [N]")


def test_forces_beside_a_known_obstacle(cross, within):
    """What the obstacle does is not taken for an external force."""
    layout = parallel_layouts["r5"]
    ball = pl.Sphere((0.0, 0.0, 0.0685), 0.02, name="ball")
    estimator = ForceEstimator(cross, layout.markers, layout.candidates[:2], laws=TENSIONS, obstacles=[ball])
    real = truth(estimator.robot, layout.applied[:2], TENSIONS, obstacles=[ball])
    assert real.contact_force.sum() > 1.0
    found = estimator.converge(real.displacement["markers"])
    within(found.forces() - layout.applied[:2], EXACT, "force [N]")
    within(found.contact_force.sum() - real.contact_force.sum(), EXACT, "contact [N]")


@pytest.mark.parametrize("laws, error", [(TENSIONS, 0.2), (LENGTHS, 5e-4)], ids=["tensions", "lengths"])
def test_errors_of_commands_are_estimated(cross, laws, error, within):
    layout = parallel_layouts["r5"]
    doubt = dict.fromkeys(laws, 2 * error)
    estimator = ForceEstimator(
        cross, layout.markers, layout.candidates[:2], laws=laws, noise=1e-7,
        command_error=doubt, estimate_commands=True,
    )  # fmt: skip
    wrong = {}
    for n, (name, law) in enumerate(laws.items()):
        value = (law.effort or law.displacement) + error * (1 + n) / 4
        wrong[name] = Known(effort=value) if law.effort else Known(displacement=value)
    real = truth(estimator.robot, layout.applied[:2], wrong)
    found = estimator.converge(real.displacement["markers"])
    within(found.forces() - layout.applied[:2], 1e-4, "force [N]")
    for n, name in enumerate(laws):
        assert found.command_error[name] == pytest.approx(error * (1 + n) / 4, rel=1e-3)


def test_a_wrong_modulus_is_estimated_where_known_loads_tell(cross, within):
    """Four cables of known tension, and a body that is 13 % softer than the model: both are found."""
    layout = parallel_layouts["r5"]
    softer = instrumented(parallel(cells=(8, 2, 2), young=260e3), layout.markers, layout.candidates)
    real = truth(softer, layout.applied, TENSIONS).displacement["markers"]
    wrong = ForceEstimator(cross, layout.markers, layout.candidates, laws=TENSIONS)
    missed = np.abs(wrong.converge(real).forces() - layout.applied).max()
    options = {"laws": TENSIONS, "young": 0.2, "estimate_young": True, "noise": 1e-6}
    found = ForceEstimator(cross, layout.markers, layout.candidates, **options).converge(real)
    assert found.certificate.converged and missed > 0.1
    assert found.young == pytest.approx(260 / 300, rel=1e-3)
    within(found.forces() - layout.applied, 2e-3, "force [N]")
    assert (np.abs(found.forces().ravel() - layout.applied.ravel()) < 2 * found.deviation("forces")).all()


def test_an_offset_that_all_markers_share_is_no_force(soft_sheet, within):
    """0.15 mm along z, as in the paper: an estimator with a stated offset does not take it for forces."""
    layout = sheet_layouts["s2"]
    misled = ForceEstimator(soft_sheet, layout.markers, layout.candidates, noise=1e-5)
    doubting = ForceEstimator(soft_sheet, layout.markers, layout.candidates, noise=1e-5, offset=2e-4)
    frame = truth(misled.robot, layout.applied).displacement["markers"].reshape(-1, 3) + np.array(
        [0, 0, 1.5e-4]
    )
    error = [np.abs(e.converge(frame).forces() - layout.applied).sum() for e in (misled, doubting)]
    assert error[0] > 0.1
    within(error[1], 0.02 * error[0], "force [N]")
    assert doubting.converge(frame).certificate.misfit < 1.0


def test_pushing_only_and_bounds(soft_sheet, within):
    layout = sheet_layouts["s3"]
    down = np.array([0.3, 0.2, 0.0, 0.0])
    options = {"direction": (0, 0, -1), "effort": (0.0, 0.25)}
    estimator = ForceEstimator(soft_sheet, layout.markers, layout.candidates, **options)
    real = truth(estimator.robot, down)
    noise = 1e-4 * np.random.default_rng(0).normal(size=len(real.displacement["markers"]))
    found = estimator.converge(real.displacement["markers"] + noise)
    force = found.effort["forces"]
    assert (force >= 0.0).all() and force[0] == 0.25 and "forces[0]" in found.certificate.at_bounds
    # No feasible change of the forces fits better: the whitened gradient points out of the bounds.
    A = estimator.model.influence(estimator.pose, estimator.commands) / 1e-4
    gradient = A.T @ (found.residual["markers"] / 1e-4)
    inside = (force > 0.0) & (force < 0.25)
    scale = np.linalg.norm(A, axis=0) * np.linalg.norm(found.residual["markers"] / 1e-4)
    within((gradient / scale)[inside], 1e-6, "gradient, inside")
    assert gradient[0] > 0.0 and (gradient[force == 0.0] <= 1e-6 * scale[force == 0.0]).all()


# Sensors of every kind, bodies of every kind


def bar(order=1):
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(10, 2, 2))
    clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(1, 0, 0))
    return pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.3), density=1100, fixed=clamp, order=order)


def test_shape_and_force_from_intrinsic_sensors_alone(within):
    """A bend sensor and the length of a slack string in the body, no markers (Duriez 2024, section 8.3)."""
    body = bar()
    path = [[x, 0.01, 0.01] for x in np.linspace(0.0, 0.09, 7)]
    string = [[x, 0.004, 0.016] for x in np.linspace(0.0, 0.09, 7)]
    rows = {
        "bend": pl.Row(pl.Curvature(body.points(path), normal=(0, 1, 0)), Measured()),
        "string": pl.Row(pl.Cable(body.points(string)), Measured()),
        "tip force": pl.Row(pl.PointForce(body.points([[0.1, 0.01, 0.02]]), direction=(0, 0, -1)), Unknown()),
        "push": pl.Row(pl.PointForce(body.points([[0.06, 0.0, 0.01]]), direction=(0, 1, 0)), Unknown()),
    }
    robot = pl.Robot(body, rows, gravity=(0, 0, -9.81))
    estimator = ForceEstimator(robot, noise={"bend": 0.05, "string": 1e-4})
    laws = {"tip force": Known(effort=0.15), "push": Known(effort=0.2)}
    real = pl.static(robot, laws)
    found = estimator.converge({name: real.displacement[name] for name in ("bend", "string")})
    within(found.effort["tip force"] - 0.15, EXACT, "tip force [N]")
    within(found.effort["push"] - 0.2, EXACT, "push [N]")
    within(found.positions - real.positions, 1e-7, "shape [m]")


def test_pressure_from_the_volume_of_another_cavity(within):
    """An unknown pressure, measured by a closed chamber beside it and two markers."""
    mesh = pl.mesh.block_with_cavity()
    body = pl.Solid(
        mesh,
        pl.Hooke(young=3e5, poisson=0.3),
        density=1100,
        fixed=lambda x: x[:, 2] < x[:, 2].min() + 1e-9,
        order=1,
    )
    (hollow,) = pl.mesh.cavity_surfaces(mesh)
    from pliant.robots.parts import cavity

    rows = {
        "volume": pl.Row(cavity(body, hollow), Measured()),
        "pressure": pl.Row(cavity(body, hollow), Unknown()),
    }
    robot = pl.Robot(body, rows)
    real = pl.static(robot, {"pressure": Known(effort=2e3)})
    found = ForceEstimator(robot, noise={"volume": 1e-9}).converge({"volume": real.displacement["volume"]})
    within(found.effort["pressure"] / 2e3 - 1.0, 1e-7, "pressure")


@pytest.mark.parametrize("kind", ["beam", "shell", "quadratic"])
def test_any_body(kind, within):
    law = pl.Hooke(young=1e6, poisson=0.3)
    if kind == "beam":
        from pliant.bodies import Rectangle

        body = pl.Beam(
            line((0, 0, 0), (0.2, 0, 0), elements=10), Rectangle(0.01, 0.008), law, density=1e3, fixed=0
        )
        markers, place = [[0.1, 0, 0], [0.2, 0, 0]], [[0.16, 0.0, 0.0]]
    elif kind == "shell":
        body = pl.Shell(
            pl.mesh.sheet((0.1, 0.04), cells=(8, 4)), law, 0.002, density=1e3, fixed=lambda x: x[:, 0] < 1e-9
        )
        markers, place = [[0.1, 0.0, 0.0], [0.1, 0.04, 0.0], [0.05, 0.02, 0.0]], [[0.08, 0.02, 0.0]]
    else:
        body, markers, place = (
            bar(order=2),
            [[0.1, 0, 0], [0.1, 0.02, 0.02], [0.05, 0, 0.02]],
            [[0.08, 0.01, 0.02]],
        )
    estimator = ForceEstimator(pl.Robot(body, {}, gravity=(0, 0, -9.81)), markers, place)
    force = np.array([0.01, -0.02, 0.03])
    found = estimator.converge(truth(estimator.robot, force).displacement["markers"])
    assert found.certificate.converged
    within(found.effort["forces"] - force, 1e-6, "force [N]")


def test_a_robot_held_by_a_drive(within):
    """A rod on a slider, without the pipe it goes into: nothing but the imposed insertion holds it."""
    full = rod()
    robot, laws = (
        pl.Robot(full.bodies, full.rows),
        {"insertion": Known(displacement=0.02), "cable 1": Known(effort=0.3)},
    )
    assert robot.rigid_modes() > 0
    markers = [[x, 0.0, 0.0] for x in (-0.06, -0.04, -0.02, 0.0)]
    estimator = ForceEstimator(robot, markers, markers[-1:], laws=laws)
    force = np.array([0.002, 0.003, -0.002])
    real = truth(estimator.robot, force, laws)
    found = estimator.converge(real.displacement["markers"])
    within(found.effort["forces"] - force, 1e-8, "force [N]")
    within(found.effort["insertion"] - real.effort["insertion"], 1e-8, "drive [N]")


# How sure


def test_intervals_contain_the_truth_as_often_as_they_say(soft_sheet):
    """95 % intervals over 300 frames of noise, six components each."""
    layout, rng = sheet_layouts["s1"], np.random.default_rng(7)
    estimator = ForceEstimator(soft_sheet, layout.markers, layout.candidates, noise=1e-4)
    real = truth(estimator.robot, layout.applied)
    inside, misfit = [], []
    for _ in range(300):
        estimator.reset(real.state)
        frame = real.displacement["markers"] + 1e-4 * rng.normal(size=3 * len(layout.markers))
        found = estimator.step(frame)
        low, high = found.interval("forces")
        inside.append((low <= layout.applied.ravel()) & (layout.applied.ravel() <= high))
        misfit.append(found.certificate.misfit)
    assert 0.93 < np.mean(inside) < 0.97  # 1800 components, not quite independent
    assert np.mean(np.square(misfit)) == pytest.approx(1.0, abs=0.05)


def test_covariance_includes_what_the_model_does_not_know(cross):
    """Errors of a wrong modulus or wrong tensions are those that the sensitivities predict."""
    layout, small = parallel_layouts["r2"], 1e-4
    options = {"laws": TENSIONS, "noise": 1e-13}
    plain = ForceEstimator(cross, layout.markers, layout.candidates, **options)
    real = truth(plain.robot, layout.applied, TENSIONS).displacement["markers"]
    stiffer = parallel(cells=(8, 2, 2), young=300e3 * np.exp(small))
    moved = ForceEstimator(stiffer, layout.markers, layout.candidates, **options).converge(real)
    doubt = ForceEstimator(cross, layout.markers, layout.candidates, young=small, **options).converge(real)
    assert doubt.deviation("forces") == pytest.approx(
        np.abs(moved.effort["forces"] - layout.applied.ravel()), rel=2e-2, abs=1e-8
    )
    pulled = {**TENSIONS, "cable 2": Known(effort=2.0 + small)}
    moved = ForceEstimator(cross, layout.markers, layout.candidates, **{**options, "laws": pulled}).converge(
        real
    )
    doubt = ForceEstimator(
        cross, layout.markers, layout.candidates, command_error={"cable 2": small}, **options
    ).converge(real)
    assert doubt.deviation("forces") == pytest.approx(
        np.abs(moved.effort["forces"] - layout.applied.ravel()), rel=2e-2, abs=1e-8
    )


def test_identifiability_counts_what_is_determined(soft_sheet):
    layout = sheet_layouts["s2"]
    report = ForceEstimator(soft_sheet, layout.markers, layout.candidates).identifiability()
    assert report.answerable and not report.warning and report.rank == 9
    W = pl.compliance(instrumented(soft_sheet, layout.markers, layout.candidates))["markers", "forces"]
    assert report.index == pytest.approx(1e-3 * np.abs(np.linalg.pinv(W)).sum(axis=0).max(), rel=1e-6)
    assert report.deviation == pytest.approx(1e-4 * np.linalg.norm(np.linalg.pinv(W), axis=1), rel=1e-6)
    with pytest.warns(pl.PliantWarning, match=r"only 3 of 6.*forces\[0\] and forces\[3\]"):
        estimator = ForceEstimator(soft_sheet, layout.markers, layout.candidates[[0, 0]])
    twice = estimator.identifiability()
    assert not twice.answerable and twice.rank == 3 and np.isinf(twice.deviation).all()
