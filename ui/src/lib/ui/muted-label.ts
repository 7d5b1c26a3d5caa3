// That a server's questions are refused without being shown, and until when.

import type { Server } from "$lib/api/generated";
import { formatTime } from "$lib/format/times";
import { languageTag } from "$lib/state/locale.svelte";

import { m } from "../../paraglide/messages";

export function mutedLabel({ mutedUntil }: Pick<Server, "mutedUntil">): string {
  if (mutedUntil === null) return m.consent_muted();
  return m.consent_muted_until({ time: formatTime(mutedUntil, languageTag()) });
}
