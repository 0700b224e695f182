"""The kinds of files that pliant reads, for `pliant bench fuzz`."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.bench.fuzz_kind import Kind, bar, of_file
from pliant.bench.fuzz_mutation import Damage
from pliant.bodies import Circle
from pliant.contact import ContactBasis
from pliant.errors import MissingExtraError
from pliant.frame import Frame, Touch
from pliant.io.recording import Recorder, Recording
from pliant.io.streams import Frame as Markers
from pliant.io.streams import MarkerFile, write_markers
from pliant.membrane.measurements import read_measurements
from pliant.project import load as load_project
from pliant.project.build import read_lines, write_lines
from pliant.reduction import Snapshots, collect
from pliant.reduction.ecsw import Sampling
from pliant.reduction.fingerprint import Fingerprint
from pliant.reduction.model import ReducedModel
from pliant.reduction.plans import Plan
from pliant.reduction.saved import load as load_model
from pliant.reduction.saved import save as save_model
from pliant.reduction.state_basis import StateBasis
from pliant.stage import Stage

Writer = Callable[[Path], Sequence[Path]]


# Meshes


def _meshes(folder: Path, *, ending: str, binary: bool = False, variant: str | None = None) -> list[Path]:
    """A box of tetrahedra with regions, and one of hexahedra."""
    import meshio

    made = []
    for name, kind in (("tets", "tet"), ("hexes", "hex")):
        mesh = pl.mesh.box((0.02, 0.01, 0.01), cells=(2, 1, 1), kind=kind)
        path = folder / f"{name}{ending}"
        if variant is None:
            pl.mesh.write(mesh.with_regions(np.arange(len(mesh.cells)) % 2), path, binary=binary)
        else:
            block = ("tetra" if kind == "tet" else "hexahedron", mesh.cells)
            meshio.write(path, meshio.Mesh(mesh.nodes, [block]), file_format=variant, binary=binary)
        made.append(path)
    return made


def _sheets(folder: Path, *, ending: str, **options: Any) -> list[Path]:
    import meshio

    sheet = pl.mesh.sphere_sheet(0.01, cells=2)
    path = folder / f"ball{ending}"
    with contextlib.redirect_stderr(io.StringIO()):
        meshio.write(path, meshio.Mesh(sheet.nodes, [("triangle", sheet.cells)]), **options)
    return [path]


def _solid(path: Path) -> None:
    """The mesh of an STL file, or as far as it is read where no mesher is installed."""
    with contextlib.suppress(MissingExtraError):
        pl.mesh.read(path, unit="mm")


MESHES = [
    of_file(
        f"mesh {name}", ending, partial(_meshes, ending=ending, **options), partial(pl.mesh.read, merge=merge)
    )
    for name, ending, merge, options in (
        ("vtk", ".vtk", None, {}),
        ("vtk binary", ".vtk", True, {"binary": True}),
        ("vtk 5.1", ".vtk", None, {"variant": "vtk", "binary": True}),
        ("vtu", ".vtu", None, {}),
        ("vtu binary", ".vtu", None, {"binary": True}),
        ("msh 2", ".msh", None, {}),
        ("msh 2 binary", ".msh", None, {"binary": True}),
        ("msh 4", ".msh", True, {"variant": "gmsh", "binary": False}),
        ("msh 4 binary", ".msh", None, {"variant": "gmsh", "binary": True}),
        ("inp", ".inp", None, {}),
    )
]
SHEETS = [
    of_file(f"sheet {name}", ending, partial(_sheets, ending=ending, **options), pl.mesh.read_sheet)
    for name, ending, options in (
        ("stl", ".stl", {"binary": False}),
        ("stl binary", ".stl", {"binary": True}),
        ("ply", ".ply", {"binary": False}),
        ("ply binary", ".ply", {"binary": True}),
        ("obj", ".obj", {}),
    )
]
SOLID = of_file("solid stl", ".stl", partial(_sheets, ending=".stl", binary=True), _solid)


# Projects

PROJECT = """format = 1
name = "bar"
summary = "A bar"
gravity = [0, 0, -9.81]

[[bodies]]
mesh = "../tets.vtu"
unit = "m"
fixed = [{ plane = { point = [0, 0, 0], normal = [1, 0, 0] } }]
materials = [{ law = "Hooke", young = 3e5, poisson = 0.4, density = 1000 }]

[cables.pull]
through = [[0.001, 0.005, 0.008], [0.01, 0.005, 0.008], [0.019, 0.005, 0.008]]
effort = [0, 20]

