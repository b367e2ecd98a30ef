/** Draws a scene with any brush: on a canvas while it is looked at, as SVG when it is kept. */

import { STATUSES } from "./diff.ts";
import { LIVE, PAD, HEAD, middleOf, type Box, type Card, type Ref, type Row, type Scene, type Wire } from "./scene.ts";
import type { Font } from "./text.ts";
import type { Theme } from "./theme.ts";

/** What can be drawn with; coordinates are those of the scene. */
export interface Brush {
  rect(box: Box, round: number, fill: string | null, stroke: string | null, width?: number, dashed?: boolean): void;
  text(text: string, x: number, y: number, font: Font, colour: string, align?: "left" | "right" | "center"): void;
  /** Curves of one look, in one go. */
  wires(lines: readonly (readonly number[])[], colour: string, width: number, dashed: boolean): void;
  /** Arrow heads at the ends of curves. */
  arrows(ends: readonly (readonly [number, number])[], colour: string): void;
  shape(kind: Row["shape"] | "state", x: number, y: number, colour: string): void;
}

/** Numbers of a running job that a card shows. */
export interface CardNumbers {
  readonly lines: readonly [string, string];
  readonly busy: number;
}

export interface Look {
  readonly theme: Theme;
  /** Only what is in this box is drawn. */
  readonly view: Box;
  /** Pixels per unit: what cannot be read is not drawn. */
  readonly scale: number;
  readonly chosen: Ref | null;
  readonly found: ReadonlySet<Ref>;
  readonly numbers: ReadonlyMap<string, CardNumbers> | null;
}

/** Below these scales texts, and then everything inside cards, are left out. */
const TEXT_FROM = 0.28;
const SMALL_FROM = 0.4;
const CARD_ONLY = 0.16;

/** Draw what is in view. O(cards + wires). */
export function draw(scene: Scene, look: Look, brush: Brush): void {
  const { view } = look;
  const wires = scene.wires.filter((wire) => wireInView(wire, view));
  drawWires(wires, look, brush);
  for (const card of scene.cards) {
    if (card.x > view.x + view.width || card.y > view.y + view.height) continue;
    if (card.x + card.width < view.x || card.y + card.height < view.y) continue;
    drawCard(card, look, brush);
  }
  if (look.scale >= SMALL_FROM) drawLabels(wires, look, brush);
}

function drawLabels(wires: readonly Wire[], { theme, chosen }: Look, brush: Brush): void {
  for (const wire of wires) {
    if (wire.label === "") continue;
    const [x, y] = wire.at ?? middleOf(wire.points);
    brush.text(wire.label, x, y - 5, "label", wire.ref === chosen ? theme.chosen : theme.quiet, "center");
  }
}

function wireInView({ points }: Wire, view: Box): boolean {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let at = 0; at < points.length; at += 2) {
    left = Math.min(left, points[at]!);
    right = Math.max(right, points[at]!);
    top = Math.min(top, points[at + 1]!);
    bottom = Math.max(bottom, points[at + 1]!);
  }
  const reach = points[0]! > points.at(-2)! ? 400 : 0;
  return left - reach <= view.x + view.width && right + reach >= view.x && top <= view.y + view.height && bottom >= view.y;
}

function drawWires(wires: readonly Wire[], look: Look, brush: Brush): void {
  const { theme, scale } = look;
  const looks = new Map<string, { lines: (readonly number[])[]; ends: [number, number][]; colour: string; width: number; dashed: boolean }>();
  const thin = 0.7 / scale;
  for (const wire of wires) {
    const chosen = wire.ref === look.chosen;
    const colour = chosen ? theme.chosen : wire.status !== undefined ? theme.status[wire.status] : wire.wide ? theme.wide : theme.wire;
    const width = Math.max(chosen ? 3 : wire.wide ? 1.9 : 1.2, thin);
    const key = `${colour}${width}${wire.dashed}`;
    let same = looks.get(key);
    if (same === undefined) looks.set(key, (same = { lines: [], ends: [], colour, width, dashed: wire.dashed }));
    same.lines.push(wire.points);
    if (wire.arrow) same.ends.push([wire.points.at(-2)!, wire.points.at(-1)!]);
  }
  for (const { lines, ends, colour, width, dashed } of looks.values()) {
    brush.wires(lines, colour, width, dashed && scale > CARD_ONLY);
    if (scale >= CARD_ONLY) brush.arrows(ends, colour);
  }
}

