/** The graph of cards that is laid out: a card per chain, or per group of chains where there are too many. */

import type { Model, Status } from "./model.ts";

/** Adjacency in two flat lists, as for a graph of 100,000 cards nothing else is quick. */
export interface Adjacency {
  /** targets[starts[a]] to targets[starts[a + 1] - 1] are those of a. */
  readonly starts: Uint32Array;
  readonly targets: Uint32Array;
}

/** A chain of operators, or one alone. */
export interface Chain {
  /** Row of the vertex; -1 for an operator in none (a refused graph, or one that was removed). */
  readonly vertex: number;
  /** Rows of the operators, head first. */
  readonly operators: readonly number[];
  readonly status?: Status;
}

/** Edges between two chains. */
export interface Link {
  readonly source: number;
  readonly target: number;
  /** Row of the stream edge. */
  readonly edge: number;
  /** Row of the job edge; -1 for none. */
  readonly jobEdge: number;
}

/** Chains and what connects them. */
export interface ChainGraph {
  readonly chains: readonly Chain[];
  readonly links: readonly Link[];
}

/** Adjacency of pairs. O(nodes + pairs). */
export function adjacency(size: number, from: ArrayLike<number>, to: ArrayLike<number>): Adjacency {
  const starts = new Uint32Array(size + 1);
  for (let at = 0; at < from.length; at++) starts[from[at]! + 1]! += 1;
  for (let at = 0; at < size; at++) starts[at + 1]! += starts[at]!;
  const next = starts.slice();
  const targets = new Uint32Array(from.length);
  for (let at = 0; at < from.length; at++) {
    const slot = next[from[at]!]!++;
    targets[slot] = to[at]!;
  }
  return { starts, targets };
}

/** The chains of a plan: its vertices, in program order of their heads; operators alone where it was refused. */
export function chainGraph(model: Model): ChainGraph {
  const chains: Chain[] = [];
  const taken = new Uint8Array(model.operators.length);
  for (let row = 0; row < model.vertices.length; row++) {
    const operators = model.vertices.value(row, "operators").map((node) => model.at(node)).filter((at) => at >= 0);
    for (const at of operators) taken[at] = 1;
    chains.push({ vertex: row, operators });
  }
  for (let at = 0; at < taken.length; at++) if (taken[at] === 0) chains.push({ vertex: -1, operators: [at] });
  chains.sort((a, b) => a.operators[0]! - b.operators[0]!);
  const chainOf = new Int32Array(model.operators.length).fill(-1);
  chains.forEach((chain, index) => {
    for (const at of chain.operators) if (chainOf[at] === -1) chainOf[at] = index;
  });
  return { chains, links: linksOf(model, chainOf) };
}

/** Nodes that are connected, whatever the direction: lists in order of their first nodes. O(V + E), nearly. */
export function pipelines(size: number, from: ArrayLike<number>, to: ArrayLike<number>): number[][] {
  const parent = Uint32Array.from({ length: size }, (_, node) => node);
  const root = (node: number): number => {
    while (parent[node] !== node) {
      parent[node] = parent[parent[node]!]!;
      node = parent[node]!;
    }
    return node;
  };
  for (let at = 0; at < from.length; at++) {
    const [a, b] = [root(from[at]!), root(to[at]!)];
    parent[Math.max(a, b)] = Math.min(a, b);
  }
  const found = new Map<number, number[]>();
  for (let node = 0; node < size; node++) {
    const first = root(node);
    const list = found.get(first);
    if (list === undefined) found.set(first, [node]);
    else list.push(node);
  }
  return [...found.values()];
}

function linksOf(model: Model, chainOf: Int32Array): Link[] {
  const jobEdgeOf = new Map<number, number>();
  for (let row = 0; row < model.jobEdges.length; row++) jobEdgeOf.set(model.jobEdges.value(row, "edge"), row);
  const links: Link[] = [];
  for (let row = 0; row < model.edges.length; row++) {
    if (model.edges.value(row, "chained")) continue;
    const [from, to] = [model.at(model.edges.value(row, "source")), model.at(model.edges.value(row, "target"))];
    if (from < 0 || to < 0) continue;
    const jobEdge = jobEdgeOf.get(model.edges.value(row, "index")) ?? -1;
    links.push({ source: chainOf[from]!, target: chainOf[to]!, edge: row, jobEdge });
  }
  return links;
}

/** Layer of each node: one more than the deepest of its sources; what is in a circle is taken where it is met. O(V + E). */
export function layersOf(size: number, from: ArrayLike<number>, to: ArrayLike<number>): Uint32Array {
  const out = adjacency(size, from, to);
  const waiting = new Uint32Array(size);
  for (let at = 0; at < to.length; at++) waiting[to[at]!]! += 1;
  const layers = new Uint32Array(size);
  const seen = new Uint8Array(size);
  const ready: number[] = [];
  for (let node = 0; node < size; node++) if (waiting[node] === 0) ready.push(node);
  let circle = 0;
  for (let done = 0; done < size; ) {
    for (let at = 0; at < ready.length; at++, done++) {
      const node = ready[at]!;
      seen[node] = 1;
      for (let each = out.starts[node]!; each < out.starts[node + 1]!; each++) {
        const next = out.targets[each]!;
        if (seen[next]) continue; // the edge that closes a loop
        layers[next] = Math.max(layers[next]!, layers[node]! + 1);
        if (--waiting[next]! === 0) ready.push(next);
      }
    }
    ready.length = 0;
    while (circle < size && seen[circle]) circle += 1;
    if (circle < size) {
      waiting[circle] = 0;
      seen[circle] = 1;
      ready.push(circle);
    }
  }
  return layers;
}
