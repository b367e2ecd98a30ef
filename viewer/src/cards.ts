/** Cards of the three graphs: what stands in them, and how large they are. */

import { changeOf } from "./diff.ts";
import type { Chain } from "./graph.ts";
import type { Model, Operator, Status } from "./model.ts";
import { HEAD, LIVE, PAD, ROW, type Card, type Cell, type Row } from "./scene.ts";
import { count, fitted, inert, many, wrapped, type Measure } from "./text.ts";

export type Tab = "stream" | "job" | "execution";

/** A card that has no place yet: everything in it is relative to its upper left corner. */
export type Draft = Omit<Card, "x" | "y">;

const NARROWEST = 150;
const WIDEST = 264;
/** What the numbers of a running job need. */
const NARROWEST_LIVE = 232;
const INDENT = 14;
/** Left of a row's text: stripe, shape. Right of it: the mark of state. */
const BESIDE = 60;
const CELL_HEIGHT = 30;
const CELL_GAP = 6;
const LINE = 17;
/** So many subtasks are drawn one by one. */
const MOST_CELLS = 8;

export interface Surroundings {
  readonly model: Model;
  readonly measure: Measure;
  /** Whether numbers of a running job are shown in cards. */
  readonly live: boolean;
  /** Number of a slot sharing group. */
  readonly colourOf: (group: string) => number;
}

/** The card of a chain in one of the graphs. */
export function draft(tab: Tab, chain: Chain, at: number, around: Surroundings): Draft {
  if (chain.vertex < 0 || tab === "stream") return streamCard(chain, at, around);
  return tab === "job" ? jobCard(chain, at, around) : executionCard(chain, at, around);
}

function streamCard(chain: Chain, at: number, around: Surroundings): Draft {
  const { model, measure } = around;
  const rows = rowsOf(chain, model);
  const texts = rows.map(({ operator, depth }) => ({
    title: measure(inert(operator.name, 160), "title") + depth * INDENT,
    detail: measure(inert(detailOf(operator), 160), "small") + depth * INDENT + (operator.stateful === true ? 12 : 0),
  }));
  const wanted = Math.max(...texts.map(({ title, detail }) => Math.max(title, detail))) + BESIDE;
  const width = Math.ceil(Math.min(Math.max(wanted, around.live ? NARROWEST_LIVE : NARROWEST), WIDEST));
  const found: Row[] = rows.map(({ operator, row, depth, parent }, index) => {
    const space = width - BESIDE - depth * INDENT;
    const stateful = operator.stateful === true;
    const status = changeOf(model, row)?.status;
    return {
      ref: `o${row}`,
      y: HEAD + index * ROW,
      height: ROW,
      depth,
      parentY: parent === null ? null : HEAD + parent * ROW + ROW / 2,
      title: fitted(operator.name, space - (status === undefined ? 0 : 16), "title", measure),
      detail: fitted(detailOf(operator), space - (stateful ? 12 : 0), "small", measure),
      shape: operator.kind,
      stateful,
      warn: stateful && operator.origin === "position" && operator.pinned === null,
      status,
    };
  });
  const height = HEAD + found.length * ROW + PAD + (around.live && chain.vertex >= 0 ? LIVE : 0);
  return { ...common("chain", chain, at, around, width), width, height, rows: found };
}

function jobCard(chain: Chain, at: number, around: Surroundings): Draft {
  const vertex = around.model.vertex(chain.vertex);
  const width = vertexWidth(vertex.name, around);
  const lines = wrapped(vertex.name, width - 2 * PAD - 12, 3, "title", around.measure);
  const height = HEAD + lines.length * LINE + 2 * PAD + 4 + (around.live ? LIVE : 0);
  return { ...common("vertex", chain, at, around, width), lines, width, height };
}

function vertexWidth(name: string, { measure, live }: Surroundings): number {
  const wanted = measure(inert(name, 160), "title") / (name.length > 44 ? 2 : 1);
  return Math.round(Math.min(Math.max(wanted + 40, live ? NARROWEST_LIVE : 184), 280));
}

function executionCard(chain: Chain, at: number, around: Surroundings): Draft {
  const vertex = around.model.vertex(chain.vertex);
  const width = vertexWidth(vertex.name, around);
  const lines = wrapped(vertex.name, width - 2 * PAD - 12, 2, "title", around.measure);
  const top = HEAD + lines.length * LINE + PAD;
  const keyed = chain.operators.some((row) => around.model.operators.value(row, "keyed"));
  const cells = cellsOf(vertex.parallelism, keyed ? vertex.max_parallelism : 0, top, width);
  const height = top + cells.length * (CELL_HEIGHT + CELL_GAP) + PAD + (around.live ? LIVE : 0);
  return { ...common("execution", chain, at, around, width), lines, cells, width, height };
}

