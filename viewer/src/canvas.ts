/** The brush of a canvas. */

import type { Brush } from "./draw.ts";
import { controls, type Box, type Row } from "./scene.ts";
import type { Font, Measure } from "./text.ts";

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

export const FONTS: Readonly<Record<Font, string>> = {
  title: `600 13px ${SANS}`,
  small: `11.5px ${SANS}`,
  label: `10.5px ${SANS}`,
  mono: '12px ui-monospace, "DejaVu Sans Mono", monospace',
};

const LONGEST_MEMORY = 50_000;

/** Measures with the fonts of the page, and remembers, as names repeat. */
export function measureWith(context: CanvasRenderingContext2D): Measure {
  const known = new Map<string, number>();
  return (text, font) => {
    const key = font + text;
    let width = known.get(key);
    if (width === undefined) {
      context.font = FONTS[font];
      width = context.measureText(text).width;
      if (known.size > LONGEST_MEMORY) known.clear();
      known.set(key, width);
    }
    return width;
  };
}

export class CanvasBrush implements Brush {
  private font = "";

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly halo: string,
  ) {
    context.textBaseline = "alphabetic";
    context.direction = "ltr";
    context.lineJoin = "round";
  }

  rect(box: Box, round: number, fill: string | null, stroke: string | null, width = 1, dashed = false): void {
    const { context } = this;
    context.beginPath();
    if (round > 0) context.roundRect(box.x, box.y, box.width, box.height, round);
    else context.rect(box.x, box.y, box.width, box.height);
    if (fill !== null) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke !== null) {
      context.strokeStyle = stroke;
      context.lineWidth = width;
      if (dashed) context.setLineDash([6, 4]);
      context.stroke();
      if (dashed) context.setLineDash([]);
    }
  }

  text(text: string, x: number, y: number, font: Font, colour: string, align: "left" | "right" | "center" = "left"): void {
    const { context } = this;
    if (this.font !== FONTS[font]) context.font = this.font = FONTS[font];
    context.textAlign = align;
    if (font === "label") {
      context.strokeStyle = this.halo;
      context.lineWidth = 4;
      context.strokeText(text, x, y);
    }
    context.fillStyle = colour;
    context.fillText(text, x, y);
  }

  wires(lines: readonly (readonly number[])[], colour: string, width: number, dashed: boolean): void {
    const { context } = this;
    context.beginPath();
    for (const points of lines) {
      context.moveTo(points[0]!, points[1]!);
      for (let at = 2; at < points.length; at += 2) {
        const [x1, y1, x2, y2] = [points[at - 2]!, points[at - 1]!, points[at]!, points[at + 1]!];
        const [c1, c2] = controls(x1, x2);
        if (x1 === x2) context.lineTo(x2, y2);
        else context.bezierCurveTo(c1, y1, c2, y2, x2, y2);
      }
    }
    context.strokeStyle = colour;
    context.lineWidth = width;
    if (dashed) context.setLineDash([5, 4]);
    context.stroke();
    if (dashed) context.setLineDash([]);
  }

  arrows(ends: readonly (readonly [number, number])[], colour: string): void {
    const { context } = this;
    context.beginPath();
    for (const [x, y] of ends) {
      context.moveTo(x, y);
      context.lineTo(x - 8, y - 4.5);
      context.lineTo(x - 8, y + 4.5);
    }
    context.fillStyle = colour;
    context.fill();
  }

  shape(kind: Row["shape"] | "state", x: number, y: number, colour: string): void {
    const { context } = this;
    context.beginPath();
    if (kind === "source") context.arc(x, y, 5, 0, 7);
    else if (kind === "operator") context.roundRect(x - 5, y - 5, 10, 10, 2);
    else if (kind === "sink") {
      context.moveTo(x, y - 6);
      for (const [dx, dy] of [[6, 0], [0, 6], [-6, 0]] as const) context.lineTo(x + dx, y + dy);
      context.closePath();
    } else {
      context.ellipse(x, y - 4, 5, 2.2, 0, 0, 7);
      context.moveTo(x - 5, y - 4);
      context.lineTo(x - 5, y + 3);
      context.ellipse(x, y + 3, 5, 2.2, 0, Math.PI, 0, true);
      context.lineTo(x + 5, y - 4);
      context.strokeStyle = colour;
      context.lineWidth = 1.3;
      context.stroke();
      return;
    }
    context.fillStyle = colour;
    context.fill();
  }
}
