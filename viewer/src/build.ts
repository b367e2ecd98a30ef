/** A scene out of a plan: which cards and wires there are, and where. */

import { changeOf } from "./diff.ts";
import { draft, type Draft, type Surroundings, type Tab } from "./cards.ts";
import { pointwise } from "./fanout.ts";
import type { ChainGraph, Link } from "./graph.ts";
import { grouped, MOST_CARDS, type Grouping } from "./grouping.ts";
import { layout, type Placed } from "./layout.ts";
import type { Model } from "./model.ts";
import { boundsOf, HEAD, middleOf, PAD, type Box, type Card, type Scene, type Wire } from "./scene.ts";
import { count, fitted, many, type Measure } from "./text.ts";

export interface Wish {
  readonly tab: Tab;
  readonly model: Model;
  readonly graph: ChainGraph;
  readonly measure: Measure;
  readonly live: boolean;
  /** Chains to be shown; null for all. */
  readonly within: Uint32Array | null;
}

export interface Built {
  readonly scene: Scene;
  /** The groups that the cards are, where there were too many chains; their members are chains. */
  readonly groups: readonly Uint32Array[] | null;
}

/** Lay out what is wished for. O(V log V + E). */
export function build(wish: Wish): Built {
  const chains = wish.within ?? Uint32Array.from(wish.graph.chains, (_, at) => at);
  const local = new Int32Array(wish.graph.chains.length).fill(-1);
  chains.forEach((chain, at) => (local[chain] = at));
  const links = wish.graph.links.filter((link) => local[link.source]! >= 0 && local[link.target]! >= 0);
  if (chains.length > MOST_CARDS) return buildGroups(wish, chains, local, links);
  const around = surroundings(wish, chains);
  const drafts = [...chains].map((chain) => draft(wish.tab, wish.graph.chains[chain]!, chain, around));
  const outside = wish.within === null ? [] : beyond(wish, local);
  const all = [...drafts, ...outside.map((each) => each.draft)];
  const from = links.map((link) => local[link.source]!);
  const to = links.map((link) => local[link.target]!);
  outside.forEach(({ ends, before }, at) => {
    for (const end of ends) {
      from.push(before ? drafts.length + at : end);
      to.push(before ? end : drafts.length + at);
    }
  });
  const { cards, via } = placed(all, from, to, wish.tab === "execution" ? FAN_GAP : undefined);
  const past = (wire: Wire, at: number): Wire => ({ ...wire, points: [...wire.points.slice(0, 2), ...via[at]!, ...wire.points.slice(2)] });
  const wires = links.flatMap((link, at) => wiresOf(wish, link, cards[from[at]!]!, cards[to[at]!]!).map((wire) => past(wire, at)));
  for (let at = links.length; at < from.length; at++) wires.push(past(plain(`x${at}`, cards[from[at]!]!, cards[to[at]!]!, "", true), at));
  const bounds = boundsOf([...cards, ...via.flatMap(corners)]);
  return { scene: { cards, wires: apart(wires, wish.measure), bounds, groups: around.names }, groups: null };
}

/** The points as boxes, which bounds are made of. */
function corners(points: readonly number[]): Box[] {
  return points.flatMap((x, at) => (at % 2 === 0 ? [{ x, y: points[at + 1]!, width: 0, height: 0 }] : []));
}

function surroundings(wish: Wish, chains: Uint32Array): Surroundings & { readonly names: string[] } {
  const names: string[] = [];
  for (const chain of chains) {
    const vertex = wish.graph.chains[chain]!.vertex;
    const group = vertex < 0 ? "" : wish.model.vertices.value(vertex, "slot_sharing_group");
    if (group !== "" && !names.includes(group)) names.push(group);
  }
  names.sort((a, b) => Number(b === "default") - Number(a === "default") || (a < b ? -1 : 1));
  const number = new Map(names.map((name, at) => [name, at]));
  return { ...wish, names, colourOf: (group) => number.get(group) ?? -1 };
}

/** Room for many lines and a longer label. */
const FAN_GAP = 132;

function placed(drafts: readonly Draft[], from: readonly number[], to: readonly number[], gap?: number): { cards: Card[]; via: Placed["via"] } {
  const { x, y, via } = layout(drafts, from, to, gap);
  return { cards: drafts.map((each, at) => moved(each, Math.round(x[at]!), Math.round(y[at]!))), via };
}

