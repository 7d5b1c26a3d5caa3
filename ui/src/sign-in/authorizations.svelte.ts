// Sign-in state of each server, read on first use and again after changes. Contains only data of the host, so that a
// sign-in continues after a reload of the page.
import { SvelteMap } from "svelte/reactivity";

import { call } from "$lib/api/client";
import type { Authorization } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";
import { serializeReads } from "$lib/state/one-at-a-time";

export interface AuthorizationState {
  authorization: Authorization | null;
  error: unknown;
}

const NONE: AuthorizationState = { authorization: null, error: null };

class Authorizations {
  #states = new SvelteMap<string, AuthorizationState>();
  #reads = new Map<string, () => Promise<void>>();

  constructor() {
    app.onEvent((event) => {
      const changed =
        event.type === "authorization_changed"
          ? event.server
          : event.type === "server_changed"
            ? event.server.name
            : null;
      if (changed !== null && this.#states.has(changed)) void this.read(changed);
      if (event.type === "server_removed") {
        this.#states.delete(event.name);
        this.#reads.delete(event.name);
      }
    });
  }

  /** Returns the current sign-in state. Call `request` in an effect to load it. */
  get(server: string): AuthorizationState {
    return this.#states.get(server) ?? NONE;
  }

  /** Reads the state on each call, because changes are not reported while there is no subscriber. */
  request(server: string): void {
    void this.read(server);
  }

  /** Reads the sign-in state of a server again. */
  read(server: string): Promise<void> {
    const read = this.#reads.get(server) ?? serializeReads(() => this.#read(server));
    this.#reads.set(server, read);
    return read();
  }

  async #read(server: string): Promise<void> {
    try {
      const authorization = await call("read_authorization", { server });
      this.#states.set(server, { authorization, error: null });
    } catch (error) {
      this.#states.set(server, { authorization: null, error });
    }
  }
}

export let authorizations: Authorizations;
registerPageState(() => (authorizations = new Authorizations()));
