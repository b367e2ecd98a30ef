/** From one thing to the next by keys. */

import { boundsOf, type Card, type Ref, type Row, type Scene } from "./scene.ts";

export type Direction = "left" | "right" | "up" | "down";

interface Item {
  readonly ref: Ref;
  readonly x: number;
  readonly y: number;
}

function items(scene: Scene): Item[] {
  return scene.cards.flatMap((card): Item[] => {
    const x = card.x + card.width / 2;
    if (card.rows.length === 0) return [{ ref: card.ref, x, y: card.y + card.height / 2 }];
    return card.rows.map((row) => ({ ref: row.ref, x, y: row.y + row.height / 2 }));
  });
}

/** Where an arrow key leads: left and right along wires, up and down by place; null if nowhere. O(cards + wires). */
export function step(scene: Scene, from: Ref | null, direction: Direction): Ref | null {
  const here = from === null ? undefined : cardOf(scene, from);
  if (here === undefined) return first(scene);
  const { card, row } = here;
  if (direction === "left" || direction === "right") {
    const next = along(scene, card, row, direction === "right");
    if (next !== null) return next;
  }
  return nearest(scene, card, row, direction);
}

/** The wires at something, in order: those of a row, or all of a card. */
export function wiresAt(scene: Scene, ref: Ref): Ref[] {
  const here = cardOf(scene, ref);
  if (here === undefined) return [];
  const { card } = here;
  const found = scene.wires.filter((wire) => touches(wire.points, card) && wire.ref.startsWith("e")).map((wire) => wire.ref);
  return [...new Set(found)];
}

function touches(points: readonly number[], card: Card): boolean {
  const [x1, y1, x2, y2] = [points[0]!, points[1]!, points.at(-2)!, points.at(-1)!];
  const inside = (y: number): boolean => y >= card.y && y <= card.y + card.height;
  const right = card.x + card.width;
  return (x1 <= right && x1 >= right - 16 && inside(y1)) || (x2 >= card.x && x2 <= card.x + 16 && inside(y2));
}

function cardOf(scene: Scene, ref: Ref): { card: Card; row: Row | undefined } | undefined {
  for (const card of scene.cards) {
    const row = card.rows.find((each) => each.ref === ref);
    if (row !== undefined || card.ref === ref) return { card, row };
  }
  return undefined;
}

function first(scene: Scene): Ref | null {
  const bounds = boundsOf(scene.cards);
  const far = (item: Item): number => item.x - bounds.x + (item.y - bounds.y) / 4;
  const found = items(scene).sort((a, b) => far(a) - far(b));
  return found[0]?.ref ?? null;
}

function along(scene: Scene, card: Card, row: Row | undefined, forward: boolean): Ref | null {
  const right = card.x + card.width;
  const middle = row === undefined ? card.y + card.height / 2 : row.y + row.height / 2;
  let [best, found]: [number, Ref | null] = [Infinity, null];
  for (const { points } of scene.wires) {
    const [x1, y1, x2, y2] = [points[0]!, points[1]!, points.at(-2)!, points.at(-1)!];
    const [mineX, mineY, x, y] = forward ? [x1, y1, x2, y2] : [x2, y2, x1, y1];
    const atBorder = forward ? mineX <= right && mineX >= right - 16 : mineX >= card.x && mineX <= card.x + 16;
    if (!atBorder || mineY < card.y || mineY > card.y + card.height || Math.abs(mineY - middle) >= best) continue;
    const end = scene.cards.find((each) => y >= each.y && y <= each.y + each.height && x >= each.x - 1 && x <= each.x + each.width + 1);
    if (end === undefined) continue;
    best = Math.abs(mineY - middle);
    found = end.rows.find((each) => y >= each.y && y <= each.y + each.height)?.ref ?? end.ref;
  }
  return found;
}

function nearest(scene: Scene, card: Card, row: Row | undefined, direction: Direction): Ref | null {
  const x = card.x + card.width / 2;
  const y = row === undefined ? card.y + card.height / 2 : row.y + row.height / 2;
  let [best, found]: [number, Ref | null] = [Infinity, null];
  for (const item of items(scene)) {
    const [dx, dy] = [item.x - x, item.y - y];
    const ahead = { left: -dx, right: dx, up: -dy, down: dy }[direction];
    const aside = Math.abs(direction === "left" || direction === "right" ? dy : dx);
    if (ahead <= 1 || ahead + 3 * aside >= best) continue;
    best = ahead + 3 * aside;
    found = item.ref;
  }
  return found;
}