function moved(each: Draft, x: number, y: number): Card {
  return {
    ...each,
    x,
    y,
    rows: each.rows.map((row) => ({ ...row, y: row.y + y, parentY: row.parentY === null ? null : row.parentY + y })),
    cells: each.cells.map((cell) => ({ ...cell, x: cell.x + x, y: cell.y + y })),
  };
}

/** Where a wire leaves or enters a card: at the operator's row, or at its middle. */
function port(card: Card, operator: number): number {
  const row = card.rows.find((each) => each.ref === `o${operator}`);
  return row === undefined ? card.y + card.height / 2 : row.y + row.height / 2;
}

function wiresOf(wish: Wish, link: Link, from: Card, to: Card): Wire[] {
  const { model } = wish;
  const edge = model.edge(link.edge);
  const job = link.jobEdge < 0 ? null : model.jobEdges.get(link.jobEdge);
  if (wish.tab === "execution" && job !== null) return fanOut(wish, link, from, to);
  const [source, target] = [model.at(edge.source), model.at(edge.target)];
  const statuses = [changeOf(model, source)?.change, changeOf(model, target)?.change];
  const label = edge.side_output === null ? edge.partitioner : `${edge.partitioner} · ${fitted(edge.side_output, 90, "label", wish.measure)}`;
  const shown = wish.tab === "job" && job?.result_type === "BLOCKING" ? `${label} · blocking` : label;
  const wire = {
    ref: `e${link.edge}` as const,
    points: [from.x + from.width, port(from, source), to.x, port(to, target)],
    label: shown,
    wide: job !== null && job.pattern === "ALL_TO_ALL",
    dashed: edge.side_output !== null,
    arrow: true,
    status: (["removed", "added"] as const).find((status) => statuses.includes(status)),
  };
  return [wire];
}

/** So many lines are drawn between two cards; more are one band. */
const MOST_LINES = 64;

function fanOut(wish: Wish, link: Link, from: Card, to: Card): Wire[] {
  const job = wish.model.jobEdges.get(link.jobEdge);
  const [p, q] = [job.source, job.target].map((vertex) => wish.model.vertex(vertex).parallelism) as [number, number];
  const ranges = job.pattern === "POINTWISE" ? pointwise(p, q, wish.model.flink) : null;
  const edges = job.execution_edges ?? (ranges === null ? p * q : ranges.reduce((sum, [a, b]) => sum + b - a + 1, 0));
  const pairs: [number, number][] = [];
  to.cells.forEach((cell, at) => {
    from.cells.forEach((source, by) => {
      if (cell.last > cell.first && source.last > source.first && job.pattern === "ALL_TO_ALL") return;
      if (ranges === null || meets(ranges, cell.first, cell.last, source.first, source.last)) pairs.push([by, at]);
    });
  });
  const label = `${job.ship_strategy} · ${many(edges, "edge")}`;
  if (pairs.length > MOST_LINES || pairs.length === 0) return [plain(`e${link.edge}`, from, to, label, false)];
  return pairs.map(([by, at], index) => {
    const [source, cell] = [from.cells[by]!, to.cells[at]!];
    const several = source.last > source.first || cell.last > cell.first;
    return {
      ref: `e${link.edge}` as const,
      points: [source.x + source.width, source.y + source.height / 2, cell.x, cell.y + cell.height / 2],
      label: index === pairs.length >> 1 ? label : "",
      wide: false,
      dashed: several,
      arrow: false,
    };
  });
}

function meets(ranges: ReturnType<typeof pointwise>, first: number, last: number, from: number, to: number): boolean {
  const [lowest, highest] = [ranges[first]![0], ranges[last]![1]];
  return lowest <= to && highest >= from;
}

function plain(ref: Wire["ref"], from: Card, to: Card, label: string, dashed: boolean): Wire {
  const points = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
  return { ref, points, label, wide: !dashed, dashed, arrow: true };
}

const LABEL = 14;
/** Places that are tried for a label, each half a line farther from the middle of its wire than the one before. */
const TRIES = 40;

/** The wires with labels that do not lie on each other, as far as there is room near the middles of the wires. O(labels × what
 * is near them). */
