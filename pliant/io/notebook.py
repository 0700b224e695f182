"""Robots, meshes, results and recordings in notebooks: a picture that can be turned, in a frame of its own.

The frame is complete in itself, a few tens of kilobytes: triangles of the skin as whole numbers, and a
script that draws them in a canvas, farthest first. It asks for nothing from anywhere.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.contact.obstacles.surfaces import joined
from pliant.frame import Frame, Touch
from pliant.io.packet import quantised
from pliant.io.recording import Recording
from pliant.stage import Stage, polylines

MOST_FRAMES = 60  # of a recording that is shown
BITS = 15
HEIGHT = 380  # [px]
COLOUR, THING = (118, 169, 182), (214, 178, 132)


def recording_of(results: Sequence[Any], *, summary: str = "", period: float = 0.05) -> Recording:
    """Results of one robot, one after the other, as a recording: each stands for `period` seconds."""
    robot = results[0].robot
    stage = Stage.of(robot, summary=summary)
    cables, things = [name for name, _ in stage.cables], _things(robot)
    frames = [
        Frame(
            step=step,
            time=step * period,
            mode="forward",
            positions=result.positions,
            lines=polylines(robot, result.state.q, cables),
            effort=dict(result.effort),
            displacement=dict(result.displacement),
            command={},
            target={},
            error={},
            touch=Touch.none(),
            status=result.certificate.status,
            words=str(result.certificate),
            obstacles={thing.name or f"obstacle {k}": thing.data() for k, thing in enumerate(things)},
        )
        for step, result in enumerate(results)
    ]
    return Recording(stage, tuple(frames))


def robot_html(robot: Any) -> str:
    """A robot as it was built, with its rows below."""
    stage = Stage.of(robot)
    cables = [name for name, _ in stage.cables]
    rest = robot.positions(robot.rest.q)[stage.vertices][None]
    lines = polylines(robot, robot.rest.q, cables)[None]
    rows = ", ".join(f"{row.name} ({row.kind}, {row.role})" for row in stage.rows)
    return scene(rest, stage, lines, _things(robot), f"{robot.name}: {rows or 'no rows'}")


def result_html(result: Any) -> str:
    """A result or an outcome: the deformed robot, what its certificate says, and the numbers of its rows."""
    robot = result.robot
    stage = Stage.of(robot)
    cables = [name for name, _ in stage.cables]
    places = result.positions[stage.vertices][None]
    lines = polylines(robot, result.state.q, cables)[None]
    return scene(places, stage, lines, _things(robot), str(result.certificate)) + rows_table(result, stage)


def mesh_html(mesh: Any) -> str:
    """A mesh: its skin."""
    triangles = mesh.surface.triangles
    vertices, local = np.unique(triangles, return_inverse=True)
    return drawn(mesh.nodes[vertices][None], local.reshape(-1, 3), repr(mesh))


def recording_html(recording: Recording) -> str:
    """A recording: a light player of at most `MOST_FRAMES` of its frames."""
    stage, every = recording.stage, max(1, -(-len(recording) // MOST_FRAMES))
    frames = recording.frames[::every]
    if not frames:
        return f"<p>{html.escape(stage.robot)}: a recording without frames</p>"
    places = np.array([frame.positions[stage.vertices] for frame in frames])
    lines = np.array([frame.lines for frame in frames])
    words = f"{stage.robot}: {len(recording)} frames, {recording.frames[-1].time:.4g} s"
    return scene(places, stage, lines, (), words)


def study_html(study: Any) -> str:
    """A study: what it repeats, and its parts."""
    parts = "".join(f"<li>{html.escape(str(part))}</li>" for part in study.parts)
    return f"<p><b>{html.escape(study.name)}</b>: {html.escape(study.title)}</p><ul>{parts}</ul>"


def rows_table(result: Any, stage: Stage) -> str:
    """Efforts and displacements by row, with units."""
    lines = []
    for row in stage.rows:
        numbers = [_numbers(values[row.name]) for values in (result.effort, result.displacement)]
        cells = (row.name, f"{numbers[0]} {row.effort_unit}", f"{numbers[1]} {row.unit}")
        lines.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    return f"<table><tr><th>row</th><th>effort λ</th><th>displacement δ</th></tr>{''.join(lines)}</table>"


def _numbers(values: np.ndarray) -> str:
    shown = ", ".join(f"{value:.4g}" for value in values[:3])
    return f"{shown} …" if len(values) > 3 else shown


def scene(places: np.ndarray, stage: Stage, lines: np.ndarray, things: Sequence[Any], words: str) -> str:
    """The skin at places (frames, v, 3) [m] with its cables (frames, p, 3) and obstacles."""
    span = np.ptp(places.reshape(-1, 3), axis=0)
    around = joined([t.surface(places.reshape(-1, 3).mean(axis=0), float(span.max())) for t in things])
    counts = [count for _, count in stage.cables]
    return drawn(places, stage.triangles, words, lines=lines, counts=counts, around=around, up=stage.up)


def drawn(
    places: np.ndarray,
    triangles: np.ndarray,
    words: str,
    *,
    lines: np.ndarray | None = None,
    counts: Sequence[int] = (),
    around: Any = None,
    up: Any = (0.0, 0.0, 1.0),
) -> str:
    """An HTML frame with a picture that can be turned; with several frames, one that plays."""
    frames = len(places)
    around = joined([]) if around is None else around
    lines = np.zeros((frames, 0, 3)) if lines is None else lines
    fixed = np.broadcast_to(around[0], (frames, *np.shape(around[0])))
    points = np.concatenate([places, fixed, lines], axis=1)
    whole, box = quantised(points, BITS)
    skin, other = places.shape[1], len(around[0])
    facts = {
        "points": points.shape[1],
        "skin": len(triangles),
        "lines": [skin + other, list(map(int, counts))],
        "up": np.asarray(up, float).tolist(),
        "step": box[3:],
        "half": (2**BITS - 1) / 2,
        "colours": [COLOUR, THING],
    }
    joint = np.concatenate([triangles, np.asarray(around[1]) + skin])
    data = [_packed(whole.astype("<u2")), _packed(joint.astype("<u4"))]
    page = PAGE.replace("FACTS", json.dumps(facts)).replace("DATA", json.dumps(data))
    page = page.replace("WORDS", html.escape(words)).replace("PLAYS", "" if frames > 1 else "hidden")
    frame = html.escape(page, quote=True)
    style = f"width:100%;height:{HEIGHT}px;border:1px solid #8884;border-radius:6px"
    return f'<iframe style="{style}" sandbox="allow-scripts" srcdoc="{frame}"></iframe>'


def live_html(url: str) -> str:
    """A studio that runs, in a cell."""
    return f'<iframe style="width:100%;height:620px;border:0" src="{html.escape(url, quote=True)}"></iframe>'


def _things(robot: Any) -> tuple[Any, ...]:
    return tuple(robot.surroundings.obstacles)


def _packed(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


PAGE = """<!doctype html><meta charset="utf-8"><style>
html,body{margin:0;height:100%;font:13px system-ui;color:#8893a0;overflow:hidden}
canvas{width:100%;height:calc(100% - 30px);touch-action:none;cursor:grab;display:block}
p{margin:0;height:30px;display:flex;gap:8px;align-items:center;padding:0 8px;white-space:nowrap}
</style><canvas></canvas><p><button PLAYS>▶</button><input type="range" value="0" min="0" PLAYS>
<span>WORDS</span></p><script>
const facts = FACTS, data = DATA;
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
const whole = new Uint16Array(bytes(data[0])), triangles = new Uint32Array(bytes(data[1]));
const n = facts.points, frames = whole.length / (3 * n);
const size = facts.step.map(s => 2 * facts.half * s), far = Math.hypot(...size) || 1;
const canvas = document.querySelector("canvas"), pen = canvas.getContext("2d");
const [button, slider] = [document.querySelector("button"), document.querySelector("input")];
slider.max = frames - 1;
let azimuth = -1, elevation = 0.3, zoom = 1, frame = 0, playing = 0;
const unit = v => v.map(x => x / Math.hypot(...v));
const cross = (a, b) => [a[1]*b[2]-a[2]*b[1], a[2]*b[0]-a[0]*b[2], a[0]*b[1]-a[1]*b[0]];
const up = unit(facts.up), e1 = unit(cross(up, Math.abs(up[0]) < .9 ? [1,0,0] : [0,1,0])), e2 = cross(up, e1);
function axes() {
  const c = Math.cos(azimuth), s = Math.sin(azimuth), ce = Math.cos(elevation), se = Math.sin(elevation);
  const flat = e1.map((x, k) => c * x + s * e2[k]);
  const towards = flat.map((x, k) => ce * x + se * up[k]), right = cross(up, flat);
  return [right, cross(towards, right), towards];
}
function draw() {
  const wide = canvas.width = canvas.clientWidth * devicePixelRatio;
  const tall = canvas.height = canvas.clientHeight * devicePixelRatio;
  const scale = zoom * 0.92 * Math.min(wide, tall) / far, [a, b, t] = axes();
  const x = new Float32Array(n), y = new Float32Array(n), z = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    const p = [0, 1, 2].map(k => (whole[3 * (frame * n + i) + k] - facts.half) * facts.step[k]);
    x[i] = wide / 2 + scale * (a[0]*p[0] + a[1]*p[1] + a[2]*p[2]);
    y[i] = tall / 2 - scale * (b[0]*p[0] + b[1]*p[1] + b[2]*p[2]);
    z[i] = scale * (t[0]*p[0] + t[1]*p[1] + t[2]*p[2]);
  }
  const count = triangles.length / 3, depth = new Float32Array(count), order = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    order[i] = i; depth[i] = z[triangles[3*i]] + z[triangles[3*i+1]] + z[triangles[3*i+2]];
  }
  order.sort((i, j) => depth[i] - depth[j]);
  for (const i of order) {
    const [p, q, r] = [triangles[3*i], triangles[3*i+1], triangles[3*i+2]];
    const u = [x[q]-x[p], y[q]-y[p], z[q]-z[p]], v = [x[r]-x[p], y[r]-y[p], z[r]-z[p]], m = cross(u, v);
    const light = 0.45 + 0.55 * Math.abs(m[2] - 0.4 * m[1]) / (1.08 * Math.hypot(...m) || 1);
    const rgb = facts.colours[i < facts.skin ? 0 : 1].map(c => Math.round(c * light));
    pen.fillStyle = pen.strokeStyle = `rgb(${rgb})`;
    pen.beginPath(); pen.moveTo(x[p], y[p]); pen.lineTo(x[q], y[q]); pen.lineTo(x[r], y[r]);
    pen.closePath(); pen.fill(); pen.lineWidth = 0.7; pen.stroke();
  }
  let at = facts.lines[0];
  pen.strokeStyle = "#17202b"; pen.lineWidth = 1.5 * devicePixelRatio;
  for (const count of facts.lines[1]) {
    pen.beginPath();
    for (let i = 0; i < count; i++, at++) pen.lineTo(x[at], y[at]);
    pen.stroke();
  }
}
canvas.onpointerdown = e => canvas.setPointerCapture(e.pointerId);
canvas.onpointermove = e => {
  if (!e.buttons) return;
  azimuth -= e.movementX / 150;
  elevation = Math.max(-1.5, Math.min(1.5, elevation + e.movementY / 150)); draw();
};
canvas.onwheel = e => { e.preventDefault(); zoom *= Math.exp(-e.deltaY / 600); draw(); };
slider.oninput = () => { frame = +slider.value; draw(); };
button.onclick = () => {
  playing = playing ? clearInterval(playing) || 0
    : setInterval(() => { slider.value = frame = (frame + 1) % frames; draw(); }, 50);
  button.textContent = playing ? "❚❚" : "▶";
};
addEventListener("resize", draw); draw();
</script>"""
