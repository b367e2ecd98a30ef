/** What the panel says of what is selected. */

import { changeOf, STATUSES } from "./diff.ts";
import { make, said } from "./dom.ts";
import type { Edge, FunctionVerdict, Model, Operator, State, Vertex } from "./model.ts";
import type { Ref } from "./scene.ts";
import { count, many } from "./text.ts";

/** What can be done from the panel. */
export interface Actions {
  readonly select: (ref: Ref) => void;
  readonly say: (text: string) => void;
}

const MOST_LISTED = 200;

/** An operator: who it is, where it comes from, what it keeps, why its edges are as they are. */
export function operatorDetails(model: Model, at: number, actions: Actions): HTMLElement {
  const operator = model.operator(at);
  const change = changeOf(model, at);
  const facts: [string, Node | string | null][] = [
    ["Type", operator.type || null],
    ["Operator ID", idOf(operator, actions)],
    ["ID comes from", originOf(operator)],
    ["uid", operator.uid === null ? null : copied(operator.uid, actions)],
    ["uid hash", operator.user_hash === null ? null : copied(operator.user_hash, actions)],
    ["Made at", operator.file === null ? null : siteOf(operator, actions)],
    ["Parallelism", operator.parallelism > 0 ? count(operator.parallelism) : "not set"],
    ["Max parallelism", maxOf(operator)],
    ["Slot sharing group", operator.slot_sharing_group ? said(operator.slot_sharing_group) : "none"],
    ["Chaining", operator.chaining],
    ["Keyed", operator.keyed ? (operator.key_type ? said(`by ${operator.key_type}`) : "yes") : "no"],
    ["Description", operator.description ? said(operator.description) : null],
  ];
  return make(
    "div",
    {},
    heading(operator.name, operator.kind),
    change === undefined ? null : changeNote(change),
    table(facts),
    statesOf(operator),
    functionsOf(model, operator, actions),
    edgesOf(model, "Reads from", (edge) => edge.target === operator.node, (edge) => edge.source, actions),
    edgesOf(model, "Goes to", (edge) => edge.source === operator.node, (edge) => edge.target, actions),
  );
}

/** A vertex of the JobGraph. */
export function vertexDetails(model: Model, vertex: Vertex, actions: Actions): HTMLElement {
  const resources = Object.entries(vertex.resources).filter(([, amount]) => amount > 0);
  const facts: [string, Node | string | null][] = [
    ["Vertex ID", copied(vertex.id, actions)],
    ["Parallelism", count(vertex.parallelism)],
    ["Max parallelism", `${count(vertex.max_parallelism)} key groups`],
    ["Slot sharing group", vertex.slot_sharing_group ? said(vertex.slot_sharing_group) : "none"],
    ["Resources", resources.length > 0 ? resources.map(([name, amount]) => `${name} ${amount}`).join(", ") : "not specified"],
  ];
  const operators = vertex.operators.slice(0, MOST_LISTED).map((node) => model.at(node));
  return make(
    "div",
    {},
    heading(vertex.name, vertex.operators.length > 1 ? `chain of ${vertex.operators.length}` : "vertex"),
    table(facts),
    section("Operators", make("ul", {}, ...operators.map((at) => make("li", {}, jump(model.operator(at).name, `o${at}`, actions))), rest(vertex.operators.length))),
  );
}

/** An edge: its partitioner, and why it is chained or not. */
export function edgeDetails(model: Model, row: number, actions: Actions): HTMLElement {
  const edge = model.edge(row);
  const [source, target] = [model.at(edge.source), model.at(edge.target)];
  let job = null;
  for (let each = 0; each < model.jobEdges.length && job === null; each++) {
    if (model.jobEdges.value(each, "edge") === edge.index) job = model.jobEdges.get(each);
  }
  const facts: [string, Node | string | null][] = [
    ["From", jump(model.operator(source).name, `o${source}`, actions)],
    ["To", jump(model.operator(target).name, `o${target}`, actions)],
    ["Partitioner", edge.partitioner],
    ["Side output", edge.side_output === null ? null : said(edge.side_output)],
    ["Chained", edge.chained ? "yes" : "no"],
    ["Rule", edge.rule],
    ["Because", edge.reason ? said(edge.reason) : null],
    ["Pattern", job?.pattern ?? null],
    ["Result", job?.result_type ?? null],
    ["Connections", job?.execution_edges === undefined ? null : count(job.execution_edges)],
  ];
  return make("div", {}, heading(`${edge.partitioner} edge`, edge.chained ? "chained" : "not chained"), table(facts));
}

