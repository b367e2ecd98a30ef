/** What a comparison with an older plan says of operators. */

import type { Change, Model, Status } from "./model.ts";

/** In the order of the legend; the marks are there for who does not see the colours. */
export const STATUSES: Readonly<Record<Status, { readonly mark: string; readonly says: string }>> = {
  lost: { mark: "✗", says: "its state, or some of it, is not found again" },
  moved: { mark: "↷", says: "another operator ID; it loses no state" },
  changed: { mark: "≈", says: "the same operator ID; something else differs, and no state is lost" },
  added: { mark: "+", says: "new: begins without state" },
  removed: { mark: "−", says: "gone; it loses no state" },
  kept: { mark: "=", says: "the same operator ID: state is found again" },
};

/** The change of an operator; undefined on a page without a comparison. */
export function changeOf(model: Model, at: number): Change | undefined {
  return model.operators.value(at, "change") ?? undefined;
}

/** How many operators have each status; undefined without a comparison. O(operators). */
export function tally(model: Model): Map<Status, number> | undefined {
  if (!model.operators.has("change")) return undefined;
  const found = new Map<Status, number>();
  for (let at = 0; at < model.operators.length; at++) {
    const change = changeOf(model, at);
    if (change !== undefined) found.set(change.status, (found.get(change.status) ?? 0) + 1);
  }
  return found.size > 0 ? found : undefined;
}
