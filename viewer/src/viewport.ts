/** Where the scene is looked at from: an offset and a scale, moved by mouse, fingers, wheel and keys. */

import type { Box } from "./scene.ts";

const CLOSEST = 3;
const FARTHEST = 0.01;
/** A scene that fits is not shown larger than this. */
const NATURAL = 1.1;

export class Viewport {
  x = 0;
  y = 0;
  scale = 1;
  /** Pixels that there are to show it in; 0 as long as the page is not seen, as in a notebook's output that is hidden. */
  width = 0;
  height = 0;
  /** All of this is in view, also when there comes to be more or less room; null once somebody has looked elsewhere. */
  private all: { readonly box: Box; readonly margin: number } | null = null;

  /** Called after each change. */
  constructor(private readonly changed: () => void) {}

  /** The part of the scene that is seen. */
  get view(): Box {
    return { x: this.x, y: this.y, width: this.width / this.scale, height: this.height / this.scale };
  }

  /** There is another amount of room: all stays in view, or else the middle stays where it is. */
  resize(width: number, height: number): void {
    if (width < 1 || height < 1 || (width === this.width && height === this.height)) return;
    const [x, y] = this.at(this.width / 2, this.height / 2);
    this.width = width;
    this.height = height;
    if (this.all !== null) return this.fit(this.all.box, this.all.margin);
    this.x = x - width / this.scale / 2;
    this.y = y - height / this.scale / 2;
    this.changed();
  }

  /** Scene coordinates of a pixel. */
  at(px: number, py: number): [number, number] {
    return [this.x + px / this.scale, this.y + py / this.scale];
  }

  pan(dx: number, dy: number): void {
    this.all = null;
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.changed();
  }

  /** Closer or farther by a factor; the pixel stays where it is. */
  zoom(factor: number, px = this.width / 2, py = this.height / 2): void {
    this.all = null;
    const [x, y] = this.at(px, py);
    this.scale = Math.min(Math.max(this.scale * factor, FARTHEST), CLOSEST);
    this.x = x - px / this.scale;
    this.y = y - py / this.scale;
    this.changed();
  }

  /** All of a box, as soon as there is room for it. */
  fit(box: Box, margin = 40): void {
    this.all = { box, margin };
    if (this.width < 1 || this.height < 1) return;
    const wanted = Math.min((this.width - 2 * margin) / box.width, (this.height - 2 * margin) / box.height);
    this.scale = Math.min(Math.max(wanted, FARTHEST), NATURAL);
    this.x = box.x + box.width / 2 - this.width / this.scale / 2;
    this.y = box.y + box.height / 2 - this.height / this.scale / 2;
    this.changed();
  }

  /** Move as little as is needed to see a box; close enough to read it, if asked. */
  reveal(box: Box, readable: boolean): void {
    if (readable && this.scale < 0.6) {
      this.all = null;
      this.scale = 0.9;
    }
    const view = this.view;
    const margin = 60 / this.scale;
    const seen = box.x > view.x + margin && box.x + box.width < view.x + view.width - margin &&
      box.y > view.y + margin && box.y + box.height < view.y + view.height - margin;
    if (!seen) {
      this.all = null;
      this.x = box.x + box.width / 2 - view.width / 2;
      this.y = box.y + box.height / 2 - view.height / 2;
    }
    this.changed();
  }
}

/** Let mouse, fingers and wheel move what is seen; `tap` gets clicks that were no drag. */
export function movedBy(element: HTMLElement, viewport: Viewport, tap: (px: number, py: number, double: boolean) => void): void {
  const fingers = new Map<number, [number, number]>();
  let far = 0;
  const place = (event: MouseEvent): [number, number] => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    far = fingers.size === 1 ? 0 : Infinity;
  });
  element.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) return;
    const now = place(event);
    far += Math.hypot(now[0] - before[0], now[1] - before[1]);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other !== undefined) {
      const [was, is] = [before, now].map(([x, y]) => Math.hypot(x - other[0], y - other[1])) as [number, number];
      if (was > 0) viewport.zoom(is / was, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else if (far > 3) {
      viewport.pan(now[0] - before[0], now[1] - before[1]);
    }
    fingers.set(event.pointerId, now);
  });
  const end = (event: PointerEvent): void => {
    if (fingers.delete(event.pointerId) && event.type === "pointerup" && far <= 3) tap(...place(event), false);
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
  element.addEventListener("dblclick", (event) => tap(...place(event), true));
  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      if (event.shiftKey) viewport.pan(-event.deltaY * lines, 0);
      else viewport.zoom(Math.exp(-event.deltaY * lines * 0.0015), ...place(event));
    },
    { passive: false },
  );
}
