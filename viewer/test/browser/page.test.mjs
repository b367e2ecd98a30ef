// The pages of tests/viewer/pages.py in a headless Chromium: `make test-viewer`. PAGES is their folder.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { launch, openPage } from "./browser.mjs";

const PAGES = resolve(process.env.PAGES ?? ".build/pages");
const url = (name) => pathToFileURL(join(PAGES, `${name}.html`)).href;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

const shown = (page) => page.locator("#panel h2").innerText();
const scale = (page) => page.evaluate(() => window.penstock.app.viewport.scale);

// The pixel of an operator's row or card, by what is written there.
const pixelOf = (page, title) => page.evaluate((wanted) => {
  const { app } = window.penstock;
  for (const card of app.scene.cards) {
    const row = card.rows.find((each) => each.title === wanted);
    if (row === undefined) continue;
    const box = document.getElementById("canvas").getBoundingClientRect();
    const [x, y] = [card.x + card.width / 2, row.y + row.height / 2];
    return { x: box.x + (x - app.viewport.x) * app.viewport.scale, y: box.y + (y - app.viewport.y) * app.viewport.scale };
  }
  return null;
}, title);

async function opened(name, check, options) {
  const { page, wrong, close } = await openPage(browser, url(name), options);
  try {
    await check(page);
    assert.deepEqual(wrong, []);
  } finally {
    await close();
  }
}

test("a click says what is known: ID, origin, place in the source, state, verdicts", () => opened("small", async (page) => {
  const { x, y } = await pixelOf(page, "Totals");
  await page.mouse.click(x, y);
  assert.equal(await shown(page), "Totals");
  const panel = await page.locator("#panel").innerText();
  for (const part of ["its uid", "programs.py:", "KeyedProcess", "total", "HASH"]) assert.ok(panel.includes(part), `${part} in ${panel}`);
  assert.match(panel, /\b[0-9a-f]{32}\b/);
  await page.locator("#panel .verdict").first().click();
  assert.match(await page.locator("#panel").innerText(), /not chained/i);
  await page.keyboard.press("Escape");
}));

test("an operator says what native code runs of it, and what keeps a function in Python", () => opened("native", async (page) => {
  assert.match(await page.locator("#panel").innerText(), /3 native, 1 compiled, 1 in Python/);
  const log = await pixelOf(page, "Log");
  await page.mouse.click(log.x, log.y);
  const panel = await page.locator("#panel").innerText();
  for (const part of ["function lambda: Python", "logging.info() writes a log", "programs.py:", "read.filter("]) assert.ok(panel.includes(part), `${part} in ${panel}`);
  await page.keyboard.press("Escape");
  const sums = await pixelOf(page, "Sums");
  await page.mouse.click(sums.x, sums.y);
  const other = await page.locator("#panel").innerText();
  for (const part of ["key lambda: compiled", "operator: native"]) assert.ok(other.includes(part), `${part} in ${other}`);
}));

test("where native code is off, the plan and its operators say so", () => opened("native-off", async (page) => {
  assert.match(await page.locator("#panel").innerText(), /off \(penstock\.native\)/);
  const { x, y } = await pixelOf(page, "Sums");
  await page.mouse.click(x, y);
  assert.match(await page.locator("#panel").innerText(), /penstock\.native is off: all of it runs in Python/);
}));

test("tabs show the three graphs, and keep what is selected", () => opened("small", async (page) => {
  const { x, y } = await pixelOf(page, "Check");
  await page.mouse.click(x, y);
  await page.locator("#tab-job").click();
  assert.ok((await shown(page)).startsWith("Check"));
  await page.locator("#tab-job").press("ArrowRight");
  assert.equal(await page.locator("#tab-execution").getAttribute("aria-selected"), "true");
  const cells = await page.evaluate(() => window.penstock.app.scene.cards.map((card) => card.cells.length));
  assert.deepEqual(cells.filter((count) => count === 0), []);
}));

