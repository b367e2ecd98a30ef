/** Reads what the page holds, and connects buttons, keys and the feed of a running job with the App. */

import { App } from "./app.ts";
import type { Tab } from "./cards.ts";
import { make, part, said } from "./dom.ts";
import { cardNumbers, follow, headline, type Feed, type Numbers } from "./live.ts";
import { Model, type ModelData } from "./model.ts";
import { Index } from "./search.ts";
import { count, duration, inert } from "./text.ts";
import type { Direction } from "./walk.ts";

interface PageData {
  readonly format: number;
  readonly model: ModelData;
  readonly live: Feed | null;
}

declare global {
  interface Window {
    /** For tests and for the curious. */
    penstock?: { readonly app: App; readonly opened: number };
  }
}

const FORMAT = 1;
const LISTED = 50;

const KEYS: readonly (readonly [string, string])[] = [
  ["← →", "along the edges"],
  ["↑ ↓", "to what is above or below"],
  ["Shift + arrow", "move the picture"],
  ["+ −", "closer, farther"],
  ["0", "all of it"],
  ["Enter", "open a group, or come close"],
  ["e", "the edges of what is selected, one by one"],
  ["Esc", "back, out of a group"],
  ["/", "search; n and N for the next hit"],
  ["1 2 3", "StreamGraph, JobGraph, ExecutionGraph"],
  ["d", "to the details"],
  ["t", "dark or light"],
  ["s, i, p", "keep as SVG, as PNG (image), print"],
  ["?", "these keys"],
];

function main(): void {
  const data = JSON.parse(part("plan").textContent ?? "") as PageData;
  if (data.format !== FORMAT) throw new Error(`the data have format ${data.format}, the page reads ${FORMAT}`);
  const model = new Model(data.model);
  part("title").replaceChildren(said(model.name, 200));
  part("flink").textContent = `Flink ${model.flink}`;
  if (model.verdict !== null) {
    const verdict = part("verdict");
    verdict.hidden = false;
    verdict.classList.toggle("unsafe", !model.verdict.safe);
    verdict.textContent = inert(`${model.verdict.safe ? "✓" : "✗"} ${model.verdict.text}`, 300);
  }
  const app = new App(model, data.live !== null);
  const search = connectSearch(app);
  connectButtons(app);
  connectKeys(app, search);
  window.penstock = { app, opened: performance.now() };
  if (data.live !== null) connectFeed(app, data.live);
}

function connectButtons(app: App): void {
  const click = (id: string, act: () => void): void => part(id).addEventListener("click", act);
  const tabs: readonly Tab[] = ["stream", "job", "execution"];
  for (const tab of tabs) click(`tab-${tab}`, () => app.turnTo(tab));
  part("tabs").addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    app.turnTo(tabs[(tabs.indexOf(app.tab) + by + 3) % 3]!);
    part(`tab-${app.tab}`).focus();
  });
  for (const tab of tabs.slice(1)) part<HTMLButtonElement>(`tab-${tab}`).disabled = app.model.refused !== null;
  click("zoom-in", () => app.viewport.zoom(1.3));
  click("zoom-out", () => app.viewport.zoom(1 / 1.3));
  click("fit", () => app.fit());
  click("theme", () => app.dress());
  click("export-svg", () => app.saveSvg());
  click("export-png", () => void app.savePng());
  click("print", () => window.print());
  click("help", showKeys);
  const menu = part<HTMLDetailsElement>("export");
  menu.addEventListener("click", (event) => {
    if (event.target instanceof HTMLButtonElement) menu.open = false;
  });
  menu.addEventListener("focusout", (event) => {
    if (!menu.contains(event.relatedTarget as Node | null)) menu.open = false;
  });
  window.addEventListener("beforeprint", () => app.toPaper());
}

function showKeys(): void {
  const dialog = part<HTMLDialogElement>("keys");
  const list = make("dl");
  for (const [keys, what] of KEYS) list.append(make("dt", {}, make("kbd", {}, keys)), make("dd", {}, what));
  const close = make("button", { type: "button", click: () => dialog.close() }, "Close");
  dialog.replaceChildren(make("h2", { id: "keys-title" }, "Keys"), list, close);
  dialog.showModal();
}

interface Search {
  readonly next: (by: number) => void;
}

