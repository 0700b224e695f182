// Obstacles: shapes from plain data, one group each, known by name.
import { BackSide, BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, CatmullRomCurve3, CylinderGeometry, DoubleSide, EdgesGeometry, GridHelper, Group, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshStandardMaterial, PlaneGeometry, Quaternion, SphereGeometry, TubeGeometry, Vector3 } from "three";
import { PALETTE } from "./colours.js";

const UP = new Vector3(0, 1, 0);

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
    const inside = shape.kind === "pipe" || shape.inside;
    const material = new MeshStandardMaterial({ color: this.palette.thing, roughness: 0.55, transparent: true, opacity: inside ? 0.25 : 0.82, side: inside ? BackSide : DoubleSide, depthWrite: !inside });
    const add = (geometry, m = material) => {
      const mesh = new Mesh(geometry, m);
      mesh.castShadow = mesh.receiveShadow = !inside;
      object.add(mesh);
      return mesh;
    };
    if (shape.kind === "sphere") add(new SphereGeometry(shape.radius, 40, 24));
    if (shape.kind === "box") {
      const mesh = add(new BoxGeometry(...shape.size));
      const [a, b, c] = shape.rotation;
      mesh.quaternion.setFromRotationMatrix(new Matrix4().set(a[0], a[1], a[2], 0, b[0], b[1], b[2], 0, c[0], c[1], c[2], 0, 0, 0, 0, 1));
      mesh.add(new LineSegments(new EdgesGeometry(mesh.geometry), new LineBasicMaterial({ color: 0x334455, transparent: true, opacity: 0.35 })));
    }
    if (shape.kind === "capsule" || shape.kind === "cylinder") {
      const way = new Vector3(...shape.end).sub(new Vector3(...shape.start));
      const long = way.length();
      const round = shape.kind === "capsule";
      const mesh = add(round ? new CapsuleGeometry(shape.radius, long, 10, 32) : new CylinderGeometry(shape.radius, shape.radius, long, 40));
      mesh.quaternion.setFromUnitVectors(UP, way.normalize());
    }
    if (shape.kind === "plane") this.plane(shape, object, material);
    if (shape.kind === "pipe") shape.paths.forEach((path, k) => this.pipe(path, shape, shape.radii[k], add));
    if (shape.kind === "mesh") {
      const c = shape.centre;
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(Float32Array.from(shape.vertices.flatMap((v) => v.map((x, i) => x - c[i]))), 3));
      geometry.setIndex(shape.triangles.flat());
      geometry.computeVertexNormals();
      add(geometry);
    }
    return object;
  }

  plane(shape, object, material) {
    const size = 1.6 * this.length;
    const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), new Vector3(...shape.normal));
    const mesh = new Mesh(new PlaneGeometry(size, size), material);
    material.opacity = 0.5;
    mesh.receiveShadow = true;
    mesh.quaternion.copy(turn);
    const grid = new GridHelper(size, 12, 0x7f8fa3, 0x9fadbd);
    grid.quaternion.copy(turn).multiply(new Quaternion().setFromUnitVectors(UP, new Vector3(0, 0, 1)));
    grid.material.transparent = true;
    grid.material.opacity = 0.35;
    object.add(mesh, grid);
  }

  pipe(path, shape, radius, add) {
    const origin = new Vector3(...shape.centre);
    const points = path.map((p) => new Vector3(...p).sub(origin));
    const curve = new CatmullRomCurve3(points, false, "catmullrom", 0.05);
    add(new TubeGeometry(curve, Math.max(32, 6 * points.length), radius, 36));
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

// The same but for its place.
const sameForm = (a, b) => JSON.stringify(moved(a)) === JSON.stringify(moved(b));

function moved(shape) {
  const c = shape.centre;
  const back = (p) => p.map((x, i) => Math.round(1e6 * (x - c[i])));
  const out = { ...shape, centre: 0 };
  for (const key of ["start", "end"]) if (out[key]) out[key] = back(out[key]);
  if (out.paths) out.paths = out.paths.map((path) => path.map(back));
  if (out.vertices) out.vertices = out.vertices.map(back);
  return out;
}
