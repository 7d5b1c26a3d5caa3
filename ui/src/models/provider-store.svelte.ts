// Client state of the model providers.
import { call } from "$lib/api/client";
import type { Models } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { serializeReads } from "$lib/state/one-at-a-time";

export class ProviderStore {
  now = $state.raw<Models | null>(null);
  error = $state.raw<unknown>(null);

  readonly read = serializeReads(async () => {
    try {
      this.now = await call("list_models", {});
      this.error = null;
    } catch (cause) {
      this.error = cause;
    }
  });

  /** Reads the providers and updates them after changes, until the returned function is called. */
  follow(): () => void {
    void this.read();
    return app.onEvent((event) => {
      if (event.type === "models_changed") void this.read();
    });
  }
}
