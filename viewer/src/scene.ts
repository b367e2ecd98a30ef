/** What is drawn, in world coordinates: cards, their rows, wires. Painted on a canvas, written as SVG, asked what lies where. */

import type { Status } from "./model.ts";

/** What can be selected: operators, chains, edges and groups by their numbers, ends of wires that lead out of sight. */
export type Ref = `o${number}` | `c${number}` | `e${number}` | `g${number}` | `x${number}`;

export interface Row {
  readonly ref: Ref;
  readonly y: number;
  readonly height: number;
  /** Depth in the tree of the chain, and the y of the row it is chained to; null for the head. */
  readonly depth: number;
  readonly parentY: number | null;
  readonly title: string;
  readonly detail: string;
  readonly shape: "source" | "operator" | "sink";
  readonly stateful: boolean;
  /** The detail is something to look at: state under an ID that an edit can move. */
  readonly warn: boolean;
  readonly status?: Status | undefined;
}

/** A subtask, or several ("4 … 64") that are not drawn one by one. */
export interface Cell {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly text: string;
  /** Subtasks that it stands for. */
  readonly first: number;
  readonly last: number;
}

export interface Card {
  readonly ref: Ref;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly kind: "chain" | "vertex" | "execution" | "group" | "outside";
  readonly lines: readonly string[];
  /** Small text, on the left and on the right of the head. */
  readonly left: string;
  readonly right: string;
  /** Number of the slot sharing group; -1 for none. */
  readonly colour: number;
  readonly rows: readonly Row[];
  readonly cells: readonly Cell[];
  /** It is of the older plan only. */
  readonly gone?: boolean | undefined;
  readonly status?: Status | undefined;
  /** JobVertexID, by which live numbers come; "" for none. */
  readonly live: string;
}

export interface Wire {
  readonly ref: Ref;
  /** x and y of the points that it goes through, in turn. */
  readonly points: readonly number[];
  readonly label: string;
  /** Where the middle of the label stands, if not in the middle of the wire: labels that would overlap are moved. */
  readonly at?: readonly [number, number] | undefined;
  /** Records are dealt out to all subtasks, not to the next one: drawn with more weight. */
  readonly wide: boolean;
  readonly dashed: boolean;
  readonly arrow: boolean;
  readonly status?: Status | undefined;
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Scene {
  readonly cards: readonly Card[];
  readonly wires: readonly Wire[];
  readonly bounds: Box;
  /** Names of the slot sharing groups by number, for the legend. */
  readonly groups: readonly string[];
}

export const HEAD = 28;
export const ROW = 44;
export const PAD = 8;
export const LIVE = 46;

/** The smallest box around all cards. */
export function boundsOf(cards: readonly Box[]): Box {
  if (cards.length === 0) return { x: 0, y: 0, width: 1, height: 1 };
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const card of cards) {
    left = Math.min(left, card.x);
    top = Math.min(top, card.y);
    right = Math.max(right, card.x + card.width);
    bottom = Math.max(bottom, card.y + card.height);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Control points of the curve between two points of a wire: it leaves and arrives level, and goes round when it leads back. */
export function controls(x1: number, x2: number): [number, number] {
  if (x2 >= x1) {
    const half = Math.max((x2 - x1) / 2, 12);
    return [x1 + half, x2 - half];
  }
  const out = Math.min(80 + (x1 - x2) / 4, 400);
  return [x1 + out, x2 - out];
}

/** What is at a point: a row before its card, a card before a wire; null for nothing. */
export function pick(scene: Scene, x: number, y: number, reach: number): Ref | null {
  for (let at = scene.cards.length - 1; at >= 0; at--) {
    const card = scene.cards[at]!;
    if (x < card.x || x > card.x + card.width || y < card.y || y > card.y + card.height) continue;
    return card.rows.find((row) => y >= row.y && y < row.y + row.height)?.ref ?? card.ref;
  }
  let [nearest, found]: [number, Ref | null] = [reach, null];
  for (const wire of scene.wires) {
    const far = distance(wire.points, x, y, nearest);
    if (far < nearest) [nearest, found] = [far, wire.ref];
  }
  return found;
}

const PIECES = 16;

function distance(points: readonly number[], x: number, y: number, within: number): number {
  let nearest = Infinity;
  for (let at = 0; at + 3 < points.length; at += 2) {
    const [x1, y1, x2, y2] = [points[at]!, points[at + 1]!, points[at + 2]!, points[at + 3]!];
    const [c1, c2] = controls(x1, x2);
    if (x < Math.min(x1, c2) - within || x > Math.max(x2, c1) + within) continue;
    if (y < Math.min(y1, y2) - within || y > Math.max(y1, y2) + within) continue;
    let [px, py] = [x1, y1];
    for (let piece = 1; piece <= PIECES; piece++) {
      const [qx, qy] = onCurve(x1, y1, c1, c2, x2, y2, piece / PIECES);
      nearest = Math.min(nearest, toSegment(x, y, px, py, qx, qy));
      [px, py] = [qx, qy];
    }
  }
  return nearest;
}

function onCurve(x1: number, y1: number, c1: number, c2: number, x2: number, y2: number, t: number): [number, number] {
  const u = 1 - t;
  const [a, b, c, d] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
  return [a * x1 + b * c1 + c * c2 + d * x2, (a + b) * y1 + (c + d) * y2];
}

function toSegment(x: number, y: number, x1: number, y1: number, x2: number, y2: number): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const t = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x1 - t * dx, y - y1 - t * dy);
}

/** The middle of a wire, where its label stands. */
export function middleOf(points: readonly number[]): [number, number] {
  const piece = Math.floor((points.length / 2 - 1) / 2) * 2;
  const [x1, y1, x2, y2] = [points[piece]!, points[piece + 1]!, points[piece + 2]!, points[piece + 3]!];
  const [c1, c2] = controls(x1, x2);
  return onCurve(x1, y1, c1, c2, x2, y2, 0.5);
}
