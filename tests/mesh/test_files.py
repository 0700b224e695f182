"""Reading and writing: round trips, units, broken files, optional meshers."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import meshio
import numpy as np
import pytest

from pliant import mesh as pm
from pliant.errors import InputError, MeshError, MeshFileError, MissingExtraError, PliantWarning
from pliant.mesh.convert import doubts
from pliant.mesh.files import parse
from pliant.mesh.stl import lidded
from pliant.mesh.surface import Surface

KINDS = [("tet", 1), ("tet", 2), ("hex", 1), ("hex", 2)]
FORMATS = [
    (".vtk", True),
    (".vtk", False),
    (".vtu", True),
    (".vtu", False),
    (".msh", True),
    (".msh", False),
    (".inp", False),
]


def sample(kind="tet", order=1):
    mesh = pm.box((0.03, 0.02, 0.01), cells=(3, 2, 2), kind=kind, order=order)
    return mesh.with_regions(np.arange(len(mesh.cells)) % 3)


def fields(mesh):
    return {"displacement": mesh.nodes**2, "pressure": mesh.nodes[:, 0]}


@pytest.mark.parametrize(("suffix", "binary"), FORMATS)
@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_round_trip(tmp_path, kind, order, suffix, binary):
    mesh = sample(kind, order)
    data = {} if suffix == ".inp" else fields(mesh)
    path = pm.write(mesh, tmp_path / f"part{suffix}", point_data=data, binary=binary)
    again = pm.read(path)
    assert again.kind == mesh.kind
    assert again.nodes == pytest.approx(mesh.nodes, abs=1e-9 if suffix == ".vtu" and not binary else 1e-15)
    assert np.array_equal(again.cells, mesh.cells)
    if suffix != ".inp":
        assert np.array_equal(again.regions, mesh.regions)
        stored = meshio.read(path).point_data
        assert stored["pressure"] == pytest.approx(mesh.nodes[:, 0], abs=1e-9)
        assert stored["displacement"] == pytest.approx(mesh.nodes**2, abs=1e-9)


DISGUISED = [
    ("vtu", ".vtk", {"binary": False}),
    ("vtu", ".vtk", {"binary": True}),
    ("vtk42", ".vtu", {"binary": False}),
    ("vtk42", ".msh", {"binary": True}),
    ("vtk", ".vtu", {"binary": True}),
    ("gmsh", ".vtk", {"binary": True}),
    ("gmsh22", ".inp", {"binary": False}),
    ("abaqus", ".vtk", {}),
    ("vtu", ".stl", {"binary": True}),
]


@pytest.mark.parametrize(("variant", "suffix", "options"), DISGUISED)
def test_the_content_says_what_a_file_is(tmp_path, variant, suffix, options):
    """SOFA writes XML files with the ending .vtk."""
    mesh = sample()
    path = tmp_path / f"part{suffix}"
    meshio.write(path, meshio.Mesh(mesh.nodes * 1e3, [("tetra", mesh.cells)]), file_format=variant, **options)
    again = pm.read(path, unit="mm")
    assert np.array_equal(again.cells, mesh.cells) and again.nodes == pytest.approx(mesh.nodes)


@pytest.mark.parametrize("binary", [True, False])
def test_a_surface_under_another_name_is_a_surface(tmp_path, binary, no_mesher):
    surface = sample().surface
    path = tmp_path / "skin.vtk"
    content = meshio.Mesh(surface.nodes, [("triangle", surface.triangles)])
    meshio.write(path, content, file_format="stl", binary=binary)
    assert pm.read_sheet(path).area == pytest.approx(surface.area)
    with pytest.raises(MissingExtraError, match="STL"):
        pm.read(path)
    with pytest.raises(InputError, match="made here"):
        pm.read(path, merge=True)


def test_cracks_and_cells_that_are_there_twice_are_merged_on_reading(tmp_path):
    mesh = sample()
    halves = pm.join([mesh.subset(mesh.centres[:, 0] < 0.01), mesh.subset(mesh.centres[:, 0] > 0.01)])
    path = pm.write(halves, tmp_path / "cracked.vtu")
    with pytest.warns(PliantWarning, match="8 faces that touch without sharing nodes"):
        assert len(pm.read(path).components) == 2
    assert len(pm.read(path, merge=False).components) == 2
    for merge in (True, 1e-5):
        whole = pm.read(path, merge=merge)
        assert len(whole.components) == 1 and len(whole.nodes) == len(mesh.nodes)
        assert sorted(whole.regions) == sorted(mesh.regions)
    cells = np.vstack([mesh.cells, mesh.cells[:2]])
    meshio.Mesh(mesh.nodes, [("tetra", cells)]).write(tmp_path / "twice.vtu")
    with pytest.raises(MeshError, match=r"twice\.vtu.*2 again .*merge=True"):
        pm.read(tmp_path / "twice.vtu")
    assert pm.read(tmp_path / "twice.vtu", merge=True).volume == pytest.approx(mesh.volume)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("variant", ["gmsh", "gmsh22"])
def test_a_node_with_a_huge_number_takes_no_memory(tmp_path, variant, binary, monkeypatch):
    """The parser has a table of all numbers up to the largest."""
    mesh = sample()
    path = tmp_path / "part.msh"
    meshio.write(path, meshio.Mesh(mesh.nodes, [("tetra", mesh.cells)]), file_format=variant, binary=binary)
    raw = path.read_bytes()
    last = len(mesh.nodes)
    small, large = (n.to_bytes(8 if variant == "gmsh" else 4, "little") for n in (last, 2**31 - 1))
    if not binary:
        small, large = (b"\n%d%s" % (n, b"\n" if variant == "gmsh" else b" ") for n in (last, 2**31 - 1))
    at = raw.rindex(small, 0, raw.index(b"$EndNodes"))
    path.write_bytes(raw[:at] + large + raw[at + len(small) :])
    if (variant, binary) != ("gmsh22", True):  # there the parser refuses all numbers but 1, 2, 3 …
        monkeypatch.setattr(meshio.gmsh, "read", lambda _: pytest.fail("parsed"))
    with pytest.raises(MeshError, match=r"part\.msh"):
        pm.read(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.vtk",
            "# vtk DataFile Version 4.2\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n"
            "POINTS 1000000000000 double\n0 0 0\n",
        ),
        ("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1000000000000\n1 0 0 0\n$EndNodes\n"),
        (
            "a.msh",
            "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
            "$Nodes\n1 1000000000000 1 1\n3 1 0 1\n1\n0 0 0\n$EndNodes\n",
        ),
        ("a.ply", "ply\nformat ascii 1.0\nelement vertex 1000000000000\nproperty float x\nend_header\n"),
        ("a.ply", "ply\nformat ascii 1.0\nelement vertex 3\n"),
    ],
)  # fmt: skip
def test_counts_that_a_file_cannot_hold_are_refused_before_it_is_parsed(tmp_path, name, text, monkeypatch):
    path = tmp_path / name
    path.write_text(text)
    for kind in ("vtk", "gmsh", "ply"):
        monkeypatch.setattr(getattr(meshio, kind), "read", lambda _: pytest.fail("parsed"))
    with pytest.raises(MeshError, match=name):
        pm.read_sheet(path)


def test_a_sheet_with_a_node_that_is_no_number(tmp_path):
    sheet = pm.sheet((0.1, 0.1), cells=(2, 2))
    nodes = sheet.nodes.copy()
    nodes[3, 1] = np.nan
    for ending in (".stl", ".vtk"):
        path = tmp_path / f"sheet{ending}"
        meshio.Mesh(nodes, [("triangle", sheet.cells)]).write(path)
        with pytest.raises(MeshError, match=rf"sheet\{ending}.* NaN or infinity"):
            pm.read_sheet(path)


@pytest.mark.parametrize(
    ("unit", "metres"), [("m", 1), ("cm", 1e-2), ("mm", 1e-3), ("um", 1e-6), ("in", 0.0254)]
)
def test_units(tmp_path, unit, metres):
    mesh = sample()
    path = pm.write(mesh, tmp_path / "part.vtu", unit=unit)
    assert np.asarray(meshio.read(path).points) == pytest.approx(mesh.nodes / metres)
    assert pm.read(path, unit=unit).nodes == pytest.approx(mesh.nodes)
    with pytest.raises(InputError, match="mm"):
        pm.read(path, unit="mmm")


def test_a_file_in_millimetres_read_as_metres_warns(tmp_path):
    path = pm.write(sample(), tmp_path / "part.vtk", unit="mm")
    with pytest.warns(PliantWarning, match="wrong unit"):
        pm.read(path)


@pytest.mark.parametrize(("suffix", "binary"), FORMATS)
def test_truncated_files_never_pass_as_whole(tmp_path, suffix, binary):
    mesh = sample("tet", 1)
    whole = pm.write(mesh, tmp_path / f"whole{suffix}", binary=binary).read_bytes()
    path = tmp_path / f"cut{suffix}"
    for length in np.linspace(0, len(whole) - 3, 40).astype(int):
        path.write_bytes(whole[:length])
        try:
            again = pm.read(path)
        except (MeshError, PliantWarning) as error:  # PliantWarning is an error in these tests
            assert str(path) in str(error) or "wrong unit" in str(error)
        else:
            assert np.array_equal(again.cells, mesh.cells)  # only the tail behind the cells was missing


@pytest.mark.parametrize("suffix", [".vtk", ".vtu", ".msh", ".inp", ".stl"])
@pytest.mark.parametrize(
    "content", [b"", b"garbage", bytes(range(256)) * 40, b"# vtk DataFile Version 2.0\n\n", b"*NODE\n"]
)
def test_garbage_is_a_mesh_error_that_names_the_file(tmp_path, suffix, content, capsys):
    path = tmp_path / f"junk{suffix}"
    path.write_bytes(content)
    with pytest.raises(MeshError, match=f"junk{suffix}"):
        pm.read(path)
    printed = capsys.readouterr()
    assert printed.out + printed.err == ""


def test_missing_files_folders_and_unknown_endings(tmp_path):
    for path, message in [
        (tmp_path / "none.vtk", "nothing there"),
        (tmp_path / "none.step", "nothing there"),
        (tmp_path / "part.doc", "vtk"),
        (tmp_path / "part", "no ending"),
    ]:
        with pytest.raises(MeshError, match=message):
            pm.read(path)
    (tmp_path / "folder.vtk").mkdir()
    with pytest.raises(MeshError, match="a folder"):
        pm.read(tmp_path / "folder.vtk")
    with pytest.raises(MeshError, match=r"none/part\.vtu"):
        pm.write(sample(), tmp_path / "none" / "part.vtu")
    with pytest.raises(InputError, match="vtk"):
        pm.write(sample(), tmp_path / "part.obj")


def test_point_data_that_does_not_fit(tmp_path):
    with pytest.raises(InputError, match="rows"):
        pm.write(sample(), tmp_path / "part.vtu", point_data={"u": np.zeros(3)})
    with pytest.raises(InputError, match="INP"):
        pm.write(sample(), tmp_path / "part.inp", point_data=fields(sample()))
    with pytest.raises(MeshError, match="components"):
        pm.write(sample(), tmp_path / "part.msh", point_data={"u": np.zeros((len(sample().nodes), 2))})


def test_deformed_positions_are_written_even_when_inverted(tmp_path):
    mesh = sample()
    path = pm.write(mesh, tmp_path / "part.vtu", positions=-mesh.nodes)
    assert np.asarray(meshio.read(path).points) == pytest.approx(-mesh.nodes)
    with pytest.raises(InputError, match="positions"):
        pm.write(mesh, tmp_path / "part.vtu", positions=mesh.nodes[1:])


def test_flat_cells_are_ignored_and_logged(tmp_path, caplog):
    mesh = sample()
    triangles = mesh.surface.triangles
    content = meshio.Mesh(
        mesh.nodes, [("triangle", triangles), ("line", triangles[:, :2]), ("tetra", mesh.cells)]
    )
    content.write(tmp_path / "mixed.vtk")
    with caplog.at_level(logging.INFO, logger="pliant.mesh.files"):
        again = pm.read(tmp_path / "mixed.vtk")
    assert np.array_equal(again.cells, mesh.cells)
    assert f"'triangle': {len(triangles)}" in caplog.text


def test_volume_cells_of_a_second_kind_and_unused_nodes_are_reported(tmp_path):
    tets, cube = sample(), pm.box((0.01,) * 3, cells=(1, 1, 1), kind="hex")
    nodes = np.vstack([tets.nodes, cube.nodes + 0.1])
    content = meshio.Mesh(nodes, [("tetra", tets.cells), ("hexahedron", cube.cells + len(tets.nodes))])
    content.write(tmp_path / "mixed.vtu")
    with pytest.warns(PliantWarning) as caught:
        again = pm.read(tmp_path / "mixed.vtu")
    assert [str(w.message).split("mixed.vtu: ")[1] for w in caught] == [
        "keeps 60 tet4, ignores 1 hex8",
        "8 nodes that no tet4 uses are dropped, the others renumbered",
    ]
    assert np.array_equal(again.nodes, tets.nodes)


def test_a_surface_alone_is_no_volume_mesh(tmp_path):
    surface = sample().surface
    meshio.Mesh(surface.nodes, [("triangle", surface.triangles)]).write(tmp_path / "skin.vtk")
    with pytest.raises(MeshError, match=r"tetrahedra or hexahedra, got \d+ triangle"):
        pm.read(tmp_path / "skin.vtk")


def test_exporters_that_mirror_cells_are_forgiven_but_folds_are_not(tmp_path):
    mesh = sample()
    cells = mesh.cells.copy()
    cells[::3] = cells[::3][:, mesh.element.flip]
    meshio.Mesh(mesh.nodes, [("tetra", cells)]).write(tmp_path / "mirrored.vtk")
    assert np.array_equal(pm.read(tmp_path / "mirrored.vtk").cells, mesh.cells)
    nodes = mesh.nodes.copy()
    inner = np.argmin(np.linalg.norm(nodes - [0.02, 0.01, 0.005], axis=1))
    nodes[inner, 0] += 0.017
    meshio.Mesh(nodes, [("tetra", mesh.cells)]).write(tmp_path / "folded.vtk")
    with pytest.raises(MeshError, match=r"folded\.vtk: .*inverted"):
        pm.read(tmp_path / "folded.vtk")


def test_newer_vtk_and_msh_versions_and_27_node_hexahedra(tmp_path):
    mesh = sample("hex", 2)
    content = meshio.Mesh(mesh.nodes, [("hexahedron20", mesh.cells)])
    for name, variant in (("a.vtk", "vtk51"), ("b.msh", "gmsh")):
        meshio.write(tmp_path / name, content, file_format=variant)
        assert np.array_equal(pm.read(tmp_path / name).cells, mesh.cells)
    centres = mesh.nodes[mesh.cells].mean(axis=1)
    extra = len(mesh.nodes) + np.repeat(np.arange(len(mesh.cells))[:, None], 7, axis=1)
    full = meshio.Mesh(np.vstack([mesh.nodes, centres]), [("hexahedron27", np.hstack([mesh.cells, extra]))])
    full.write(tmp_path / "full.vtu")
    with pytest.warns(PliantWarning, match="dropped"):
        again = pm.read(tmp_path / "full.vtu")
    assert np.array_equal(again.cells, mesh.cells)


def test_importing_the_package_loads_no_file_or_plot_library():
    code = "import sys, pliant.mesh; print([m for m in ('meshio', 'matplotlib') if m in sys.modules])"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"


# Meshers


def write_stl(surface, path, unit=1e-3):
    meshio.Mesh(surface.nodes / unit, [("triangle", surface.triangles)]).write(path, file_format="stl")
    return path


STEP_OF_A_BOX = """
from netgen.occ import Box, Pnt
Box(Pnt(0, 0, 0), Pnt(30, 20, 10)).WriteStep({path!r})
"""


@pytest.fixture
def no_mesher(monkeypatch):
    """As if neither the extras nor gmsh were installed."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")


