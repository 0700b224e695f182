"""Generators: closed-form volumes, closed surfaces, cavities, symmetry, any parameters that make sense."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant import mesh as pm
from pliant.errors import InputError
from pliant.mesh.generate.grid import graded, through
from pliant.mesh.topology import clashing_cells, face_groups

KINDS = [("tet", 1), ("tet", 2), ("hex", 1), ("hex", 2)]
GENERATORS = {  # name: (generator, number of cavities, Euler characteristic of the whole surface)
    "box": (pm.box, 0, 2),
    "cylinder": (pm.cylinder, 0, 2),
    "tube": (pm.tube, 0, 0),
    "quarter tube": (lambda **k: pm.tube(angle=np.pi / 2, around=6, **k), 0, 2),
    "hollow_sphere": (pm.hollow_sphere, 1, 4),
    "octant": (lambda **k: pm.hollow_sphere(octant=True, **k), 0, 2),
    "block, sphere": (pm.block_with_cavity, 1, 4),
    "block, cylinder": (lambda **k: pm.block_with_cavity(shape="cylinder", **k), 1, 4),
    "bellows": (pm.bellows, 1, 4),
    "trunk": (pm.trunk, 0, 2),
    "finger": (pm.finger, 0, 2),
    "pneunet": (pm.pneunet, 1, 4),
    "tower": (pm.tower, 4, 10),
    "tripod": (pm.tripod, 0, 2),
}
ELSEWHERE = {"quarter tube", "octant"}  # parts for closed-form tests, smaller than a robot


def check_sound(mesh, cavities=None):
    """Positive cells, matching faces, one closed outward surface."""
    assert mesh.cell_volumes.min() > 0
    _, count = face_groups(mesh.cells, mesh.kind)
    assert count.max() == 2
    assert len(clashing_cells(mesh.cells, mesh.kind)) == 0
    assert len(mesh.components) == 1
    assert mesh.surface.closed
    if mesh.element.order == 1:
        assert mesh.surface.volume == pytest.approx(mesh.volume, rel=2e-2 if mesh.kind == "hex8" else 1e-9)
    if cavities is not None:
        assert len(pm.cavity_surfaces(mesh)) == cavities
        assert all(cavity.volume > 0 and cavity.euler == 2 for cavity in pm.cavity_surfaces(mesh))


@pytest.mark.parametrize(("kind", "order"), KINDS)
@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_is_sound_in_every_kind(name, kind, order):
    generate, cavities, euler = GENERATORS[name]
    mesh = generate(kind=kind, order=order)
    check_sound(mesh, cavities)
    assert mesh.surface.euler == euler
    corners = len(mesh.nodes) - len(mesh.midnodes)
    assert 300 <= corners <= 900 or name in ELSEWHERE
    if name not in ELSEWHERE:
        assert pm.quality(mesh).scaled_jacobian[0] > 0.05


# Closed forms


def polygon(n):
    """Area of a regular n-gon in the unit circle."""
    return n / 2 * np.sin(2 * np.pi / n)


def frustum(area, height, r0, r1):
    return area * height / 3 * (r0**2 + r0 * r1 + r1**2)


@pytest.mark.parametrize("kind", ["tet", "hex"])
def test_straight_cylinders_and_tubes_have_the_volume_of_prisms(kind):
    assert pm.cylinder(0.01, 0.1, kind=kind).volume == pytest.approx(polygon(12) * 1e-5, rel=1e-12)
    tube = pm.tube(0.006, 0.01, 0.1, around=20, kind=kind)
    assert tube.volume == pytest.approx(polygon(20) * (1e-4 - 0.36e-4) * 0.1, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "exact"),
    [
        (lambda n, **k: pm.cylinder(0.01, 0.03, around=n, along=3, **k), np.pi * 3e-6),
        (lambda n, **k: pm.tube(0.006, 0.01, 0.03, around=n, along=3, **k), np.pi * 0.64e-4 * 0.03),
        (lambda n, **k: pm.hollow_sphere(0.01, 0.02, around=n, across=2, **k), 4 / 3 * np.pi * 7e-6),
        (lambda n, **k: pm.block_with_cavity((0.04,) * 3, around=n, **k), 64e-6 - 4 / 3 * np.pi * 1e-6),
    ],
)
@pytest.mark.parametrize("kind", ["tet", "hex"])
def test_curved_shapes_converge_at_order_two_and_four(make, exact, kind):
    for order, rate in ((1, 2), (2, 4)):
        coarse, fine = (abs(make(n, kind=kind, order=order).volume - exact) for n in (16, 32))
        assert np.log2(coarse / fine) > rate - 0.35
    assert fine < 1e-4 * exact


@pytest.mark.parametrize("kind", ["tet", "hex"])
def test_mid_nodes_lie_on_the_true_shape(kind):
    sphere = pm.hollow_sphere(0.01, 0.02, kind=kind, order=2)
    for cavity, radius in zip(sphere.surface.components(), (0.02, 0.01)):
        assert np.linalg.norm(cavity.nodes[cavity.vertices], axis=1) == pytest.approx(radius, rel=1e-12)
    tube = pm.tube(0.006, 0.01, kind=kind, order=2)
    mantle = tube.surface.patch(lambda x: (x[:, 2] > 1e-6) & (x[:, 2] < 0.1 - 1e-6))
    radii = np.linalg.norm(tube.nodes[mantle.vertices, :2], axis=1)
    assert np.minimum(np.abs(radii - 0.006), np.abs(radii - 0.01)).max() < 1e-15
    (void,) = pm.cavity_surfaces(pm.block_with_cavity(shape="cylinder", kind=kind, order=2))
    side = void.patch(np.abs(void.facet_normals[:, 2]) < 0.5)
    assert np.linalg.norm(void.nodes[side.vertices, :2], axis=1) == pytest.approx(0.01, rel=1e-12)


def test_sectors_end_on_the_symmetry_planes():
    quarter = pm.tube(angle=np.pi / 2, around=6, order=2)
    assert quarter.nodes.min() == 0
    assert quarter.volume == pytest.approx(pm.tube(around=24, order=2).volume / 4, rel=1e-12)
    octant = pm.hollow_sphere(octant=True, order=2)
    assert octant.nodes.min() == 0
    assert octant.volume == pytest.approx(pm.hollow_sphere(order=2).volume / 8, rel=1e-9)


def test_block_cavities_have_the_volume_asked_for():
    (ball,) = pm.cavity_surfaces(pm.block_with_cavity(radius=0.012, around=32, order=2))
    assert ball.volume == pytest.approx(4 / 3 * np.pi * 0.012**3, rel=0.01)
    block = pm.block_with_cavity((0.05, 0.04, 0.06), shape="cylinder", radius=0.01, height=0.03, around=16)
    (can,) = pm.cavity_surfaces(block)
    assert can.volume == pytest.approx(polygon(16) * 1e-4 * 0.03, rel=1e-12)
    assert block.volume == pytest.approx(120e-6 - can.volume, rel=1e-12)


def test_bellows_hold_the_volume_of_their_profile():
    length, radius, amplitude, wall, end, n = 0.08, 0.014, 0.0025, 0.0015, 0.004, 5
    mesh = pm.bellows(length, around=32, steps=16, order=2)
    s = np.linspace(0, length - 2 * end, 20001)
    wave = 2 * np.pi * n / (length - 2 * end)
    r, slope = radius - amplitude * np.cos(wave * s), amplitude * wave * np.sin(wave * s)
    inner_r, inner_z = r - wall / np.hypot(1, slope), s + wall * slope / np.hypot(1, slope)
    (cavity,) = pm.cavity_surfaces(mesh)
    assert cavity.volume == pytest.approx(np.pi * np.trapezoid(inner_r**2, inner_z), rel=0.005)
    whole = np.pi * np.trapezoid(r**2, s) + 2 * end * np.pi * (radius - amplitude) ** 2
    assert mesh.volume + cavity.volume == pytest.approx(whole, rel=0.005)


def test_trunk_volume_regions_and_taper():
    mesh = pm.trunk(discs=4, thickness=0.01, length=0.1, base_radius=0.02, tip_radius=0.01, core=0.5)
    assert mesh.regions.max() == 1
    starts = np.linspace(0, 0.09, 4)
    r = lambda z: 0.02 - 0.1 * z
    core = frustum(polygon(8) * 0.25, 0.1, r(0), r(0.1))
    discs = sum(frustum(polygon(8), 0.01, r(z), r(z + 0.01)) for z in starts)
    inside = sum(frustum(polygon(8) * 0.25, 0.01, r(z), r(z + 0.01)) for z in starts)
    assert mesh.volume == pytest.approx(core + discs - inside, rel=1e-9)
    assert mesh.cell_volumes[mesh.regions == 1].sum() == pytest.approx(discs, rel=1e-9)
    assert mesh.bounds[:, 2] == pytest.approx([0, 0.1])


def test_trunk_cables_run_through_the_discs():
    mesh = pm.trunk()
    paths = pm.trunk_cables(4) + pm.trunk_cables(4, reach=0.5, turn=np.pi / 4)
    assert [len(path) for path in paths] == [20] * 4 + [10] * 4
    assert all(path[-1, 2] == pytest.approx(0.195) for path in paths[:4])
    assert all(0.4 < path[-1, 2] / 0.195 < 0.6 for path in paths[4:])
    # halfway through a disc the cable is in material: inside one of its tetrahedra
    corners = mesh.nodes[mesh.cells]
    inverse = np.linalg.inv((corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1))
    for path in paths:
        assert np.linalg.norm(path[0, :2]) == pytest.approx(0.8 * 0.016)
        for a, b in path.reshape(-1, 2, 3):
            xi = np.einsum("eij,ej->ei", inverse, (a + b) / 2 - corners[:, 0])
            assert np.minimum(xi.min(axis=1), 1 - xi.sum(axis=1)).max() > -1e-9


def test_finger_volume_and_cable():
    mesh = pm.finger(notches=5, notch=0.004, depth=0.009)
    assert mesh.volume == pytest.approx(0.1 * 0.015**2 - 5 * 0.004 * 0.009 * 0.015, rel=1e-12)
    path = pm.finger_cable(notches=5)
    assert len(path) == 12
    assert path[-1, 0] == pytest.approx(0.097)
    gaps = path[2::2, 0] - path[1:-1:2, 0]
    assert gaps == pytest.approx(0.004)


def test_pneunet_has_one_cavity_of_chambers_and_channel():
    mesh = pm.pneunet(4)
    (cavity,) = pm.cavity_surfaces(mesh)
    chambers = 4 * 0.01 * 0.012 * (0.018 - 0.003 - 0.002)
    channel = 3 * (2 * 0.002 + 0.002) * 0.004 * 0.002
    assert cavity.volume == pytest.approx(chambers + channel, rel=1e-9)
    layer = mesh.cell_volumes[mesh.regions == 1].sum()
    assert layer == pytest.approx(np.ptp(mesh.nodes[:, 0]) * 0.016 * 0.003, rel=1e-9)


def test_tower_cavities_go_up_and_around():
    mesh = pm.tower()
    cavities = pm.cavity_surfaces(mesh)
    assert [c.volume for c in cavities] == pytest.approx([(0.6 * 0.03 - 0.003) * 0.024 * 0.008] * 4, rel=1e-9)
    centres = np.array([c.nodes[c.vertices].mean(axis=0) for c in cavities])
    assert (np.diff(centres[:, 2]) > 0.015).all()
    sides = np.sign(np.round(centres[:, :2], 4))
    assert sides.tolist() == [[1, 0], [0, 1], [-1, 0], [0, -1]]
    assert sorted(set(mesh.regions)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("kind", ["tet", "hex"])
def test_tripod_is_threefold_and_its_ends_are_regions(kind):
    mesh = pm.tripod(kind=kind)
    turned = (
        np.round(mesh.nodes @ np.array([[-0.5, 0.75**0.5, 0], [-(0.75**0.5), -0.5, 0], [0, 0, 1]]), 9) + 0.0
    )
    rows = lambda x: {tuple(row) for row in x.tolist()}
    assert rows(turned) == rows(np.round(mesh.nodes, 9) + 0.0)
    ends = [mesh.cell_volumes[mesh.regions == leg].sum() for leg in (1, 2, 3)]
    assert ends == pytest.approx([0.018 * 0.006 * 0.008] * 3, rel=1e-9)
    hub = 0.018 / (2 * 3**0.5)
    s = np.linspace(0, 0.06 - 0.008 - hub, 2001)
    height = 0.0125 * (1 + np.cos(np.pi * s / s[-1]))
    arc = np.hypot(np.diff(s), np.diff(height)).sum()
    assert mesh.volume == pytest.approx(0.006 * (3 * 0.018 * (arc + 0.008) + 3**0.5 / 4 * 0.018**2), rel=0.01)


# Helpers and voxels


def test_graded_axes():
    x = graded(1.0, 6, 4.0)
    assert np.diff(x)[-1] / np.diff(x)[0] == pytest.approx(4)
    assert np.diff(x)[1:] / np.diff(x)[:-1] == pytest.approx(4 ** (1 / 5))
    both = np.diff(graded(1.0, 7, (3.0, 3.0)))
    assert both == pytest.approx(both[::-1])
    assert both[3] / both[0] == pytest.approx(3)
    assert graded(2.0, 1, 5.0).tolist() == [0, 2]
    mesh = pm.box(cells=(8, 2, 2), grade=(0.25, 1, 1), kind="hex")
    planes = np.unique(mesh.nodes[:, 0])
    assert np.ptp(planes[:2]) == pytest.approx(4 * np.ptp(planes[-2:]))
    with pytest.raises(InputError, match="grade"):
        graded(1.0, 3, -1.0)


def test_through_keeps_the_breaks():
    x = through([0, 0.3, 1.0], 0.25)
    assert x == pytest.approx([0, 0.15, 0.3, 0.3 + 0.7 / 3, 0.3 + 1.4 / 3, 1.0])


@pytest.mark.parametrize("kind", ["tet", "hex"])
def test_voxels_become_cells_with_their_label_as_region(kind):
    labels = np.zeros((3, 3, 4), int)
    labels[:, :, :2], labels[:, :, 2:] = 1, 7
    labels[1, 1, 1] = 0
    mesh = pm.from_voxels(labels, (1e-3, 2e-3, 3e-3), kind=kind)
    assert mesh.volume == pytest.approx(35 * 6e-9)
    assert mesh.cell_volumes[mesh.regions == 7].sum() == pytest.approx(18 * 6e-9)
    (cavity,) = pm.cavity_surfaces(mesh)
    assert cavity.volume == pytest.approx(6e-9)
    with pytest.raises(InputError, match="voxel"):
        pm.from_voxels(np.zeros((2, 2, 2)))


@given(st.integers(0, 2**31), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_any_voxels_are_cut_conformingly(seed, nx, ny, nz):
    mask = np.random.default_rng(seed).random((nx, ny, nz)) < 0.6
    mask[0, 0, 0] = True
    mesh = pm.from_voxels(mask, 1e-3)
    _, count = face_groups(mesh.cells, "tet4")
    assert count.max() <= 2
    assert mesh.surface.closed
    assert mesh.surface.volume == pytest.approx(mask.sum() * 1e-9)


# Any sensible parameters


MM = lambda lo, hi: st.floats(lo * 1e-3, hi * 1e-3)
SHAPES = st.sampled_from([("tet", 1), ("hex", 1), ("tet", 2), ("hex", 2)])
FEW = settings(max_examples=12, deadline=None)


@given(
    st.tuples(MM(5, 50), MM(5, 50), MM(5, 50)), st.tuples(*3 * [st.integers(1, 4)]), st.floats(0.2, 5), SHAPES
)
@FEW
def test_any_box(size, cells, grade, shape):
    mesh = pm.box(size, cells=cells, grade=(grade, (grade, 2.0), 1.0), kind=shape[0], order=shape[1])
    check_sound(mesh, 0)
    assert mesh.volume == pytest.approx(np.prod(size), rel=1e-9)


@given(MM(2, 30), MM(10, 200), st.integers(1, 6), st.integers(1, 3), st.integers(1, 4), SHAPES)
@FEW
def test_any_cylinder(radius, length, quarter, rings, along, shape):
    mesh = pm.cylinder(
        radius, length, around=4 * quarter, rings=rings, along=along, kind=shape[0], order=shape[1]
    )
    check_sound(mesh, 0)


@given(MM(2, 20), st.floats(1.05, 4), st.integers(3, 13), st.integers(1, 3), st.floats(0.3, 6.2), SHAPES)
@FEW
def test_any_tube(inner, ratio, around, across, angle, shape):
    for turn in (angle, 2 * np.pi):
        count = max(around, int(2 * turn) + 1)  # cells of more than half a radian may fold mid nodes over
        mesh = pm.tube(
            inner,
            inner * ratio,
            angle=turn,
            around=count,
            across=across,
            along=2,
            kind=shape[0],
            order=shape[1],
        )
        check_sound(mesh, 0)


@given(MM(2, 20), st.floats(1.2, 4), st.integers(2, 4), st.integers(1, 3), SHAPES)
@FEW
def test_any_hollow_sphere(inner, ratio, quarter, across, shape):
    mesh = pm.hollow_sphere(
        inner, inner * ratio, around=4 * quarter, across=across, kind=shape[0], order=shape[1]
    )
    check_sound(mesh, 1)


@given(
    st.floats(0.2, 0.85),
    st.floats(0.2, 0.85),
    st.floats(1, 2),
    st.sampled_from(["sphere", "cylinder"]),
    SHAPES,
)
@FEW
def test_any_block_with_cavity(share, tall, stretch, form, shape):
    mesh = pm.block_with_cavity(
        (0.03, 0.03 * stretch, 0.035), shape=form, radius=0.015 * share, height=0.035 * tall,
        around=16, kind=shape[0], order=shape[1],
    )  # fmt: skip
    check_sound(mesh, 1)


@given(st.integers(2, 8), st.floats(0.3, 0.85), MM(6, 20), MM(3, 20), SHAPES)
@FEW
def test_any_trunk(discs, core, base, tip, shape):
    check_sound(
        pm.trunk(discs=discs, core=core, base_radius=base, tip_radius=tip, kind=shape[0], order=shape[1]), 0
    )


@given(st.integers(1, 5), MM(4, 15), MM(1, 3), MM(1, 4), MM(2, 7), SHAPES)
@FEW
def test_any_pneunet(chambers, chamber, wall, gap, channel, shape):
    mesh = pm.pneunet(
        chambers, chamber=chamber, wall=wall, gap=gap, channel=(channel, 0.002), kind=shape[0], order=shape[1]
    )
    check_sound(mesh, 1)


@given(st.integers(1, 6), st.floats(0.25, 0.8), MM(2, 5), MM(1, 4), SHAPES)
@FEW
def test_any_tower(sections, depth, wall, slit, shape):
    mesh = pm.tower(sections, depth=depth, wall=wall, slit=slit, kind=shape[0], order=shape[1])
    check_sound(mesh, sections)


@given(st.integers(1, 5), MM(0, 2.5), MM(0.5, 1.5), st.integers(3, 8), SHAPES)
@FEW
def test_any_bellows(convolutions, amplitude, wall, steps, shape):
    mesh = pm.bellows(
        convolutions=convolutions, amplitude=amplitude, wall=wall, steps=steps, kind=shape[0], order=shape[1]
    )
    check_sound(mesh, 1)


@given(st.integers(1, 8), MM(2, 5), MM(4, 12), SHAPES)
@FEW
def test_any_finger(notches, notch, depth, shape):
    check_sound(pm.finger(notches=notches, notch=notch, depth=depth, kind=shape[0], order=shape[1]), 0)


@given(MM(40, 90), MM(8, 24), MM(3, 8), MM(0, 30), st.integers(1, 3), SHAPES)
@FEW
def test_any_tripod(reach, width, thickness, rise, half, shape):
    mesh = pm.tripod(
        reach, width=width, thickness=thickness, rise=rise, across=2 * half, kind=shape[0], order=shape[1]
    )
    check_sound(mesh, 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pm.box((0.1, -0.02, 0.02)),
        lambda: pm.box(cells=(0, 1, 1)),
        lambda: pm.box(kind="prism"),
        lambda: pm.box(order=3),
        lambda: pm.cylinder(around=10),
        lambda: pm.cylinder(radius=np.nan),
        lambda: pm.tube(0.02, 0.01),
        lambda: pm.tube(angle=7.0),
        lambda: pm.tube(around=2),
        lambda: pm.hollow_sphere(0.02, 0.01),
        lambda: pm.hollow_sphere(around=12, octant=True),
        lambda: pm.block_with_cavity(radius=0.03),
        lambda: pm.block_with_cavity(shape="cone"),
        lambda: pm.block_with_cavity(shape="cylinder", height=0.05),
        lambda: pm.bellows(amplitude=0.02),
        lambda: pm.bellows(wall=0.004),
        lambda: pm.bellows(end=0.05),
        lambda: pm.trunk(core=1.2),
        lambda: pm.trunk(discs=40),
        lambda: pm.trunk_cables(reach=2),
        lambda: pm.finger(depth=0.02),
        lambda: pm.finger(notches=40),
        lambda: pm.pneunet(channel=(0.03, 0.002)),
        lambda: pm.pneunet(0),
        lambda: pm.tower(depth=1.0),
        lambda: pm.tower(wall=0.03),
        lambda: pm.tripod(across=3),
        lambda: pm.tripod(0.01),
        lambda: pm.from_voxels(np.ones((2, 2, 2)), -1.0),
    ],
)  # fmt: skip
def test_impossible_parameters_are_named(call):
    with pytest.raises(InputError, match="expected"):
        call()
