// Numbers as people read them, as in pliant/io/units.py.
const SHOWN = {
  m: ["mm", 1e3], "m³": ["ml", 1e6], rad: ["°", 180 / Math.PI], Pa: ["kPa", 1e-3],
  N: ["N", 1], "N·m": ["mN·m", 1e3], s: ["ms", 1e3],
};

export const display = (unit) => SHOWN[unit] ?? [unit, 1];

const FINER = { mm: "µm", ml: "µl", kPa: "Pa", N: "mN", mN: "µN", "mN·m": "µN·m", ms: "µs" };

export function number(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) < 10 ** -digits) return "0";
  const text = String(Number(value.toPrecision(digits)));
  return text.replace("-", "−");
}

// Of a quantity that goes from low to high: what is less than a ten-thousandth of that is none.
export function within(value, [low, high], unit) {
  const most = Math.max(Math.abs(low ?? 0), Math.abs(high ?? 0));
  return quantity(Math.abs(value) < 1e-4 * most ? 0 : value, unit);
}

// What would begin with 0.000 is shown in a finer unit, and as 0 where there is none.
export function quantity(value, unit, digits = 3) {
  let [shown, factor] = display(unit);
  let size = value * factor, finer = shown;
  while (size !== 0 && Math.abs(size) < 1e-3 && FINER[finer]) (finer = FINER[finer]), (size *= 1e3);
  if (Math.abs(size) < 1e-3) size = 0;
  else shown = finer;
  return `${number(size, digits)}${shown === "°" ? "" : " "}${shown}`;
}
