/** Elements out of plain data. Texts become text nodes, always: nothing of a program is ever read as markup. */

import { inert } from "./text.ts";

type Child = Node | string | null | undefined;

/** An element with attributes, listeners (functions, by event) and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  with_: Readonly<Record<string, string | boolean | ((event: Event) => void)>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(with_)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, value);
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

/** A text of a program: inert, and isolated from the direction of what is around it. */
export function said(text: string, longest = 20_000): HTMLElement {
  return make("bdi", {}, inert(text, longest));
}

/** An element of the page that is known to be there. */
export function part<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as T;
}
