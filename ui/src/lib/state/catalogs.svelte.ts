// What each server offers, read when first wanted and again whenever it changed.
import { SvelteMap } from "svelte/reactivity";

import { call } from "$lib/api/client";
import type { Catalog, ListName } from "$lib/api/generated";
import { pageState } from "$lib/page-state";

import { app } from "./app.svelte";

export interface CatalogState {
  catalog: Catalog | null;
  loading: boolean;
  error: unknown;
}

const NONE: CatalogState = { catalog: null, loading: false, error: null };

class Catalogs {
  #states = new SvelteMap<string, CatalogState>();
  #stale = new Set<string>();

  constructor() {
    app.onEvent((event) => {
      if (event.type === "catalog_changed" && this.#states.has(event.server)) {
        void this.read(event.server);
      } else if (event.type === "server_changed" && event.server.state.is !== "ready") {
        // What it offered says nothing about what it will offer.
        this.#states.delete(event.server.name);
      } else if (event.type === "server_removed") {
        this.#states.delete(event.name);
      }
    });
  }

  /** As it is now; call `want` in an effect to have it read. */
  of(server: string): CatalogState {
    return this.#states.get(server) ?? NONE;
  }

  /** Reads the catalog of a ready server if that was not done yet. */
  want(server: string): void {
    const state = this.#states.get(server);
    if (!state || (!state.loading && state.catalog === null && state.error === null)) {
      if (app.server(server)?.state.is === "ready") void this.read(server);
    }
  }

  /** Has the server asked for a list again, however fresh it is. */
  async refresh(server: string, list: ListName): Promise<void> {
    const before = this.#states.get(server);
    const catalog = await call("refresh_list", { server, list });
    const now = this.#states.get(server);
    if (!now) return;
    // What was read in the meantime may be newer, and overtaken by this answer.
    if (now !== before) await this.read(server);
    else this.#states.set(server, { ...now, catalog, error: null });
  }

  /** Reads it again. */
  async read(server: string): Promise<void> {
    const before = this.of(server);
    if (before.loading) {
      this.#stale.add(server);
      return;
    }
    this.#states.set(server, { ...before, loading: true });
    let state: CatalogState;
    try {
      state = { catalog: await call("catalog", { server }), loading: false, error: null };
    } catch (error) {
      state = { catalog: before.catalog, loading: false, error };
    }
    // The server stopped or went away in the meantime.
    if (!this.#states.has(server)) {
      this.#stale.delete(server);
      return;
    }
    this.#states.set(server, state);
    if (this.#stale.delete(server)) await this.read(server);
  }
}

export let catalogs: Catalogs;
pageState(() => (catalogs = new Catalogs()));
