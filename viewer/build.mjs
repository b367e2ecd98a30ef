// Builds the page: one HTML file with everything in it. `node build.mjs`, or `--tests` for the unit tests, `--out FILE`.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const at = (...path) => join(here, ...path);
const target = ["chrome105", "firefox112", "safari16"];

async function bundled(entry, loader) {
  const made = await esbuild.build({
    entryPoints: [at("src", entry)], bundle: true, minify: true, write: false, format: "iife", target, legalComments: "none",
    charset: "ascii", ...loader,
  });
  return made.outputFiles[0].text.trim();
}

/** Names and licences of all that is bundled: what must be said where it is handed on. */
function notice() {
  const lock = JSON.parse(readFileSync(at("package-lock.json"), "utf8"));
  const shipped = Object.entries(lock.packages).filter(([path, about]) => path.startsWith("node_modules/") && !about.dev);
  const parts = shipped.map(([path, about]) => {
    const file = readdirSync(at(path)).find((name) => /^licen[cs]e/i.test(name));
    if (file === undefined) throw new Error(`${path} has no licence file`);
    return `${path.slice("node_modules/".length)} ${about.version} (${about.license})\n\n${readFileSync(at(path, file), "utf8").trim()}`;
  });
  return ["This page is part of Penstock (Apache-2.0). In it are:", ...parts].join("\n\n").replaceAll("--", "- -");
}

async function page(out) {
  // "</script" can only stand in a text of the program, where the backslash changes nothing
  const script = (await bundled("main.ts", {})).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  const style = await bundled("style.css", {});
  const hash = (text) => `sha256-${createHash("sha256").update(text, "utf8").digest("base64")}`;
  const values = { SCRIPT_HASH: hash(script), STYLE_HASH: hash(style), STYLE: style, NOTICE: notice(), SCRIPT: script };
  // one pass, so that nothing that looks like a placeholder in what is put in is taken for one
  const text = readFileSync(at("src", "index.html"), "utf8").replace(/\{\{([A-Z_]+)\}\}/g, (all, name) => values[name] ?? all);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, text);
  console.log(`${out}: ${(text.length / 1024).toFixed(0)} KiB`);
}

async function tests() {
  rmSync(at(".build", "unit"), { recursive: true, force: true });
  const names = readdirSync(at("test", "unit")).filter((name) => name.endsWith(".test.ts"));
  await esbuild.build({
    entryPoints: names.map((name) => at("test", "unit", name)), bundle: true, platform: "node", format: "esm", target: "node18",
    outdir: at(".build", "unit"), outExtension: { ".js": ".mjs" }, sourcemap: "inline",
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
}

const out = process.argv.indexOf("--out");
if (process.argv.includes("--tests")) await tests();
else await page(out > 0 ? process.argv[out + 1] : at("..", "python", "penstock", "viewer", "viewer.html"));
