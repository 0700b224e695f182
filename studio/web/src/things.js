// Obstacles: shapes from plain data, one group each, known by name.
import { BackSide, BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, CatmullRomCurve3, CylinderGeometry, DoubleSide, EdgesGeometry, GridHelper, Group, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshStandardMaterial, PlaneGeometry, SphereGeometry, TubeGeometry, Vector3 } from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { PALETTE } from "./colours.js";

const UP = new Vector3(0, 1, 0);
const CREASE = (35 * Math.PI) / 180; // triangles that meet at a larger angle keep an edge between them, as in pliant/io/render.py

export class Things {
  constructor(scene) {
    this.group = new Group();
    scene.add(this.group);
    this.known = {};
    this.palette = PALETTE.light;
  }

  build(header) {
    this.group.clear();
    this.known = {};
    this.length = header.length;
  }

  // The present obstacles: some changed, some gone.
  update({ names, changed }, held) {
    for (const name of Object.keys(this.known)) {
      if (!names.includes(name)) {
        this.group.remove(this.known[name].object);
        delete this.known[name];
      }
    }
    for (const [name, shape] of Object.entries(changed)) {
      const old = this.known[name];
      if (old && sameForm(old.shape, shape)) {
        old.shape = shape;
        if (held !== name) old.object.position.fromArray(shape.centre);
        continue;
      }
      if (old) this.group.remove(old.object);
      const object = this.make(shape);
      object.position.fromArray(shape.centre);
      object.userData = { obstacle: name };
      this.group.add(object);
      this.known[name] = { shape, object };
    }
  }

  make(shape) {
    const object = new Group();
    const inside = shape.inside || shape.kind === "pipe"; // pipes of version 0.1 do not say it
    const opacity = inside ? 0.25 : shape.kind === "plane" ? 0.5 : 0.82;
    const material = new MeshStandardMaterial({ color: this.palette.thing, roughness: 0.55, transparent: true, opacity, side: inside ? BackSide : DoubleSide, depthWrite: !inside });
    const add = (geometry) => {
      const mesh = new Mesh(geometry, material);
      mesh.castShadow = !inside && shape.kind !== "plane";
      mesh.receiveShadow = !inside;
      object.add(mesh);
      return mesh;
    };
    (PRIMITIVES[shape.kind] ?? triangles)(shape, add, this.length);
    return object;
  }

  theme(name) {
    this.palette = PALETTE[name];
    this.group.traverse((o) => o.material?.isMeshStandardMaterial && o.material.color.set(this.palette.thing));
  }

  select(name) {
    for (const [key, { object }] of Object.entries(this.known)) {
      object.traverse((o) => o.material?.isMeshStandardMaterial && o.material.emissive.set(key === name ? 0x1c3550 : 0x000000));
    }
  }
}

// Kinds that are drawn from their numbers; every other one brings its triangles (pliant/contact/obstacles/obstacle.py).
const PRIMITIVES = { sphere, box, capsule: rod, cylinder: rod, plane, pipe: tubes, "forked pipe": tubes };

function sphere(shape, add) {
  add(new SphereGeometry(shape.radius, 40, 24));
}

function box(shape, add) {
  const mesh = add(new BoxGeometry(...shape.size));
  const [a, b, c] = shape.rotation;
  mesh.quaternion.setFromRotationMatrix(new Matrix4().set(a[0], a[1], a[2], 0, b[0], b[1], b[2], 0, c[0], c[1], c[2], 0, 0, 0, 0, 1));
  mesh.add(new LineSegments(new EdgesGeometry(mesh.geometry), new LineBasicMaterial({ color: 0x334455, transparent: true, opacity: 0.35 })));
}

function rod(shape, add) {
  const axis = new Vector3(...shape.end).sub(new Vector3(...shape.start));
  const length = axis.length();
  const round = shape.kind === "capsule";
  const mesh = add(round ? new CapsuleGeometry(shape.radius, length, 10, 32) : new CylinderGeometry(shape.radius, shape.radius, length, 40));
  mesh.quaternion.setFromUnitVectors(UP, axis.normalize());
}

function plane(shape, add, length) {
  const size = 1.6 * length;
  const mesh = add(new PlaneGeometry(size, size));
  mesh.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), new Vector3(...shape.normal));
  const grid = new GridHelper(size, 12, 0x7f8fa3, 0x9fadbd);
  grid.quaternion.setFromUnitVectors(UP, new Vector3(0, 0, 1)); // in the plane of its mesh
  grid.material.transparent = true;
  grid.material.opacity = 0.35;
  mesh.add(grid);
}

function tubes(shape, add) {
  const origin = new Vector3(...shape.centre);
  const { paths, radii } = shape.path ? { paths: [shape.path], radii: [shape.radius] } : shape.branches ? { paths: shape.branches, radii: shape.radius } : shape; // of version 0.1
  paths.forEach((path, k) => {
    const points = path.map((p) => new Vector3(...p).sub(origin));
    const curve = new CatmullRomCurve3(points, false, "catmullrom", 0.05);
    add(new TubeGeometry(curve, Math.max(32, 6 * points.length), radii[k], 36));
  });
}

function triangles(shape, add) {
  const c = shape.centre;
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(shape.vertices.flatMap((v) => v.map((x, i) => x - c[i]))), 3));
  geometry.setIndex(shape.triangles.flat());
  geometry.computeBoundingSphere();
  const large = 1e4 / (geometry.boundingSphere.radius || 1); // below a hundredth of a unit, vertices count as one
  add(toCreasedNormals(geometry.scale(large, large, large), CREASE).scale(1 / large, 1 / large, 1 / large));
}

// The same but for its place, to a few micrometres: coordinates are rounded where they are sent.
const sameForm = (a, b) => close(form(a), form(b));

function close(a, b) {
  if (typeof a === "number" && typeof b === "number") return Math.abs(a - b) < 2e-6;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, k) => close(x, b[k]));
  return a === b;
}

// What is drawn, seen from its centre: names and values.
function form(shape) {
  const c = shape.centre;
  const back = (p) => (typeof p[0] === "number" ? p.map((x, i) => x - c[i]) : p.map(back));
  if (shape.vertices) return [shape.kind, shape.inside, shape.triangles, back(shape.vertices)];
  const moving = ["start", "end", "path", "paths", "branches"];
  const rest = Object.entries(shape).filter(([key]) => key !== "centre" && key !== "point");
  return rest.map(([key, value]) => [key, moving.includes(key) ? back(value) : value]);
}
