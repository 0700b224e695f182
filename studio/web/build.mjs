// Bundles src/ into one file, ../../pliant/studio/page.html. With --check: says whether that file is up to date.
// The hash of the sources stands in the page, so that its freshness can be told without Node (tests/studio/test_page.py).
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "..", "pliant", "studio", "page.html");

export function sourceHash() {
  const names = ["build.mjs", "index.html", "package-lock.json", "style.css"];
  names.push(...readdirSync(join(here, "src")).filter((n) => n.endsWith(".js")).map((n) => `src/${n}`));
  const hash = createHash("sha256");
  for (const name of names.sort()) hash.update(`${name}\n`).update(readFileSync(join(here, name)));
  return hash.digest("hex");
}

async function bundle() {
  const common = { bundle: true, minify: true, write: false, absWorkingDir: here, legalComments: "none" };
  const script = await build({ ...common, entryPoints: ["src/main.js"], format: "iife", target: "es2022" });
  const style = await build({ ...common, entryPoints: ["style.css"], loader: { ".css": "css" } });
  const js = script.outputFiles[0].text.replaceAll("</script", "<\\/script");
  const licence = (name) => `${name}\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}`;
  return readFileSync(join(here, "index.html"), "utf8")
    .replace("{{licences}}", () => ["three", "uplot", "fzstd"].map(licence).join("\n\n"))
    .replace("{{sources}}", sourceHash())
    .replace("{{style}}", () => style.outputFiles[0].text.trim())
    .replace("{{script}}", () => js.trim());
}

const page = await bundle();
if (process.argv.includes("--check")) {
  const same = readFileSync(target, "utf8") === page;
  console.log(same ? "The page is up to date." : "The page is out of date: npm run build.");
  process.exit(same ? 0 : 1);
}
writeFileSync(target, page);
console.log(`${target}: ${(page.length / 1e3).toFixed(0)} kB`);
