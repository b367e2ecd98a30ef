/** Pictures that are kept: SVG, PNG, paper. */

import { CanvasBrush } from "./canvas.ts";
import { draw, type Look } from "./draw.ts";
import type { Scene } from "./scene.ts";
import { svgOf } from "./svg.ts";
import { inert } from "./text.ts";

const MARGIN = 24;
const SHARP = 2;
/** What browsers allow a canvas to have. */
const LONGEST_SIDE = 16_000;
const MOST_PIXELS = 120e6;

type Colours = Pick<Look, "theme" | "numbers">;

/** Give the user a file. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A file name made of a job's name. */
export function fileName(job: string, ending: string): string {
  const plain = inert(job, 60).replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${plain || "plan"}.${ending}`;
}

/** The scene as an SVG file. */
export function asSvg(scene: Scene, colours: Colours, title: string): Blob {
  return new Blob([svgOf(scene, colours, inert(title, 400))], { type: "image/svg+xml" });
}

/** The scene as a PNG file, at twice its size where that fits. */
export function asPng(scene: Scene, colours: Colours): Promise<Blob> {
  const { bounds } = scene;
  const [width, height] = [bounds.width + 2 * MARGIN, bounds.height + 2 * MARGIN];
  const scale = Math.min(SHARP, LONGEST_SIDE / Math.max(width, height), Math.sqrt(MOST_PIXELS / (width * height)));
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  const context = canvas.getContext("2d")!;
  context.fillStyle = colours.theme.page;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(scale, 0, 0, scale, (MARGIN - bounds.x) * scale, (MARGIN - bounds.y) * scale);
  const view = { x: bounds.x - MARGIN, y: bounds.y - MARGIN, width, height };
  draw(scene, { ...colours, view, scale, chosen: null, found: new Set() }, new CanvasBrush(context, colours.theme.page));
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob === null ? failed(new Error("the picture is too large for this browser")) : done(blob)), "image/png"),
  );
}

/** Put the scene on paper, under what a reader needs to know of it; its nodes are parsed from SVG in which every text is escaped. */
export function onPaper(paper: HTMLElement, scene: Scene, colours: Colours, title: string, heading: readonly HTMLElement[]): void {
  const parsed = new DOMParser().parseFromString(svgOf(scene, colours, inert(title, 400)), "image/svg+xml");
  paper.replaceChildren(...heading, document.importNode(parsed.documentElement, true));
}
