/** Numbers of a running job, asked for again and again. */

import type { CardNumbers } from "./draw.ts";
import { bytes, duration, rate } from "./text.ts";

export interface VertexNumbers {
  readonly id: string;
  readonly name: string;
  readonly in_rate: number;
  readonly out_rate: number;
  /** Share of the busiest subtask; null where nobody measures it. */
  readonly busy: number | null;
  readonly lag_ms: number | null;
  readonly state_bytes: number;
  readonly state_keys: number;
  readonly tasks: Readonly<Record<string, number>>;
  readonly records_behind: number | null;
}

/** What the feed answers. */
export interface Numbers {
  readonly job: string;
  readonly status: string;
  readonly seconds: number;
  readonly version: number;
  readonly in_rate: number;
  readonly out_rate: number;
  readonly records_behind: number | null;
  readonly step_ms: number;
  readonly bottleneck: string | null;
  readonly vertices: readonly VertexNumbers[];
}

export interface Feed {
  /** Address, relative to the page. */
  readonly feed: string;
  readonly every: number;
}

/** Whether the job goes on: of one that does not, only what stays is shown, its state. */
export function goesOn(numbers: Numbers): boolean {
  return !OVER.has(numbers.status) && numbers.status !== "NOT RUNNING";
}

/** Two lines and a share for each card, by vertex ID. */
export function cardNumbers(numbers: Numbers, goes = goesOn(numbers)): Map<string, CardNumbers> {
  return new Map(numbers.vertices.map((each) => [each.id, goes ? { lines: linesOf(each), busy: each.busy ?? 0 } : ended(each)]));
}

function ended(each: VertexNumbers): CardNumbers {
  return { lines: ["not running", each.state_bytes > 0 ? bytes(each.state_bytes) : ""], busy: 0 };
}

function linesOf(each: VertexNumbers): [string, string] {
  const parts = [each.lag_ms === null ? null : `lag ${duration(each.lag_ms)}`, each.state_bytes > 0 ? bytes(each.state_bytes) : null];
  const behind = each.records_behind === null ? null : `${rate(each.records_behind)} behind`;
  return [`${rate(each.in_rate)}/s in · ${rate(each.out_rate)}/s out`, [each.busy === null ? null : `busy ${Math.round(each.busy * 100)}%`, ...parts, behind].filter((text) => text !== null).join(" · ")];
}

/** One line about the job. */
export function headline(numbers: Numbers): string {
  if (!goesOn(numbers)) return `${numbers.status} · version ${numbers.version}`;
  const parts = [
    numbers.status,
    duration(numbers.seconds * 1000),
    `${rate(numbers.in_rate)} records/s in`,
    `${rate(numbers.out_rate)} out`,
    numbers.records_behind === null ? null : `${rate(numbers.records_behind)} behind`,
    `version ${numbers.version}`,
    numbers.step_ms > 0 ? `step ${duration(numbers.step_ms)}` : null,
    numbers.bottleneck === null ? null : `busiest: ${numbers.bottleneck}`,
  ];
  return parts.filter((text) => text !== null).join(" · ");
}

const OVER = new Set(["FINISHED", "FAILED", "CANCELED"]);
const PATIENCE_MS = 5000;

/** Ask the feed until the job is over; who does not answer is asked again. */
export async function follow(feed: Feed, take: (numbers: Numbers) => void, silent: (since: number) => void): Promise<void> {
  let answered = Date.now();
  for (;;) {
    try {
      const answer = await fetch(feed.feed, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
      if (!answer.ok) throw new Error(String(answer.status));
      const numbers = (await answer.json()) as Numbers | null;
      answered = Date.now();
      if (numbers !== null) take(numbers);
      if (numbers !== null && OVER.has(numbers.status)) return;
    } catch {
      silent(Date.now() - answered);
    }
    await new Promise((wake) => setTimeout(wake, feed.every));
  }
}
