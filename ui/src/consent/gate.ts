// The gate of the page. An approving answer is sent as an `Approved`, and only `Approved.fromEvent` creates one: from a
// deliberate act, after the whole payload was in view. The host verifies that it matches exactly these bytes.

import type { ConsentDecision, ConsentRequest } from "$lib/api/generated";

import type { Arming } from "./arming.svelte";

/** An answer that lets a payload leave. */
export type ApprovingAnswer = Extract<
  ConsentDecision,
  { action: "allow" | "allow_read_only" | "submit" | "share" | "identify" | "again" }
>;

/** An answer that lets nothing leave. */
export type WithholdingAnswer = Exclude<ConsentDecision, ApprovingAnswer>;

/** The reason a request or a list of them can't be approved, however long the user waits. */
export type Blocker =
  | { is: "editing" }
  | { is: "unwritten" }
  | { is: "unfilled" }
  | { is: "unread"; hidden: number }
  | { is: "unviewed" }
  | { is: "unselected" }
  | { is: "running" }
  | { is: "unreviewed" }
  | { is: "impossible" };

/** The state that decides whether a request can be approved. */
export interface ApprovalState {
  arming: Arming;
  blocker: Blocker | null;
  /** Set while an answer or an edit is pending. */
  busy: boolean;
}

/** Returns `true` if an act would be accepted now. */
export function canApprove({ arming, blocker, busy }: ApprovalState): boolean {
  return arming.armed && blocker === null && !busy;
}

/** A reviewed and deliberate approving answer. */
export class Approved {
  readonly request: ConsentRequest;
  readonly answer: ApprovingAnswer;

  private constructor(request: ConsentRequest, answer: ApprovingAnswer) {
    this.request = request;
    this.answer = answer;
  }

  /** Returns the approved answer, or `null` if this event can't approve it. */
  static fromEvent(
    event: Event,
    request: ConsentRequest,
    answer: ApprovingAnswer,
    now: ApprovalState,
  ): Approved | null {
    if (!canApprove(now) || !now.arming.accepts(event)) return null;
    return new Approved(request, answer);
  }
}
