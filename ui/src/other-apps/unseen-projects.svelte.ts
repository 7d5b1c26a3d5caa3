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
  /** Keys of the projects that the user has seen since the start, which a read that began before may return. */
  readonly #seen = new Set<string>();
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
      const { projects } = await call("list_unseen_projects", {});
      this.list = projects.filter((one) => !this.#seen.has(keyOf(one)));
    } catch {
      // The list stays as it was. The roots of each server show their projects in any case.
    }
  }

  /**
   * Opens the import of a project's servers. Nothing is imported by that. The project is seen once its files were read
   * for the import.
   */
  async review(folder: string): Promise<void> {
    if (appImport.busy) return;
    // The listed project, not one that is listed later with files other than those of the import.
    const listed = this.#reading.then(() => this.list.find((one) => one.folder === folder));
    appImport.turnTo(folder);
    router.go({ at: "import", project: folder });
    if (!(await appImport.scan())) return;
    const project = await listed;
    if (project !== undefined) await this.markSeen(project);
  }

  /** Stores that the user has seen a project, so that it is listed again only if its files change. */
  async markSeen(project: ProjectServers): Promise<void> {
    const { folder, hash } = project;
    this.#seen.add(keyOf(project));
    this.list = this.list.filter((one) => !this.#seen.has(keyOf(one)));
    // If it can't be stored, the project is listed again at the next start.
    await call("mark_project_seen", { folder, hash }).catch(() => undefined);
  }
}

/** Returns the key of a project with the present content of its files. */
function keyOf({ folder, hash }: ProjectServers): string {
  return `${hash} ${folder}`;
}

export let unseenProjects: UnseenProjects;
registerPageState(() => (unseenProjects = new UnseenProjects()));
