// Catalogs of the servers: tools, prompts and resources. Read on first use and again after changes.
import { call } from "$lib/api/client";
import type { Catalog, ListName } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";

import { app } from "./app.svelte";
import { PerServer } from "./per-server.svelte";

class Catalogs extends PerServer<Catalog> {
  constructor() {
    super((server) => call("read_catalog", { server }));
    app.onEvent((event) => {
      if (event.type === "catalog_changed" && this.isKnown(event.server)) {
        void this.read(event.server);
      }
    });
  }

  /** Requests a list from the server, even if the cached one is fresh. */
  refresh(server: string, list: ListName): Promise<void> {
    return this.renew(server, () => call("refresh_list", { server, list }));
  }
}

export let catalogs: Catalogs;
registerPageState(() => (catalogs = new Catalogs()));
