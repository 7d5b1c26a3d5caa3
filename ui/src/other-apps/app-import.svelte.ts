// State of the import from other apps: found servers, selection and outcomes. No file is read before `scan`.
import { SvelteSet } from "svelte/reactivity";

import { call } from "$lib/api/client";
import type {
  ImportCandidate,
  ImportCandidates,
  ImportOutcome,
  ImportSource,
} from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";

/** Imported server and its outcome. */
export interface ImportedServer {
  server: ImportCandidate;
  outcome: ImportOutcome;
}

export type ImportStep =
  | { is: "idle" }
  | { is: "looking" }
  | { is: "failed"; error: unknown }
  | { is: "found"; found: ImportCandidates }
  | { is: "imported"; servers: ImportedServer[] };

/** Returns `true` if a server can be selected for the import. */
export function isImportable({ status }: ImportCandidate): boolean {
  return status === "new" || status === "conflict";
}

/** Source that covers the settings files of all supported apps. */
const EVERYWHERE: ImportSource = { app: null, project: null, workspace: null };

class AppImport {
  step = $state.raw<ImportStep>({ is: "idle" });
  /** Path of the project whose files are read, or `null` to read the settings of apps. */
  project = $state.raw<string | null>(null);
  /**
   * Path of the folder that replaces `${workspaceFolder}` in the settings of apps, or `null` if the user has not chosen
   * one.
   */
  workspace = $state.raw<string | null>(null);
  /** Ids of the servers that the user selected. */
  readonly picked = new SvelteSet<string>();
  /** Values that the import takes from their sources, as keys of {@link valueKey}. */
  readonly #taken = new SvelteSet<string>();
  /** Set during an import. */
  busy = $state(false);
  /** The error for which none of the selected servers was imported, or `null`. */
  error = $state.raw<unknown>(null);

  get #source(): ImportSource {
    return { ...EVERYWHERE, project: this.project, workspace: this.workspace };
  }

  /** Changes the source to a project, or with `null` to the settings of all apps. Reads no file. */
  turnTo(project: string | null): void {
    if (this.busy) return;
    this.end();
    this.project = project;
  }

  /**
   * Reads the files of the source and preselects new and complete servers. Files of a project are untrusted, so none of
   * their servers is preselected. Returns `true` if the files were read and their servers are shown.
   */
  async scan(): Promise<boolean> {
    if (this.step.is === "looking" || this.busy) return false;
    const scanning: ImportStep = { is: "looking" };
    this.step = scanning;
    this.error = null;
    this.picked.clear();
    this.#taken.clear();
    try {
      const found = await call("find_import_candidates", this.#source);
      // The source has changed in the meantime.
      if (this.step !== scanning) return false;
      for (const server of listed(found)) {
        // A server that is disabled in its app is not preselected.
        const isComplete = server.placeholders.length === 0;
        const isPicked = server.status === "new" && !server.isDisabled && isComplete;
        if (isPicked && this.project === null) this.picked.add(server.id);
      }
      this.step = { is: "found", found };
      return true;
    } catch (error) {
      if (this.step === scanning) this.step = { is: "failed", error };
      return false;
    }
  }

  /** Sets the project folder, and reads the files again. The selection of servers that do not change is kept. */
  async chooseWorkspace(folder: string | null): Promise<void> {
    if (this.step.is !== "found" || this.busy) return;
    const before = new Set(listed(this.step.found).map(({ id }) => id));
    const picked = new Set(this.picked);
    const taken = new Set(this.#taken);
    this.workspace = folder;
    if (!(await this.scan()) || this.step.is !== "found") return;
    for (const server of listed(this.step.found)) {
      if (!before.has(server.id)) continue;
      this.pick([server], picked.has(server.id));
      for (const { name } of [...server.env, ...server.headers]) {
        this.take(server, name, taken.has(valueKey(server.id, name)));
      }
    }
  }

  pick(servers: readonly ImportCandidate[], isPicked: boolean): void {
    for (const server of servers.filter(isImportable)) {
      if (isPicked) this.picked.add(server.id);
      else this.picked.delete(server.id);
    }
  }

  /** Returns `true` if the import takes a value from its source. */
  takes({ id }: ImportCandidate, name: string): boolean {
    return this.#taken.has(valueKey(id, name));
  }

  /**
   * Sets whether the import takes a value from its source. No environment variable is read before the import.
   * Environment files are read by each scan, for the names of their variables.
   */
  take({ id }: ImportCandidate, name: string, isTaken: boolean): void {
    if (isTaken) this.#taken.add(valueKey(id, name));
    else this.#taken.delete(valueKey(id, name));
  }

  /** Imports the selected servers in display order. */
  async run(): Promise<void> {
    if (this.step.is !== "found" || this.busy || this.picked.size === 0) return;
    const servers = listed(this.step.found).filter(({ id }) => this.picked.has(id));
    this.busy = true;
    this.error = null;
    try {
      const ids = servers.map(({ id }) => id);
      const taken = servers.flatMap((server) =>
        [...server.env, ...server.headers]
          .filter(({ name, source }) => source !== null && this.takes(server, name))
          .map(({ name }) => ({ id: server.id, name })),
      );
      const { outcomes } = await call("import_servers", { source: this.#source, ids, taken });
      this.step = { is: "imported", servers: withOutcomes(servers, outcomes) };
      this.picked.clear();
      this.#taken.clear();
    } catch (error) {
      this.error = error;
    }
    this.busy = false;
  }

  /** Ends the import and discards the found servers. */
  end(): void {
    this.step = { is: "idle" };
    this.project = null;
    this.workspace = null;
    this.error = null;
    this.picked.clear();
    this.#taken.clear();
  }
}

/** Returns a key for a variable or header of a server. */
function valueKey(id: string, name: string): string {
  return JSON.stringify([id, name]);
}

function listed(found: ImportCandidates): ImportCandidate[] {
  return found.apps.flatMap((app) => app.servers);
}

function withOutcomes(servers: ImportCandidate[], outcomes: ImportOutcome[]): ImportedServer[] {
  const byId = new Map(servers.map((server) => [server.id, server]));
  return outcomes.flatMap((outcome) => {
    const server = byId.get(outcome.id);
    return server ? [{ server, outcome }] : [];
  });
}

export let appImport: AppImport;
registerPageState(() => (appImport = new AppImport()));
