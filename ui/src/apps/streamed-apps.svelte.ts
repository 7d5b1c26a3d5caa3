// Apps that are shown at a model's reply, because they were opened while the model was writing their call.
import { SvelteMap } from "svelte/reactivity";

import { registerPageState } from "$lib/page-state";

/** State of the apps at replies, by `toolUseKey`. An entry exists while the app is being opened or was shown. */
export let streamedApps: SvelteMap<string, "opening" | "shown">;
registerPageState(() => (streamedApps = new SvelteMap()));

/** Returns the key of a tool use in the item of a reply. */
export function toolUseKey(reply: string, id: string): string {
  return `${reply} ${id}`;
}
