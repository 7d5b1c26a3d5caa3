// The origin of a consent request as a sentence, with the title of the conversation that the store knows.

import type { ConsentRequest } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";

import { originLabel } from "./consent-labels";

export function requestOrigin({ origin }: ConsentRequest): string {
  return originLabel(origin, (id) => app.conversations.find((one) => one.id === id)?.title);
}
