// Activity pane of the current view.
import type { View } from "$lib/state/route";

import { overlay } from "./overlay.svelte";

export type CurrentActivityProps = {
  server: string | null;
  conversation: string | null;
};

/**
 * Returns the server or conversation whose activity the pane shows. `null` if the view has none, or shows the activity
 * itself.
 */
export function currentActivity(view: View): CurrentActivityProps | null {
  if (view.at === "conversation") return { server: null, conversation: view.id };
  if (view.at === "server" && view.tab !== "activity") {
    return { server: view.name, conversation: null };
  }
  return null;
}

export function toggleActivity(): void {
  overlay.activity = !overlay.activity;
}
