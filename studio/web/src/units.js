// Numbers as people read them, as in pliant/io/units.py.
const SHOWN = {
  m: ["mm", 1e3], "m³": ["ml", 1e6], rad: ["°", 180 / Math.PI], Pa: ["kPa", 1e-3],
  N: ["N", 1], "N·m": ["mN·m", 1e3], s: ["ms", 1e3],
};

export const display = (unit) => SHOWN[unit] ?? [unit, 1];

export function number(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) < 10 ** -digits) return "0";
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

export function quantity(value, unit, digits = 3) {
  const [shown, factor] = display(unit);
  return `${number(value * factor, digits)}${shown === "°" ? "" : " "}${shown}`;
}
