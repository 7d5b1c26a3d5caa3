// Labels of a server's claims about a tool's effects. Claims never relax a decision.

import type { ToolClaims } from "$lib/api/generated";

import { m } from "../paraglide/messages";

/** Effect of a tool that the user should notice. */
export type ToolEffect = "destructive" | "open_world";

/** Claim of a server about the effects of a tool. */
export interface ToolClaim {
  text: string;
  /** Effect that the claim warns of, or `null` if it is harmless. */
  effect: ToolEffect | null;
}

/** Returns `true` if the server claims that the tool is destructive. The claim has no meaning for a read-only tool. */
export function mayDestroy({ destructive, readOnly }: ToolClaims): boolean {
  return destructive === true && readOnly !== true;
}

/** Returns the claims that the server makes explicitly. */
export function statedClaims(claims: ToolClaims): ToolClaim[] {
  const { readOnly, destructive, idempotent, openWorld, asksEachTime } = claims;
  const stated: ToolClaim[] = [];
  const add = (text: string, effect: ToolEffect | null = null) => stated.push({ text, effect });
  if (readOnly !== null) add(readOnly ? m.tools_claim_read_only() : m.tools_claim_changes());
  // These two claims have no meaning for a read-only tool.
  if (readOnly !== true) {
    if (destructive === true) add(m.tools_claim_destructive(), "destructive");
    if (destructive === false) add(m.tools_claim_not_destructive());
    if (idempotent !== null)
      add(idempotent ? m.tools_claim_idempotent() : m.tools_claim_not_idempotent());
  }
  if (openWorld === true) add(m.tools_claim_open_world(), "open_world");
  if (openWorld === false) add(m.tools_claim_closed_world());
  if (asksEachTime) add(m.tools_claim_asks_each_time());
  return stated;
}

/**
 * Returns the effects that MCP assumes because the server makes no claim about them: `destructiveHint` and
 * `openWorldHint` default to `true`, `readOnlyHint` to `false`. See
 * https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations
 */
export function assumedEffects({ readOnly, destructive, openWorld }: ToolClaims): ToolEffect[] {
  const effects: ToolEffect[] = [];
  if (readOnly !== true && destructive === null) effects.push("destructive");
  if (openWorld === null) effects.push("open_world");
  return effects;
}
