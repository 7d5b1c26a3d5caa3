// The one gate of the page. An answer that lets something leave is sent as an `Approved`, and only `Approved.by` makes one: out of a
// deliberate act, after all of what leaves was in view. The host checks that it is for exactly these bytes.

import type { Answer, Question } from "$lib/api/generated";

import type { Arming } from "./arming.svelte";

/** An answer that lets something leave. */
export type ApprovingAnswer = Extract<
  Answer,
  { action: "allow" | "submit" | "share" | "identify" | "again" }
>;

/** An answer that lets nothing leave. */
export type WithholdingAnswer = Exclude<Answer, ApprovingAnswer>;

/** Why an answer can't let anything leave, however long one waits. */
export type Blocker =
  | { is: "editing" }
  | { is: "unwritten" }
  | { is: "unfilled" }
  | { is: "unread"; hidden: number }
  | { is: "unviewed" }
  | { is: "running" }
  | { is: "unreviewed" }
  | { is: "impossible" };

/** How the question stands that is answered. */
export interface ApprovalState {
  arming: Arming;
  blocker: Blocker | null;
  /** Whether an answer or a change is on its way. */
  busy: boolean;
}

/** Whether an act would be taken now. */
export function canApprove({ arming, blocker, busy }: ApprovalState): boolean {
  return arming.armed && blocker === null && !busy;
}

/** An answer that lets something leave, reviewed and meant. */
export class Approved {
  readonly request: Question;
  readonly answer: ApprovingAnswer;

  private constructor(request: Question, answer: ApprovingAnswer) {
    this.request = request;
    this.answer = answer;
  }

  /** Makes one out of this act, if it may let something leave. */
  static fromEvent(
    event: Event,
    request: Question,
    answer: ApprovingAnswer,
    now: ApprovalState,
  ): Approved | null {
    if (!canApprove(now) || !now.arming.accepts(event)) return null;
    return new Approved(request, answer);
  }
}
