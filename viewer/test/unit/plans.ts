/** Plans for tests: as the page gets them. */

import type { ModelData, Table } from "../../src/model.ts";

const OPERATOR = {
  name: "", kind: "operator", type: "Map", uid: null, user_hash: null, operator_id: "", origin: "position", pinned: null, parallelism: 1,
  max_parallelism: null, effective_max_parallelism: 128, vertex: null, chain_index: null, slot_sharing_group: "default", chaining: "ALWAYS",
  keyed: false, stateful: null, states: null, file: null, line: null, call: null, description: "",
};

/** Objects as a table: the plainest form that there is. */
export function table(rows: readonly Readonly<Record<string, unknown>>[]): Table {
  const names = Object.keys(rows[0] ?? {});
  return { rows: rows.length, columns: Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])) };
}

/** Chains, each a list of names; `edges` between names that are not chained. */
export function plan(chains: readonly (readonly string[])[], edges: readonly (readonly [string, string])[], more: object = {}): ModelData {
  const names = chains.flat();
  const node = (name: string): number => names.indexOf(name) + 1;
  const operators = names.map((name, at) => ({ ...OPERATOR, node: at + 1, name, operator_id: `id-${name}`, ...more }));
  const inside = chains.flatMap((chain) => chain.slice(1).map((name, at) => [chain[at]!, name, true] as const));
  const all = [...inside, ...edges.map(([from, to]) => [from, to, false] as const)];
  const made = all.map(([from, to, chained], index) => ({
    source: node(from), target: node(to), index, partitioner: chained ? "FORWARD" : "HASH", chained, rule: chained ? null : "partitioner",
    reason: chained ? "" : "HASH is not FORWARD", side_output: null,
  }));
  const vertices = chains.map((chain, index) => ({
    index, id: `id-${chain[0]!}`, name: chain.join(" -> "), operators: chain.map(node), parallelism: 2, max_parallelism: 128,
    slot_sharing_group: "default", resources: {},
  }));
  const vertexOf = (name: string): number => chains.findIndex((chain) => chain.includes(name));
  const jobEdges = edges.map(([from, to], at) => ({
    source: vertexOf(from), target: vertexOf(to), ship_strategy: "HASH", pattern: "ALL_TO_ALL", result_type: "PIPELINED_BOUNDED",
    edge: inside.length + at, execution_edges: 4,
  }));
  return { name: "job", flink: "1.11", refused: null, penstock: "1.0", verdict: null, operators: table(operators), edges: table(made), vertices: table(vertices), job_edges: table(jobEdges) };
}
