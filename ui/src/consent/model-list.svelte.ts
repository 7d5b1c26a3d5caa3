// The models that the user has, for lists to choose one from. Read when such a list is shown.

import { call } from "$lib/api/client";
import type { ModelRef } from "$lib/api/generated";
import { pageState } from "$lib/page-state";
import { oneAtATime } from "$lib/state/one-at-a-time";

export interface KnownModel {
  ref: ModelRef;
  label: string;
}

class ModelList {
  /** Provider by provider. Nothing before the first answer, or if they can't be read: a list is then as short as it was. */
  all = $state.raw<KnownModel[]>([]);

  readonly read = oneAtATime(async () => {
    try {
      const { providers } = await call("models", {});
      this.all = providers.flatMap((provider) =>
        provider.models.map((model) => ({
          ref: { provider: provider.id, model: model.id },
          label: `${model.name || model.id} (${provider.name})`,
        })),
      );
    } catch {
      // The page of models says why.
    }
  });
}

export let modelList: ModelList;
pageState(() => (modelList = new ModelList()));
