// Settings of servers that were changed and not saved, and the question what happens to them when the server starts.
// Small, since the window loads it at its start; the form with the changes registers itself. The window of a
// conversation is another page and has no such form, so a start from there uses the stored settings.
import { SvelteMap } from "svelte/reactivity";

import { registerPageState } from "$lib/page-state";

/** Changes to the settings of a server. */
export interface UnsavedSettings {
  /** Set if the changes differ from the stored settings, which are still those that the user changed. */
  readonly canBeSaved: boolean;
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

  remove(server: string): void {
    this.#all.delete(server);
    if (this.asked?.server === server) this.asked = null;
  }

  /** Returns the changes to the settings of a server, or `null` if there are none. */
  of(server: string): UnsavedSettings | null {
    const settings = this.#all.get(server);
    return settings?.canBeSaved ? settings : null;
  }

  /** Asks what happens to the changes before a server starts. Returns `false` if there are none. */
  ask(command: StartCommand, server: string): boolean {
    if (!this.of(server)) return false;
    this.asked = { server, command };
    return true;
  }
}

export let unsavedSettings: UnsavedSettingsOfServers;
registerPageState(() => (unsavedSettings = new UnsavedSettingsOfServers()));
