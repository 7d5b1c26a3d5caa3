// Data that is read from each server on first use. Used for the catalogs and the skills.
import { SvelteMap } from "svelte/reactivity";

import { app } from "./app.svelte";

export interface ServerData<T> {
  value: T | null;
  loading: boolean;
  error: unknown;
}

const NOT_REQUESTED: ServerData<never> = { value: null, loading: false, error: null };

export class PerServer<T> {
  #known = new SvelteMap<string, ServerData<T>>();
  #stale = new Set<string>();
  readonly #ask: (server: string) => Promise<T>;

  constructor(ask: (server: string) => Promise<T>) {
    this.#ask = ask;
    app.onEvent((event) => {
      if (event.type === "server_changed" && event.server.state.is !== "ready") {
        // Data of a stopped server says nothing about its next run.
        this.#known.delete(event.server.name);
      } else if (event.type === "server_removed") {
        this.#known.delete(event.name);
      }
    });
  }

  /** Returns the current data. Call `request` in an effect to load it. */
  get(server: string): ServerData<T> {
    return this.#known.get(server) ?? NOT_REQUESTED;
  }

  /** Returns `true` if the data of a server was requested since its last start. */
  protected isKnown(server: string): boolean {
    return this.#known.has(server);
  }

  /** Reads the data of a ready server, unless the data was already requested. */
  request(server: string): void {
    const known = this.#known.get(server);
    if (!known || (!known.loading && known.value === null && known.error === null)) {
      if (app.server(server)?.state.is === "ready") void this.read(server);
    }
  }

  /** Replaces the data with the result of `ask`. Rejects if `ask` fails. */
  protected async renew(server: string, ask: () => Promise<T>): Promise<void> {
    const before = this.#known.get(server);
    const value = await ask();
    const now = this.#known.get(server);
    if (!now) return;
    // A read in the meantime may be newer than this response.
    if (now !== before) await this.read(server);
    else this.#known.set(server, { ...now, value, error: null });
  }

  /** Reads the data of a server again. */
  async read(server: string): Promise<void> {
    const before = this.get(server);
    if (before.loading) {
      this.#stale.add(server);
      return;
    }
    this.#known.set(server, { ...before, loading: true });
    let known: ServerData<T>;
    try {
      known = { value: await this.#ask(server), loading: false, error: null };
    } catch (error) {
      known = { value: before.value, loading: false, error };
    }
    // The server stopped or was removed in the meantime.
    if (!this.#known.has(server)) {
      this.#stale.delete(server);
      return;
    }
    this.#known.set(server, known);
    if (this.#stale.delete(server)) await this.read(server);
  }
}
