// A notebook in JupyterLab, run cell by cell, or one that nbconvert has written as a page (CELLS is 0 then):
// node notebook.mjs ADDRESS CELLS FRAMES [PICTURES]. Prints what was seen as JSON:
// the text of the first cell's output, and of each plan how many of its cards are in view and how many colours are drawn.
import { join } from "node:path";

import { launch } from "./browser.mjs";

const [address, cells, frames, pictures] = process.argv.slice(2);
const PATIENCE = { timeout: 60_000 };

// What can be seen of a plan, in its frame.
const look = () => {
  const { app } = window.penstock;
  const { x, y, width, height } = app.viewport.view;
  const seen = app.scene.cards.filter((card) => card.x >= x && card.y >= y && card.x + card.width <= x + width && card.y + card.height <= y + height);
  const canvas = document.getElementById("canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set();
  for (let at = 0; at < data.length; at += 4) colours.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
  return { cards: app.scene.cards.length, seen: seen.length, colours: colours.size };
};

async function plan(page, number) {
  const element = page.locator(".jp-OutputArea iframe").nth(number);
  await element.waitFor({ state: "attached", ...PATIENCE });
  await element.scrollIntoViewIfNeeded(PATIENCE);
  const frame = await (await element.elementHandle()).contentFrame();
  await frame.waitForFunction(() => window.penstock?.app.frames > 0, undefined, { polling: 100, ...PATIENCE });
  await page.waitForTimeout(300);
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, `plan-${number}.png`) });
  return frame.evaluate(look);
}

async function run(page) {
  const idle = () => page.waitForFunction(() => /\| Idle/.test(document.getElementById("jp-bottom-panel")?.textContent ?? document.body.innerText), undefined, { polling: 100, ...PATIENCE });
  await idle();
  await page.locator(".jp-CodeCell .cm-content").first().click();
  for (let cell = 0; cell < Number(cells); cell++) {
    await page.keyboard.press("Shift+Enter");
    await page.waitForTimeout(500);
    await idle();
  }
}

const browser = await launch();
try {
  const page = await (await browser.newContext({ viewport: { width: 1200, height: 700 } })).newPage();
  await page.goto(address);
  await page.locator(".jp-Notebook .jp-CodeCell").first().waitFor(PATIENCE);
  if (Number(cells) > 0) await run(page);
  const plans = [];
  for (let number = 0; number < Number(frames); number++) plans.push(await plan(page, number));
  const text = await page.locator(".jp-CodeCell").first().locator(".jp-OutputArea").first().textContent();
  console.log(JSON.stringify({ text, plans }));
} finally {
  await browser.close();
}
