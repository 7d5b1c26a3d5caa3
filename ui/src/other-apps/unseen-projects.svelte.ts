// Shared folders that set up servers for other apps, and whose files the user has not seen with the same content.
import { call } from "$lib/api/client";
import type { ProjectServers } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";
import { serializeReads } from "$lib/state/one-at-a-time";
import { router } from "$lib/state/router.svelte";

import { appImport } from "./app-import.svelte";

class UnseenProjects {
  list = $state.raw<readonly ProjectServers[]>([]);
  #reading: Promise<void> = Promise.resolve();
  readonly #readOneAtATime = serializeReads(() => this.#read());

  /** Reads the files in all shared folders. */
  read(): void {
    this.#reading = this.#readOneAtATime();
  }

  async #read(): Promise<void> {
    if (app.servers.every(({ roots }) => roots.folders.length === 0)) {
      this.list = [];
      return;
    }
    try {
      this.list = (await call("unseen_projects", {})).projects;
    } catch {
      // The list stays as it was. The roots of each server show their projects in any case.
    }
  }

  /** Opens the import of a project's servers. Nothing is imported by that. */
  review(folder: string): void {
    appImport.turnTo(folder);
    void appImport.scan();
    router.go({ at: "import", project: folder });
    void this.markSeen(folder);
  }

  /** Stores that the user has seen a project, so that it is listed again only if its files change. */
  async markSeen(folder: string): Promise<void> {
    await this.#reading;
    const project = this.list.find((one) => one.folder === folder);
    if (project === undefined) return;
    this.list = this.list.filter((one) => one !== project);
    // If it can't be stored, the project is listed again at the next start.
    await call("mark_project_seen", { folder, hash: project.hash }).catch(() => undefined);
  }
}

export let unseenProjects: UnseenProjects;
registerPageState(() => (unseenProjects = new UnseenProjects()));
