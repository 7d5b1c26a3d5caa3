// Entries as the rows of a list: filtered, searched, and with a row where some are missing.

import type { ActivityEntry, ActivityKind } from "$lib/api/generated";

/** What can be shown or hidden together. */
export type Group = "messages" | "log" | "stderr" | "state" | "invalid";

export const GROUPS: readonly Group[] = ["messages", "log", "stderr", "state", "invalid"];

/** An entry, or how many are missing at this place. */
export type ActivityRow =
  { is: "entry"; entry: ActivityEntry } | { is: "gap"; before: number; count: number };

/** The group of a kind. */
export function groupOf(kind: ActivityKind): Group {
  switch (kind) {
    case "request":
    case "response":
    case "error":
    case "notification":
    case "batch":
      return "messages";
    default:
      return kind;
  }
}

/** How many entries each group has. */
export function countGroups(entries: readonly ActivityEntry[]): Record<Group, number> {
  const counts = { messages: 0, log: 0, stderr: 0, state: 0, invalid: 0 };
  for (const { kind } of entries) counts[groupOf(kind)] += 1;
  return counts;
}

/** The rows for the entries of these groups that have the words. */
export function rowsOf(
  entries: readonly ActivityEntry[],
  groups: ReadonlySet<Group>,
  query: string,
): ActivityRow[] {
  const wanted = query.trim().toLowerCase();
  const rows: ActivityRow[] = [];
  let previous = 0;
  for (const entry of entries) {
    const count = entry.seq - previous - 1;
    if (count > 0) rows.push({ is: "gap", before: entry.seq, count });
    previous = entry.seq;
    if (groups.has(groupOf(entry.kind)) && has(entry, wanted)) rows.push({ is: "entry", entry });
  }
  return rows;
}

function has(entry: ActivityEntry, wanted: string): boolean {
  if (wanted === "") return true;
  return [entry.method, entry.id, entry.preview, entry.note].some((text) =>
    text?.toLowerCase().includes(wanted),
  );
}

/** The row's key in its list. */
export function rowKey(row: ActivityRow): string {
  return row.is === "entry" ? String(row.entry.seq) : `gap ${row.before}`;
}

/** What a row says beside its kind: the method, or the beginning of what is no message; of a log message both. */
export function summaryOf({ kind, method, preview }: ActivityEntry): string {
  if (kind === "log" && method !== null) return `${method}  ${preview}`;
  return method ?? preview;
}
