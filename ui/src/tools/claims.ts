// What a server claims about a tool's effects, in words. Claims are never a reason to be less careful.

import type { ToolClaims } from "$lib/api/generated";

import { m } from "../paraglide/messages";

/** Whether the server says that the tool may destroy something. That means something only for one that changes things. */
export function mayDestroy({ destructive, readOnly }: ToolClaims): boolean {
  return destructive === true && readOnly !== true;
}

/** Each claim that was made, as the end of "the server says: ...". */
export function claimTexts(claims: ToolClaims): string[] {
  const { readOnly, destructive, idempotent, openWorld, asksEachTime } = claims;
  const texts: string[] = [];
  if (readOnly !== null) texts.push(readOnly ? m.tools_claim_read_only() : m.tools_claim_changes());
  // The next two mean something only for a tool that changes things.
  if (readOnly !== true) {
    if (destructive !== null) {
      texts.push(destructive ? m.tools_claim_destructive() : m.tools_claim_not_destructive());
    }
    if (idempotent !== null) {
      texts.push(idempotent ? m.tools_claim_idempotent() : m.tools_claim_not_idempotent());
    }
  }
  if (openWorld !== null) {
    texts.push(openWorld ? m.tools_claim_open_world() : m.tools_claim_closed_world());
  }
  if (asksEachTime) texts.push(m.tools_claim_asks_each_time());
  return texts;
}