/** The plan as a whole, when nothing is selected. */
export function planDetails(model: Model): HTMLElement {
  let [chained, positional] = [0, 0];
  for (let at = 0; at < model.edges.length; at++) if (model.edges.value(at, "chained")) chained += 1;
  for (let at = 0; at < model.operators.length; at++) {
    const moves = model.operators.value(at, "origin") === "position" && !model.operators.value(at, "pinned");
    if (moves && model.operators.value(at, "stateful") === true) positional += 1;
  }
  let subtasks = 0;
  for (let at = 0; at < model.vertices.length; at++) subtasks += model.vertices.value(at, "parallelism");
  const facts: [string, Node | string | null][] = [
    ["Planned as", `Flink ${model.flink}`],
    ["StreamGraph", `${many(model.operators.length, "operator")}, ${many(model.edges.length, "edge")} (${count(chained)} chained)`],
    ["JobGraph", model.refused === null ? many(model.vertices.length, "vertex", "vertices") : "refused"],
    ["ExecutionGraph", model.refused === null ? many(subtasks, "subtask") : "refused"],
    ["Native code", nativeOf(model)],
    ["State that an edit can lose", positional > 0 ? `${many(positional, "stateful operator")} with an ID by position` : null],
  ];
  const refused = model.refused === null ? null : make("p", { class: "refused", role: "note" }, said(model.refused));
  const { verdict } = model;
  const problems = verdict === null ? [] : verdict.problems.slice(0, MOST_LISTED).map((text) => make("li", {}, said(text)));
  const judged = verdict === null ? null : make("div", { class: `change ${verdict.safe ? "added" : "lost"}` }, make("strong", {}, said(verdict.text)), make("ul", {}, ...problems, rest(verdict.problems.length)));
  const hint = make("p", { class: "hint" }, "Select an operator, a chain or an edge to see what is known of it. Press ? for the keys.");
  return make("div", {}, heading(model.name, "job"), refused, judged, table(facts), hint);
}

function heading(name: string, kind: string): HTMLElement {
  return make("div", { class: "heading" }, make("span", { class: "kind" }, kind), make("h2", { tabindex: "0" }, said(name)));
}

function table(facts: readonly [string, Node | string | null][]): HTMLElement {
  const list = make("dl");
  for (const [name, value] of facts) if (value !== null) list.append(make("dt", {}, name), make("dd", {}, value));
  return list;
}

function section(title: string, ...children: (Node | null)[]): HTMLElement {
  return make("section", {}, make("h3", {}, title), ...children);
}

function rest(all: number): HTMLElement | null {
  return all > MOST_LISTED ? make("li", {}, `and ${count(all - MOST_LISTED)} more`) : null;
}

function idOf(operator: Operator, actions: Actions): Node | string {
  return operator.operator_id === "" ? "none: no source reaches it, or IDs are refused" : copied(operator.operator_id, actions);
}

function originOf(operator: Operator): Node | string {
  if (operator.pinned !== null) return "its uid hash";
  if (operator.origin === "uid") return "its uid";
  const stateful = operator.stateful === true;
  return make("span", stateful ? { class: "warn" } : {}, stateful ? "its position: an edit can move it, and its state is lost" : "its position in the graph");
}

function maxOf(operator: Operator): string {
  const effective = `${count(operator.effective_max_parallelism)} key groups`;
  return operator.max_parallelism === null ? `not set, so ${effective}` : effective;
}

function siteOf(operator: Operator, actions: Actions): Node {
  const { file, line, call } = operator;
  const place = make("span", {}, copied(`${file}:${line}`, actions));
  if (call) place.append(make("div", { class: "call" }, said(call)));
  return place;
}

/** A text in the font of code, with a button that copies it. */
function copied(text: string, actions: Actions): HTMLElement {
  const copy = (): void => {
    navigator.clipboard?.writeText(text).then(
      () => actions.say("copied"),
      () => actions.say("this page may not use the clipboard"),
    );
  };
  const button = make("button", { type: "button", class: "copy", "aria-label": `copy ${text.slice(0, 40)}`, title: "copy", click: copy }, "copy");
  return make("span", {}, make("code", {}, said(text)), " ", button);
}

