/** The brush that writes SVG: for files, and for print. */

import { draw, type Brush, type Look } from "./draw.ts";
import { controls, type Box, type Row, type Scene } from "./scene.ts";
import type { Font } from "./text.ts";

const FONT: Readonly<Record<Font, string>> = {
  title: 'font-weight="600" font-size="13"',
  small: 'font-size="11.5"',
  label: 'font-size="10.5"',
  mono: 'font-size="12" font-family="ui-monospace, monospace"',
};
const ANCHOR = { left: "start", right: "end", center: "middle" } as const;
const MARGIN = 24;

/** A text as XML has it. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

const n = (number: number): string => String(Math.round(number * 10) / 10);

class SvgBrush implements Brush {
  readonly parts: string[] = [];

  constructor(private readonly halo: string) {}

  rect(box: Box, round: number, fill: string | null, stroke: string | null, width = 1, dashed = false): void {
    const line = stroke === null ? "" : ` stroke="${stroke}" stroke-width="${width}"${dashed ? ' stroke-dasharray="6 4"' : ""}`;
    this.parts.push(
      `<rect x="${n(box.x)}" y="${n(box.y)}" width="${n(box.width)}" height="${n(box.height)}" rx="${round}" fill="${fill ?? "none"}"${line}/>`,
    );
  }

  text(text: string, x: number, y: number, font: Font, colour: string, align: "left" | "right" | "center" = "left"): void {
    if (text === "") return;
    const halo = font === "label" ? ` paint-order="stroke" stroke="${this.halo}" stroke-width="4" stroke-linejoin="round"` : "";
    this.parts.push(`<text x="${n(x)}" y="${n(y)}" ${FONT[font]} fill="${colour}" text-anchor="${ANCHOR[align]}"${halo}>${escaped(text)}</text>`);
  }

  wires(lines: readonly (readonly number[])[], colour: string, width: number, dashed: boolean): void {
    const path = lines.map((points) => {
      let d = `M${n(points[0]!)} ${n(points[1]!)}`;
      for (let at = 2; at < points.length; at += 2) {
        const [x1, y1, x2, y2] = [points[at - 2]!, points[at - 1]!, points[at]!, points[at + 1]!];
        const [c1, c2] = controls(x1, x2);
        d += x1 === x2 ? `V${n(y2)}` : `C${n(c1)} ${n(y1)} ${n(c2)} ${n(y2)} ${n(x2)} ${n(y2)}`;
      }
      return d;
    });
    this.parts.push(`<path d="${path.join("")}" fill="none" stroke="${colour}" stroke-width="${n(width)}"${dashed ? ' stroke-dasharray="5 4"' : ""}/>`);
  }

  arrows(ends: readonly (readonly [number, number])[], colour: string): void {
    const path = ends.map(([x, y]) => `M${n(x)} ${n(y)}l-8 -4.5v9z`);
    if (path.length > 0) this.parts.push(`<path d="${path.join("")}" fill="${colour}"/>`);
  }

  shape(kind: Row["shape"] | "state", x: number, y: number, colour: string): void {
    const at = `M${n(x)} ${n(y)}`;
    const fill = ` fill="${colour}"`;
    if (kind === "source") this.parts.push(`<circle cx="${n(x)}" cy="${n(y)}" r="5"${fill}/>`);
    else if (kind === "operator") this.rect({ x: x - 5, y: y - 5, width: 10, height: 10 }, 2, colour, null);
    else if (kind === "sink") this.parts.push(`<path d="${at}m0 -6l6 6l-6 6l-6 -6z"${fill}/>`);
    else {
      const body = `${at}m-5 -4a5 2.2 0 1 0 10 0a5 2.2 0 1 0 -10 0v7a5 2.2 0 0 0 10 0v-7`;
      this.parts.push(`<path d="${body}" fill="none" stroke="${colour}" stroke-width="1.3"/>`);
    }
  }
}

/** A scene as the text of an SVG file, whole and with all its texts. O(cards + wires). */
export function svgOf(scene: Scene, look: Omit<Look, "view" | "scale" | "chosen" | "found">, title: string): string {
  const { bounds } = scene;
  const view = { x: bounds.x - MARGIN, y: bounds.y - MARGIN, width: bounds.width + 2 * MARGIN, height: bounds.height + 2 * MARGIN };
  const brush = new SvgBrush(look.theme.page);
  brush.rect(view, 0, look.theme.page, null);
  draw(scene, { ...look, view, scale: 1, chosen: null, found: new Set() }, brush);
  const box = [view.x, view.y, view.width, view.height].map(n);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box.join(" ")}" width="${box[2]}" height="${box[3]}" role="img"`,
    ` font-family="system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif"><title>${escaped(title)}</title>`,
    ...brush.parts,
    "</svg>",
  ].join("\n");
}
