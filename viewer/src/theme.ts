/** Colours, light and dark. All texts have a contrast of at least 4.5 to what is behind them. */

import type { Status } from "./model.ts";

export interface Theme {
  readonly page: string;
  readonly card: string;
  readonly head: string;
  readonly line: string;
  readonly text: string;
  readonly quiet: string;
  readonly warn: string;
  readonly wire: string;
  readonly wide: string;
  readonly cell: string;
  readonly chosen: string;
  readonly found: string;
  readonly busy: readonly [string, string, string];
  readonly status: Readonly<Record<Status, string>>;
  readonly groups: readonly string[];
}

export const LIGHT: Theme = {
  page: "#f6f7f9",
  card: "#ffffff",
  head: "#eef1f5",
  line: "#c3cad4",
  text: "#1a2230",
  quiet: "#566174",
  warn: "#93500b",
  wire: "#8c97a8",
  wide: "#5d6b80",
  cell: "#f1f4f8",
  chosen: "#0b62d6",
  found: "#ffe08a",
  busy: ["#3c9a5f", "#c98a13", "#cf3e36"],
  status: { lost: "#b3261e", moved: "#6b3fa0", changed: "#6b3fa0", added: "#14713d", removed: "#566174", kept: "#566174" },
  groups: ["#2f7d8c", "#7a58b5", "#b8741a", "#3f7f45", "#b4497f", "#4a68b8", "#8a6d3b", "#607d2b"],
};

export const DARK: Theme = {
  page: "#12161d",
  card: "#1d232d",
  head: "#262e3a",
  line: "#3b4656",
  text: "#e7ebf2",
  quiet: "#a3afc0",
  warn: "#f0b35e",
  wire: "#66738a",
  wide: "#93a1b8",
  cell: "#252d39",
  chosen: "#6cb0ff",
  found: "#6a5612",
  busy: ["#54b97c", "#e0a53a", "#f0716a"],
  status: { lost: "#ff8d85", moved: "#c7a5f5", changed: "#c7a5f5", added: "#6fd597", removed: "#a3afc0", kept: "#a3afc0" },
  groups: ["#4fb3c4", "#a98ae6", "#e0a24e", "#74bd7b", "#e384b3", "#86a3f0", "#c4a46a", "#a0c063"],
};
