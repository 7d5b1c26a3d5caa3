// Changes to the settings of servers. They remain while the page is open, until they are saved or discarded.
import { call } from "$lib/api/client";
import type { Server, ServerConfig } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";
import { unsavedSettings, type UnsavedSettings } from "$lib/state/unsaved-settings.svelte";

import { draftProblems, type DraftProblem } from "./draft-problems";
import { ServerDraft } from "./draft.svelte";
import { reportSecretStorage } from "./secret-notices";

/** Changes to the settings of one server, as they were stored when the edit began. */
export class ServerEdit implements UnsavedSettings {
  readonly draft: ServerDraft;
  /** Set once the user has tried to save, from which time the problems are shown. */
  tried = $state(false);
  busy = $state(false);
  error = $state.raw<unknown>(null);
  readonly #name: string;
  /** Stored settings when the edit began. */
  readonly #stored: string;
  /** The same settings as the form writes them. */
  readonly #unchanged: ServerConfig;

  constructor(server: Server) {
    this.draft = new ServerDraft(server.name, server.config);
    this.#name = server.name;
    this.#stored = JSON.stringify(server.config);
    this.#unchanged = this.draft.config;
  }

  get problems(): DraftProblem[] {
    const others = app.servers.map(({ name }) => name).filter((name) => name !== this.#name);
    return draftProblems(this.draft, others);
  }

  get changed(): boolean {
    return (
      JSON.stringify(this.draft.config) !== JSON.stringify(this.#unchanged) ||
      this.draft.name.trim() !== this.#name
    );
  }

  /**
   * Set if saving stops the server, which needs an approval before it starts again. Changed tool lists and a changed
   * time of the start do not.
   */
  get commandChanged(): boolean {
    return launchOf(this.draft.config) !== launchOf(this.#unchanged);
  }

  /** Set if the stored settings have changed since the edit began, so that saving would undo that change. */
  get outdated(): boolean {
    const server = app.server(this.#name);
    return !server || JSON.stringify(server.config) !== this.#stored;
  }

  get canBeSaved(): boolean {
    return this.changed && !this.outdated;
  }

  /** Saves the changes. Resolves to the name of the server, or to `null` if they can't be saved. */
  async save(): Promise<string | null> {
    this.tried = true;
    if (this.problems.length > 0 || this.outdated) return null;
    const name = this.draft.name.trim();
    this.busy = true;
    this.error = null;
    try {
      const request = { server: this.#name, name, config: this.draft.config };
      reportSecretStorage(await call("update_server", request));
      // With the secrets in it.
      serverEdits.end(this.#name);
      return name;
    } catch (cause) {
      this.error = cause;
      return null;
    } finally {
      this.busy = false;
    }
  }
}

class ServerEdits {
  /** Number of ended edits, after each of which the form shows another one. */
  ended = $state(0);
  readonly #edits = new Map<string, ServerEdit>();

  constructor() {
    app.onEvent((event) => {
      if (event.type === "server_removed") this.end(event.name);
    });
  }

  /** Returns the edit of a server. A new one begins if the known one has no changes. */
  open(server: Server): ServerEdit {
    const known = this.#edits.get(server.name);
    return known?.changed ? known : this.restart(server);
  }

  /** Discards the changes to the settings of a server, and returns a new edit. */
  restart(server: Server): ServerEdit {
    const edit = new ServerEdit(server);
    this.#edits.set(server.name, edit);
    unsavedSettings.add(server.name, edit);
    return edit;
  }

  /** Removes the edit of a server, because it was saved, or because the server was removed. */
  end(server: string): void {
    this.#edits.delete(server);
    unsavedSettings.remove(server);
    this.ended += 1;
  }
}

/** Returns the settings that decide what is started or contacted, as text. */
function launchOf(config: ServerConfig): string {
  return JSON.stringify({ ...config, tools: undefined, autostart: undefined });
}

export let serverEdits: ServerEdits;
registerPageState(() => (serverEdits = new ServerEdits()));
