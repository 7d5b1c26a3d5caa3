// A server's sandbox while it is being written.
import type { FolderAccess, Sandbox } from "$lib/api/generated";

export interface FolderRow {
  id: number;
  path: string;
  access: FolderAccess;
}

export class SandboxDraft {
  on = $state(false);
  network = $state(false);
  folders = $state<FolderRow[]>([]);
  #next = 1;

  constructor(sandbox?: Sandbox) {
    this.on = sandbox !== undefined;
    this.network = sandbox?.network ?? false;
    for (const { path, access } of sandbox?.folders ?? []) this.add(path, access);
  }

  /** A folder to read, until the user says more. */
  add(path = "", access: FolderAccess = "read"): void {
    this.folders.push({ id: this.#next++, path, access });
  }

  remove(id: number): void {
    this.folders = this.folders.filter((row) => row.id !== id);
  }

  /** What the server may reach; nothing if it runs without a sandbox. */
  get wanted(): Sandbox | undefined {
    if (!this.on) return undefined;
    const named = this.folders.filter((row) => row.path.trim() !== "");
    return {
      folders: named.map(({ path, access }) => ({ path: path.trim(), access })),
      network: this.network,
    };
  }

  /** Whether a path does not start at the root of a disk. */
  get hasPartialPath(): boolean {
    const whole = /^(\/|[A-Za-z]:[\\/]|\\\\)/;
    return this.on && (this.wanted?.folders.some(({ path }) => !whole.test(path)) ?? false);
  }
}
