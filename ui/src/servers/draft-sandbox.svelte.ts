// Form data of a server's sandbox.
import type { FolderAccess, Sandbox, SandboxNetwork } from "$lib/api/generated";

import { isHostPattern } from "./host-pattern";

export interface SandboxFolderRow {
  id: number;
  path: string;
  access: FolderAccess;
}

export interface SandboxHostRow {
  id: number;
  host: string;
}

export class SandboxDraft {
  on = $state(false);
  network = $state<SandboxNetwork["preset"]>("files_only");
  hosts = $state<SandboxHostRow[]>([]);
  folders = $state<SandboxFolderRow[]>([]);
  #next = 1;

  constructor(sandbox?: Sandbox) {
    this.on = sandbox !== undefined;
    const network = sandbox?.network ?? { preset: "files_only" };
    this.network = network.preset;
    if (network.preset === "named_hosts") for (const host of network.hosts) this.addHost(host);
    for (const { path, access } of sandbox?.folders ?? []) this.add(path, access);
  }

  /** Adds a folder, which the server may read by default. */
  add(path = "", access: FolderAccess = "read"): void {
    this.folders.push({ id: this.#next++, path, access });
  }

  remove(id: number): void {
    this.folders = this.folders.filter((row) => row.id !== id);
  }

  addHost(host = ""): void {
    this.hosts.push({ id: this.#next++, host });
  }

  removeHost(id: number): void {
    this.hosts = this.hosts.filter((row) => row.id !== id);
  }

  get #network(): SandboxNetwork {
    if (this.network !== "named_hosts") return { preset: this.network };
    const hosts = this.hosts.map(({ host }) => host.trim());
    return { preset: "named_hosts", hosts: hosts.filter((host) => host !== "") };
  }

  /** Returns the sandbox settings, or `undefined` if it is disabled. */
  get settings(): Sandbox | undefined {
    if (!this.on) return undefined;
    const named = this.folders.filter((row) => row.path.trim() !== "");
    return {
      folders: named.map(({ path, access }) => ({ path: path.trim(), access })),
      network: this.#network,
    };
  }

  /** Set if no host is entered, although the selected network access requires one. */
  get hasNoHost(): boolean {
    const network = this.settings?.network;
    return network?.preset === "named_hosts" && network.hosts.length === 0;
  }

  /** Set if an entered host is not a valid pattern. */
  get hasBadHost(): boolean {
    const network = this.settings?.network;
    return network?.preset === "named_hosts" && !network.hosts.every(isHostPattern);
  }

  /** Set if an entered path is not absolute. */
  get hasPartialPath(): boolean {
    const absolute = /^(\/|[A-Za-z]:[\\/]|\\\\)/;
    return this.on && (this.settings?.folders.some(({ path }) => !absolute.test(path)) ?? false);
  }
}
