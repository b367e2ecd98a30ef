/** Finding operators by what is written in a field. */

import type { Model } from "./model.ts";

/** So many are remembered; more are only counted. */
const MOST_HITS = 5000;

export interface Hits {
  readonly rows: readonly number[];
  readonly all: number;
}

/** Operators whose name, uid, IDs, type or description have all words in them, those whose name begins so first. O(text). */
export class Index {
  private readonly texts: string[] = [];

  constructor(private readonly model: Model) {}

  find(wanted: string): Hits {
    const words = wanted.toLowerCase().split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) return { rows: [], all: 0 };
    const begin: number[] = [];
    const rest: number[] = [];
    let all = 0;
    for (let at = 0; at < this.model.operators.length; at++) {
      const text = this.text(at);
      if (!words.every((word) => text.includes(word))) continue;
      all += 1;
      const list = text.startsWith(words[0]!) ? begin : rest;
      if (list.length < MOST_HITS) list.push(at);
    }
    return { rows: [...begin, ...rest].slice(0, MOST_HITS), all };
  }

  private text(at: number): string {
    const { operators } = this.model;
    return (this.texts[at] ??= (["name", "uid", "operator_id", "pinned", "user_hash", "type", "description"] as const)
      .map((name) => operators.value(at, name) ?? "")
      .join("\n")
      .toLowerCase());
  }
}
