// Rules, while a view shows them: read at first and again when they change.
import { call } from "$lib/api/client";
import type { Policy } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { serializeReads } from "$lib/state/one-at-a-time";

export class PolicyStore {
  /** The rules, or `null` before the first read. */
  now = $state.raw<Policy | null>(null);
  error = $state.raw<unknown>(null);

  /**
   * Reads the rules and updates them after changes, until the returned function is called. Suitable as the result of an
   * `$effect`.
   */
  follow(): () => void {
    void this.read();
    return app.onEvent((event) => {
      if (event.type === "rules_changed") void this.read();
    });
  }

  readonly read = serializeReads(async () => {
    try {
      this.now = await call("read_policy", {});
      this.error = null;
    } catch (cause) {
      this.error = cause;
    }
  });

  /** Runs an action that changes the rules, and reads them again. */
  async change(act: () => Promise<unknown>): Promise<void> {
    await act();
    await this.read();
  }
}
