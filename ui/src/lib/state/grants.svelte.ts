// What is allowed without asking, as long as a page shows it: read at first and again whenever something was decided.
import { SvelteSet } from "svelte/reactivity";

import { call } from "$lib/api/client";
import type { Grant } from "$lib/api/generated";

import { app } from "./app.svelte";
import { oneAtATime } from "./one-at-a-time";

export class Grants {
  /**
   * Nothing before the first answer. Those that were revoked here stay in their places, so that no other one comes under the
   * pointer of who clicks twice.
   */
  list = $state.raw<Grant[] | null>(null);
  error = $state.raw<unknown>(null);
  /** The ids of those that were revoked here. */
  readonly revoked = new SvelteSet<string>();
  /** The ids of those that are being revoked. */
  readonly leaving = new SvelteSet<string>();

  /** Reads them and follows their changes. Returns how to end that; fits as the result of an `$effect`. */
  follow(): () => void {
    void this.read();
    return app.onEvent((event) => {
      if (event.type === "audit_changed") void this.read();
    });
  }

  readonly read = oneAtATime(async () => {
    try {
      const { grants } = await call("grants", {});
      const now = grants.filter(({ id }) => !this.#goes(id));
      this.list?.forEach((grant, at) => {
        if (this.#goes(grant.id)) now.splice(at, 0, grant);
      });
      this.list = now;
      this.error = null;
    } catch (cause) {
      this.error = cause;
    }
  });

  /** Takes one back; once, however often it is asked for. */
  async revoke({ id }: Grant): Promise<void> {
    if (this.#goes(id)) return;
    this.leaving.add(id);
    try {
      await call("revoke_grant", { id });
      this.revoked.add(id);
    } finally {
      this.leaving.delete(id);
    }
    await this.read();
  }

  #goes(id: string): boolean {
    return this.leaving.has(id) || this.revoked.has(id);
  }
}
