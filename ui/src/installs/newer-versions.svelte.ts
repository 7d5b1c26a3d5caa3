// What the registry says of the installed servers by now: read once the page shows any, and again when the user asks.
import { call } from "$lib/api/client";
import type { VersionReport } from "$lib/api/generated";
import { pageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";

class NewerVersions {
  #reports = $state.raw<readonly VersionReport[]>([]);
  busy = $state(false);
  #asked = 0;
  #wanted = false;

  /** What is known of a server. */
  of(server: string): VersionReport | undefined {
    return this.#reports.find((report) => report.server === server);
  }

  /** Reads it, if any server was installed from a registry and that was not done yet. To be called in an effect. */
  want(): void {
    const isInstalled = app.servers.some((server) => server.installed?.origin.from === "registry");
    if (!isInstalled || this.#wanted) return;
    this.#wanted = true;
    void this.read();
  }

  /** Reads it again; `refresh` asks the registry even where its answers are not an hour old. */
  async read(refresh = false): Promise<void> {
    const asked = ++this.#asked;
    this.busy = true;
    try {
      const { servers } = await call("newer_versions", { refresh });
      if (asked === this.#asked) this.#reports = servers;
    } catch {
      // Nothing new is known then; each server's page says from where it was installed all the same.
    }
    if (asked === this.#asked) this.busy = false;
  }
}

export let newerVersions: NewerVersions;
pageState(() => (newerVersions = new NewerVersions()));
