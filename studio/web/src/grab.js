// What the pointer does in the scene: drag a target or an obstacle, pull the skin, click a cable. Dragging elsewhere turns the view.
import { Object3D, Plane, Raycaster, Vector2, Vector3 } from "three";
import { TransformControls } from "three/examples/jsm/controls/TransformControls.js";

const NEAR = 24; // pixels around a target that count as it
const GRIP = 24; // pixels around the middle of an obstacle where it moves freely, whichever arrow passes there
const CLICK = 5; // pixels that a click may move

export class Grab {
  constructor(app) {
    this.app = app;
    this.stage = app.stage;
    this.canvas = app.stage.renderer.domElement;
    this.ray = new Raycaster();
    this.drag = null;
    this.selected = null; // { target } or { obstacle }
    this.proxy = new Object3D();
    this.stage.scene.add(this.proxy);
    this.gizmo = new TransformControls(this.stage.camera, this.canvas);
    this.gizmo.setSize(0.6);
    this.gizmo.showXY = this.gizmo.showYZ = this.gizmo.showXZ = false;
    this.gizmo.setColors(0xd9622b, 0x2a8c82, 0x4a7fb5, 0xf0ad45);
    this.helper = this.gizmo.getHelper();
    this.stage.scene.add(this.helper);
    this.gizmo.addEventListener("change", () => (this.stage.stale = true));
    this.gizmo.addEventListener("dragging-changed", (e) => {
      this.stage.orbit.enabled = !e.value;
      this.sliding = e.value;
      if (e.value) this.app.touched();
    });
    this.gizmo.addEventListener("objectChange", () => this.sliding && this.moveSelected(this.proxy.position));
    this.canvas.addEventListener("pointerdown", (e) => this.down(e), true);
    this.canvas.addEventListener("pointermove", (e) => this.hover(e));
    addEventListener("pointermove", (e) => this.move(e));
    addEventListener("pointerup", (e) => this.up(e));
    addEventListener("pointercancel", (e) => this.up(e));
  }

  // Which thing is held, so that frames that are a little old do not pull it back.
  get heldTarget() {
    return this.drag?.target ?? (this.moving ? this.selected?.target : null);
  }

  get heldObstacle() {
    return this.drag?.obstacle ?? (this.moving ? this.selected?.obstacle : null);
  }

  // By its arrows, or just now by a key, a stick or the pointer.
  get moving() {
    return this.sliding || performance.now() - (this.nudged ?? -Infinity) < 300;
  }

  select(what) {
    this.selected = what;
    this.stage.stale = true;
    this.app.things.select(what?.obstacle);
    this.app.panel.selected(what);
    this.attach();
  }

  // The arrows stand at what is selected.
  attach() {
    const object = this.object(this.selected);
    const able = object?.visible && this.app.able;
    if (!able) return this.gizmo.detach();
    if (!this.sliding) this.proxy.position.copy(object.position);
    if (this.gizmo.object !== this.proxy) this.gizmo.attach(this.proxy);
  }

  object(what) {
    if (what?.target) return this.app.marks.targets?.[what.target];
    if (what?.obstacle) return this.app.things.known[what.obstacle]?.object;
    return null;
  }

  moveSelected(point) {
    const object = this.object(this.selected);
    if (!object) return;
    object.position.copy(point);
    this.say(this.selected, point);
  }

  say(what, point) {
    const at = point.toArray();
    if (what.target) this.app.send({ do: "aim", row: what.target, value: at });
    else this.app.send({ do: "move", name: what.obstacle, at });
  }

  aim(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 2 - 1;
    const y = 1 - ((event.clientY - box.top) / box.height) * 2;
    this.ray.setFromCamera(new Vector2(x, y), this.stage.camera);
    return this.ray;
  }

  // What is under the pointer: a target, an obstacle or the skin.
  under(event) {
    for (const [name, ball] of Object.entries(this.app.marks.targets ?? {})) {
      if (!ball.visible) continue;
      const [x, y] = this.stage.toPage(ball.position);
      if (Math.hypot(x - event.clientX, y - event.clientY) < NEAR) return { target: name, point: ball.position.clone() };
    }
    const ray = this.aim(event);
    const solid = ray.intersectObjects(this.app.things.group.children, true).find((hit) => hit.object.isMesh && this.solid(hit.object));
    const skin = this.app.skin.mesh ? ray.intersectObject(this.app.skin.mesh)[0] : null;
    if (solid && (!skin || solid.distance < skin.distance)) {
      let object = solid.object;
      while (object && !object.userData.obstacle) object = object.parent;
      return { obstacle: object.userData.obstacle, point: solid.point };
    }
    return skin ? { skin: skin, point: skin.point } : null;
  }

  // Pipes and containers are looked through; they are moved by their arrows.
  solid(mesh) {
    return mesh.material.depthWrite !== false;
  }

