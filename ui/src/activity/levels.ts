// Severities of log messages (`server/utilities/logging`).
import type { ActivityEntry } from "$lib/api/generated";

/** Severities of MCP log messages, least severe first. */
export const LOG_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Returns `true` if an entry has at least this severity. Entries without a severity pass as well. */
export function hasMinimumLevel({ kind, method }: ActivityEntry, least: LogLevel): boolean {
  if (kind !== "log") return true;
  // The host writes the severity before the name of the logger.
  const level = LOG_LEVELS.indexOf((method?.split(" ", 1)[0] ?? "") as LogLevel);
  return level === -1 || level >= LOG_LEVELS.indexOf(least);
}
