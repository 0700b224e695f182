// Lines: cables coloured by their tension, the tip's trail, and the leash from effector to target.
import { Color, Vector2, Vector3 } from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { PALETTE } from "./colours.js";
import { expand } from "./bytes.js";

const TRAIL = 400; // points

class Fat {
  constructor(scene, options) {
    this.material = new LineMaterial({ vertexColors: true, transparent: true, ...options });
    this.mesh = new LineSegments2(new LineSegmentsGeometry(), this.material);
    this.mesh.frustumCulled = false;
    this.mesh.visible = false;
    scene.add(this.mesh);
  }

  set(points, colours) {
    this.mesh.visible = points.length > 0;
    if (!points.length) return;
    this.mesh.geometry.dispose();
    this.mesh.geometry = new LineSegmentsGeometry();
    this.mesh.geometry.setPositions(points);
    this.mesh.geometry.setColors(colours);
  }
}

export class Lines {
  constructor(scene, size) {
    this.resolution = new Vector2(...size);
    this.solid = new Fat(scene, { linewidth: 3 });
    this.hidden = new Fat(scene, { linewidth: 2, opacity: 0.4, depthTest: false });
    this.trail = new Fat(scene, { linewidth: 2, opacity: 0.85 });
    this.leash = new Fat(scene, { linewidth: 1.5, opacity: 0.8, depthTest: false });
    for (const fat of [this.hidden, this.leash]) fat.mesh.renderOrder = 5;
    this.show = { cables: true, trail: true };
    this.path = [];
    this.palette = PALETTE.light;
  }

  build(header) {
    this.cables = header.cables;
    this.path = [];
    this.segments = [];
    this.length = header.length;
  }

  // Time began anew: the trail, too.
  begin() {
    this.path = [];
  }

  resize(width, height) {
    for (const fat of [this.solid, this.hidden, this.trail, this.leash]) fat.material.resolution.set(width, height);
  }

  theme(name) {
    this.palette = PALETTE[name];
  }

  frame({ header, blocks }, rows) {
    const p = expand(blocks.lines, header.box, new Float32Array(blocks.lines.length));
    const points = [], colours = [];
    this.segments = []; // for picking: which cable a segment belongs to
    this.points = {}; // of each cable
    let at = 0;
    for (const [name, count] of this.cables) {
      const c = this.colour(name, header, rows);
      this.points[name] = Array.from({ length: count }, (_, k) => new Vector3().fromArray(p, 3 * (at + k)));
      for (let k = 0; k + 1 < count; k++) {
        const i = 3 * (at + k);
        if (!header.lost.includes(name)) {
          points.push(p[i], p[i + 1], p[i + 2], p[i + 3], p[i + 4], p[i + 5]);
          colours.push(c.r, c.g, c.b, c.r, c.g, c.b);
          this.segments.push([name, p.subarray(i, i + 6)]);
        }
      }
      at += count;
    }
    this.solid.set(this.show.cables ? points : [], colours);
    this.hidden.set(this.show.cables ? points : [], colours);
  }

  colour(name, header, rows) {
    const tension = header.effort[name]?.[0] ?? 0;
    if (tension <= 0) return new Color(this.palette.slack);
    const limit = rows[name]?.effort?.[1] ?? 0;
    const share = limit ? Math.min(1, tension / limit) : 0.5;
    return new Color(this.palette.taut).lerp(new Color(this.palette.hot), Math.sqrt(share));
  }

  // The trail of the first effector, and a leash from each effector to its target.
  follow(tips, targets) {
    if (tips.length) {
      const tip = tips[0];
      const last = this.path.at(-1);
      if (!last || last.distanceTo(tip) > 0.002 * this.length) this.path.push(tip.clone());
      if (this.path.length > TRAIL) this.path.shift();
    }
    const c = new Color(this.palette.target);
    const paper = new Color(this.palette.paper);
    const points = [], colours = [];
    for (let k = 0; k + 1 < this.path.length; k++) {
      points.push(...this.path[k].toArray(), ...this.path[k + 1].toArray());
      for (const j of [k, k + 1]) colours.push(...paper.clone().lerp(c, 0.15 + (0.75 * j) / this.path.length).toArray());
    }
    this.trail.set(this.show.trail ? points : [], colours);
    const leash = [];
    tips.forEach((tip, k) => targets[k] && leash.push(...tip.toArray(), ...targets[k].toArray()));
    this.leash.set(leash, leash.map((_, i) => c.toArray()[i % 3]));
  }
}
