// Converts activity entries to list rows: filtered, searched, and with a row where entries are missing.

import type { ActivityEntry, ActivityKind } from "$lib/api/generated";

import { hasMinimumLevel, type LogLevel } from "./levels";

/** Group of entry kinds that one filter button shows or hides. */
export type ActivityGroup = "messages" | "log" | "stderr" | "state" | "invalid";

export const ACTIVITY_GROUPS: readonly ActivityGroup[] = [
  "messages",
  "log",
  "stderr",
  "state",
  "invalid",
];

/** Row of the activity list: an entry, or the number of entries missing at this position. */
export type ActivityRow =
  { is: "entry"; entry: ActivityEntry } | { is: "gap"; before: number; count: number };

/** Returns the group that contains a kind of entry. Each kind is in exactly one group. */
export function activityGroupOf(kind: ActivityKind): ActivityGroup {
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

/**
 * Returns the sequence numbers of the `notifications/message` entries for which the host has also added a log entry.
 * The log entry always follows its notification.
 */
function repeatedNotifications(entries: readonly ActivityEntry[]): Set<number> {
  const numbers = new Set<number>();
  const pending: number[] = [];
  for (const { seq, kind, sent, method } of entries) {
    if (kind === "notification" && !sent && method === "notifications/message") pending.push(seq);
    const notification = kind === "log" ? pending.shift() : undefined;
    if (notification !== undefined) numbers.add(notification);
  }
  return numbers;
}

/** Returns the number of entries in each group. A log message counts once. */
export function countGroups(entries: readonly ActivityEntry[]): Record<ActivityGroup, number> {
  const counts = { messages: 0, log: 0, stderr: 0, state: 0, invalid: 0 };
  const duplicates = repeatedNotifications(entries);
  for (const { kind, seq } of entries) if (!duplicates.has(seq)) counts[activityGroupOf(kind)] += 1;
  return counts;
}

/**
 * Returns the rows for the entries that match the search and belong to a selected group. Omits log messages that are
 * less severe than `least`. Each log message has two entries, its notification and a log entry: the notification is
 * listed only if the log group is not selected.
 */
export function activityRows(
  entries: readonly ActivityEntry[],
  groups: ReadonlySet<ActivityGroup>,
  query: string,
  least: LogLevel = "debug",
): ActivityRow[] {
  const needle = query.trim().toLowerCase();
  const duplicates = groups.has("log") ? repeatedNotifications(entries) : null;
  const rows: ActivityRow[] = [];
  let previous = 0;
  for (const entry of entries) {
    const count = entry.seq - previous - 1;
    if (count > 0) rows.push({ is: "gap", before: entry.seq, count });
    previous = entry.seq;
    if (!groups.has(activityGroupOf(entry.kind)) || duplicates?.has(entry.seq)) continue;
    if (hasMinimumLevel(entry, least) && matchesSearch(entry, needle))
      rows.push({ is: "entry", entry });
  }
  return rows;
}

function matchesSearch(entry: ActivityEntry, needle: string): boolean {
  if (needle === "") return true;
  return [entry.method, entry.id, entry.preview, entry.note].some((text) =>
    text?.toLowerCase().includes(needle),
  );
}

/** Returns a key that identifies the row in the rendered list. */
export function rowKey(row: ActivityRow): string {
  return row.is === "entry" ? String(row.entry.seq) : `gap ${row.before}`;
}

/**
 * Returns the text that a row shows next to its kind: the method, or an excerpt of output that is not a message. Log
 * messages have both.
 */
export function entrySummary({ kind, method, preview }: ActivityEntry): string {
  if (kind === "log" && method !== null) return `${method}  ${preview}`;
  return method ?? preview;
}
