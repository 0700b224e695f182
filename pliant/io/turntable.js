// Draws triangles in a canvas, farthest first, and turns them under the pointer; with several frames it plays.
const held = id => Uint8Array.from(atob(document.getElementById(id).textContent), c => c.charCodeAt(0)).buffer;
const facts = JSON.parse(new TextDecoder().decode(held("facts")));
const whole = new Uint16Array(held("points")), triangles = new Uint32Array(held("triangles"));
const n = facts.points, frames = whole.length / (3 * n);
const size = facts.step.map(s => 2 * facts.half * s), far = Math.hypot(...size) || 1;
const canvas = document.querySelector("canvas"), pen = canvas.getContext("2d");
const [button, slider] = [document.querySelector("button"), document.querySelector("input")];
slider.max = frames - 1;
button.hidden = slider.hidden = frames < 2;
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
  if (!wide || !tall) return;
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
new ResizeObserver(draw).observe(canvas);  // at first, too: a frame may have no size yet
