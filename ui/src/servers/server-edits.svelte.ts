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
  readonly #config: ServerConfig;

  constructor(server: Server) {
    this.draft = new ServerDraft(server.name, server.config);
    this.#name = server.name;
    this.#config = server.config;
  }

  get problems(): DraftProblem[] {
    const others = app.servers.map(({ name }) => name).filter((name) => name !== this.#name);
    return draftProblems(this.draft, others);
  }

  get changed(): boolean {
    return (
      JSON.stringify(this.draft.config) !== JSON.stringify(this.#config) ||
      this.draft.name.trim() !== this.#name
    );
  }

  /** Set if saving stops the server, which needs an approval before it starts again. Changed tool lists do not. */
  get commandChanged(): boolean {
    return withoutTools(this.draft.config) !== withoutTools(this.#config);
  }

  /** Returns `true` if the edit began with these settings, so that saving it undoes no later change. */
  isOf({ name, config }: Server): boolean {
    return this.#name === name && JSON.stringify(this.#config) === JSON.stringify(config);
  }

  /** Saves the changes. Resolves to the name of the server, or to `null` if they can't be saved. */
  async save(): Promise<string | null> {
    this.tried = true;
    if (this.problems.length > 0) return null;
    const name = this.draft.name.trim();
    this.busy = true;
    this.error = null;
    try {
      const request = { server: this.#name, name, config: this.draft.config };
      reportSecretStorage(await call("update_server", request));
      unsavedSettings.remove(this.#name, this);
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
  readonly #edits = new Map<string, ServerEdit>();

  /** Returns the edit of a server. A new one begins if the stored settings have changed since. */
  open(server: Server): ServerEdit {
    const known = this.#edits.get(server.name);
    if (known?.isOf(server)) return known;
    return this.restart(server);
  }

  /** Discards the changes to the settings of a server, and returns a new edit. */
  restart(server: Server): ServerEdit {
    const edit = new ServerEdit(server);
    this.#edits.set(server.name, edit);
    unsavedSettings.add(server.name, edit);
    return edit;
  }
}

function withoutTools(config: ServerConfig): string {
  return JSON.stringify({ ...config, tools: undefined });
}

export let serverEdits: ServerEdits;
registerPageState(() => (serverEdits = new ServerEdits()));