function jump(name: string, ref: Ref, actions: Actions): HTMLElement {
  return make("button", { type: "button", class: "jump", click: () => actions.select(ref) }, said(name, 300));
}

function statesOf(operator: Operator): HTMLElement | null {
  if (operator.states === null) return section("State", make("p", { class: "hint" }, said(operator.unknown || "not known")));
  if (operator.states.length === 0) return null;
  const row = (state: State): HTMLElement => {
    const types = Object.entries(state.types).map(([role, type]) => `${role} ${type}`).join(", ");
    const time = state.ttl === null ? "" : `, kept ${state.ttl}`;
    return make("li", {}, make("code", {}, said(state.name)), make("div", { class: "call" }, said(`${state.kind}${types ? ` · ${types}` : ""}${time}`)));
  };
  return section("State", make("ul", {}, ...operator.states.map(row)));
}

/** How the functions of an operator run, and what keeps those in Python that stay there. */
function functionsOf(model: Model, operator: Operator, actions: Actions): HTMLElement | null {
  const { functions } = operator;
  if (model.native === null || !functions || functions.length === 0) return null;
  const row = (one: FunctionVerdict): HTMLElement => {
    const verdict = make("span", { class: one.verdict === "Python" ? "python" : "native" }, one.verdict);
    const item = make("li", {}, one.role, one.function ? " " : "", one.function ? make("code", {}, said(one.function)) : "", ": ", verdict);
    if (one.reason) item.append(make("div", { class: "call" }, said(one.reason)));
    if (one.file !== null) {
      const place = [one.file, one.line, one.column].filter((part) => part !== null).join(":");
      item.append(make("div", {}, copied(place, actions)));
    }
    if (one.source) item.append(make("code", { class: "source" }, said(one.source.trim())));
    return item;
  };
  const off = model.native === "off" ? make("p", { class: "hint" }, "penstock.native is off: all of it runs in Python. With auto it would be so:") : null;
  return section("Native code", off, make("ul", {}, ...functions.map(row)));
}

/** What native code runs of a program, in a few words. */
function nativeOf(model: Model): string | null {
  if (model.native === null) return null;
  if (model.native === "off") return "off (penstock.native)";
  const counts = new Map<string, number>();
  for (let at = 0; at < model.operators.length; at++) {
    for (const { verdict } of model.operators.value(at, "functions") ?? []) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  }
  const words = [["native", "native"], ["compiled", "compiled"], ["Python", "in Python"]] as const;
  const parts = words.filter(([verdict]) => counts.has(verdict)).map(([verdict, text]) => `${count(counts.get(verdict) ?? 0)} ${text}`);
  return parts.length > 0 ? parts.join(", ") : "no functions";
}

function edgesOf(model: Model, title: string, mine: (edge: Edge) => boolean, end: (edge: Edge) => number, actions: Actions): HTMLElement | null {
  const found: HTMLElement[] = [];
  for (let row = 0; row < model.edges.length && found.length <= MOST_LISTED; row++) {
    if (!mine({ source: model.edges.value(row, "source"), target: model.edges.value(row, "target") } as Edge)) continue;
    const edge = model.edge(row);
    const other = model.at(end(edge));
    const verdict = edge.chained ? "chained" : edge.reason || "not chained";
    const why = make("button", { type: "button", class: `verdict ${edge.chained ? "yes" : "no"}`, click: () => actions.select(`e${row}`) }, said(`${edge.partitioner}: ${verdict}`));
    found.push(make("li", {}, jump(model.operator(other).name, `o${other}`, actions), why));
  }
  return found.length === 0 ? null : section(title, make("ul", {}, ...found));
}

function changeNote(change: NonNullable<ReturnType<typeof changeOf>>): HTMLElement {
  const { mark, says } = STATUSES[change.status];
  const note = make("div", { class: `change ${change.status}` }, make("strong", {}, `${mark} ${change.status}`), ` · ${change.status === "lost" ? `${change.change}: ` : ""}${says}`);
  if (change.cause) note.append(make("p", {}, "Cause: ", said(change.cause)));
  const facts = Object.entries(change.details).filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && value.length === 0));
  const plainly = (value: unknown): string => (typeof value === "string" ? value : Array.isArray(value) ? value.join("; ") : JSON.stringify(value));
  if (facts.length > 0) note.append(table(facts.map(([name, value]) => [name.replaceAll("_", " "), said(plainly(value))])));
  return note;
}