[forces.push]
nodes = [3]

[effectors.tip]
points = [[0.02, 0.005, 0.005]]
target = [0.02, 0.005, 0.006]

[obstacles.ball]
kind = "sphere"
centre = [0.02, 0.005, -0.05]
radius = 0.02

[contact]
friction = 0.3

[demonstration.commands.pull]
displacement = 0.001

[hardware]
rate = 50
[hardware.devices.drive]
driver = "serial"
port = "/dev/null"
[hardware.channels.pull]
device = "drive"
id = 1
spool_radius = 0.01
"""
RODS = """format = 1
name = "rod"

[[bodies]]
lines = "../rod.npz"
model = "kirchhoff"
materials = [{ library = "dragon skin 30", poisson = 0.48 }]
fixed = [{ nodes = [0] }]

[cables.pull]
along = { arc = [0.01, 0.05], offset = [0.001, 0] }
anchor = [0, 0, 0.001]
"""


def _rod() -> pl.Beam:
    lines = pl.mesh.line((0, 0, 0), (0.1, 0, 0), elements=3)
    return pl.Beam(lines, Circle(0.002), pl.Hooke(young=1e6, poisson=0.4), density=1000.0)


def _rods(folder: Path) -> list[Path]:
    write_lines(folder / "rod.npz", _rod())
    return [folder / "rod.npz"]


def _projects(folder: Path) -> list[Path]:
    _meshes(folder, ending=".vtu")
    _rods(folder)
    made = []
    for name, text in (("bar.toml", PROJECT), ("rods.toml", RODS)):
        made.append(folder / name)
        made[-1].write_text(text, encoding="utf-8")
    return made


# Reduced models, snapshots


@cache
def _contact() -> ContactBasis:
    return ContactBasis(
        index=np.arange(3),
        modes=np.eye(3)[:, :2] + 0.1,
        touched=np.full(3, -1),
        corner_ptr=np.array([0, 1, 1, 2]),
        corner=np.arange(6).reshape(2, 3),
        offset=np.zeros(2),
        fade=0.01,
        opponents=("floor",),
        samples=5,
        digest="0" * 16,
    )


def _model(path: Path) -> Path:
    robot = bar()
    rest = robot.body.coordinates.rest
    modes = np.stack([rest[:, [0]] * np.eye(3)[axis] for axis in range(3)], axis=2)
    sampling = Sampling(np.arange(4), np.full(4, 2.0), len(robot.body.mesh.cells), 0.01, 7)
    basis = StateBasis(modes, "given", np.ones(3), ("one",))
    return save_model(ReducedModel(Fingerprint.of(robot), basis, sampling, 0, None, {"plan": "none"}), path)


def _models(folder: Path) -> list[Path]:
    plain = load_model(_model(folder / "model.npz"))
    touching = ReducedModel(plain.fingerprint, plain.basis, None, 0, _contact())
    return [folder / "model.npz", save_model(touching, folder / "touching.npz")]


def _reduced(path: Path) -> None:
    """The reduced robot too, where its contacts are not those of another."""
    model = load_model(path)
    if model.contact is None:
        model.on(bar())


def _snapshots(path: Path) -> Path:
    rest = bar().rest.q
    arrays = [np.ones((2, 1)), np.tile(rest, (2, 1)), np.zeros((2, 3)), np.zeros(2, int), np.arange(2)]
    extra = {"responses": np.zeros((2, 1, len(rest)))}
    Snapshots(Fingerprint.of(bar()), ("cable",), ("effort",), *arrays, extra=extra).save(path)
    return path


def _basis(path: Path) -> Path:
    _contact().save(path)
    return path


PLAN = Plan(("cable",), ("effort",), (np.ones((2, 1)),))


def _campaign(folder: Path) -> list[Path]:
    _snapshots(folder / "trajectory 0001.npz")
    collect(bar(), PLAN, folder=folder)
    return [folder / "campaign.json"]


def _continued(data: bytes, folder: Path) -> bool:
    """A campaign whose trajectories are all there: nothing is run."""
    (folder / "campaign.json").write_bytes(data)
    if not (folder / "trajectory 0001.npz").exists():
        _snapshots(folder / "trajectory 0001.npz")
    collect(bar(), PLAN, folder=folder)
    return True


# Recordings, markers, measurements


def _recording(folder: Path) -> list[Path]:
    robot = bar()
    path = folder / "run.mcap"
    values = {"cable": np.zeros(1), "tip": np.array([0.1, 0.01, 0.01])}
    with Recorder(path, Stage.of(robot, summary="A bar")) as recorder:
        for step in range(3):
            frame = Frame(
                step=step,
                time=0.02 * step,
                mode="inverse",
                positions=robot.positions(robot.rest.q),
                lines=np.zeros((3, 3)),
                effort=values,
                displacement=values,
                command={"cable": np.zeros(1)},
                target={"tip": values["tip"]},
                error={"tip": np.zeros(3)},
                touch=Touch(np.zeros((1, 3)), np.ones((1, 3)), ("floor",)),
                status="reached",
                words="At its target.",
                timings={"solve": 0.001},
            )
            recorder.write(frame)
            recorder.note("event", 0.02 * step, {"what": "start", "reason": "a test"})
    return [path]


def _replayed(path: Path) -> None:
    run = Recording.read(path)
    _ = run.positions, run.signals


def _recording_inside(data: bytes, damage: Damage) -> bytes:
    """A recording of which one message, or the stage, is changed."""
    from mcap.records import Attachment, Channel, Message, Metadata, Schema
    from mcap.stream_reader import StreamReader
    from mcap.writer import Writer

    out = io.BytesIO()
    writer, records = Writer(out), list(StreamReader(io.BytesIO(data)).records)
    kept = [r for r in records if isinstance(r, (Schema, Channel, Message, Metadata, Attachment))]
    content = [k for k, r in enumerate(kept) if not isinstance(r, (Schema, Channel))]
    chosen = content[int(damage.rng.integers(len(content)))]
    change = lambda k, raw: damage(raw) if k == chosen else raw
    writer.start()
    for k, r in enumerate(kept):
        if isinstance(r, Schema):
            writer.register_schema(r.name, r.encoding, r.data)
        elif isinstance(r, Channel):
            writer.register_channel(r.topic, r.message_encoding, r.schema_id)
        elif isinstance(r, Message):
            writer.add_message(r.channel_id, r.log_time, change(k, r.data), r.publish_time, r.sequence)
        elif isinstance(r, Metadata):
            said = change(k, r.metadata["json"].encode()).decode(errors="replace")
            writer.add_metadata(r.name, {"json": said})
        else:
            writer.add_attachment(r.create_time, r.log_time, r.name, r.media_type, change(k, r.data))
    writer.finish()
    return out.getvalue()


MOTIVE = """Format Version,1.23,Take Name,Take,Length Units,Millimeters

