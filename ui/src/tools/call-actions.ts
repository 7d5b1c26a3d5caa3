// Actions of the buttons after a failed call, except repeating the call.
import { call } from "$lib/api/client";
import { router } from "$lib/state/router.svelte";
import { unsavedSettings } from "$lib/state/unsaved-settings.svelte";
import { windows } from "$lib/state/windows.svelte";

import { computerCheck } from "../checkup/checkup.svelte";
import { runInMainWindow } from "../shell/main-actions";

import type { CallAction } from "./failures";

/**
 * Returns the handler of each button for a failed call of this tool. The handler of `restart` rejects with an
 * `ApiError`.
 */
export function callActions(
  server: string,
  tool: string,
): Record<Exclude<CallAction, "again">, () => unknown> {
  return {
    restart: () =>
      unsavedSettings.ask("restart_server", server) || call("restart_server", { server }),
    activity: () => router.server(server, "activity"),
    tools: () => router.server(server, "tools"),
    server: () => router.server(server),
    rules: () => router.go({ at: "rules" }),
    // The window of a conversation may not check the computer.
    check: () => (windows.own === null ? computerCheck.open() : runInMainWindow("checkup")),
    tool: () => router.server(server, "tools", tool),
  };
}