function apart(wires: readonly Wire[], measure: Measure): Wire[] {
  const taken = new Map<number, Box[]>();
  const rows = (box: Box): number[] => {
    const [first, last] = [Math.floor(box.y / LABEL), Math.floor((box.y + box.height) / LABEL)];
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  };
  const take = (box: Box): void => {
    for (const row of rows(box)) {
      const there = taken.get(row);
      if (there === undefined) taken.set(row, [box]);
      else there.push(box);
    }
  };
  const free = (box: Box): boolean =>
    !rows(box).some((row) => taken.get(row)?.some((other) => overlap(box, other)));
  return wires.map((wire) => {
    if (wire.label === "") return wire;
    const [x, y] = middleOf(wire.points);
    const width = measure(wire.label, "label") + 6;
    for (let tried = 0; tried < TRIES; tried++) {
      const by = ((tried + 1) >> 1) * (tried % 2 === 0 ? 1 : -1) * (LABEL / 2);
      const box = { x: x - width / 2, y: y + by - 5 - 10, width, height: LABEL - 1 };
      if (!free(box)) continue;
      take(box);
      return tried === 0 ? wire : { ...wire, at: [x, y + by] as const };
    }
    return wire;
  });
}

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

interface Outside {
  readonly draft: Draft;
  readonly before: boolean;
  readonly ends: readonly number[];
}

/** A card for all that leads into the part that is shown, and one for all that leads out. */
function beyond(wish: Wish, local: Int32Array): Outside[] {
  const into = wish.graph.links.filter((link) => local[link.source]! < 0 && local[link.target]! >= 0);
  const out = wish.graph.links.filter((link) => local[link.source]! >= 0 && local[link.target]! < 0);
  const make = (links: readonly Link[], before: boolean): Outside[] => {
    if (links.length === 0) return [];
    const ends = [...new Set(links.map((link) => local[before ? link.target : link.source]!))];
    return [{ draft: box(`x${before ? 0 : 1}`, "outside", [before ? "from elsewhere" : "to elsewhere", many(links.length, "edge")], ""), before, ends }];
  };
  return [...make(into, true), ...make(out, false)];
}

function box(ref: Card["ref"], kind: Card["kind"], lines: readonly string[], right: string): Draft {
  const height = HEAD + lines.length * 17 + 2 * PAD;
  return { ref, kind, lines, left: kind === "group" ? "group" : "", right, colour: -1, rows: [], cells: [], live: "", width: 220, height };
}

function buildGroups(wish: Wish, chains: Uint32Array, local: Int32Array, links: readonly Link[]): Built {
  const { graph, model } = wish;
  const grouping = grouped(chains.length, links.map((link) => local[link.source]!), links.map((link) => local[link.target]!));
  const drafts = grouping.members.map((members, at) => {
    const operators = [...members].reduce((sum, each) => sum + graph.chains[chains[each]!]!.operators.length, 0);
    const [first, last] = [members[0]!, members.at(-1)!].map((each) => graph.chains[chains[each]!]!.operators[0]!) as [number, number];
    const names = [first, last].map((row) => fitted(model.operators.value(row, "name"), 196, "title", wish.measure));
    return box(`g${at}`, "group", [names[0]!, `… ${names[1]!}`, many(members.length, "chain")], many(operators, "operator"));
  });
  const weights = between(grouping, local, links);
  const pairs = [...weights.keys()].map((key) => [Math.floor(key / drafts.length), key % drafts.length] as const);
  const { cards } = placed(drafts, pairs.map(([a]) => a), pairs.map(([, b]) => b));
  const wires = [...weights.values()].map((weight, at) => {
    const [a, b] = pairs[at]!;
    return plain(`x${at + 2}`, cards[a]!, cards[b]!, count(weight), false);
  });
  const groups = grouping.members.map((members) => members.map((each) => chains[each]!));
  return { scene: { cards, wires, bounds: boundsOf(cards), groups: [] }, groups };
}

/** How many links there are between two groups, by source × groups + target, in order of first links. */
function between(grouping: Grouping, local: Int32Array, links: readonly Link[]): Map<number, number> {
  const found = new Map<number, number>();
  const groups = grouping.members.length;
  for (const link of links) {
    const [a, b] = [grouping.groupOf[local[link.source]!]!, grouping.groupOf[local[link.target]!]!];
    if (a !== b) found.set(a * groups + b, (found.get(a * groups + b) ?? 0) + 1);
  }
  return found;
}
