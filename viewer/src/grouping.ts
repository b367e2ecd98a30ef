/** Too many chains to draw become groups: whole pipelines together, or slices of a big one by how deep they are. */

import { adjacency, layersOf, pipelines } from "./graph.ts";

/** So many cards are drawn one by one. */
export const MOST_CARDS = 2500;
/** Groups that a picture should have at most, roughly. */
const GROUPS = 56;

export interface Grouping {
  /** Group of each node. */
  readonly groupOf: Uint32Array;
  /** Nodes by group, in order. */
  readonly members: readonly Uint32Array[];
}

/**
 * Groups of the nodes of a graph, in order of their pipelines and depth. O(V + E).
 *
 * A node may not be in the same group as all others, so opening groups again and again ends.
 */
export function grouped(size: number, from: ArrayLike<number>, to: ArrayLike<number>): Grouping {
  const target = Math.max(Math.ceil(size / GROUPS), 8);
  const layers = layersOf(size, from, to);
  const groupOf = new Uint32Array(size);
  let groups = 0;
  let filled = 0;
  const next = (): void => {
    if (filled > 0) groups += 1;
    filled = 0;
  };
  for (const pipeline of pipelines(size, from, to)) {
    if (filled + pipeline.length > target) next();
    if (pipeline.length <= target) {
      for (const node of pipeline) groupOf[node] = groups;
      filled += pipeline.length;
      continue;
    }
    for (const node of byLayer(pipeline, layers)) {
      if (filled === target) next();
      groupOf[node] = groups;
      filled += 1;
    }
    next();
  }
  next();
  const members = adjacency(groups, groupOf, Uint32Array.from({ length: size }, (_, node) => node));
  return {
    groupOf,
    members: Array.from({ length: groups }, (_, at) => members.targets.subarray(members.starts[at]!, members.starts[at + 1]!)),
  };
}

/** Nodes in order of their layers, within a layer as they come; buckets, so linear. */
function byLayer(nodes: readonly number[], layers: Uint32Array): number[] {
  const buckets: number[][] = [];
  for (const node of nodes) (buckets[layers[node]!] ??= []).push(node);
  return buckets.flat();
}
