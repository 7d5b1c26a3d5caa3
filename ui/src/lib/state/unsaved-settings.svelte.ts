// Settings of servers that were changed and not saved, and the question what happens to them when the server starts.
// Small, since the window loads it at its start; the form with the changes registers itself.
import { SvelteMap } from "svelte/reactivity";

import { registerPageState } from "$lib/page-state";

/** Changes to the settings of a server. */
export interface UnsavedSettings {
  /** Set if the changes differ from the stored settings. */
  readonly changed: boolean;
  /** Saves the changes. Resolves to the name of the server, or to `null` if they can't be saved. */
  save(): Promise<string | null>;
}

/** Commands that use the stored settings of a server. */
export type StartCommand = "start_server" | "restart_server";

class UnsavedSettingsOfServers {
  readonly #all = new SvelteMap<string, UnsavedSettings>();
  /** The open question, or `null`. */
  asked = $state.raw<{ server: string; command: StartCommand } | null>(null);

  add(server: string, settings: UnsavedSettings): void {
    this.#all.set(server, settings);
  }

  /** Removes the changes to a server's settings, unless others have replaced them. */
  remove(server: string, settings: UnsavedSettings): void {
    if (this.#all.get(server) === settings) this.#all.delete(server);
  }

  /** Returns the changes to the settings of a server, or `null` if there are none. */
  of(server: string): UnsavedSettings | null {
    const settings = this.#all.get(server);
    return settings?.changed ? settings : null;
  }
}

export let unsavedSettings: UnsavedSettingsOfServers;
registerPageState(() => (unsavedSettings = new UnsavedSettingsOfServers()));
