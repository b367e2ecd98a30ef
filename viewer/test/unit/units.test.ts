import assert from "node:assert/strict";
import { test } from "node:test";

import { build } from "../../src/build.ts";
import { pointwise } from "../../src/fanout.ts";
import { adjacency, chainGraph, layersOf } from "../../src/graph.ts";
import { grouped } from "../../src/grouping.ts";
import { layout } from "../../src/layout.ts";
import { Model, Rows } from "../../src/model.ts";
import { controls, pick } from "../../src/scene.ts";
import { Index } from "../../src/search.ts";
import { Viewport } from "../../src/viewport.ts";
import { svgOf } from "../../src/svg.ts";
import { bytes, count, duration, fitted, inert, rate, wrapped, type Measure } from "../../src/text.ts";
import { LIGHT } from "../../src/theme.ts";
import { step, wiresAt } from "../../src/walk.ts";
import { plan } from "./plans.ts";

const measure: Measure = (text) => [...text].length * 7;

const DIAMOND = plan([["source", "map"], ["left"], ["right"], ["join", "sink"]], [["map", "left"], ["map", "right"], ["left", "join"], ["right", "join"]]);

function built(data = DIAMOND, tab: "stream" | "job" | "execution" = "stream") {
  const model = new Model(data);
  return build({ tab, model, graph: chainGraph(model), measure, live: false, within: null });
}

test("columns are read in all three forms", () => {
  const rows = new Rows<{ a: number; b: string; c: string }>({ rows: 3, columns: { a: [1, 2, 3], b: { all: "x" }, c: { of: ["p", "q"], at: [0, 1, 0] } } });
  assert.deepEqual([0, 1, 2].map((at) => rows.get(at)), [{ a: 1, b: "x", c: "p" }, { a: 2, b: "x", c: "q" }, { a: 3, b: "x", c: "p" }]);
});

test("texts that would act are written out", () => {
  assert.equal(inert("a\u202eb\u0000c\u2028d\ud800e\nf"), "a⟨202E⟩b⟨0000⟩c⟨2028⟩d⟨D800⟩e f");
  assert.equal(inert("😀 مرحبا"), "😀 مرحبا");
  assert.equal(inert("x".repeat(10), 4), "xxxx…");
});

test("texts are cut to their place, between characters", () => {
  assert.equal(fitted("short", 100, "title", measure), "short");
  assert.equal(fitted("😀😀😀😀", 21, "title", measure), "😀😀…");
  assert.ok(fitted("x".repeat(10_000), 70, "title", measure).length <= 10);
  assert.deepEqual(wrapped("one two three four", 60, 2, "title", measure), ["one two", "three f…"]);
});

test("numbers read well", () => {
  assert.deepEqual([0, 999, 41_200, 2_550_000].map(rate), ["0", "999", "41.2 k", "2.55 M"]);
  assert.deepEqual([12, 8_493_466].map(bytes), ["12 B", "8.1 MiB"]);
  assert.deepEqual([150, 1500, 62_000, 3_723_000].map(duration), ["150 ms", "1.5 s", "1:02", "1:02:03"]);
  assert.equal(count(1_234_567), "1,234,567");
});

test("layers are one more than the deepest source, and loops end", () => {
  assert.deepEqual([...layersOf(4, [0, 0, 1, 2], [1, 2, 2, 3])], [0, 1, 2, 3]);
  assert.equal(layersOf(3, [0, 1, 2], [1, 2, 0]).length, 3);
});

test("pointwise exchanges are Flink's", () => {
  assert.deepEqual(pointwise(2, 4, "1.11"), [[0, 0], [0, 0], [1, 1], [1, 1]]);
  assert.deepEqual(pointwise(4, 2, "1.11"), [[0, 1], [2, 3]]);
  for (const [p, q] of [[3, 7], [7, 3], [5, 5], [64, 48]] as const) {
    for (const flink of ["1.11", "2.3"]) {
      const ranges = pointwise(p, q, flink);
      const seen = new Set(ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, at) => first + at)));
      assert.equal(ranges.length, q);
      assert.equal(seen.size, p, `${p} to ${q} as ${flink}`);
    }
  }
});

test("groups are few, have all nodes, and follow the flow", () => {
  const size = 50_000;
  const from = Array.from({ length: size - 1 }, (_, at) => at);
  const { members, groupOf } = grouped(size, from, from.map((at) => at + 1));
  assert.ok(members.length > 40 && members.length < 80, String(members.length));
  assert.equal(members.reduce((sum, each) => sum + each.length, 0), size);
  assert.ok(from.every((at) => groupOf[at]! <= groupOf[at + 1]!));
});

test("adjacency keeps the order of edges", () => {
  const { starts, targets } = adjacency(3, [0, 2, 0], [1, 0, 2]);
  assert.deepEqual([[...starts], [...targets]], [[0, 2, 2, 3], [1, 2, 0]]);
});

function checkLayout(nodes: number, from: number[], to: number[]): void {
  const sizes = Array.from({ length: nodes }, (_, at) => ({ width: 100, height: 40 + (at % 5) * 30 }));
  const { x, y } = layout(sizes, from, to);
  const order = Array.from({ length: nodes }, (_, at) => at).sort((a, b) => x[a]! - x[b]!);
  for (let at = 0; at < nodes; at++) {
    for (let next = at + 1; next < nodes && x[order[next]!]! < x[order[at]!]! + 100; next++) {
      const [a, b] = [order[at]!, order[next]!];
      assert.ok(y[a]! + sizes[a]!.height <= y[b]! + 1e-6 || y[b]! + sizes[b]!.height <= y[a]! + 1e-6, `${a} and ${b} overlap`);
    }
  }
}