function drawCard(card: Card, look: Look, brush: Brush): void {
  const { theme, scale } = look;
  const outside = card.kind === "outside";
  const removed = card.gone === true;
  const chosen = look.chosen === card.ref;
  const hit = look.found.has(card.ref) || (scale < CARD_ONLY && card.rows.some((row) => look.found.has(row.ref)));
  const status = card.status === undefined || card.status === "kept" ? null : theme.status[card.status];
  const border = chosen ? theme.chosen : (status ?? theme.line);
  const group = card.colour < 0 ? null : theme.groups[card.colour % theme.groups.length]!;
  if (scale < CARD_ONLY) {
    // a mark of one colour: lines would be thinner than a pixel
    const fill = hit ? theme.chosen : (status ?? group ?? theme.wire);
    brush.rect(card, 0, fill, chosen ? theme.chosen : null, 3 / scale);
    return;
  }
  brush.rect(card, 8, hit ? theme.found : outside ? null : theme.card, border, Math.max(chosen ? 3 : status === null ? 1 : 2, 0.8 / scale), outside || removed);
  if (group !== null) {
    const stripe = { x: card.x, y: card.y + 8, width: 4, height: card.height - 16 };
    brush.rect(stripe, 2, group, null);
  }
  if (scale >= SMALL_FROM) {
    brush.text(card.left, card.x + 14, card.y + 18, "small", theme.quiet);
    brush.text(card.right, card.x + card.width - 10, card.y + 18, "small", theme.quiet, "right");
  }
  if (scale >= TEXT_FROM) {
    card.lines.forEach((line, at) => brush.text(line, card.x + 14, card.y + HEAD + 13 + at * 17, "title", outside ? theme.quiet : theme.text));
  }
  for (const row of card.rows) drawRow(card, row, look, brush);
  for (const cell of card.cells) {
    brush.rect(cell, 4, theme.cell, theme.line);
    if (scale >= SMALL_FROM) brush.text(cell.text, cell.x + 10, cell.y + cell.height / 2 + 4, "small", theme.quiet);
  }
  const numbers = card.live === "" ? undefined : look.numbers?.get(card.live);
  if (numbers !== undefined) drawNumbers(card, numbers, look, brush);
}

function drawRow(card: Card, row: Row, look: Look, brush: Brush): void {
  const { theme, scale } = look;
  const inside = { x: card.x + 7, y: row.y + 2, width: card.width - 12, height: row.height - 4 };
  if (look.found.has(row.ref)) brush.rect(inside, 5, theme.found, null);
  if (look.chosen === row.ref) brush.rect(inside, 5, null, theme.chosen, 2.5);
  const left = card.x + 21 + row.depth * 14;
  const middle = row.y + row.height / 2;
  if (row.parentY !== null) {
    const rail = left - (row.depth > 0 ? 14 : 0);
    if (row.depth === 0) brush.wires([[rail, row.parentY + 8, rail, middle - 8]], theme.wire, 1.5, false);
    else brush.rect({ x: rail - 0.5, y: row.parentY + 8, width: 1.5, height: middle - row.parentY - 8 }, 0, theme.wire, null);
    if (row.depth > 0) brush.rect({ x: rail, y: middle - 0.5, width: 8, height: 1.5 }, 0, theme.wire, null);
  }
  const status = row.status === undefined ? null : theme.status[row.status];
  brush.shape(row.shape, left, middle, status ?? theme.wide);
  if (scale < TEXT_FROM) return;
  brush.text(row.title, left + 14, middle - 3, "title", theme.text);
  if (scale >= SMALL_FROM) {
    brush.text(row.detail, left + 14, middle + 13, "small", row.warn ? theme.warn : theme.quiet);
    if (row.stateful) brush.shape("state", card.x + card.width - 18, middle + 9, row.warn ? theme.warn : theme.quiet);
  }
  if (row.status !== undefined && status !== null) {
    brush.text(STATUSES[row.status].mark, card.x + card.width - 12, middle - 2, "title", status, "right");
  }
}

function drawNumbers(card: Card, { lines, busy }: CardNumbers, look: Look, brush: Brush): void {
  const { theme, scale } = look;
  const top = card.y + card.height - LIVE + 2;
  const width = card.width - 28;
  const colour = theme.busy[busy < 0.6 ? 0 : busy < 0.85 ? 1 : 2]!;
  brush.rect({ x: card.x + 14, y: top, width, height: 5 }, 2.5, theme.cell, theme.line);
  if (busy > 0.01) brush.rect({ x: card.x + 14, y: top, width: width * Math.min(busy, 1), height: 5 }, 2.5, colour, null);
  if (scale < TEXT_FROM) return;
  brush.text(lines[0], card.x + 14, top + 20, "small", theme.text);
  brush.text(lines[1], card.x + 14, top + 20 + 15, "small", theme.quiet);
}

/** The middle of what is selected, to bring it into view; null if the scene does not have it. */
export function placeOf(scene: Scene, ref: Ref): Box | null {
  for (const card of scene.cards) {
    if (card.ref === ref) return card;
    const row = card.rows.find((each) => each.ref === ref);
    if (row !== undefined) return { x: card.x + PAD, y: row.y, width: card.width - 2 * PAD, height: row.height };
  }
  const wire = scene.wires.find((each) => each.ref === ref);
  if (wire === undefined) return null;
  const [x, y] = middleOf(wire.points);
  return { x, y, width: 1, height: 1 };
}
