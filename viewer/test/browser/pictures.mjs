// Draws the pictures of docs/viewer.md: `make pictures`. PAGES is the folder of the pages, of tests/viewer/pages.py.
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { launch, openPage } from "./browser.mjs";

const PAGES = resolve(process.env.PAGES ?? ".build/pages");
const OUT = resolve("../docs/assets/viewer");
const LARGEST = 200_000;

const totals = (app) => app.select(`o${[...Array(app.model.operators.length).keys()].find((at) => app.model.operator(at).name === "Totals")}`);

// name, page, what is done there, colours, size
const PICTURES = [
  ["small", "small", totals],
  ["operators-100000", "layered-100000", () => undefined],
  ["diff", "diff", totals],
  ["live", "live", (app) => app.select(null)],
];

const browser = await launch();
for (const [name, from, act, colorScheme = "light"] of PICTURES) {
  const file = join(PAGES, `${from}.html`);
  if (!existsSync(file)) continue;
  const server = from === "live" ? await feeding(file) : null;
  const { page, wrong, close } = await openPage(browser, server?.address ?? pathToFileURL(file).href, {
    viewport: { width: 1300, height: 600 }, deviceScaleFactor: 1.3, colorScheme, feed: server?.address,
  });
  if (server !== null) await page.waitForFunction(() => document.getElementById("live").textContent.includes("RUNNING"));
  await page.evaluate(`(${act})(window.penstock.app)`);
  await page.waitForTimeout(300);
  const out = join(OUT, `${name}.png`);
  await page.screenshot({ path: out });
  console.log(`${out}: ${(statSync(out).size / 1000).toFixed(0)} kB`, ...wrong);
  if (statSync(out).size > LARGEST || wrong.length > 0) process.exitCode = 1;
  await close();
  server?.close();
}
await browser.close();

async function feeding(file) {
  const server = createServer((request, response) => {
    response.writeHead(200, { "Content-Type": request.url === "/feed" ? "application/json" : "text/html" });
    response.end(readFileSync(request.url === "/feed" ? join(PAGES, "feed.json") : file));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const close = () => (server.close(), server.closeAllConnections());
  return { address: `http://127.0.0.1:${server.address().port}/`, close };
}
