/** Finding operators by what is written in a field. */

import type { Model } from "./model.ts";

/** So many are remembered; more are only counted. */
const MOST_HITS = 5000;

export interface Hits {
  readonly rows: readonly number[];
  readonly all: number;
}

const FIELDS = ["name", "uid", "type", "description", "operator_id", "pinned", "user_hash"] as const;
/** How near a hit is: the whole name or uid, their beginning, a word of them, anything in them; then the other fields, IDs last. */
const RANKS = 6;

/** Operators whose name, uid, IDs, type or description have all words in them, the nearest first. O(text). */
export class Index {
  private readonly texts: string[] = [];

  constructor(private readonly model: Model) {}

  find(wanted: string): Hits {
    const words = wanted.toLowerCase().split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) return { rows: [], all: 0 };
    const whole = words.join(" ");
    const ranked: number[][] = Array.from({ length: RANKS }, () => []);
    let all = 0;
    for (let at = 0; at < this.model.operators.length; at++) {
      const text = this.text(at);
      if (!words.every((word) => text.includes(word))) continue;
      all += 1;
      const list = ranked[rank(text.split("\n"), whole, words)]!;
      if (list.length < MOST_HITS) list.push(at);
    }
    return { rows: ranked.flat().slice(0, MOST_HITS), all };
  }

  private text(at: number): string {
    const { operators } = this.model;
    return (this.texts[at] ??= FIELDS.map((name) => (operators.value(at, name) ?? "").replaceAll("\n", " "))
      .join("\n")
      .toLowerCase());
  }
}

function rank([name = "", uid = "", type = "", description = ""]: readonly string[], whole: string, words: readonly string[]): number {
  const names = [name, uid];
  if (names.includes(whole)) return 0;
  if (names.some((text) => text.startsWith(whole))) return 1;
  if (names.some((text) => text.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(words[0]!)) && words.every((word) => text.includes(word)))) return 2;
  if (words.every((word) => name.includes(word) || uid.includes(word))) return 3;
  return words.every((word) => names.some((text) => text.includes(word)) || type.includes(word) || description.includes(word)) ? 4 : 5;
}
