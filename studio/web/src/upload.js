// A part on its way to the simulation: pieces of base64 in messages, no faster than the server reads them (pliant/studio/limits.py).
const PIECE = 2880; // bytes: 3840 characters
const AT_ONCE = 60, PAUSE = 100; // pieces, milliseconds: 600 messages a second
const LARGEST = 48e6; // bytes

export async function upload(file, unit, send, failed) {
  const [, stem, ending] = /^(.*)\.(stl|step|stp)$/i.exec(file.name) ?? [];
  if (!ending) return failed("Not opened: a part is an STL or STEP file.");
  if (!file.size || file.size > LARGEST) return failed(`Not opened: a part may have ${LARGEST / 1e6} MB, and must not be empty.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  const common = { do: "upload", name: stem.slice(0, 60) || "robot", kind: ending.toLowerCase() === "stl" ? "stl" : "step", total: bytes.length, unit, size: 0 };
  for (let at = 0, count = 1; at < bytes.length; at += PIECE, count++) {
    const piece = bytes.subarray(at, at + PIECE);
    send({ ...common, at, data: btoa(String.fromCharCode(...piece)) });
    if (count % AT_ONCE === 0) await new Promise((done) => setTimeout(done, PAUSE));
  }
}
