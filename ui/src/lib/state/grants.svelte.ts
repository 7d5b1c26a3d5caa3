// What is allowed without asking, as long as a page shows it: read at first and again whenever something was decided.
import { call } from "$lib/api/client";
import type { Grant } from "$lib/api/generated";

import { app } from "./app.svelte";
import { oneAtATime } from "./one-at-a-time";

export class Grants {
  /** Nothing before the first answer. */
  list = $state.raw<Grant[] | null>(null);
  error = $state.raw<unknown>(null);

  /** Reads them and follows their changes. Returns how to end that; fits as the result of an `$effect`. */
  follow(): () => void {
    void this.read();
    return app.onEvent((event) => {
      if (event.type === "audit_changed") void this.read();
    });
  }

  readonly read = oneAtATime(async () => {
    try {
      this.list = (await call("grants", {})).grants;
      this.error = null;
    } catch (cause) {
      this.error = cause;
    }
  });

  /** Takes one back. */
  async revoke(grant: Grant): Promise<void> {
    await call("revoke_grant", { id: grant.id });
    await this.read();
  }
}