def test_stl_and_step_name_the_extra_they_need(tmp_path, no_mesher):
    with pytest.raises(MissingExtraError, match=r"pliant\[stl\]"):
        pm.read(write_stl(sample().surface, tmp_path / "part.stl"), unit="mm")
    (tmp_path / "part.step").write_text("ISO-10303-21;")
    with pytest.raises(MissingExtraError, match=r"pliant\[step\]"):
        pm.read(tmp_path / "part.step")
    with pytest.raises(InputError, match="carries its own"):
        pm.read(tmp_path / "part.step", unit="mm")
    with pytest.raises(InputError, match="positive edge length"):
        pm.read(tmp_path / "part.step", size=-1)
    with pytest.raises(InputError, match="mesh already"):
        pm.read(pm.write(sample(), tmp_path / "part.vtk"), size=0.01)


@pytest.mark.skipif(os.name != "posix", reason="the stand-in is a shell script")
def test_gmsh_on_the_path_is_called_when_the_extras_are_missing(tmp_path, no_mesher, monkeypatch):
    made = pm.write(sample(), tmp_path / "made.msh", unit="mm")
    script = tmp_path / "gmsh"
    script.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/called\nwhile [ $# -gt 1 ]; do shift; done\n/bin/cp {made} "$1"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "part.step").write_text("ISO-10303-21;")
    stl = write_stl(sample().surface, tmp_path / "part.stl")
    for mesh in (pm.read(tmp_path / "part.step", size=0.002), pm.read(stl, unit="mm", size=0.002)):
        assert mesh.volume == pytest.approx(sample().volume)
        assert "-3 " in (tmp_path / "called").read_text() and "-clmax 2 " in (tmp_path / "called").read_text()
    hollow = write_stl(pm.hollow_sphere().surface, tmp_path / "hollow.stl")
    with pytest.raises(MissingExtraError, match="stl"):  # gmsh would fill the void
        pm.read(hollow, unit="mm")
    script.write_text("#!/bin/sh\necho no solid here\nexit 3\n")
    with pytest.raises(MeshError, match=r"part\.step.*exit code 3.*no solid here"):
        pm.read(tmp_path / "part.step")


CUT = {
    "binary": (lambda raw, text: raw[: len(raw) // 2], "bytes for the .* triangles that it announces"),
    "binary that says solid": (
        lambda raw, text: b"solid".ljust(80) + raw[80:-9],
        "triangles that it announces",
    ),
    "head": (lambda raw, text: raw[:60], "neither"),
    "nothing": (lambda raw, text: b"", "neither"),
    "text in a line": (lambda raw, text: text[: len(text) // 2], "endsolid"),
    "text between facets": (lambda raw, text: text[: text.rindex(b"facet normal")], "endsolid"),
    "a corner that is lost": (lambda raw, text: text.replace(b"vertex", b"", 1), "three vertices"),
    "no stl": (lambda raw, text: b"PK\x03\x04" + bytes(range(256)), "neither"),
}


@pytest.mark.parametrize("damage", CUT)
def test_what_is_wrong_with_an_stl_is_said(tmp_path, damage, no_mesher):
    """Not what a parser stumbles over, such as bytes that are no UTF-8."""
    content = meshio.Mesh(sample().surface.nodes, [("triangle", sample().surface.triangles)])
    for name, binary in (("raw", True), ("text", False)):
        content.write(tmp_path / f"{name}.stl", file_format="stl", binary=binary)
    change, said = CUT[damage]
    path = tmp_path / "bad.stl"
    path.write_bytes(change((tmp_path / "raw.stl").read_bytes(), (tmp_path / "text.stl").read_bytes()))
    with pytest.raises(MeshFileError, match=said) as found:
        pm.read(path)
    assert "Error" not in str(found.value)


def test_open_surfaces_and_shells_to_the_same_side_are_told():
    outer, inner = sample().surface, sample().scaled(0.5).surface
    middle = 0.25 * np.ptp(outer.nodes, axis=0)
    both = lambda triangles: Surface(
        np.vstack([outer.nodes, inner.nodes + middle]),
        np.vstack([outer.triangles, triangles + len(outer.nodes)]),
        np.zeros(2 * len(outer)),
    )
    assert doubts(outer) == doubts(both(inner.triangles[:, ::-1])) == []
    assert "are filled" in doubts(both(inner.triangles))[0]
    assert "3 edges" in doubts(outer.patch(np.arange(len(outer)) > 0))[0]


def test_an_stl_text_may_have_accents_blank_lines_and_capitals(tmp_path):
    """As CAD programs write them: the content counts, not the layout."""
    surface = sample().surface
    meshio.Mesh(surface.nodes, [("triangle", surface.triangles)]).write(
        tmp_path / "part.stl", file_format="stl", binary=False
    )
    plain = (tmp_path / "part.stl").read_bytes()
    (tmp_path / "other.stl").write_bytes(
        b"solid Pr\xfcfling"
        + plain[5:].replace(b"vertex", b"\r\n VERTEX").replace(b"endfacet", b"endfacet\n")
        + b"\n\n"
    )
    first, second = (parse(tmp_path / name, "stl") for name in ("part.stl", "other.stl"))
    for content in (first, second):
        (block,) = content.cells
        a, b, c = np.moveaxis(content.points[block.data], 1, 0)
        assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(surface.volume, rel=1e-6)
        assert len(content.points) == len(surface.vertices)


def test_holes_get_flat_lids():
    """A box without two opposite sides encloses its volume again, and stays as it is where it is closed."""
    surface = pm.box((0.03, 0.02, 0.01), cells=(3, 2, 1)).surface
    corners = surface.nodes[surface.triangles]
    side = np.ptp(corners[:, :, 0], axis=1) < 1e-12
    points, triangles, lids = lidded(surface.nodes, surface.triangles[~side])
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    assert lids == 2
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(6e-6, rel=1e-12)
    assert lidded(surface.nodes, surface.triangles)[2] == 0


def test_stl_with_pytetwild(tmp_path, monkeypatch):
    pytest.importorskip("pytetwild")
    monkeypatch.chdir(tmp_path)
    shell = pm.hollow_sphere(0.01, 0.02).surface
    mesh = pm.read(write_stl(shell, Path("shell.stl")), unit="mm", size=0.004)
    assert mesh.volume == pytest.approx(shell.volume, rel=0.02)
    assert len(pm.cavity_surfaces(mesh)) == 1
    assert mesh.surface.closed
    assert [file.name for file in tmp_path.iterdir()] == ["shell.stl"]  # nothing left behind


def test_step_with_netgen(tmp_path):
    pytest.importorskip("netgen")
    path = tmp_path / "part.step"
    subprocess.run([sys.executable, "-c", STEP_OF_A_BOX.format(path=str(path))], check=True)
    mesh = pm.read(path, size=0.005)
    assert mesh.volume == pytest.approx(6e-6, rel=1e-6)
    assert mesh.bounds[1] == pytest.approx([0.03, 0.02, 0.01])
    path.write_text("no STEP file")
    with pytest.raises(MeshError, match=r"part\.step"):
        pm.read(path)
