// The stage: renderer, camera, lights, floor, camera presets, clipping plane.
import {
  AmbientLight, BufferAttribute, BufferGeometry, Color, DirectionalLight, Group, HemisphereLight,
  LineBasicMaterial, LineSegments, Mesh, PCFShadowMap, PerspectiveCamera, Plane, PlaneGeometry, Quaternion, Scene,
  ShadowMaterial, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { PALETTE } from "./colours.js";

export class Stage {
  constructor(host) {
    this.host = host;
    this.software = drawsInSoftware(); // no graphics card: spare the processor, the simulation needs it
    this.renderer = new WebGLRenderer({ antialias: !this.software, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(this.software ? 1 : Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.localClippingEnabled = true;
    host.append(this.renderer.domElement);
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(35, 1, 0.001, 50);
    this.turn();
    this.stale = true;
    this.rested = this.drawing = this.pictures = 0;
    this.up = new Vector3(0, 0, 1);
    this.centre = new Vector3();
    this.size = 0.2;
    this.clip = new Plane(new Vector3(1, 0, 0), 0);
    this.clipping = [];
    this.light();
    this.floor = new Group();
    this.scene.add(this.floor);
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  turn() {
    this.orbit = new OrbitControls(this.camera, this.renderer.domElement);
    this.orbit.enableDamping = !this.software;
    this.orbit.dampingFactor = 0.12;
    this.orbit.addEventListener("change", () => (this.stale = true));
  }

  light() {
    this.sky = new HemisphereLight(0xffffff, 0x8a8f99, 1.55);
    this.fill = new AmbientLight(0xffffff, 0.25);
    this.sun = new DirectionalLight(0xffffff, 1.75);
    this.sun.castShadow = !this.software; // half of the work
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.normalBias = 0.002;
    this.scene.add(this.sky, this.fill, this.sun, this.sun.target);
  }

  // Fit to a robot: its bounding box at rest and the direction that is up.
  // With `stay` the camera stays where it is.
  fit(low, high, up, stay = false) {
    this.up.fromArray(up).normalize();
    this.centre.addVectors(low, high).multiplyScalar(0.5);
    this.size = low.distanceTo(high);
    this.low = low;
    this.high = high;
    this.camera.up.copy(this.up);
    this.camera.near = this.size / 200;
    this.camera.far = this.size * 60;
    const across = Math.abs(this.up.x) < 0.9 ? new Vector3(1, 0, 0) : new Vector3(0, 1, 0);
    this.side = across.addScaledVector(this.up, -across.dot(this.up)).normalize();
    this.front = new Vector3().crossVectors(this.up, this.side);
    this.sky.position.copy(this.up);
    const towards = new Vector3().addScaledVector(this.up, 2).addScaledVector(this.side, 0.9).addScaledVector(this.front, -1.1);
    this.sun.position.copy(this.centre).addScaledVector(towards.normalize(), 2 * this.size);
    this.sun.target.position.copy(this.centre);
    const reach = this.size * 1.1;
    Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: this.size * 0.2, far: this.size * 5 });
    this.sun.shadow.camera.updateProjectionMatrix();
    this.lay();
    const looked = this.orbit.target.clone();
    this.orbit.dispose(); // it reads `up` when it is made
    this.turn();
    this.orbit.minDistance = this.size * 0.15;
    this.orbit.maxDistance = this.size * 15;
    if (!stay) return this.look("corner");
    this.orbit.target.copy(looked);
    this.orbit.update();
  }

  // A floor below the robot, with a grid of a round step and the robot's shadow.
  lay() {
    this.floor.clear();
    const corners = [this.low, this.high].map((p) => p.clone().sub(this.centre).dot(this.up));
    const bottom = Math.min(...corners) - 0.12 * this.size;
    const step = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1].find((s) => s > this.size / 14) ?? 1;
    const half = 8;
    const points = [];
    const place = (a, b) => points.push(a * step, b * step, 0);
    for (let k = -half; k <= half; k++) {
      const w = Math.sqrt(half * half - k * k);
      place(k, -w), place(k, w), place(-w, k), place(w, k);
    }
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
    this.grid = new LineSegments(geometry, new LineBasicMaterial({ transparent: true, opacity: 0.9 }));
    this.catcher = new Mesh(new PlaneGeometry(40 * step, 40 * step), new ShadowMaterial({ opacity: 0.2, depthWrite: false }));
    this.catcher.receiveShadow = true;
    this.catcher.visible = this.sun.castShadow;
    this.floor.add(this.grid, this.catcher);
    this.floor.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), this.up));
    this.level = bottom;
    this.floor.position.copy(this.centre).addScaledVector(this.up, bottom);
    this.step = step;
    this.paint(this.theme ?? "light");
  }

  // The floor gives way to a robot that reaches below it.
  sink(box) {
    let lowest = -this.centre.dot(this.up);
    for (let k = 0; k < 3; k++) {
      const u = this.up.getComponent(k);
      lowest += Math.min(u * box[k], u * (box[k] + 65535 * box[3 + k]));
    }
    if (lowest > this.level + 0.02 * this.size) return;
    this.level = lowest - 0.06 * this.size;
    this.floor.position.copy(this.centre).addScaledVector(this.up, this.level);
  }

  paint(theme) {
    this.theme = theme;
    const p = PALETTE[theme];
    this.stale = true;
    this.scene.background = new Color(p.paper);
    this.sky.groundColor.set(theme === "dark" ? 0x4a5260 : 0x9aa0aa);
    if (this.grid) {
      this.grid.material.color.set(p.grid);
      this.catcher.material.opacity = p.shadow;
    }
  }

  look(name) {
    const v = (a, b, c) => new Vector3().addScaledVector(this.side, a).addScaledVector(this.front, b).addScaledVector(this.up, c);
    const from = { corner: v(0.62, -1, 0.34), front: v(0, -1, 0.0001), side: v(1, 0, 0.0001), top: v(0, -0.0001, 1) }[name];
    const wide = Math.max(1, 0.85 / this.camera.aspect);
    this.camera.position.copy(this.centre).addScaledVector(from.normalize(), this.size * 2.2 * wide);
    this.orbit.target.copy(this.centre);
    this.orbit.update();
  }

  // Clip what lies beyond a plane across an axis; share 1 shows all.
  cut(axis, share) {
    const n = new Vector3(axis === "x" ? -1 : 0, axis === "y" ? -1 : 0, axis === "z" ? -1 : 0);
    const k = { x: 0, y: 1, z: 2 }[axis] ?? 0;
    const margin = 0.3 * this.size;
    const low = this.low.getComponent(k) - margin;
    const high = this.high.getComponent(k) + margin;
    this.clip.set(n, low + share * (high - low));
    this.clipping = axis && axis !== "off" ? [this.clip] : [];
    return this.clipping;
  }

  resize() {
    const { clientWidth: w, clientHeight: h } = this.host;
    if (!w || !h) return;
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    this.stale = true;
  }

  // Where a point is on the page, in pixels.
  toPage(point) {
    const p = point.clone().project(this.camera);
    const box = this.renderer.domElement.getBoundingClientRect();
    return [box.left + ((p.x + 1) / 2) * box.width, box.top + ((1 - p.y) / 2) * box.height, p.z < 1];
  }

  // Whether a point is well within the picture.
  sees(point) {
    const p = point.clone().project(this.camera);
    return p.z < 1 && Math.abs(p.x) < 0.85 && Math.abs(p.y) < 0.8;
  }

  // Once per turn of the page. Whether it may work: software drawing, up to where the browser has put the picture on the
  // screen and asks for the next, rests as long as it took.
  ready() {
    const now = performance.now();
    if (this.drawing) {
      this.rested = now + Math.min(400, now - this.drawing);
      this.drawing = 0;
    }
    return now >= this.rested;
  }

  // Whether something changed.
  get due() {
    this.orbit.update();
    return this.stale;
  }

  draw() {
    this.stale = false;
    this.pictures++;
    if (this.software) this.drawing = performance.now();
    this.renderer.render(this.scene, this.camera);
    if (!this.software) return;
    const gl = this.renderer.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits until it is drawn, which finish() does not
  }
}

function drawsInSoftware() {
  if (new URLSearchParams(location.search).has("fine")) return false; // for pictures that are worth the wait
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}
