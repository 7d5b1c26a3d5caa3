// Severities of log messages (`server/utilities/logging`).
import type { ActivityEntry } from "$lib/api/generated";

/** The severities, least severe first. */
export const LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

export type Level = (typeof LEVELS)[number];

/** Returns `true` if an entry has at least this severity. Entries without a severity pass as well. */
export function isAtLeast({ kind, method }: ActivityEntry, least: Level): boolean {
  if (kind !== "log") return true;
  // The host writes the severity before the name of the logger.
  const level = LEVELS.indexOf((method?.split(" ", 1)[0] ?? "") as Level);
  return level === -1 || level >= LEVELS.indexOf(least);
}
