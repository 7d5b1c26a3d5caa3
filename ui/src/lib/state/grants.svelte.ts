// What is allowed without asking, as long as a page shows it: read at first and again whenever something was decided.
import { call } from "$lib/api/client";
import type { Grant } from "$lib/api/generated";

import { app } from "./app.svelte";

export class Grants {
  /** Nothing before the first answer. */
  list = $state.raw<Grant[] | null>(null);
  error = $state.raw<unknown>(null);

  #reading = false;
  #again = false;

  /** Reads them and follows their changes. Returns how to end that; fits as the result of an `$effect`. */
  follow(): () => void {
    void this.read();
    return app.onEvent((event) => {
      if (event.type === "audit_changed") void this.read();
    });
  }

  /** One answer at a time, so that none overtakes a newer one. */
  async read(): Promise<void> {
    if (this.#reading) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    try {
      do {
        this.#again = false;
        this.list = (await call("grants", {})).grants;
      } while (this.#again);
      this.error = null;
    } catch (cause) {
      this.error = cause;
    } finally {
      this.#reading = false;
    }
  }

  /** Takes one back. */
  async revoke(grant: Grant): Promise<void> {
    await call("revoke_grant", { id: grant.id });
    await this.read();
  }
}
