// Arrays in a file of NumPy: an npz is a zip of npy files. Returns { name: typed array }.
const TYPES = { "<f4": Float32Array, "<f8": Float64Array, "<i4": Int32Array, "<i8": BigInt64Array, "<u2": Uint16Array, "<u4": Uint32Array, "|u1": Uint8Array };

export async function readNpz(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out = {};
  for (const { name, start, size, packed } of entries(view)) {
    const raw = bytes.subarray(start, start + size);
    out[name.replace(/\.npy$/, "")] = npy(packed ? await unpacked(raw) : raw.slice().buffer);
  }
  return out;
}

// The central directory at the end of a zip tells where everything is.
function* entries(view) {
  let end = view.byteLength - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error("not a zip");
  let at = view.getUint32(end + 16, true);
  for (let k = 0; k < view.getUint16(end + 10, true); k++) {
    const names = view.getUint16(at + 28, true);
    const local = view.getUint32(at + 42, true);
    const name = new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + at + 46, names));
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    yield { name, start, size: view.getUint32(at + 20, true), packed: view.getUint16(at + 10, true) === 8 };
    at += 46 + names + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
}

function unpacked(raw) {
  return new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).arrayBuffer();
}

function npy(buffer) {
  const view = new DataView(buffer);
  const long = view.getUint8(6) > 1;
  const start = (long ? 12 : 10) + (long ? view.getUint32(8, true) : view.getUint16(8, true));
  const header = new TextDecoder().decode(new Uint8Array(buffer, 0, start));
  const kind = /'descr': *'([^']+)'/.exec(header)?.[1];
  if (!TYPES[kind]) throw new Error(`numbers of an unknown kind: ${kind}`);
  return new TYPES[kind](buffer.slice(start));
}
