// The activity of what is in front, beside it.
import type { View } from "$lib/state/route";

import { overlay } from "./overlay.svelte";

export type CurrentActivityProps = {
  server: string | null;
  conversation: string | null;
};

/** Whose activity belongs beside a view; null where there is none, or where it is the view itself. */
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
