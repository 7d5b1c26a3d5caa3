// Entries as the rows of a list: filtered, searched, and with a row where some are missing.

import type { ActivityEntry, ActivityKind } from "$lib/api/generated";

import { isAtLeast, type Level } from "./levels";

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

/** Returns the sequence numbers of notifications that a log message repeats. Each of them precedes its log message. */
function repeated(entries: readonly ActivityEntry[]): Set<number> {
  const numbers = new Set<number>();
  const waiting: number[] = [];
  for (const { seq, kind, sent, method } of entries) {
    if (kind === "notification" && !sent && method === "notifications/message") waiting.push(seq);
    const told = kind === "log" ? waiting.shift() : undefined;
    if (told !== undefined) numbers.add(told);
  }
  return numbers;
}

/** How many entries each group has; a log message counts once. */
export function countGroups(entries: readonly ActivityEntry[]): Record<Group, number> {
  const counts = { messages: 0, log: 0, stderr: 0, state: 0, invalid: 0 };
  const twice = repeated(entries);
  for (const { kind, seq } of entries) if (!twice.has(seq)) counts[groupOf(kind)] += 1;
  return counts;
}

/**
 * Returns the rows for the entries of these groups that match the search; log messages from this severity on. A log
 * message is listed once: outside of the log group, as its notification.
 */
export function rowsOf(
  entries: readonly ActivityEntry[],
  groups: ReadonlySet<Group>,
  query: string,
  least: Level = "debug",
): ActivityRow[] {
  const wanted = query.trim().toLowerCase();
  const twice = groups.has("log") ? repeated(entries) : null;
  const rows: ActivityRow[] = [];
  let previous = 0;
  for (const entry of entries) {
    const count = entry.seq - previous - 1;
    if (count > 0) rows.push({ is: "gap", before: entry.seq, count });
    previous = entry.seq;
    if (!groups.has(groupOf(entry.kind)) || twice?.has(entry.seq)) continue;
    if (isAtLeast(entry, least) && has(entry, wanted)) rows.push({ is: "entry", entry });
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
