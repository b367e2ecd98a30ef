/** Texts of programs, as they may be shown: names come from anybody. */

/** Marks that turn the direction of what follows, that are not seen, or that control something. */
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]/gu;

/** A text in which all that would act is written out: U+202E as ⟨202E⟩. Line breaks and tabs become blanks. */
export function inert(text: string, longest = Infinity): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return cut.replace(UNSEEN, (mark) =>
    mark === "\n" || mark === "\t" || mark === "\r"
      ? " "
      : `⟨${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/** How wide a text is, in pixels at the size in which it is drawn. */
export type Measure = (text: string, font: Font) => number;

export type Font = "title" | "small" | "label" | "mono";

/** Characters of a name that are ever looked at when it is drawn. */
const LONGEST = 160;

/** A text that fits, with … at its end if some is missing. O(log length) measurements. */
export function fitted(text: string, width: number, font: Font, measure: Measure): string {
  const all = inert(text, LONGEST);
  if (measure(all, font) <= width) return all;
  const marks = [...all];
  let fits = 0;
  let tooLong = marks.length;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (measure(`${marks.slice(0, middle).join("")}…`, font) <= width) fits = middle;
    else tooLong = middle;
  }
  return `${marks.slice(0, fits).join("").trimEnd()}…`;
}

/** A text in at most so many lines, broken at blanks where there are some. */
export function wrapped(text: string, width: number, lines: number, font: Font, measure: Measure): string[] {
  const words = inert(text, LONGEST).split(" ");
  const found: string[] = [];
  let line = "";
  for (let at = 0; at < words.length; at++) {
    const longer = line === "" ? (words[at] ?? "") : `${line} ${words[at]}`;
    if (line === "" || measure(longer, font) <= width) {
      line = longer;
    } else if (found.length === lines - 1) {
      return [...found, fitted([line, ...words.slice(at)].join(" "), width, font, measure)];
    } else {
      found.push(fitted(line, width, font, measure));
      line = words[at] ?? "";
    }
  }
  return [...found, fitted(line, width, font, measure)];
}

/** 41_200 as 41.2 k: three digits that count. */
export function rate(number: number): string {
  const steps: [number, string][] = [[1e9, " G"], [1e6, " M"], [1e4, " k"]];
  for (const [size, unit] of steps) {
    if (number >= size) return `${(number / (unit === " k" ? 1e3 : size)).toPrecision(3)}${unit}`;
  }
  return count(Math.round(number));
}

/** Bytes with a unit of 1,024s. */
export function bytes(number: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  let left = number;
  while (left >= 1024 && at < units.length - 1) {
    left /= 1024;
    at += 1;
  }
  return `${at === 0 ? left : left.toFixed(1)} ${units[at]}`;
}

/** Milliseconds in the unit that reads best. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.floor(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return `${h > 0 ? `${h}:` : ""}${String(m).padStart(h > 0 ? 2 : 1, "0")}:${String(s).padStart(2, "0")}`;
}

/** 1234567 as 1,234,567, whatever the reader's locale. */
export function count(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** "1 operator", "2 operators". */
export function many(number: number, one: string, more = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : more}`;
}