,Type,Marker,Marker,Marker
,Name,tip,tip,tip
,ID,1,1,1
,,Position,Position,Position
Frame,Time (Seconds),X,Y,Z
0,0.000,1.0,2.0,3.0
1,0.010,1.0,,3.0
"""
MEASUREMENTS = """# pulley_a = 0, 0
# pulley_b = 0.1, 0
x [mm], y [mm], force_x [N], force_y [mN], angle [deg]
10, 20, 0.5, 100,
20, 20, , 120, 30
"""


def _tables(folder: Path) -> list[Path]:
    frames = [Markers(0.01 * k, np.arange(6.0).reshape(2, 3), ("tip", "base")) for k in range(4)]
    (folder / "motive.csv").write_text(MOTIVE, encoding="utf-8")
    return [write_markers(folder / "markers.csv", frames), folder / "motive.csv"]


def _measurements(folder: Path) -> list[Path]:
    (folder / "forces.csv").write_text(MEASUREMENTS, encoding="utf-8")
    return [folder / "forces.csv"]


def _recorded_kind() -> Kind:
    plain = of_file("recording", ".mcap", _recording, _replayed)
    return Kind(plain.name, plain.seeds, plain.read, _recording_inside)


KINDS = (
    *MESHES,
    *SHEETS,
    SOLID,
    of_file("project", ".toml", _projects, load_project),
    of_file("rods", ".npz", _rods, read_lines),
    of_file("reduced model", ".npz", _models, _reduced),
    of_file("snapshots", ".npz", lambda folder: [_snapshots(folder / "shots.npz")], Snapshots.load),
    of_file("contact basis", ".npz", lambda folder: [_basis(folder / "basis.npz")], ContactBasis.load),
    Kind("campaign", lambda folder: [p.read_bytes() for p in _campaign(folder)], _continued),
    _recorded_kind(),
    of_file("markers", ".csv", _tables, MarkerFile),
    of_file("markers recorded", ".mcap", _recording, partial(MarkerFile, row="tip")),
    of_file("measurements", ".csv", _measurements, read_measurements),
)