test("wheel, drag, buttons and keys move the picture", () => opened("small", async (page) => {
  const first = await scale(page);
  await page.mouse.move(400, 400);
  await page.mouse.wheel(0, -400);
  await page.waitForFunction((before) => window.penstock.app.viewport.scale > before, first);
  const left = await page.evaluate(() => window.penstock.app.viewport.x);
  await page.mouse.down();
  await page.mouse.move(300, 380, { steps: 4 });
  await page.mouse.up();
  assert.ok((await page.evaluate(() => window.penstock.app.viewport.x)) > left);
  await page.locator("#fit").click();
  assert.ok(Math.abs((await scale(page)) - first) < 1e-9);
  await page.locator("#canvas").press("+");
  assert.ok((await scale(page)) > first);
  await page.locator("#canvas").press("0");
  await page.locator("#canvas").press("Shift+ArrowLeft");
}));

test("search finds, lists and goes there", () => opened("small", async (page) => {
  await page.keyboard.press("/");
  await page.keyboard.type("rates");
  assert.equal(await page.locator("#hits li").count(), 2);
  await page.keyboard.press("Enter");
  assert.match(await shown(page), /rates/i);
  const before = await shown(page);
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  assert.notEqual(await shown(page), before);
}));

test("everything can be done by keys", () => opened("small", async (page) => {
  await page.locator("#canvas").focus();
  const names = new Set();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft"]) {
    await page.keyboard.press(key);
    names.add(await shown(page));
  }
  assert.ok(names.size >= 4, [...names].join());
  await page.keyboard.press("e");
  assert.ok((await shown(page)).endsWith("edge"));
  await page.keyboard.press("3");
  assert.equal(await page.locator("#tab-execution").getAttribute("aria-selected"), "true");
  await page.keyboard.press("t");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.keyboard.press("?");
  assert.ok(await page.locator("dialog").isVisible());
  await page.keyboard.press("Escape");
  await page.keyboard.press("d");
  assert.equal(await page.evaluate(() => document.activeElement.id), "panel");
}));

test("two plans: the verdict, what has moved, gone, and why; the legend leads there", () => opened("diff", async (page) => {
  assert.match(await page.locator("#verdict").innerText(), /✗ State of \d operators? would be lost/);
  assert.match(await page.locator("#panel .change.lost").innerText(), /Totals: /);
  assert.match(await page.locator("#legend").innerText(), /lost 1[^]*moved 3[^]*removed 1[^]*kept 4/);
  await page.locator("#legend button", { hasText: "removed" }).click();
  assert.equal(await shown(page), "Sink: Rejected");
  const gone = await page.evaluate(() => window.penstock.app.scene.cards.filter((card) => card.gone).length);
  assert.equal(gone, 1);
  await page.locator("#legend button", { hasText: "lost" }).click();
  assert.equal(await shown(page), "Totals");
  const note = await page.locator("#panel .change").innerText();
  for (const part of ["✗ lost", "moved: its state", "Cause: ", "has no uid any more", "orphaned"]) assert.ok(note.includes(part), note);
  const colours = await page.evaluate(() => ["lost", "moved", "removed", "added", "kept"].map((kind) => {
    const mark = document.createElement("b");
    mark.className = kind;
    document.getElementById("legend").append(mark);
    return getComputedStyle(mark).color;
  }));
  assert.ok(!colours.slice(1).includes(colours[0]), "what is lost has a colour of its own");
}));

test("a printed page has a title, versions, the verdict and a legend", () => opened("diff", async (page) => {
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => window.penstock.app.toPaper());
  const text = await page.locator("#paper").innerText();
  for (const part of ["StreamGraph of orders", "Planned as Flink 1.11 by Penstock", "would be lost", "✗ lost 1", "● source", "slots: rates"]) assert.ok(text.includes(part), `${part} in ${text}`);
  assert.ok(await page.locator("#paper h1").isVisible());
  await page.screenshot({ path: join(PAGES, "print.png") });
}));

