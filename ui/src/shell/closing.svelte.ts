// Question whether Drawbridge keeps running in the background or quits, which ends the running servers.
import { registerPageState } from "$lib/page-state";
import { platform } from "$lib/platform";
import { app } from "$lib/state/app.svelte";
import { failures } from "$lib/state/failures.svelte";
import { windows } from "$lib/state/windows.svelte";

import { runInMainWindow } from "./main-actions";

class Closing {
  /** Number of running servers that closing would end. 0 unless the closing dialog is shown. */
  servers = $state(0);
}

export let closing: Closing;
registerPageState(() => (closing = new Closing()));

/**
 * Quits Drawbridge, in the main window. While servers run, the user is asked first, unless the settings say that
 * closing the window quits.
 */
export async function quit(): Promise<void> {
  if (windows.own !== null) return runInMainWindow("quit");
  // Counted as in the shell (`src-tauri/src/background.rs`).
  const running = app.servers.filter(({ state }) =>
    ["starting", "ready", "reconnecting"].includes(state.is),
  ).length;
  if (running > 0 && app.settings.onClose !== "quit") {
    closing.servers = running;
    return;
  }
  try {
    await platform().finishClosing("quit");
  } catch (cause) {
    failures.add(cause);
  }
}
