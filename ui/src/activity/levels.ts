// The severity of log messages (`server/utilities/logging`).
import type { ActivityEntry } from "$lib/api/generated";

/** The levels, the least severe first. */
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

/** Whether an entry is at least this severe. What is no log message, or has no level, is. */
export function isAtLeast({ kind, method }: ActivityEntry, least: Level): boolean {
  if (kind !== "log") return true;
  // The host writes the level before the name of the logger.
  const level = LEVELS.indexOf((method?.split(" ", 1)[0] ?? "") as Level);
  return level === -1 || level >= LEVELS.indexOf(least);
}