  down(event) {
    this.started = [event.clientX, event.clientY];
    if (event.button !== 0 || !this.app.able) return;
    if (this.app.pick.down(event)) {
      event.stopImmediatePropagation();
      this.stage.orbit.enabled = false;
      return;
    }
    const what = this.under(event);
    if (!what || (this.gizmo.axis && !this.gripped(what, event))) return;
    event.stopImmediatePropagation(); // neither the view nor the arrows
    this.stage.orbit.enabled = false;
    const look = this.stage.camera.getWorldDirection(new Vector3());
    this.plane = new Plane().setFromNormalAndCoplanarPoint(look, what.point);
    this.drag = what;
    this.app.touched();
    if (what.skin) this.drag.hold = this.app.skin.weights(what.skin);
    else {
      this.select(what.target ? { target: what.target } : { obstacle: what.obstacle });
      const grabbed = this.aim(event).ray.intersectPlane(this.plane, new Vector3()) ?? what.point;
      this.offset = this.object(what).position.clone().sub(grabbed); // it does not jump to the pointer
    }
    this.canvas.style.cursor = "grabbing";
  }

  // Whether the pointer is on the thing itself, and not on an arrow beside it: the arrows begin in its middle.
  gripped(what, event) {
    if (what.target) return true;
    if (!what.obstacle) return false;
    const [x, y] = this.stage.toPage(this.object(what).position);
    return Math.hypot(x - event.clientX, y - event.clientY) < GRIP;
  }

  hover(event) {
    if (this.app.build.tool) return (this.canvas.style.cursor = this.app.pick.place(event) ? "crosshair" : "");
    if (this.drag || event.buttons || !this.app.able) return;
    const under = this.under(event);
    if (this.gizmo.axis && under && this.gripped(under, event)) this.gizmo.axis = null; // no arrow lights up
    const cable = under?.target || under?.obstacle ? null : this.cableAt(event);
    const what = cable ? { cable } : under;
    this.canvas.style.cursor = what ? (cable ? "pointer" : what.skin ? "crosshair" : "grab") : "";
    this.app.hint(what);
  }

  move(event) {
    if (this.app.pick.busy) return this.app.pick.move(event);
    if (!this.drag) return;
    const point = this.aim(event).ray.intersectPlane(this.plane, new Vector3());
    if (!point) return;
    if (this.drag.skin) this.drag.cursor = point;
    else {
      const place = point.add(this.offset);
      const object = this.object(this.drag);
      if (!object) return;
      object.position.copy(place);
      this.proxy.position.copy(place);
      this.stage.stale = true;
      this.say(this.drag, place);
    }
  }

  // While the skin is held, the pull follows both the pointer and the skin.
  pull() {
    const { hold, cursor } = this.drag ?? {};
    if (!hold || !cursor) return;
    const way = cursor.clone().sub(this.app.skin.at(hold.vertices, hold.weights));
    way.clampLength(0, 0.5 * this.app.scene.length);
    this.app.send({ do: "push", ...hold, force: way.multiplyScalar(this.app.scene.hand).toArray() });
  }

  up(event) {
    if (this.app.pick.busy || this.app.build.tool) {
      this.app.pick.up();
      this.stage.orbit.enabled = true;
      return;
    }
    const [x, y] = this.started ?? [Infinity, Infinity];
    const click = Math.hypot(event.clientX - x, event.clientY - y) < CLICK;
    this.started = null;
    if (this.drag?.hold) this.app.send({ do: "push", ...this.drag.hold, force: [0, 0, 0] });
    const what = this.drag;
    if (what && !what.skin) this.nudged = performance.now(); // frames on their way do not know yet where it was left
    if (this.drag) (this.drag = null), (this.stage.orbit.enabled = true), (this.canvas.style.cursor = "");
    if (click && event.target === this.canvas) this.click(event, what);
  }

  click(event, what) {
    if (what?.target || what?.obstacle) return;
    const cable = this.cableAt(event);
    if (cable) return this.app.panel.point(cable, event.clientX, event.clientY);
    if (what?.hold) this.app.probe.pin(what.hold);
    else this.app.probe.pin(null);
  }

  // The cable whose line passes nearest to the pointer, if within a few pixels.
  cableAt(event) {
    let best = 10, name = null;
    if (!this.app.lines.show.cables) return null;
    for (const [cable, p] of this.app.lines.segments) {
      const [ax, ay] = this.stage.toPage(new Vector3(p[0], p[1], p[2]));
      const [bx, by] = this.stage.toPage(new Vector3(p[3], p[4], p[5]));
      const d = segmentDistance(event.clientX, event.clientY, ax, ay, bx, by);
      if (d < best) (best = d), (name = cable);
    }
    return name;
  }
}

function segmentDistance(x, y, ax, ay, bx, by) {
  const ux = bx - ax, uy = by - ay;
  const s = Math.max(0, Math.min(1, ((x - ax) * ux + (y - ay) * uy) / (ux * ux + uy * uy || 1)));
  return Math.hypot(x - ax - s * ux, y - ay - s * uy);
}
