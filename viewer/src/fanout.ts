/** Which subtasks a pointwise exchange connects. */

/** Ranges of producers, [first, last], by consumer. */
export type Ranges = readonly (readonly [number, number])[];

/**
 * The producers that each consumer of a pointwise exchange reads. O(consumers).
 *
 * Flink 1.11 finds them with 32-bit floats where one parallelism is no multiple of the other, later versions with integers.
 */
export function pointwise(producers: number, consumers: number, flink: string): Ranges {
  if (flink !== "1.11") {
    return Array.from({ length: consumers }, (_, at) => {
      const first = Math.floor((at * producers) / consumers);
      return [first, Math.max(first, Math.floor(((at + 1) * producers) / consumers) - 1)];
    });
  }
  if (producers <= consumers) {
    const factor = Math.fround(consumers / producers);
    return Array.from({ length: consumers }, (_, at) => {
      const first = Math.min(producers - 1, Math.trunc(Math.fround(at / factor)));
      return [first, first];
    });
  }
  const factor = Math.fround(producers / consumers);
  const edge = (at: number): number => (at === consumers ? producers : Math.trunc(Math.fround(at * factor)));
  return Array.from({ length: consumers }, (_, at) => [edge(at), edge(at + 1) - 1]);
}
