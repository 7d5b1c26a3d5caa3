// The servers of other apps: what was found, which of it the user picked, and what became of that. Nothing is read before `look`.
import { SvelteSet } from "svelte/reactivity";

import { call } from "$lib/api/client";
import type {
  ImportCandidate,
  ImportCandidates,
  ImportOutcome,
  ImportSource,
} from "$lib/api/generated";
import { pageState } from "$lib/page-state";

/** A server that was to be imported, and what became of it. */
export interface Imported {
  server: ImportCandidate;
  outcome: ImportOutcome;
}

export type Step =
  | { is: "idle" }
  | { is: "looking" }
  | { is: "failed"; error: unknown }
  | { is: "found"; found: ImportCandidates }
  | { is: "imported"; servers: Imported[] };

/** True for a server that can be picked. */
export function isImportable({ status }: ImportCandidate): boolean {
  return status === "new" || status === "conflict";
}

/** The settings of all apps. */
const EVERYWHERE: ImportSource = { app: null, project: null };

class AppImport {
  step = $state.raw<Step>({ is: "idle" });
  /** The project whose files are read instead of the settings of apps. */
  project = $state.raw<string | null>(null);
  /** The ids of the servers to import. */
  readonly picked = new SvelteSet<string>();
  /** An import is under way. */
  busy = $state(false);
  /** Why none of the picked servers was imported. */
  error = $state.raw<unknown>(null);

  get #source(): ImportSource {
    return { ...EVERYWHERE, project: this.project };
  }

  /** Turns to the files of a project, or with null to the settings of all apps. Nothing is read. */
  turnTo(project: string | null): void {
    if (this.busy) return;
    this.end();
    this.project = project;
  }

  /** Has the host read the settings of other apps, and picks the servers that are new and complete. Of a project, which anybody may have
   * written, the user picks each. */
  async look(): Promise<void> {
    if (this.step.is === "looking" || this.busy) return;
    this.step = { is: "looking" };
    this.error = null;
    this.picked.clear();
    try {
      const found = await call("import_candidates", this.#source);
      for (const server of found.apps.flatMap((app) => app.servers)) {
        // One that its app does not start is imported when the user picks it.
        const isComplete = server.placeholders.length === 0;
        const isPicked = server.status === "new" && !server.off && isComplete;
        if (isPicked && this.project === null) this.picked.add(server.id);
      }
      this.step = { is: "found", found };
    } catch (error) {
      this.step = { is: "failed", error };
    }
  }

  pick(servers: readonly ImportCandidate[], isPicked: boolean): void {
    for (const server of servers.filter(isImportable)) {
      if (isPicked) this.picked.add(server.id);
      else this.picked.delete(server.id);
    }
  }

  /** Imports the picked servers, in the order in which they are listed. */
  async run(): Promise<void> {
    if (this.step.is !== "found" || this.busy || this.picked.size === 0) return;
    const listed = this.step.found.apps.flatMap((app) => app.servers);
    const servers = listed.filter(({ id }) => this.picked.has(id));
    this.busy = true;
    this.error = null;
    try {
      const ids = servers.map(({ id }) => id);
      const { outcomes } = await call("import_servers", { source: this.#source, ids });
      this.step = { is: "imported", servers: paired(servers, outcomes) };
      this.picked.clear();
    } catch (error) {
      this.error = error;
    }
    this.busy = false;
  }

  /** Forgets what was found. */
  end(): void {
    this.step = { is: "idle" };
    this.project = null;
    this.error = null;
    this.picked.clear();
  }
}

function paired(servers: ImportCandidate[], outcomes: ImportOutcome[]): Imported[] {
  const byId = new Map(servers.map((server) => [server.id, server]));
  return outcomes.flatMap((outcome) => {
    const server = byId.get(outcome.id);
    return server ? [{ server, outcome }] : [];
  });
}

export let appImport: AppImport;
pageState(() => (appImport = new AppImport()));
