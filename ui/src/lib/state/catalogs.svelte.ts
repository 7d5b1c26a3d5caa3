// Catalogs of the servers: tools, prompts and resources. Read on first use and again after changes.
import { call } from "$lib/api/client";
import type { ServerCatalog, ListName } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";

import { app } from "./app.svelte";
import { PerServer } from "./per-server.svelte";

class Catalogs extends PerServer<ServerCatalog> {
  /** Numbers of unreviewed definitions, by server, when its catalog was last read. The catalog says which they are. */
  #unreviewed = new Map<string, string>();

  constructor() {
    super((server) => call("read_catalog", { server }));
    app.onEvent((event) => {
      if (event.type === "catalog_changed" && this.isKnown(event.server)) {
        void this.read(event.server);
      } else if (event.type === "server_changed" && this.isKnown(event.server.name)) {
        const { name, unreviewed } = event.server;
        if (this.#unreviewed.get(name) !== JSON.stringify(unreviewed)) void this.read(name);
      }
    });
  }

  override read(server: string): Promise<void> {
    this.#unreviewed.set(server, JSON.stringify(app.server(server)?.unreviewed));
    return super.read(server);
  }

  /** Requests a list from the server, even if the cached one is fresh. */
  refresh(server: string, list: ListName): Promise<void> {
    return this.renew(server, () => call("refresh_list", { server, list }));
  }
}

export let catalogs: Catalogs;
registerPageState(() => (catalogs = new Catalogs()));