/** Subtasks, of keyed chains with the key groups they own; of many the first three, the last, and all between as one. */
function cellsOf(parallelism: number, groups: number, top: number, width: number): Cell[] {
  const all = parallelism <= MOST_CELLS;
  const ranges: [number, number][] = all
    ? Array.from({ length: parallelism }, (_, at) => [at, at])
    : [[0, 0], [1, 1], [2, 2], [3, parallelism - 2], [parallelism - 1, parallelism - 1]];
  return ranges.map(([first, last], at) => ({
    x: 14,
    y: top + at * (CELL_HEIGHT + CELL_GAP),
    width: width - 28,
    height: CELL_HEIGHT,
    text: first === last ? `${count(first + 1)}/${count(parallelism)}${keyGroups(first, parallelism, groups)}` : `… ${many(last - first + 1, "subtask")} …`,
    first,
    last,
  }));
}

function keyGroups(subtask: number, parallelism: number, groups: number): string {
  if (groups < parallelism) return "";
  const first = Math.floor((subtask * groups + parallelism - 1) / parallelism);
  const last = Math.floor(((subtask + 1) * groups - 1) / parallelism);
  return `  ·  key groups ${first}–${last}`;
}

function common(kind: Card["kind"], chain: Chain, at: number, around: Surroundings, width: number): Draft {
  const { model, measure } = around;
  const ref = `c${at}` as const;
  const base = { ref, kind, lines: [], rows: [], cells: [], width, height: 0 };
  if (chain.vertex < 0) {
    const operator = model.operator(chain.operators[0]!);
    const right = operator.parallelism > 0 ? `×${count(operator.parallelism)}` : "";
    const change = changeOf(model, chain.operators[0]!);
    const gone = change?.change === "removed";
    return { ...base, left: gone ? "removed" : "not planned", right, colour: -1, live: "", status: change?.status, gone };
  }
  const vertex = model.vertex(chain.vertex);
  const group = vertex.slot_sharing_group;
  const what = chain.operators.length > 1 ? `chain of ${chain.operators.length}` : "alone";
  const named = group === "" || group === "default" ? what : `${what} · ${group}`;
  const left = fitted(kind === "chain" ? named : `${vertex.id.slice(0, 8)} · ${named}`, width - 72, "small", measure);
  const right = `×${count(vertex.parallelism)}`;
  return { ...base, left, right, colour: around.colourOf(group), live: vertex.id, status: worst(chain, model) };
}

/** What happened to the most of a chain: the change that matters most. */
function worst(chain: Chain, model: Model): Status | undefined {
  const found = new Set(chain.operators.map((at) => changeOf(model, at)?.status));
  return (["lost", "removed", "moved", "added", "changed", "kept"] as const).find((status) => found.has(status));
}

interface Place {
  readonly operator: Operator;
  readonly row: number;
  readonly depth: number;
  readonly parent: number | null;
}

/** Operators of a chain from the head on, each with what it is chained to; only where chains branch are they indented. */
function rowsOf(chain: Chain, model: Model): Place[] {
  const index = new Map(chain.operators.map((row, at) => [model.operators.value(row, "node"), at]));
  const parents = parentsOf(model);
  const children = new Map<number, number>();
  const parentAt = chain.operators.map((row) => index.get(parents.get(model.operators.value(row, "node")) ?? NaN) ?? null);
  for (const parent of parentAt) if (parent !== null) children.set(parent, (children.get(parent) ?? 0) + 1);
  const depths: number[] = [];
  return chain.operators.map((row, at) => {
    const parent = at === 0 ? null : (parentAt[at] ?? null);
    const depth = parent === null ? 0 : depths[parent]! + ((children.get(parent) ?? 0) > 1 ? 1 : 0);
    depths.push(Math.min(depth, 6));
    return { operator: model.operator(row), row, depth: depths[at]!, parent };
  });
}

const known = new WeakMap<Model, Map<number, number>>();

/** The node that each node is chained to. O(edges), once. */
function parentsOf(model: Model): Map<number, number> {
  let found = known.get(model);
  if (found === undefined) {
    found = new Map();
    for (let row = 0; row < model.edges.length; row++) {
      if (model.edges.value(row, "chained")) found.set(model.edges.value(row, "target"), model.edges.value(row, "source"));
    }
    known.set(model, found);
  }
  return found;
}

function detailOf(operator: Operator): string {
  const parts = operator.type === "" ? [] : [operator.type];
  if (operator.pinned !== null) parts.push(`pinned ${operator.pinned.slice(0, 8)}`);
  else if (operator.uid !== null) parts.push(`uid ${operator.uid}`);
  else if (operator.operator_id !== "") parts.push("ID by position");
  else parts.push("no ID");
  return parts.join(" · ");
}
