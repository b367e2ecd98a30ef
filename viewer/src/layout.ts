/** Where cards stand, from left to right: by dagre where a graph is small, by layers of our own where it is not. */

import dagre from "@dagrejs/dagre";

import { adjacency, layersOf, pipelines } from "./graph.ts";
import { boundsOf, type Box } from "./scene.ts";

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Placed {
  /** Left edges and upper edges of the nodes. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** By edge, x and y of points in turn that lead it past the cards between its ends; none where nothing is between. */
  readonly via: readonly (readonly number[])[];
}

/** dagre takes a second for 200 nodes and 10 seconds for 2,000 (see README.md); up to here it is not felt. */
const DAGRE_NODES = 90;
const DAGRE_EDGES = 160;
const COLUMN_GAP = 78;
const ROW_GAP = 28;
const SWEEPS = 6;
const BLOCK_GAP = 48;
/** Width of a screen in heights, beside the panel. */
const SCREEN = 1.5;
/** A picture of one column that is taller than this is broken into several. */
const TALLEST = 24_000;

/** Positions of nodes. Deterministic. Pipelines that nothing connects are laid out one by one, and packed in rows. */
export function layout(sizes: readonly Size[], from: readonly number[], to: readonly number[], gap = COLUMN_GAP): Placed {
  const parts = pipelines(sizes.length, from, to);
  if (parts.length === 1) return one(sizes, from, to, gap);
  const local = new Uint32Array(sizes.length);
  const partOf = new Uint32Array(sizes.length);
  parts.forEach((nodes, part) => nodes.forEach((node, at) => ([local[node], partOf[node]] = [at, part])));
  const edges = parts.map((): [number[], number[]] => [[], []]);
  const numbers = parts.map((): number[] => []);
  from.forEach((source, at) => {
    const part = partOf[source]!;
    const [sources, targets] = edges[part]!;
    sources.push(local[source]!);
    targets.push(local[to[at]!]!);
    numbers[part]!.push(at);
  });
  const blocks = parts.map((nodes, part): Block => {
    const own = nodes.map((node) => sizes[node]!);
    const placed = one(own, ...edges[part]!, gap);
    const box = boundsOf(own.map((size, at) => ({ ...size, x: placed.x[at]!, y: placed.y[at]! })));
    return { nodes, edges: numbers[part]!, placed, box };
  });
  return packed(blocks, sizes.length, from.length);
}

function one(sizes: readonly Size[], from: readonly number[], to: readonly number[], gap: number): Placed {
  if (sizes.length <= DAGRE_NODES && from.length <= DAGRE_EDGES) return byDagre(sizes, from, to, gap);
  return byLayers(sizes, from, to, gap);
}

interface Block {
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly placed: Placed;
  readonly box: Box;
}

/** Blocks in rows, in their order, so that all is about as wide as a screen. */
function packed(blocks: readonly Block[], size: number, edgeCount: number): Placed {
  const area = blocks.reduce((sum, { box }) => sum + (box.width + BLOCK_GAP) * (box.height + BLOCK_GAP), 0);
  const widest = blocks.reduce((found, { box }) => Math.max(found, box.width), 0);
  const limit = Math.max(widest, Math.sqrt(area * SCREEN));
  const via: (readonly number[])[] = Array.from({ length: edgeCount }, () => []);
  const placed = { x: new Float64Array(size), y: new Float64Array(size), via };
  let [left, top, row] = [0, 0, 0];
  for (const { nodes, edges, placed: own, box } of blocks) {
    if (left > 0 && left + box.width > limit) [left, top, row] = [0, top + row + BLOCK_GAP, 0];
    const [right, down] = [left - box.x, top - box.y];
    nodes.forEach((node, at) => {
      placed.x[node] = own.x[at]! + right;
      placed.y[node] = own.y[at]! + down;
    });
    edges.forEach((edge, at) => (via[edge] = own.via[at]!.map((value, part) => value + (part % 2 === 0 ? right : down))));
    left += box.width + BLOCK_GAP;
    row = Math.max(row, box.height);
  }
  return placed;
}

function byDagre(sizes: readonly Size[], from: readonly number[], to: readonly number[], gap: number): Placed {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: ROW_GAP, ranksep: gap, edgesep: 14, ranker: "tight-tree" });
  graph.setDefaultEdgeLabel(() => ({}));
  sizes.forEach((size, node) => graph.setNode(String(node), { ...size }));
  from.forEach((source, at) => {
    if (source !== to[at]) graph.setEdge(String(source), String(to[at]), {}, String(at));
  });
  dagre.layout(graph);
  const [x, y] = [new Float64Array(sizes.length), new Float64Array(sizes.length)];
  const widths = new Map<number, number>();
  sizes.forEach((size, node) => {
    const at = graph.node(String(node));
    x[node] = at.x - size.width / 2;
    y[node] = at.y - size.height / 2;
    const column = Math.round(at.x);
    widths.set(column, Math.max(widths.get(column) ?? 0, size.width));
  });
  const via = from.map((source, at) => {
    if (source === to[at]) return [];
    const points: { x: number; y: number }[] = graph.edge(String(source), String(to[at]), String(at)).points;
    return points.slice(1, -1).flatMap((point) => {
      const width = widths.get(Math.round(point.x));
      return width === undefined ? [] : [point.x - width / 2, point.y, point.x + width / 2, point.y];
    });
  });
  return { x, y, via };
}

