// The rules, as long as a page shows them: read at first and again whenever they change.
import { call } from "$lib/api/client";
import type { Policy } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { oneAtATime } from "$lib/state/one-at-a-time";

export class PolicyStore {
  /** Nothing before the first answer. */
  now = $state.raw<Policy | null>(null);
  error = $state.raw<unknown>(null);

  /** Reads them and follows their changes. Returns how to end that; fits as the result of an `$effect`. */
  follow(): () => void {
    void this.read();
    return app.onEvent((event) => {
      if (event.type === "rules_changed") void this.read();
    });
  }

  readonly read = oneAtATime(async () => {
    try {
      this.now = await call("policy", {});
      this.error = null;
    } catch (cause) {
      this.error = cause;
    }
  });

  /** Does something that changes them, and shows what holds then. */
  async change(act: () => Promise<unknown>): Promise<void> {
    await act();
    await this.read();
  }
}
