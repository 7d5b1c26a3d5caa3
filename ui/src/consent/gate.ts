// The gate of the page. An approval is sent as an `ApprovedDecision`, and only `ApprovedDecision.fromEvent` creates one: from a
// deliberate click or key press, after the whole payload was in view. The host verifies that the approval is for
// exactly these bytes.

import type { ConsentDecision, ConsentRequest } from "$lib/api/generated";

import type { Arming } from "./arming.svelte";

/** Decision that releases a payload. */
export type ApprovingDecision = Extract<
  ConsentDecision,
  { action: "allow" | "allow_read_only" | "submit" | "share" | "identify" | "rerun_model" }
>;

/** Decision that releases no payload. */
export type NonApprovingDecision = Exclude<ConsentDecision, ApprovingDecision>;

/** Reason why a request or a list of requests can't be approved, no matter how long the user waits. */
export type ApprovalBlocker =
  | { is: "editing" }
  | { is: "unwritten" }
  | { is: "unfilled" }
  | { is: "unread"; hidden: number }
  | { is: "unviewed" }
  | { is: "unselected" }
  | { is: "running" }
  | { is: "unreviewed" }
  | { is: "impossible" };

/** State that determines if a request can be approved. */
export interface ApprovalState {
  arming: Arming;
  blocker: ApprovalBlocker | null;
  /** Set while a decision or an edit is being sent. */
  busy: boolean;
}

/** Returns `true` if a click or key press would be accepted as an approval now. */
export function canApprove({ arming, blocker, busy }: ApprovalState): boolean {
  return arming.armed && blocker === null && !busy;
}

/** Approval that the user made deliberately after reviewing the payload. */
export class ApprovedDecision {
  readonly request: ConsentRequest;
  readonly answer: ApprovingDecision;

  private constructor(request: ConsentRequest, answer: ApprovingDecision) {
    this.request = request;
    this.answer = answer;
  }

  /** Returns the approval, or `null` if this event can't approve the payload. */
  static fromEvent(
    event: Event,
    request: ConsentRequest,
    answer: ApprovingDecision,
    now: ApprovalState,
  ): ApprovedDecision | null {
    if (!canApprove(now) || !now.arming.accepts(event)) return null;
    return new ApprovedDecision(request, answer);
  }
}