test("labels of edges do not overlap", async () => {
  for (const [name, tab] of [["small", "stream"], ["small", "job"], ["small", "execution"], ["layered-200", "execution"], ["diff", "stream"]]) {
    await opened(name, async (page) => {
      await page.locator(`#tab-${tab}`).click();
      const overlaps = await page.evaluate(() => {
        const { app } = window.penstock;
        const boxes = app.scene.wires.filter((wire) => wire.label !== "").map((wire) => {
          const [x1, y1, x2, y2] = [wire.points[0], wire.points[1], wire.points.at(-2), wire.points.at(-1)];
          const [x, y] = wire.at ?? [(x1 + x2) / 2, (y1 + y2) / 2];
          const width = app.measure(wire.label, "label");
          return { text: wire.label, straight: x2 >= x1 && wire.points.length === 4, x: x - width / 2, y: y - 14, width, height: 11 };
        }).filter((box) => box.straight);
        const hit = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
        return boxes.flatMap((a, at) => boxes.slice(at + 1).filter((b) => hit(a, b)).map((b) => `${a.text} and ${b.text}`));
      });
      assert.deepEqual(overlaps, [], `${name}, ${tab}`);
    });
  }
});

test("names of strangers do nothing, in the page and in its SVG", () => opened("hostile", async (page) => {
  const title = await page.title();
  const rows = await page.evaluate(() => window.penstock.app.model.operators.length);
  for (let row = 0; row < rows; row++) await page.evaluate((at) => window.penstock.app.goTo(`o${at}`), row);
  await page.locator("#tab-job").click();
  await page.locator("#search").fill("script");
  assert.equal(await page.locator("#hits img, #panel img, #panel script, #hits script").count(), 0);
  await page.evaluate(() => window.penstock.app.toPaper());
  assert.equal(await page.locator("#paper script, #paper img").count(), 0);
  const long = page.locator("#panel h2");
  await page.evaluate(() => window.penstock.app.select("o7"));
  assert.ok((await long.innerText()).length > 9_000);
  assert.ok((await long.boundingBox()).height < 300);
  assert.equal(await page.title(), title);
  assert.ok(!(await page.locator("body").innerText()).includes("\u202e"));
}));

test("pictures are kept as SVG and PNG, and printed", () => opened("small", async (page) => {
  const kept = {};
  for (const id of ["svg", "png"]) {
    await page.locator("#export summary").click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`#export-${id}`).click()]);
    kept[download.suggestedFilename()] = readFileSync(await download.path());
  }
  assert.deepEqual(Object.keys(kept), ["orders.svg", "orders.png"]);
  assert.ok(kept["orders.svg"].toString().includes(">Totals</text>"));
  assert.deepEqual([...kept["orders.png"].subarray(1, 4)], [...Buffer.from("PNG")]);
  assert.ok(kept["orders.png"].readUInt32BE(16) > 1500);
  const pdf = await page.pdf();
  assert.ok(pdf.length > 10_000);
}));

test("a refused SVG is none: what is exported parses as XML", () => opened("hostile", async (page) => {
  await page.locator("#export summary").click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#export-svg").click()]);
  const text = readFileSync(await download.path(), "utf8");
  const errors = await page.evaluate((svg) => new DOMParser().parseFromString(svg, "image/svg+xml").querySelectorAll("parsererror, script").length, text);
  assert.equal(errors, 0);
}));

test("a notebook's frame shows the plan, and sees nothing around it", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url("frame"));
  const frame = await (await page.waitForSelector("iframe")).contentFrame();
  await frame.waitForFunction(() => window.penstock?.app.frames > 0);
  assert.equal(await frame.locator("#title").innerText(), "orders");
  assert.equal(await frame.evaluate(() => { try { return window.parent.document.title; } catch { return "nothing"; } }), "nothing");
  await context.close();
});

