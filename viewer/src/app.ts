/** The page: what is shown, what is selected, and what happens when somebody does something. */

import { build, type Built } from "./build.ts";
import { CanvasBrush, measureWith } from "./canvas.ts";
import type { Tab } from "./cards.ts";
import { edgeDetails, operatorDetails, planDetails, vertexDetails } from "./details.ts";
import { changeOf, STATUSES, tally } from "./diff.ts";
import { part, make, said } from "./dom.ts";
import { draw, placeOf, type CardNumbers } from "./draw.ts";
import { chainGraph, type ChainGraph } from "./graph.ts";
import { asPng, asSvg, download, fileName, onPaper } from "./keep.ts";
import type { Model, Status } from "./model.ts";
import { pick, type Ref, type Scene } from "./scene.ts";
import { count, inert, many, type Measure } from "./text.ts";
import { DARK, LIGHT, type Theme } from "./theme.ts";
import { movedBy, Viewport } from "./viewport.ts";
import { step, wiresAt, type Direction } from "./walk.ts";

const REACH = 7;
const TABS: readonly Tab[] = ["stream", "job", "execution"];
const NAMES: Readonly<Record<Tab, string>> = { stream: "StreamGraph", job: "JobGraph", execution: "ExecutionGraph" };

/** The marks of every picture. */
const SHAPES = ["● source", "■ operator", "◆ sink", "⛁ keeps state", "thick line: to all subtasks", "dashed line: side output"];

export class App {
  readonly viewport: Viewport;
  tab: Tab = "stream";
  chosen: Ref | null = null;
  /** Frames drawn so far, for who measures. */
  frames = 0;
  private readonly canvas = part<HTMLCanvasElement>("canvas");
  private readonly context: CanvasRenderingContext2D;
  private readonly measure: Measure;
  private readonly graph: ChainGraph;
  private readonly chainOf: Int32Array;
  private readonly scenes = new Map<string, Built>();
  /** Groups that were opened, outermost first: numbers of the groups in each picture. */
  private opened: { readonly group: number; readonly chains: Uint32Array }[] = [];
  private built!: Built;
  private theme: Theme = LIGHT;
  private found: ReadonlySet<Ref> = new Set();
  private numbers: ReadonlyMap<string, CardNumbers> | null = null;
  private dirty = false;

