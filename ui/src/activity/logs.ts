// Activity logs of the servers that were viewed.

import { registerPageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";

import { ActivityLog } from "./log.svelte";

/** Maximum number of retained logs. */
export const MAX_ACTIVITY_LOGS = 20;

const logs = new Map<string, ActivityLog>();
registerPageState(() => {
  logs.clear();
  app.onEvent((event) => {
    if (event.type === "server_removed") logs.delete(event.name);
  });
});

/** Returns the activity log of a server. Call `watch` in an effect to read it. */
export function activityLogOf(server: string): ActivityLog {
  const log = logs.get(server) ?? new ActivityLog(server);
  // Drops the least recently viewed log.
  logs.delete(server);
  logs.set(server, log);
  for (const oldest of logs.keys()) {
    if (logs.size <= MAX_ACTIVITY_LOGS) break;
    logs.delete(oldest);
  }
  return log;
}
