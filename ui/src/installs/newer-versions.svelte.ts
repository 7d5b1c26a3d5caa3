// Registry status of the installed servers: read when the page of one is opened, and again on request.
import { call } from "$lib/api/client";
import type { VersionReport } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";

class NewerVersions {
  #reports = $state.raw<readonly VersionReport[]>([]);
  busy = $state(false);
  #lastRequest = 0;
  #isRequested = false;

  /** Returns the registry status of a server. */
  get(server: string): VersionReport | undefined {
    return this.#reports.find((report) => report.server === server);
  }

  /** Reads the status once if a server was installed from a registry. Call it in an effect. */
  request(): void {
    const isInstalled = app.servers.some((server) => server.installed?.origin.from === "registry");
    if (!isInstalled || this.#isRequested) return;
    this.#isRequested = true;
    void this.read();
  }

  /** Reads the status again. `refresh` bypasses cached registry responses, which may be up to an hour old. */
  async read(refresh = false): Promise<void> {
    const request = ++this.#lastRequest;
    this.busy = true;
    try {
      const { servers } = await call("list_newer_versions", { refresh });
      if (request === this.#lastRequest) this.#reports = servers;
    } catch {
      // The status stays as it was. Each server page shows the origin in any case.
    }
    if (request === this.#lastRequest) this.busy = false;
  }
}

export let newerVersions: NewerVersions;
registerPageState(() => (newerVersions = new NewerVersions()));
