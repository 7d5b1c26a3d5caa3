// The activity of every server that was looked at.

import { pageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";

import { ActivityLog } from "./log.svelte";

/** How many servers' activity is kept. */
export const MAX_LOGS = 20;

const logs = new Map<string, ActivityLog>();
pageState(() => {
  logs.clear();
  app.onEvent((event) => {
    if (event.type === "server_removed") logs.delete(event.name);
  });
});

/** The activity of a server; call `watch` in an effect to have it read. */
export function activityOf(server: string): ActivityLog {
  const log = logs.get(server) ?? new ActivityLog(server);
  // The one that was looked at longest ago goes first.
  logs.delete(server);
  logs.set(server, log);
  for (const oldest of logs.keys()) {
    if (logs.size <= MAX_LOGS) break;
    logs.delete(oldest);
  }
  return log;
}