test("cards never overlap, by either layout and in several pipelines", () => {
  const tree = (size: number) => Array.from({ length: size - 1 }, (_, at) => at >> 1);
  checkLayout(20, tree(20), tree(20).map((_, at) => at + 1));
  checkLayout(700, tree(700), tree(700).map((_, at) => at + 1));
  checkLayout(90, [0, 1, 40], [1, 2, 41]);
});

test("an edge that spans columns is led past the cards between its ends", () => {
  const sizes = Array.from({ length: 8 }, () => ({ width: 100, height: 90 }));
  // two pipelines, of which each has an edge from its first node to its last one
  const [from, to] = [[0, 1, 2, 0, 0, 5, 5, 6], [1, 2, 3, 3, 4, 6, 7, 7]];
  const { x, y, via } = layout(sizes, from, to);
  assert.deepEqual(via.map((points) => points.length > 0), [false, false, false, true, false, false, true, false]);
  for (const points of via) {
    for (let at = 0; at < points.length; at += 2) {
      const [left, top] = [points[at]!, points[at + 1]!];
      const hit = sizes.findIndex((size, node) => left >= x[node]! && left <= x[node]! + size.width && top > y[node]! && top < y[node]! + size.height);
      assert.equal(hit, -1, `${left}, ${top} lies on card ${hit}`);
    }
  }
});

test("a stream's cards have a row per operator, and wires where chains end", () => {
  const { scene } = built();
  assert.deepEqual(scene.cards.map((card) => card.rows.map((row) => row.title)), [["source", "map"], ["left"], ["right"], ["join", "sink"]]);
  assert.equal(scene.wires.length, 4);
  const [map] = scene.cards[0]!.rows.slice(1);
  assert.equal(scene.wires[0]!.points[1], map!.y + map!.height / 2);
});

test("an execution graph has a line per pair of subtasks", () => {
  const { scene } = built(DIAMOND, "execution");
  assert.deepEqual(scene.cards.map((card) => card.cells.length), [2, 2, 2, 2]);
  assert.equal(scene.wires.length, 16);
});

test("what lies under a point is found: rows, cards, wires", () => {
  const { scene } = built();
  const card = scene.cards[0]!;
  assert.equal(pick(scene, card.x + 20, card.rows[1]!.y + 5, 7), "o1");
  assert.equal(pick(scene, card.x + 20, card.y + 5, 7), "c0");
  const [x1, y1, x2, y2] = scene.wires[0]!.points as [number, number, number, number];
  const [c1, c2] = controls(x1, x2);
  assert.equal(pick(scene, (x1 + 3 * c1 + 3 * c2 + x2) / 8, (y1 + y2) / 2, 7), "e2");
  assert.equal(pick(scene, -1e5, 0, 7), null);
});

test("arrow keys follow wires, and stay in chains", () => {
  const { scene } = built();
  assert.equal(step(scene, null, "right"), "o0");
  assert.equal(step(scene, "o0", "down"), "o1");
  assert.ok(["o2", "o3"].includes(step(scene, "o1", "right")!));
  assert.equal(step(scene, "o2", "left"), "o1");
  assert.deepEqual(wiresAt(scene, "o2"), ["e2", "e4"]);
});

test("search takes all words, in names, uids and IDs, names that begin so first", () => {
  const index = new Index(new Model(plan([["a map", "map one"], ["other"]], [["map one", "other"]])));
  assert.deepEqual(index.find("MAP").rows, [1, 0, 2]);
  assert.deepEqual(index.find("one id-map").rows, [1]);
  assert.equal(index.find("  ").all, 0);
});

test("search puts an exact name first, and hits in IDs last", () => {
  const names = ["id-total", "a total of", "totals", "subtotal", "total"];
  const data = plan([["other"], ...names.map((name) => [name])], []);
  const ids = ["0000total0", ...names.map(() => "1111")];
  const { operators } = data;
  const made = { ...data, operators: { ...operators, columns: { ...operators.columns, operator_id: ids } } };
  const model = new Model(made as typeof data);
  const found = new Index(model).find("total");
  assert.deepEqual(found.rows.map((row) => model.operators.value(row, "name")), ["total", "totals", "id-total", "a total of", "subtotal", "other"]);
  assert.equal(found.all, 6);
});

test("all stays in view while the room changes, until somebody looks elsewhere", () => {
  const box = { x: 0, y: 0, width: 1000, height: 500 };
  const viewport = new Viewport(() => undefined);
  viewport.fit(box);
  viewport.resize(0, 0);
  assert.equal(viewport.scale, 1, "nothing can be fitted into nothing");
  const whole = (): boolean => {
    const { x, y, width, height } = viewport.view;
    return x <= 0 && y <= 0 && x + width >= 1000 && y + height >= 500;
  };
  for (const [width, height] of [[800, 600], [300, 900], [1600, 200]] as const) {
    viewport.resize(width, height);
    assert.ok(whole(), `${width} by ${height}`);
  }
  viewport.zoom(3);
  const [x, y] = viewport.at(800, 100);
  viewport.resize(0, 0);
  viewport.resize(400, 300);
  assert.deepEqual(viewport.at(200, 150).map(Math.round), [x, y].map(Math.round));
});

test("an SVG holds every text, escaped", () => {
  const { scene } = built(plan([["<script>&\"'", "two"]], []));
  const svg = svgOf(scene, { theme: LIGHT, numbers: null }, "a < b");
  assert.ok(svg.includes("&#60;script&#62;&#38;&#34;&#39;"));
  assert.ok(!svg.includes("<script"));
});

test("a refused graph has its operators, one card each", () => {
  const { scene } = built({ ...DIAMOND, refused: "no", vertices: { rows: 0, columns: {} }, job_edges: { rows: 0, columns: {} } });
  assert.equal(scene.cards.length, 6);
});
