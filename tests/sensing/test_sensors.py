"""Sensors of every kind: fitted to data, pressure patches, contacts with obstacles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant as pl
from pliant.laws import Known, Measured, Unknown
from pliant.sensing import Fitted, ForceEstimator, instrumented

EXACT = 1e-5  # [N]


def bar(order=1):
    mesh = pl.mesh.box((0.1, 0.02, 0.02), cells=(8, 2, 2))
    clamp = pl.mesh.near_plane(mesh, point=(0, 0, 0), normal=(1, 0, 0))
    return pl.Solid(mesh, pl.Hooke(young=3e5, poisson=0.3), density=1100, fixed=clamp, order=order)


@pytest.fixture(scope="module")
def body():
    return bar()


def bend(body):
    return pl.Curvature(body.points([[x, 0.01, 0.01] for x in np.linspace(0.0, 0.09, 4)]), normal=(0, 1, 0))


def voltage(x):
    """What a flex sensor shows: its own function of the two curvatures along it, unknown to us."""
    return 1.2 + 0.05 * np.tanh(0.08 * (x[..., 0] + 0.7 * x[..., 1])) + 2e-4 * x[..., 1]


def test_shape_and_force_from_a_sensor_fitted_to_data(body, within):
    """Force and shape from a flex sensor of unknown law and a string, calibrated on a trajectory of loads."""
    pushes = {"tip": (0.1, 0.01, 0.02), "side": (0.06, 0.01, 0.02)}
    rows = {
        name: pl.Row(pl.PointForce(body.points([place]), direction=(0, 0, -1)), Unknown())
        for name, place in pushes.items()
    }
    rows["bend"] = pl.Row(bend(body))
    rows["string"] = pl.Row(pl.Cable(body.points([[x, 0.01, 0.017] for x in (0.0, 0.05, 0.1)])), Measured())
    plain = pl.Robot(body, rows, gravity=(0, 0, -9.81))
    rng, shown = np.random.default_rng(0), []
    for _ in range(40):
        tip, side = rng.uniform(-0.15, 0.15), rng.uniform(-0.3, 0.3)
        laws = {"tip": Known(effort=tip), "side": Known(effort=side)}
        shown.append(pl.static(plain, laws).displacement["bend"])
    read = voltage(np.array(shown)) + 2e-5 * rng.normal(size=40)
    flex = Fitted.from_data(rows["bend"].interaction, shown, read, degree=3)
    assert flex.deviation[0] == pytest.approx(2e-5, rel=0.5)
    robot = pl.Robot(body, {**rows, "flex": pl.Row(flex, Measured())}, gravity=(0, 0, -9.81))
    estimator = ForceEstimator(robot, noise={"flex": float(flex.deviation[0]), "string": 1e-6})
    real = pl.static(plain, {"tip": Known(effort=0.12), "side": Known(effort=-0.2)})
    found = estimator.converge(
        {"flex": voltage(real.displacement["bend"]), "string": real.displacement["string"]}
    )
    assert found.certificate.converged
    for name, true in (("tip", 0.12), ("side", -0.2)):
        assert abs(found.effort[name][0] - true) < 4 * found.deviation(name)[0] < 0.05
    within(found.positions - real.positions, 2e-4, "shape [m]")


@given(st.integers(1, 3), st.integers(0, 100))
def test_fitted_sensors_have_the_gradient_of_their_value(degree, seed):
    body, rng = _BODY, np.random.default_rng(seed)
    inner = bend(body)
    x = inner.value(inner.rest)
    values = x + rng.normal(size=(30, len(x)))
    readings = np.column_stack([values.sum(axis=1) ** degree, np.sin(values[:, 0])])
    sensor = Fitted.from_data(inner, values, readings, degree=degree)
    assert sensor.size == 2
    p = inner.rest + 1e-3 * rng.normal(size=inner.rest.shape)
    if degree < 3:  # a polynomial of that degree is found exactly
        assert sensor.value(p)[0] == pytest.approx(inner.value(p).sum() ** degree, rel=1e-6, abs=1e-6)
    way = rng.normal(size=p.shape)
    h = 1e-7
    slope = (sensor.value(p + h * way) - sensor.value(p - h * way)) / (2 * h)
    gradient = sensor.gradient(p).reshape(2, -1, 3)
    assert np.einsum("kpi,pi->k", gradient, way) == pytest.approx(slope, rel=1e-4, abs=1e-4)


_BODY = bar()


def test_fitted_sensors_say_what_they_need(body):
    inner = bend(body)
    with pytest.raises(pl.InputError, match="at least 6"):
        Fitted.from_data(inner, np.zeros((5, 2)), np.zeros(5))
    with pytest.raises(pl.InputError, match="readings"):
        Fitted.from_data(inner, np.zeros((8, 2)), np.zeros(7))
    with pytest.raises(pl.InputError, match="degree"):
        Fitted.from_data(inner, np.zeros((8, 2)), np.zeros(8), degree=0)
    with pytest.raises(pl.InputError, match="function"):
        Fitted(inner, lambda x: x.sum(), lambda x: np.ones(3))
    own = Fitted(inner, lambda x: 2.0 * x.sum(), lambda x: np.full(2, 2.0), unit="kΩ")
    row = pl.Row(own, Measured())
    with pytest.raises(pl.InputError, match="kΩ"):  # its noise cannot be guessed
        ForceEstimator(pl.Robot(body, {"own": row}), candidates=[[0.1, 0.01, 0.02]], direction=(0, 0, 1))


def test_pressure_on_patches_is_found(body, within):
    """Two patches of the skin under unknown pressure, seen by markers: followers, that turn with the skin."""
    surface = body.mesh.surface
    middle = body.mesh.nodes[surface.triangles].mean(axis=1)
    top = surface.normals[:, 2] > 0.9
    outer, inner = top & (middle[:, 0] > 0.05), top & (middle[:, 0] < 0.05)
    rows = {}
    for name, chosen in (("outer", outer), ("inner", inner)):
        nodes, local = np.unique(surface.triangles[chosen], return_inverse=True)
        force = pl.SurfaceForce(body.node_points(nodes), local.reshape(-1, 3))
        rows[name] = pl.Row(force, Unknown())
    robot = instrumented(pl.Robot(body, rows), [[0.1, 0, 0], [0.1, 0.02, 0.02], [0.05, 0, 0.02]])
    real = pl.static(robot, {"outer": Known(effort=0.4), "inner": Known(effort=0.3)})
    assert np.abs(real.positions - body.mesh.nodes).max() > 5e-3
    found = ForceEstimator(robot).converge(real.displacement["markers"])
    assert found.certificate.converged
    within(found.effort["outer"] - 0.4, EXACT, "outer [N]")
    within(found.effort["inner"] - 0.3, EXACT, "inner [N]")


def test_contact_forces_with_a_known_obstacle_have_deviations(body):
    """The deviation of a contact force under an unknown force is that of many noisy frames."""
    floor = pl.Plane((0, 0, -0.003), (0, 0, 1), name="floor")
    markers = [[0.03, 0, 0.02], [0.03, 0.02, 0.02], [0.06, 0, 0.02], [0.06, 0.02, 0.02]]
    estimator = ForceEstimator(
        pl.Robot(body, {}), markers, [[0.06, 0.01, 0.02]], direction=(0, 0, -1), noise=1e-4, obstacles=[floor]
    )
    real = pl.static(estimator.robot, {"forces": Known(effort=0.6)}, obstacles=[floor])
    first = estimator.converge(real.displacement["markers"])
    assert first.contact_force.sum() == pytest.approx(real.contact_force.sum(), abs=EXACT)
    assert first.contact_force.sum() > 0.1
    assert (first.contact_deviation > 0.0).tolist() == (first.contact_force > 0.0).tolist()
    rng, seen = np.random.default_rng(1), []
    for _ in range(60):
        found = estimator.converge(real.displacement["markers"] + 1e-4 * rng.normal(size=12))
        seen.append(found.contact_force.sum())
    # The standard deviation of 60 samples is itself uncertain by 9 %.
    assert np.std(seen) == pytest.approx(first.contact_sum_deviation, rel=0.3)


# Doubts


def test_a_factor_that_commands_share_widens_the_covariance_and_is_found(body):
    """Two cables pulled 10 % too hard: a stated common factor is estimated, an unstated one seems a force."""
    paths = {"up": 0.016, "down": 0.004}
    rows = {
        name: pl.Row(pl.Cable(body.points([[x, 0.01, z] for x in (0.0, 0.05, 0.1)])), pl.Bounded())
        for name, z in paths.items()
    }
    robot = pl.Robot(body, rows)
    laws = {"up": Known(effort=3.0), "down": Known(effort=1.0)}
    markers, place = [[0.1, 0, 0], [0.1, 0.02, 0.02], [0.05, 0, 0.02]], [[0.08, 0.01, 0.02]]
    options = {"laws": laws, "noise": 1e-6, "command_error": {"up": 1e-3, "down": 1e-3}}
    doubting = ForceEstimator(robot, markers, place, command_scale=0.1, estimate_commands=True, **options)
    pulled = {name: Known(effort=1.1 * law.effort) for name, law in laws.items()}
    force = np.array([0.1, 0.05, -0.1])
    real = pl.static(doubting.robot, {**pulled, "forces": Known(effort=force)}).displacement["markers"]
    found = doubting.converge(real)
    assert found.command_error["up"] == pytest.approx(0.3, rel=0.05)
    assert found.command_error["down"] == pytest.approx(0.1, rel=0.05)
    assert np.abs(found.effort["forces"] - force).max() < 0.01
    assert (np.abs(found.effort["forces"] - force) < 3 * found.deviation("forces")).all()
    # Not estimated, the same factor widens the covariance by what it moves the estimate, here by finite
    # differences.
    wide = ForceEstimator(
        robot,
        markers,
        place,
        command_scale=1e-3,
        **{**options, "command_error": {"up": 1e-9, "down": 1e-9}, "noise": 1e-12},
    )
    nominal = pl.static(wide.robot, {**laws, "forces": Known(effort=force)}).displacement["markers"]
    more = {name: Known(effort=1.001 * law.effort) for name, law in laws.items()}
    moved = ForceEstimator(robot, markers, place, laws=more).converge(nominal).effort["forces"] - force
    assert wide.converge(nominal).deviation("forces") == pytest.approx(np.abs(moved), rel=2e-2, abs=1e-7)


def test_usual_doubts_know_what_loads_can_tell(body):
    from pliant.sensing import usual_doubts

    cable = pl.Cable(body.points([[x, 0.01, 0.016] for x in (0.0, 0.05, 0.1)]))
    robot = pl.Robot(body, {"cable": pl.Row(cable, pl.Bounded())})
    assert not usual_doubts(robot)["estimate_young"] and "command_error" not in usual_doubts(robot)
    pulled = usual_doubts(robot, {"cable": Known(effort=2.0)})
    assert pulled["estimate_young"] and pulled["command_error"] == {"cable": pytest.approx(0.1)}
    length = usual_doubts(robot, {"cable": Known(displacement=0.01)})
    assert not length["estimate_young"] and length["command_error"]["cable"] == pytest.approx(
        5e-3 * robot.length
    )
    assert usual_doubts(pl.Robot(body, {}, gravity=(0, 0, -9.81)))["estimate_young"]
    with pytest.raises(pl.InputError, match="command_scale"):
        ForceEstimator(robot, [[0.1, 0, 0]], [[0.08, 0.01, 0.02]], command_scale=0.1)


def test_deviations_are_what_doubts_make_of_them():
    """Errors over their stated deviations have unit variance, where doubts are drawn as stated.

    So they have whether modulus, tensions and offset are estimated or only widen the covariance.
    """
    from pliant.robots.parallel import parallel, parallel_layouts
    from pliant.sensing import usual_doubts

    layout, rng = parallel_layouts["r2"], np.random.default_rng(0)
    laws = {f"cable {n}": Known(effort=2.0) for n in range(1, 5)}
    model = parallel(cells=(8, 2, 2))
    doubts = usual_doubts(model, laws)
    wide = {name: value for name, value in doubts.items() if not name.startswith("estimate")}
    estimators = [
        ForceEstimator(model, layout.markers, layout.candidates, laws=laws, noise=1e-4, **chosen)
        for chosen in (doubts, wide)
    ]
    off = []
    for _ in range(16):
        young, factor = 300e3 * np.exp(0.05 * rng.normal()), 1.0 + 0.1 * rng.normal()
        pulled = {name: Known(effort=2.0 * factor + 0.1 * rng.normal()) for name in laws}
        plant = instrumented(parallel(cells=(8, 2, 2), young=young), layout.markers, layout.candidates)
        real = pl.static(plant, {**pulled, "forces": Known(effort=layout.applied.ravel())})
        seen = real.displacement["markers"].reshape(-1, 3) + doubts["offset"] * rng.normal(size=3)
        frame = seen + 1e-4 * rng.normal(size=seen.shape)
        found = [estimator.converge(frame) for estimator in estimators]
        off.append([(f.effort["forces"] - layout.applied.ravel()) / f.deviation("forces") for f in found])
    # 16 draws of nine components that depend on each other: σ of the mean square is about 15 %.
    assert np.mean(np.square(off), axis=(0, 2)) == pytest.approx([1.0, 1.0], abs=0.45)


# Reduced bodies


def test_a_reduced_body_feels_forces():
    """A sheet in 20 modes with sampled cells: exact on itself, and near the truth of the full model."""
    from pliant.reduction.ecsw import ecsw
    from pliant.reduction.pod import pod
    from pliant.reduction.reduce import reduce

    layout, rng = pl.robots.sheet_layouts["s1"], np.random.default_rng(0)
    full = instrumented(pl.robots.sheet(cells=(11, 1)), layout.markers, layout.candidates)
    shapes = np.array(
        [pl.static(full, {"forces": Known(effort=rng.uniform(-0.5, 0.5, 6))}).q for _ in range(24)]
    )
    basis = pod(full.body, shapes, modes=20)
    small = reduce(full, basis, ecsw(full.body, basis.modes, shapes))
    estimator = ForceEstimator(small)
    assert small.ndof < 0.05 * full.ndof
    laws = {"forces": Known(effort=layout.applied.ravel())}
    own = estimator.converge(pl.static(small, laws).displacement["markers"])
    assert own.certificate.converged
    assert own.forces() == pytest.approx(layout.applied, abs=EXACT)
    found = estimator.converge(pl.static(full, laws).displacement["markers"])
    assert np.abs(found.forces() - layout.applied).max() < 0.02  # of 0.4 N
    placed = ForceEstimator(pl.Robot(small.bodies, {}), layout.markers, layout.candidates)
    again = placed.converge(pl.static(full, laws).displacement["markers"])
    assert again.forces() == pytest.approx(found.forces(), abs=1e-6)
