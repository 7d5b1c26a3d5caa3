// Label of a server whose requests are denied without being shown, with the end time.

import type { Server } from "$lib/api/generated";
import { formatTime } from "$lib/format/times";
import { languageTag } from "$lib/state/locale.svelte";

import { m } from "../../paraglide/messages";

export function mutedLabel({ mutedUntil }: Pick<Server, "mutedUntil">): string {
  if (mutedUntil === null) return m.consent_muted();
  return m.consent_muted_until({ time: formatTime(mutedUntil, languageTag()) });
}
