// The one line above the buttons: why Allow can't be used, or how to decide.

import { m } from "../paraglide/messages";
import type { ConsentController } from "./consent-controller.svelte";
import type { Blocker } from "./gate";
import { formatCount } from "./consent-labels";

export interface ConsentStatus {
  words: string;
  /** `bad`: a decision was not taken. `stop`: something has to be done first. */
  tone: "plain" | "stop" | "bad";
}

export function consentStatus(controller: ConsentController): ConsentStatus {
  const { failure, blocker } = controller;
  if (controller.busy) return { words: m.consent_sending(), tone: "plain" };
  if (failure?.is === "changed") return { words: m.consent_changed(), tone: "bad" };
  if (failure) return { words: m.consent_refused({ reason: failure.message }), tone: "bad" };
  if (blocker?.is === "impossible") return { words: m.consent_keys_deny(), tone: "plain" };
  if (blocker) return { words: blockerLabel(blocker), tone: "stop" };
  const problems = controller.draft?.form?.submitAttempted
    ? controller.draft.form.check.problems.length
    : 0;
  if (problems > 0) return { words: m.consent_form_problems({ count: problems }), tone: "stop" };
  if (controller.arming.ignored === "rested")
    return { words: m.consent_pointer_rested(), tone: "stop" };
  if (controller.arming.ignored === "early")
    return { words: m.consent_pressed_early(), tone: "stop" };
  if (!controller.arming.armed) return { words: m.consent_arming(), tone: "plain" };
  const kind = controller.request?.body.kind;
  const fields = (controller.draft?.form?.fields.length ?? 0) > 0 || kind === "client_id";
  // Letters are being typed.
  if (controller.draft?.reason != null) return { words: "", tone: "plain" };
  if (controller.inline) return { words: m.consent_keys_in_place(), tone: "plain" };
  return { words: fields ? m.consent_keys_form() : m.consent_keys(), tone: "plain" };
}

function blockerLabel(blocker: Exclude<Blocker, { is: "impossible" }>): string {
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
    case "unviewed":
      return m.consent_see_rest();
    case "unread":
      return m.consent_must_read({ count: blocker.hidden, number: formatCount(blocker.hidden) });
  }
}
