// What is picked on the skin while building: the held face, the way of a cable, a tip; and handles that move a cable.
import { BufferGeometry, Group, Line, LineBasicMaterial, Mesh, MeshBasicMaterial, Points, PointsMaterial, SphereGeometry, Vector3 } from "three";
import { PALETTE } from "./colours.js";

const NEAR = 10; // pixels around a handle that count as it
const STRIDE = 1 / 60; // of the length: the least way between two points that are drawn
const POINTS = 9; // of a cable that was drawn

export class Pick {
  constructor(app) {
    this.app = app;
    this.group = new Group();
    this.material = new MeshBasicMaterial({ depthTest: false, transparent: true });
    this.way = new Line(new BufferGeometry(), new LineBasicMaterial({ depthTest: false, transparent: true, linewidth: 2 }));
    this.way.frustumCulled = this.way.visible = false;
    this.way.renderOrder = 8;
    this.pins = new Points(new BufferGeometry(), new PointsMaterial({ size: 6, sizeAttenuation: false, transparent: true, opacity: 0.75 }));
    this.pins.frustumCulled = false;
    app.stage.scene.add(this.group, this.way, this.pins);
  }

  theme(name) {
    this.material.color.set(PALETTE[name].push);
    this.way.material.color.set(PALETTE[name].push);
    this.pins.material.color.set(PALETTE[name].ghost);
  }

  // With `same` it is the same robot, edited: what is being drawn or dragged goes on.
  build(draft, same) {
    this.draft = draft;
    const again = draft?.cables[this.shown] ? this.shown : null;
    if (!same) this.end();
    this.pins.geometry.dispose();
    this.pins.geometry = new BufferGeometry().setFromPoints((draft?.held ?? []).map((p) => new Vector3(...p)));
    this.show(again);
  }

  end() {
    this.drawn = this.held = null;
    this.way.visible = false;
  }

  // Handles on a cable, or none.
  show(name) {
    this.shown = name;
    this.group.clear();
    const count = this.draft?.cables[name]?.length ?? 0;
    for (let k = 0; k < count; k++) {
      const ball = new Mesh(this.ball ??= new SphereGeometry(1, 16, 12), this.material);
      ball.renderOrder = 9;
      this.group.add(ball);
    }
    this.frame();
  }

  frame() {
    const points = this.app.lines.points?.[this.shown] ?? [];
    this.group.visible = points.length === this.group.children.length && points.length > 0;
    this.group.children.forEach((ball, k) => {
      ball.scale.setScalar(0.011 * this.app.scene.length);
      if (this.held !== k && points[k]) ball.position.copy(points[k]);
    });
    this.app.stage.stale = true;
  }

  handle(event) {
    if (!this.group.visible) return null;
    const k = this.group.children.findIndex((ball) => {
      const [x, y] = this.app.stage.toPage(ball.position);
      return Math.hypot(x - event.clientX, y - event.clientY) < NEAR;
    });
    return k < 0 ? null : k;
  }

  // The place on the undeformed skin under the pointer, with its normal there; null beside the body.
  place(event) {
    const { skin, grab } = this.app;
    const hit = skin.mesh ? grab.aim(event).intersectObject(skin.mesh)[0] : null;
    if (!hit) return null;
    const { vertices, weights } = skin.weights(hit);
    const [a, b, c] = vertices.map((v) => new Vector3().fromArray(skin.rest, 3 * v));
    return { hit: hit.point, rest: skin.at(vertices, weights, skin.rest), normal: b.sub(a).cross(c.sub(a)).normalize() };
  }

  // Whether the press was for building.
  down(event) {
    const { tool } = this.app.build;
    const handle = tool ? null : this.handle(event);
    if (handle !== null) return (this.held = handle), true;
    const at = tool ? this.place(event) : null;
    if (!at) return false;
    if (tool === "clamp") this.send({ do: "clamp", at: at.rest.toArray(), normal: at.normal.toArray() });
    if (tool === "tip") this.send({ do: "effector", name: "", at: at.rest.toArray() });
    if (tool === "cable") this.drawn = [at];
    return true;
  }

  send(message) {
    this.app.send(message);
    this.app.build.use(null);
  }

  get busy() {
    return this.drawn !== null || this.held !== null;
  }

  move(event) {
    const at = this.busy ? this.place(event) : null;
    if (!at) return;
    if (this.held !== null) {
      this.group.children[this.held].position.copy(at.hit);
      this.moved = at.rest;
    } else if (at.rest.distanceTo(this.drawn.at(-1).rest) > STRIDE * this.app.scene.length) {
      this.drawn.push(at);
      this.way.geometry.dispose();
      this.way.geometry = new BufferGeometry().setFromPoints(this.drawn.map((p) => p.hit));
      this.way.visible = true;
    }
    this.app.stage.stale = true;
  }

  up() {
    const { drawn, held, moved } = this;
    if (drawn?.length > 1) this.send({ do: "cable", name: "", through: spread(drawn.map((p) => p.rest)).map((p) => p.toArray()) });
    else if (drawn) this.app.bar.toast("A cable is drawn: press on the body, and move along it.");
    if (held !== null && moved) {
      const through = this.draft.cables[this.shown].map((p, k) => (k === held ? moved.toArray() : p));
      this.app.send({ do: "cable", name: this.shown, through });
    }
    this.moved = null;
    this.end();
  }
}

// At most so many of the points, evenly along them, the first and the last among them.
function spread(points) {
  const count = Math.min(POINTS, points.length);
  return Array.from({ length: count }, (_, k) => points[Math.round((k * (points.length - 1)) / (count - 1))]);
}
