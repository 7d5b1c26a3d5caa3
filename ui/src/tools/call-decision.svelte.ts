// Reads the decision of the policy about a call with the entered arguments. Only the host can tell, because rules have
// conditions on arguments, and depend on grants and the review of the tool.

import { call } from "$lib/api/client";
import type { DryRunResult, JsonValue } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { serializeReads } from "$lib/state/one-at-a-time";
import { windows } from "$lib/state/windows.svelte";

import { m } from "../paraglide/messages";

/** Delay after the last change of the arguments before the host is asked, in milliseconds. */
export const DECISION_DEBOUNCE_MS = 100;

export interface PlannedCall {
  server: string;
  tool: string;
  arguments: JsonValue;
  conversation: string | null;
}

export class CallDecision {
  /** The decision about the last planned call. `null` if the host can't tell, and `undefined` before the first read. */
  current = $state.raw<Pick<DryRunResult, "effect" | "by"> | null | undefined>(undefined);
  #planned: PlannedCall | null = null;

  /** Follows the decision about this call until the returned function is called, also when permissions change. */
  follow(planned: PlannedCall): () => void {
    const delay = this.#planned === null ? 0 : DECISION_DEBOUNCE_MS;
    // A decision about other arguments says nothing about these.
    if (this.#planned?.arguments !== planned.arguments) this.current = undefined;
    this.#planned = planned;
    const timer = setTimeout(() => void this.#read(), delay);
    const unfollow = app.onEvent((event) => {
      if (event.type === "rules_changed" || event.type === "audit_changed") void this.#read();
    });
    return () => {
      clearTimeout(timer);
      unfollow();
    };
  }

  /** Forgets the planned call, because the entered arguments are invalid. */
  forget(): void {
    this.#planned = null;
    this.current = undefined;
  }

  readonly #read = serializeReads(async () => {
    const planned = this.#planned;
    if (planned === null) return;
    // A window of a conversation has no access to the policy.
    if (windows.own !== null) return void (this.current = null);
    const { server, tool, arguments: sent, conversation } = planned;
    let decision: Pick<DryRunResult, "effect" | "by"> | null;
    try {
      const { effect, by } = await call("dry_run", {
        server,
        act: { kind: "tool", tool, arguments: sent, conversation, afterUntrusted: false },
      });
      decision = { effect, by };
    } catch {
      // The server may have been removed, or no longer offers the tool.
      decision = null;
    }
    // The arguments may have changed meanwhile.
    if (planned === this.#planned) this.current = decision;
  });

  /** Returns a text about whether the call will ask. `allowed` is set if the tool has a standing approval. */
  text(allowed: boolean): string {
    const { current } = this;
    if (current === undefined) return "";
    if (current === null) return allowed ? m.tools_call_allowed() : m.tools_call_may_be_allowed();
    if (current.effect === "deny") return m.tools_call_denied();
    if (current.effect === "ask") return m.tools_call_asks();
    return current.by.kind === "rule" ? m.tools_call_allowed_by_rule() : m.tools_call_allowed();
  }
}