const cardsSeen = (frame) => frame.evaluate(() => {
  const { app } = window.penstock;
  const { x, y, width, height } = app.viewport.view;
  return app.scene.cards.filter((card) => card.x >= x && card.y >= y && card.x + card.width <= x + width && card.y + card.height <= y + height).length;
});
const marked = (frame) => frame.evaluate(() => {
  const canvas = document.getElementById("canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set();
  for (let at = 0; at < data.length; at += 4) colours.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
  return colours.size;
});

async function framed(name, show) {
  const context = await browser.newContext({ viewport: { width: 1000, height: 700 } });
  const page = await context.newPage();
  await page.goto(url(name));
  const frame = await (await page.waitForSelector("iframe", { state: "attached" })).contentFrame();
  await frame.waitForFunction(() => window.penstock !== undefined, undefined, { polling: 100 });
  await show(page, frame);
  await frame.waitForFunction(() => window.penstock.app.frames > 0 && window.penstock.app.viewport.width > 0, undefined, { polling: 100 });
  await page.waitForTimeout(200);
  const all = await frame.evaluate(() => window.penstock.app.scene.cards.length);
  assert.equal(await cardsSeen(frame), all, "all cards are in view");
  assert.ok((await marked(frame)) > 10, "something is drawn");
  await page.screenshot({ path: join(PAGES, `${name}.png`) });
  return { context, page, frame };
}

test("a plan that is below the fold is drawn when somebody comes to it", async () => {
  const { context } = await framed("below", (page) => page.locator("iframe").scrollIntoViewIfNeeded());
  await context.close();
});

test("a plan in an output that is hidden is drawn when it is shown", async () => {
  const { context } = await framed("hidden", async (page) => {
    await page.waitForTimeout(300);
    await page.evaluate(() => (document.getElementById("output").style.display = "block"));
  });
  await context.close();
});

test("a plan that is inserted later is drawn, and stays whole when there is another amount of room", async () => {
  const { context, page, frame } = await framed("frame", async () => {});
  for (const [width, height] of [[420, 500], [1000, 300], [900, 560]]) {
    await page.evaluate(([w, h]) => Object.assign(document.querySelector("iframe").style, { width: `${w}px`, height: `${h}px` }), [width, height]);
    await page.waitForTimeout(200);
    assert.equal(await cardsSeen(frame), await frame.evaluate(() => window.penstock.app.scene.cards.length), `${width} by ${height}`);
  }
  await frame.evaluate(() => window.penstock.app.viewport.zoom(2));
  const middle = () => frame.evaluate(() => { const { view } = window.penstock.app.viewport; return [view.x + view.width / 2, view.y + view.height / 2].map(Math.round); });
  const before = await middle();
  await page.evaluate(() => (document.querySelector("iframe").style.width = "500px"));
  await page.waitForTimeout(200);
  assert.deepEqual(await middle(), before, "who has looked closer goes on looking there");
  await page.evaluate(() => {
    const copy = document.querySelector("iframe").cloneNode();
    document.querySelector("iframe").replaceWith(copy);
  });
  const later = await (await page.waitForSelector("iframe")).contentFrame();
  await later.waitForFunction(() => window.penstock?.app.frames > 0, undefined, { polling: 100 });
  assert.equal(await cardsSeen(later), await later.evaluate(() => window.penstock.app.scene.cards.length));
  await context.close();
});

test("a running job's numbers come, and their end is said", async () => {
  const numbers = JSON.parse(readFileSync(join(PAGES, "feed.json"), "utf8"));
  const server = createServer((request, response) => {
    const feed = request.url === "/feed";
    response.writeHead(200, { "Content-Type": feed ? "application/json" : "text/html" });
    response.end(feed ? JSON.stringify(numbers) : readFileSync(join(PAGES, "live.html")));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const address = `http://127.0.0.1:${server.address().port}/`;
  const { page, close } = await openPage(browser, address, { feed: address });
  await page.waitForFunction(() => document.getElementById("live").textContent.includes("RUNNING"));
  assert.match(await page.locator("#live").innerText(), /41\.2 k records\/s in .* version 412/);
  await page.evaluate(() => window.penstock.app.toPaper());
  const drawn = await page.locator("#paper").textContent();
  for (const part of ["41.2 k/s in · 310/s out", "busy 93%", "8.1 MiB", "lag 1.5 s"]) assert.ok(drawn.includes(part), part);
  server.close();
  server.closeAllConnections();
  await page.waitForFunction(() => document.getElementById("live").classList.contains("stale"));
  await page.evaluate(() => window.penstock.app.toPaper());
  const after = await page.locator("#paper").textContent();
  for (const part of ["/s in", "busy", "lag"]) assert.ok(!after.includes(part), `${part} of a job that is dead`);
  assert.ok(after.includes("not running") && after.includes("8.1 MiB"));
  await close();
});

test("a job that is dead has no rates", async () => {
  const numbers = { ...JSON.parse(readFileSync(join(PAGES, "feed.json"), "utf8")), status: "NOT RUNNING" };
  const server = createServer((request, response) => {
    response.writeHead(200, { "Content-Type": request.url === "/feed" ? "application/json" : "text/html" });
    response.end(request.url === "/feed" ? JSON.stringify(numbers) : readFileSync(join(PAGES, "live.html")));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const address = `http://127.0.0.1:${server.address().port}/`;
  const { page, close } = await openPage(browser, address, { feed: address });
  await page.waitForFunction(() => document.getElementById("live").textContent.includes("NOT RUNNING"));
  assert.equal(await page.locator("#live").innerText(), "NOT RUNNING · version 412");
  await page.evaluate(() => window.penstock.app.toPaper());
  assert.ok(!(await page.locator("#paper").textContent()).includes("/s in"));
  await page.screenshot({ path: join(PAGES, "dead.png") });
  server.close();
  server.closeAllConnections();
  await close();
});

test("100,000 operators are groups, open quickly, and are found inside", () => opened("layered-100000", async (page) => {
  const { opened: ready, cards } = await page.evaluate(() => ({ opened: window.penstock.opened, cards: window.penstock.app.scene.cards }));
  console.log(`# 100,000 operators: ${Math.round(ready)} ms`);
  assert.ok(cards.length < 400 && cards.every((card) => card.kind === "group"));
  await page.locator("#search").fill("feed 99800");
  await page.keyboard.press("Enter");
  assert.equal(await shown(page), "Source: feed 99800");
  assert.ok(await page.locator("#trail").isVisible());
  await page.locator("#canvas").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("#trail").isHidden());
}));

test("2,000 operators: frames of panning and zooming", () => opened("layered-2000", async (page) => {
  const times = await page.evaluate(async () => {
    const { app } = window.penstock;
    const found = [];
    const paint = app.paint.bind(app);
    for (let at = 0; at < 60; at++) {
      if (at < 30) app.viewport.pan(5, 2);
      else app.viewport.zoom(1.06);
      const before = performance.now();
      paint();
      app.context.getImageData(0, 0, 1, 1);
      found.push(performance.now() - before);
      await new Promise(requestAnimationFrame);
    }
    return found.sort((a, b) => a - b);
  });
  console.log(`# 2,000 operators: a frame takes ${times[30].toFixed(1)} ms (median), ${times[57].toFixed(1)} ms (95th percentile)`);
}));

for (const [name, colorScheme] of [["small", "light"], ["small", "dark"], ["layered-100000", "light"]]) {
  test(`axe has nothing serious against ${name}, ${colorScheme}`, () => opened(name, async (page) => {
    await page.evaluate(axe);
    await page.evaluate((ref) => window.penstock.app.select(ref), name === "small" ? "o1" : "g0");
    await page.locator("#search").fill("map");
    const found = await page.evaluate(() => window.axe.run());
    const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`), []);
  }, { colorScheme, bypassCSP: true }));
}
