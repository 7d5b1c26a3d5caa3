// What each server offers, read when first wanted and again whenever it changed.
import { call } from "$lib/api/client";
import type { Catalog, ListName } from "$lib/api/generated";
import { pageState } from "$lib/page-state";

import { app } from "./app.svelte";
import { PerServer } from "./per-server.svelte";

class Catalogs extends PerServer<Catalog> {
  constructor() {
    super((server) => call("catalog", { server }));
    app.onEvent((event) => {
      if (event.type === "catalog_changed" && this.isKnown(event.server)) {
        void this.read(event.server);
      }
    });
  }

  /** Has the server asked for a list again, however fresh it is. */
  refresh(server: string, list: ListName): Promise<void> {
    return this.renew(server, () => call("refresh_list", { server, list }));
  }
}

export let catalogs: Catalogs;
pageState(() => (catalogs = new Catalogs()));
