// The models of a provider that are offered for conversations.
import type { ModelProvider } from "$lib/api/generated";

/** Matches the ids of models that compute vectors of texts, which can't answer. Providers list them with the others. */
const EMBEDDING_ID = /(?:^|[^a-z])(?:text-)?embed(?:ding|dings|ded|der)?(?:$|[^a-z])/i;

export function chatModels({ models }: ModelProvider): ModelProvider["models"] {
  return models.filter(({ id }) => !EMBEDDING_ID.test(id));
}
