// The status line above the buttons: why a request can't be approved, or how to decide.

import { m } from "../paraglide/messages";
import type { Arming } from "./arming.svelte";
import type { ConsentController } from "./consent-controller.svelte";
import type { ApprovalBlocker } from "./gate";
import type { TurnDecision } from "./turn-decision.svelte";
import { formatCount } from "./consent-labels";

export interface ConsentStatus {
  text: string;
  /** `bad`: a decision failed. `stop`: the user has to do something before the request can be approved. */
  tone: "plain" | "stop" | "bad";
}

export function consentStatus(controller: ConsentController): ConsentStatus {
  const { failure, blocker } = controller;
  if (controller.busy) return { text: m.consent_sending(), tone: "plain" };
  if (failure?.is === "changed") return { text: m.consent_changed(), tone: "bad" };
  if (failure) return { text: m.consent_refused({ reason: failure.message }), tone: "bad" };
  if (blocker?.is === "impossible")
    return {
      text: controller.isAttended ? m.consent_keys_deny() : m.consent_keys_deny_after_tab(),
      tone: "plain",
    };
  if (blocker) return { text: blockerLabel(blocker), tone: "stop" };
  const problems = controller.draft?.form?.submitAttempted
    ? controller.draft.form.check.problems.length
    : 0;
  if (problems > 0) return { text: m.consent_form_problems({ count: problems }), tone: "stop" };
  const waiting = armingStatus(controller.arming);
  if (waiting) return waiting;
  // The user is typing, so the shortcuts do not apply.
  if (controller.draft?.reason != null) return { text: "", tone: "plain" };
  if (controller.hasFields) return { text: m.consent_keys_form(), tone: "plain" };
  if (controller.inline) return { text: m.consent_keys_in_place(), tone: "plain" };
  return {
    text: controller.isAttended ? m.consent_keys() : m.consent_keys_after_tab(),
    tone: "plain",
  };
}

/** Returns the status line for a list of tool calls. */
export function turnStatus({ sending, blocker, arming }: TurnDecision): ConsentStatus {
  if (sending) return { text: m.consent_sending(), tone: "plain" };
  if (blocker && blocker.is !== "impossible") return { text: blockerLabel(blocker), tone: "stop" };
  return armingStatus(arming) ?? { text: m.consent_keys_in_place(), tone: "plain" };
}

/** Returns the reason why an input was ignored or is not accepted yet, or `null` if inputs are accepted. */
function armingStatus({ ignored, armed }: Arming): ConsentStatus | null {
  if (ignored === "rested") return { text: m.consent_pointer_rested(), tone: "stop" };
  if (ignored === "early") return { text: m.consent_pressed_early(), tone: "stop" };
  return armed ? null : { text: m.consent_arming(), tone: "plain" };
}

function blockerLabel(blocker: Exclude<ApprovalBlocker, { is: "impossible" }>): string {
  switch (blocker.is) {
    case "editing":
      return m.consent_finish_editing();
    case "unwritten":
      return m.consent_answer_first();
    case "unfilled":
      return m.consent_fill_client_id();
    case "running":
      return m.sampling_blocked();
    case "unreviewed":
      return m.sampling_again_unreviewed();
    case "unselected":
      return m.consent_together_none();
    case "unviewed":
      return m.consent_see_rest();
    case "unread":
      return m.consent_must_read({ count: blocker.hidden, number: formatCount(blocker.hidden) });
  }
}