function connectSearch(app: App): Search {
  const [field, list, tally] = [part<HTMLInputElement>("search"), part("hits"), part("tally")];
  const index = new Index(app.model);
  let rows: readonly number[] = [];
  let at = -1;
  const close = (): void => {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const mark = (): void => {
    [...list.children].forEach((item, row) => item.setAttribute("aria-selected", String(row === at)));
    const item = list.children[at];
    if (item === undefined || list.hidden) return;
    field.setAttribute("aria-activedescendant", item.id);
    item.scrollIntoView({ block: "nearest" });
  };
  const next = (by: number): void => {
    if (rows.length === 0) return app.say("nothing was found");
    at = at < 0 && by < 0 ? rows.length - 1 : (at + by + rows.length) % rows.length;
    tally.textContent = `${at + 1}/${count(rows.length)}`;
    app.goTo(`o${rows[at]!}`);
    mark();
  };
  field.addEventListener("input", () => {
    const hits = index.find(field.value);
    rows = hits.rows;
    at = -1;
    tally.textContent = field.value.trim() === "" ? "" : count(hits.all);
    app.mark(rows);
    app.say(field.value.trim() === "" ? "" : `${count(hits.all)} found`);
    list.replaceChildren(...rows.slice(0, LISTED).map((row, place) => option(app, row, place, () => {
      at = place - 1;
      next(1);
      close();
    })));
    list.hidden = rows.length === 0;
    field.setAttribute("aria-expanded", String(!list.hidden));
    field.removeAttribute("aria-activedescendant");
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") next(event.shiftKey ? -1 : 1);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") next(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Escape") {
      close();
      part("canvas").focus();
    } else return;
    event.preventDefault();
  });
  field.addEventListener("blur", () => setTimeout(close, 150));
  return { next };
}

function option(app: App, row: number, place: number, take: () => void): HTMLElement {
  const { name, uid, type } = app.model.operator(row);
  const more = make("small", {}, inert([type, uid === null ? "" : `uid ${uid}`].filter((text) => text !== "").join(" · "), 80));
  const item = make("li", { role: "option", id: `hit-${place}`, "aria-selected": "false" }, said(name, 120), " ", more);
  item.addEventListener("pointerdown", (event) => event.preventDefault());
  item.addEventListener("click", take);
  return item;
}

const ARROWS: Readonly<Record<string, readonly [Direction, number, number]>> = {
  ArrowLeft: ["left", 80, 0],
  ArrowRight: ["right", -80, 0],
  ArrowUp: ["up", 0, 80],
  ArrowDown: ["down", 0, -80],
};

function connectKeys(app: App, search: Search): void {
  const acts: Readonly<Record<string, () => void>> = {
    "+": () => app.viewport.zoom(1.3),
    "=": () => app.viewport.zoom(1.3),
    "-": () => app.viewport.zoom(1 / 1.3),
    "0": () => app.fit(),
    "1": () => app.turnTo("stream"),
    "2": () => app.turnTo("job"),
    "3": () => app.turnTo("execution"),
    "/": () => part<HTMLInputElement>("search").select(),
    "?": showKeys,
    Escape: () => app.back(),
    d: () => part("panel").focus(),
    e: () => app.nextEdge(),
    i: () => void app.savePng(),
    n: () => search.next(1),
    N: () => search.next(-1),
    p: () => window.print(),
    s: () => app.saveSvg(),
    t: () => app.dress(),
  };
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, dialog") !== null) return;
    const arrow = ARROWS[event.key];
    const onCanvas = target.id === "canvas";
    if (arrow !== undefined) {
      if (!onCanvas && target !== document.body) return;
      if (event.shiftKey) app.viewport.pan(arrow[1], arrow[2]);
      else app.walk(arrow[0]);
    } else if (event.key === "Enter" && onCanvas && app.chosen !== null) app.open(app.chosen);
    else if (acts[event.key] !== undefined) acts[event.key]!();
    else return;
    event.preventDefault();
  });
}

function connectFeed(app: App, feed: Feed): void {
  const line = part("live");
  line.hidden = false;
  line.textContent = "waiting for the job …";
  let last: Numbers | null = null;
  void follow(
    feed,
    (numbers) => {
      last = numbers;
      line.classList.remove("stale");
      line.textContent = inert(headline(numbers), 400);
      app.measured(cardNumbers(numbers));
    },
    (since) => {
      line.classList.add("stale");
      line.textContent = `nobody has answered for ${duration(since)}; the job, or what watches it, has ended`;
      if (last !== null) app.measured(cardNumbers(last, false));
    },
  );
}

try {
  main();
} catch (error) {
  const reason = inert(String(error), 500);
  document.querySelector("main")?.replaceChildren(make("p", { class: "refused", role: "alert" }, `The plan cannot be shown: ${reason}`));
}
