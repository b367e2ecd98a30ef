// A headless Chromium for tests and pictures: the one of CHROMIUM, or that is on the PATH.
import { execFileSync } from "node:child_process";

import { chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

export function executable() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of NAMES) {
    try {
      return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    } catch {
      // the next one
    }
  }
  throw new Error(`no Chromium: none of ${NAMES.join(", ")} is on the PATH (Debian: apt install chromium), and CHROMIUM does not name one`);
}

// As root, and in containers, Chromium's own sandbox does not start.
export function launch() {
  return chromium.launch({ executablePath: executable(), args: ["--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"] });
}

// A page that fails the test when it logs an error, throws, or asks the network for anything.
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:") && !request.url().startsWith("blob:") && !request.url().startsWith(options.feed ?? "\0")) {
      wrong.push(`asks for ${request.url()}`);
    }
  });
  await page.goto(url);
  await page.waitForFunction(() => window.penstock !== undefined && window.penstock.app.frames > 0);
  return { page, wrong, close: () => context.close() };
}