  constructor(
    readonly model: Model,
    private readonly live: boolean,
  ) {
    this.context = this.canvas.getContext("2d")!;
    this.measure = measureWith(this.context);
    this.viewport = new Viewport(() => this.redraw());
    this.graph = chainGraph(model);
    this.chainOf = new Int32Array(model.operators.length).fill(-1);
    this.graph.chains.forEach((chain, at) => chain.operators.forEach((row) => (this.chainOf[row] = at)));
    movedBy(this.canvas, this.viewport, (px, py, double) => this.tapped(px, py, double));
    new ResizeObserver(() => this.resized()).observe(part("stage"));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.dress(dark.matches));
    this.resized();
    this.dress(dark.matches);
    this.show();
    this.select(null);
  }

  get scene(): Scene {
    return this.built.scene;
  }

  // --- what is shown ---

  /** Show one of the three graphs. */
  turnTo(tab: Tab): void {
    if (tab !== "stream" && this.model.refused !== null) {
      this.say("the planner refuses this program, so there is no such graph");
      return;
    }
    this.tab = tab;
    for (const each of TABS) {
      const button = part(`tab-${each}`);
      button.setAttribute("aria-selected", String(each === tab));
      button.tabIndex = each === tab ? 0 : -1;
    }
    part("stage").setAttribute("aria-labelledby", `tab-${tab}`);
    const before = this.chosen;
    this.show();
    this.select(before === null ? null : this.counterpart(before));
    this.say(`${NAMES[tab]}, ${many(this.scene.cards.length, "card")}`);
  }

  /** Dark, light; undefined for the other one. */
  dress(dark = this.theme === LIGHT): void {
    this.theme = dark ? DARK : LIGHT;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.legend();
    this.redraw();
  }

  /** Show a picture anew, all of it. */
  private show(): void {
    const key = `${this.tab}/${this.opened.map((each) => each.group).join("/")}`;
    let built = this.scenes.get(key);
    if (built === undefined) {
      const within = this.opened.at(-1)?.chains ?? null;
      built = build({ tab: this.tab, model: this.model, graph: this.graph, measure: this.measure, live: this.live, within });
      this.scenes.set(key, built);
    }
    this.built = built;
    this.trail();
    this.legend();
    this.begin();
  }

  /** All of the picture, or its beginning where all would be unreadable. */
  private begin(): void {
    this.viewport.fit(this.scene.bounds);
  }

  fit(): void {
    this.viewport.fit(this.scene.bounds);
  }

  private resized(): void {
    const { clientWidth, clientHeight } = part("stage");
    const sharp = window.devicePixelRatio || 1;
    const [width, height] = [clientWidth, clientHeight].map((side) => Math.max(1, Math.round(side * sharp))) as [number, number];
    if (this.canvas.width !== width) this.canvas.width = width; // which wipes it, even if it is the same
    if (this.canvas.height !== height) this.canvas.height = height;
    this.redraw();
    this.viewport.resize(clientWidth, clientHeight);
  }

  redraw(): void {
    if (this.dirty) return;
    this.dirty = true;
    requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    this.dirty = false;
    if (this.built === undefined || this.viewport.width < 1) return;
    const { context, viewport, theme } = this;
    const sharp = window.devicePixelRatio || 1;
    const { x, y, scale } = viewport;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = theme.page;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    context.setTransform(scale * sharp, 0, 0, scale * sharp, -x * scale * sharp, -y * scale * sharp);
    const look = { theme, view: viewport.view, scale, chosen: this.chosen, found: this.found, numbers: this.numbers };
    draw(this.scene, look, new CanvasBrush(context, theme.page));
    this.frames += 1;
  }

  // --- what is selected ---

  private tapped(px: number, py: number, double: boolean): void {
    const ref = pick(this.scene, ...this.viewport.at(px, py), REACH / this.viewport.scale);
    if (double && ref !== null) this.open(ref);
    else if (!double) this.select(ref);
  }

  /** Select something, and say in the panel what is known of it; it is brought into view if asked. */
  select(ref: Ref | null, reveal = false): void {
    this.chosen = ref;
    part("panel").replaceChildren(this.details(ref));
    if (ref !== null) {
      const place = placeOf(this.scene, ref);
      if (reveal && place !== null) this.viewport.reveal(place, true);
      this.say(this.spoken(ref));
    }
    this.redraw();
  }

  /** Select an operator wherever it is, in a group too. */
  goTo(ref: Ref): void {
    const number = Number(ref.slice(1));
    const operator = ref.startsWith("o") ? number : ref.startsWith("e") ? this.model.at(this.model.edge(number).source) : -1;
    if (operator >= 0) this.descendTo(this.chainOf[operator]!);
    this.select(this.counterpart(ref), true);
  }

  private details(ref: Ref | null): HTMLElement {
    const actions = { select: (to: Ref) => this.goTo(to), say: (text: string) => this.say(text) };
    if (ref === null || ref.startsWith("x")) return planDetails(this.model);
    const number = Number(ref.slice(1));
    if (ref.startsWith("o")) return operatorDetails(this.model, number, actions);
    if (ref.startsWith("e")) return edgeDetails(this.model, number, actions);
    if (ref.startsWith("g")) return this.groupDetails(number);
    const chain = this.graph.chains[number]!;
    if (chain.vertex < 0) return operatorDetails(this.model, chain.operators[0]!, actions);
    return vertexDetails(this.model, this.model.vertex(chain.vertex), actions);
  }

  private groupDetails(group: number): HTMLElement {
    const chains = this.built.groups![group]!;
    const names = [...chains.slice(0, 20)].map((chain) => this.model.operators.value(this.graph.chains[chain]!.operators[0]!, "name"));
    const more = chains.length > 20 ? make("li", {}, `and ${count(chains.length - 20)} more`) : null;
    return make(
      "div",
      {},
      make("h2", { tabindex: "0" }, `Group of ${many(chains.length, "chain")}`),
      make("p", {}, make("button", { type: "button", class: "jump", click: () => this.open(`g${group}`) }, "Open it (Enter)")),
      make("h3", {}, "Begins with"),
      make("ul", {}, ...names.map((name) => make("li", {}, said(name, 200))), more),
    );
  }

  /** The same thing in another graph: an operator's card where operators have no rows. */
  private counterpart(ref: Ref): Ref | null {
    if (placeOf(this.scene, ref) !== null) return ref;
    const number = Number(ref.slice(1));
    if (ref.startsWith("o")) return this.cardOfOperator(number);
    if (ref.startsWith("c")) {
      const row = this.graph.chains[number]?.operators[0];
      return row !== undefined && placeOf(this.scene, `o${row}`) !== null ? `o${row}` : null;
    }
    return ref.startsWith("e") ? ref : null;
  }

  private cardOfOperator(row: number): Ref | null {
    const card = `c${this.chainOf[row]!}` as const;
    return placeOf(this.scene, card) === null ? null : card;
  }

  private spoken(ref: Ref): string {
    const number = Number(ref.slice(1));
    if (ref.startsWith("o")) {
      const { name, kind, type, parallelism } = this.model.operator(number);
      const change = changeOf(this.model, number);
      return inert([name, type || kind, `parallelism ${parallelism}`, change?.status ?? ""].filter((text) => text !== "").join(", "), 300);
    }
    if (ref.startsWith("e")) {
      const { partitioner, reason, source, target } = this.model.edge(number);
      const [from, to] = [source, target].map((node) => this.model.operator(this.model.at(node)).name) as [string, string];
      return inert(`${partitioner} edge from ${from} to ${to}: ${reason || "chained"}`, 400);
    }
    const card = this.scene.cards.find((each) => each.ref === ref);
    return card === undefined ? "" : [...card.lines, card.right, ...card.rows.map((row) => row.title)].join(", ");
  }

  // --- groups ---

  /** Open a group, or bring anything else close. */
  open(ref: Ref): void {
    if (ref.startsWith("g")) {
      const group = Number(ref.slice(1));
      this.opened = [...this.opened, { group, chains: this.built.groups![group]! }];
      this.show();
      this.select(null);
      this.say(`group opened, ${many(this.scene.cards.length, "card")}`);
      return;
    }
    const place = placeOf(this.scene, ref);
    if (place === null) return;
    if (this.viewport.scale < 1) this.viewport.zoom(1 / this.viewport.scale);
    this.viewport.reveal({ ...place, x: place.x - 1e-6 }, true);
  }

  /** Leave the innermost groups until so many are open; false if nothing was to be left. */
  leave(depth = this.opened.length - 1): boolean {
    if (depth < 0 || depth >= this.opened.length) return false;
    const group = this.opened[depth]!.group;
    this.opened = this.opened.slice(0, depth);
    this.show();
    this.select(`g${group}`, false);
    return true;
  }

  private descendTo(chain: number): void {
    while (this.opened.length > 0 && !this.opened.at(-1)!.chains.includes(chain)) {
      this.opened = this.opened.slice(0, -1);
      this.show();
    }
    while (this.built.groups !== null) {
      const group = this.built.groups.findIndex((members) => members.includes(chain));
      if (group < 0) return;
      this.opened = [...this.opened, { group, chains: this.built.groups[group]! }];
      this.show();
    }
  }

  private trail(): void {
    const trail = part("trail");
    trail.hidden = this.opened.length === 0;
    const all = make("button", { type: "button", click: () => this.leave(0) }, "All groups");
    const steps = this.opened.map((each, at) => {
      const last = at === this.opened.length - 1;
      const text = `Group ${each.group + 1} (${many(each.chains.length, "chain")})`;
      return last ? make("span", {}, text) : make("button", { type: "button", click: () => this.leave(at + 1) }, text);
    });
    trail.replaceChildren(all, ...steps.flatMap((each) => [make("span", { "aria-hidden": "true" }, "›"), each]));
  }

  // --- keys ---

  /** Go on from what is selected. */
  walk(direction: Direction): void {
    const next = step(this.scene, this.chosen, direction);
    if (next === null) this.say("nothing further there");
    else this.select(next, true);
  }

  /** The edges of the card that is selected, one after the other. */
  nextEdge(): void {
    const anchor = this.chosen?.startsWith("e") ? this.anchor : this.chosen;
    if (anchor === null || anchor === undefined) return;
    const wires = wiresAt(this.scene, anchor);
    if (wires.length === 0) return this.say("no edge leads from here to another chain");
    const at = this.chosen === null ? -1 : wires.indexOf(this.chosen);
    this.anchor = anchor;
    this.select(wires[(at + 1) % wires.length]!);
  }

  private anchor: Ref | null = null;

  /** Nothing is selected, or what an edge was selected from; then groups are left. */
  back(): void {
    if (this.chosen?.startsWith("e") && this.anchor !== null) {
      this.select(this.anchor);
      this.anchor = null;
    } else if (this.chosen !== null) this.select(null);
    else this.leave();
  }

  // --- beside the graph ---

  /** Mark what was found; operators in cards without rows mark their cards. */
  mark(rows: readonly number[]): void {
    this.found = new Set(rows.flatMap((row): Ref[] => [`o${row}`, ...(this.tab === "stream" ? [] : [`c${this.chainOf[row]!}` as const])]));
    this.redraw();
  }

  /** Numbers of the running job, by vertex ID. */
  measured(numbers: ReadonlyMap<string, CardNumbers>): void {
    this.numbers = numbers;
    this.redraw();
  }

  /** For who listens to a page. */
  say(text: string): void {
    part("said").textContent = text;
  }

  private legend(): void {
    const changes = tally(this.model);
    const kinds = (Object.keys(STATUSES) as Status[]).filter((status) => changes?.has(status));
    const entries = kinds.map((status) => {
      const mark = make("b", { class: status }, STATUSES[status].mark);
      const next = (): void => this.nextWith(status);
      return make("span", {}, mark, make("button", { type: "button", title: STATUSES[status].says, click: next }, `${status} ${count(changes!.get(status)!)}`));
    });
    const groups = this.built?.scene.groups ?? [];
    const shown = groups.length > 1 ? groups.slice(0, 8) : [];
    const named = shown.map((name, at) => this.slots(name, at, this.theme));
    const more = groups.length > 8 ? [make("span", {}, `and ${many(groups.length - 8, "other group")}`)] : [];
    part("legend").replaceChildren(...entries, ...named, ...more);
  }

  /** Go to the next operator with a status. */
  private nextWith(status: Status): void {
    const { operators } = this.model;
    const from = this.chosen?.startsWith("o") ? Number(this.chosen.slice(1)) + 1 : 0;
    for (let at = 0; at < operators.length; at++) {
      const row = (from + at) % operators.length;
      if (changeOf(this.model, row)?.status === status) return this.goTo(`o${row}`);
    }
  }

  // --- pictures ---

  saveSvg(): void {
    download(asSvg(this.scene, { theme: this.theme, numbers: this.numbers }, this.title), fileName(this.model.name, "svg"));
  }

  async savePng(): Promise<void> {
    try {
      download(await asPng(this.scene, { theme: this.theme, numbers: this.numbers }), fileName(this.model.name, "png"));
    } catch (error) {
      this.say(`no PNG: ${String(error)}`);
    }
  }

  /** What a printer gets: all of the picture, on white. */
  toPaper(): void {
    onPaper(part("paper"), this.scene, { theme: { ...LIGHT, page: "#ffffff" }, numbers: this.numbers }, this.title, this.heading());
  }

  /** What stands above a picture on paper: title, versions, the verdict, and what its marks mean. */
  private heading(): HTMLElement[] {
    const { model } = this;
    const changes = tally(model);
    const kinds = (Object.keys(STATUSES) as Status[]).filter((status) => changes?.has(status));
    const marks = kinds.map((status) => `${STATUSES[status].mark} ${status} ${count(changes!.get(status)!)}: ${STATUSES[status].says}`);
    const groups = this.scene.groups.length > 1 ? this.scene.groups.map((name, at) => this.slots(name, at, LIGHT)) : [];
    return [
      make("h1", {}, said(this.title, 400)),
      make("p", {}, `Planned as Flink ${model.flink} by Penstock ${model.penstock} · ${many(model.operators.length, "operator")}`),
      ...(model.verdict === null ? [] : [make("p", {}, make("strong", {}, said(model.verdict.text)))]),
      make("p", { class: "key" }, ...[...SHAPES, ...marks].map((text) => make("span", {}, text)), ...groups),
    ];
  }

  private slots(name: string, at: number, theme: Theme): HTMLElement {
    const dot = make("i");
    dot.style.background = theme.groups[at % theme.groups.length]!;
    dot.style.cssText += ";display:inline-block;width:10px;height:10px;border-radius:3px;print-color-adjust:exact";
    return make("span", {}, dot, " ", make("span", {}, "slots: "), said(name, 40));
  }

  private get title(): string {
    return `${NAMES[this.tab]} of ${this.model.name}`;
  }
}
