// The configured models, for selects. Loaded when such a select is shown.

import { call } from "$lib/api/client";
import type { ModelRef } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { serializeReads } from "$lib/state/one-at-a-time";

export interface KnownModel {
  ref: ModelRef;
  label: string;
}

class ModelList {
  /** Models of all providers. Empty before the first response and if the request fails. */
  all = $state.raw<KnownModel[]>([]);

  readonly read = serializeReads(async () => {
    try {
      const { providers } = await call("list_models", {});
      this.all = providers.flatMap((provider) =>
        provider.models.map((model) => ({
          ref: { provider: provider.id, model: model.id },
          label: `${model.name || model.id} (${provider.name})`,
        })),
      );
    } catch {
      // The models view reports the failure.
    }
  });
}

export let modelList: ModelList;
registerPageState(() => (modelList = new ModelList()));