/**
 * Layers by depth, each ordered by the middle of its neighbours, a few times from left to right and back, then moved
 * towards them. O(sweeps × (E + V log V)).
 */
function byLayers(sizes: readonly Size[], from: readonly number[], to: readonly number[], gap: number): Placed {
  const layers = layersOf(sizes.length, from, to);
  const columns: number[][] = [];
  for (let node = 0; node < sizes.length; node++) (columns[layers[node]!] ??= []).push(node);
  const into = adjacency(sizes.length, to, from);
  const outOf = adjacency(sizes.length, from, to);
  const middle = new Float64Array(sizes.length);
  for (const column of columns) stack(column, sizes, middle);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forward = sweep % 2 === 0;
    const [neighbours, order] = forward ? [into, columns] : [outOf, [...columns].reverse()];
    for (const column of order) {
      pull(column, neighbours, middle);
      column.sort((a, b) => middle[a]! - middle[b]! || a - b);
      if (sweep < SWEEPS - 2) stack(column, sizes, middle);
      else settle(column, sizes, middle);
    }
  }
  return { ...columnsPlaced(columns, sizes, middle, gap), via: from.map(() => []) };
}

/** Each node wants to be where the mean of its neighbours is. */
function pull(column: readonly number[], { starts, targets }: ReturnType<typeof adjacency>, middle: Float64Array): void {
  for (const node of column) {
    const [first, end] = [starts[node]!, starts[node + 1]!];
    if (first === end) continue;
    let sum = 0;
    for (let at = first; at < end; at++) sum += middle[targets[at]!]!;
    middle[node] = sum / (end - first);
  }
}

/** One below the other, around zero. */
function stack(column: readonly number[], sizes: readonly Size[], middle: Float64Array): void {
  let top = -column.reduce((sum, node) => sum + sizes[node]!.height + ROW_GAP, -ROW_GAP) / 2;
  for (const node of column) {
    middle[node] = top + sizes[node]!.height / 2;
    top += sizes[node]!.height + ROW_GAP;
  }
}

/** In their order, as near to where they want to be as the others let them: blocks that touch share their wish. O(column). */
function settle(column: readonly number[], sizes: readonly Size[], middle: Float64Array): void {
  const blocks: { wish: number; count: number; offset: number; first: number }[] = [];
  let offset = 0;
  column.forEach((node, at) => {
    const half = sizes[node]!.height / 2;
    offset += half;
    let block = { wish: middle[node]! - offset, count: 1, offset: 0, first: at };
    for (let before = blocks.at(-1); before !== undefined && before.wish >= block.wish; before = blocks.at(-1)) {
      blocks.pop();
      const count = before.count + block.count;
      block = { wish: (before.wish * before.count + block.wish * block.count) / count, count, offset: 0, first: before.first };
    }
    blocks.push(block);
    offset += half + ROW_GAP;
  });
  offset = 0;
  let which = 0;
  column.forEach((node, at) => {
    if (blocks[which + 1]?.first === at) which += 1;
    const half = sizes[node]!.height / 2;
    middle[node] = blocks[which]!.wish + offset + half;
    offset += 2 * half + ROW_GAP;
  });
}

function columnsPlaced(columns: readonly (readonly number[])[], sizes: readonly Size[], middle: Float64Array, gap: number): Omit<Placed, "via"> {
  const placed = { x: new Float64Array(sizes.length), y: new Float64Array(sizes.length) };
  let left = 0;
  for (const column of columns) {
    const lanes = Math.max(1, Math.ceil(extent(column, sizes) / TALLEST));
    const width = column.reduce((widest, node) => Math.max(widest, sizes[node]!.width), 0);
    const perLane = Math.ceil(column.length / lanes);
    for (let lane = 0; lane < lanes; lane++) {
      const part = column.slice(lane * perLane, (lane + 1) * perLane);
      if (lanes > 1) stack(part, sizes, middle);
      for (const node of part) {
        placed.x[node] = left + (width - sizes[node]!.width) / 2;
        placed.y[node] = middle[node]! - sizes[node]!.height / 2;
      }
      left += width + (lane < lanes - 1 ? ROW_GAP : gap);
    }
  }
  return placed;
}

function extent(column: readonly number[], sizes: readonly Size[]): number {
  return column.reduce((sum, node) => sum + sizes[node]!.height + ROW_GAP, 0);
}
