// Failures of calls: cause, remedy and buttons. Used by the run of a tool and by calls in a conversation.
import type { CallFailureCode, CallRefusal, ErrorCode } from "$lib/api/generated";
import { actionsOf, type FailureTexts } from "$lib/failure-texts";

import { m } from "../paraglide/messages";

export type CallAction =
  "again" | "restart" | "activity" | "tools" | "server" | "rules" | "check" | "tool";

/**
 * Labels of the buttons. `again` requires the arguments of the call. Where they are not available, `tool` replaces it.
 */
export const CALL_ACTIONS: Record<CallAction, () => string> = {
  again: m.tools_again,
  restart: m.tools_restart,
  activity: m.tools_show_activity,
  tools: m.tools_show_tools,
  server: m.tools_show_server,
  rules: m.tools_open_rules,
  check: m.checkup_open,
  tool: m.tools_open_tool,
};

export const CALL_FAILURES: Record<CallFailureCode, FailureTexts<CallAction>> = {
  not_found: {
    cause: m.shell_error_not_found,
    fix: m.tools_fix_not_found,
    action: "tools",
    others: ["activity"],
  },
  not_ready: {
    cause: m.shell_error_not_ready,
    fix: m.tools_fix_not_ready,
    action: "restart",
    others: ["again", "activity"],
  },
  bad_request: {
    cause: m.tools_end_bad_request,
    fix: m.tools_fix_bad_request,
    action: "again",
    others: ["activity"],
  },
  refused: {
    cause: m.tools_end_refused,
    fix: m.tools_fix_refused,
    action: "again",
    others: ["rules"],
  },
  cancelled: {
    cause: m.tools_end_cancelled,
    fix: m.tools_fix_cancelled,
    action: "again",
  },
  timeout: {
    cause: m.tools_end_timeout,
    fix: m.tools_fix_timeout,
    action: "again",
    others: ["activity"],
  },
  server: {
    cause: m.tools_end_server,
    fix: m.tools_fix_server,
    action: "again",
    others: ["activity"],
  },
  bad_answer: {
    cause: m.shell_error_bad_answer,
    fix: m.tools_fix_bad_answer,
    action: "activity",
    others: ["again"],
  },
  server_gone: {
    cause: m.shell_error_server_gone,
    fix: m.tools_fix_server_gone,
    action: "restart",
    others: ["activity"],
  },
  unsupported: {
    cause: m.shell_error_unsupported,
    fix: m.tools_fix_unsupported,
    action: "server",
    others: ["activity"],
  },
  internal: {
    cause: m.shell_error_internal,
    fix: m.tools_fix_internal,
    action: "again",
    others: ["check", "activity"],
  },
};

/** Refused calls by the cause of the refusal. Only calls that an older version stored have none. */
export const CALL_REFUSALS: Record<CallRefusal["is"], FailureTexts<CallAction>> = {
  denied_by_user: {
    cause: m.tools_end_denied,
    fix: m.tools_fix_denied,
    action: "again",
  },
  denied_by_rule: {
    cause: m.tools_end_denied_by_rule,
    fix: m.tools_fix_denied_by_rule,
    action: "rules",
    others: ["again"],
  },
  not_offered: {
    cause: m.tools_end_not_offered,
    fix: m.tools_fix_not_offered,
    action: "tools",
    others: ["again"],
  },
  // The next request of the call shows the change, and so does the page of the tool.
  changed: {
    cause: m.tools_end_changed,
    fix: m.tools_fix_changed,
    action: "again",
  },
  not_audited: {
    cause: m.tools_end_not_audited,
    fix: m.tools_fix_not_audited,
    action: "check",
    others: ["again"],
  },
  input_refused: {
    cause: m.tools_end_refused_midway,
    fix: m.tools_fix_refused_midway,
    action: "again",
  },
  result_withheld: {
    cause: m.tools_end_withheld,
    fix: m.tools_fix_withheld,
    action: "activity",
    others: ["again"],
  },
  other: {
    cause: m.tools_end_refused,
    fix: m.tools_fix_refused_otherwise,
    action: "again",
  },
};

/** Texts and buttons for a call that ended without a result. */
export interface CallEnd {
  title: string;
  fix: string;
  actions: readonly CallAction[];
}

/** Returns the texts and buttons for a failed call, or `null` if calls can't end with this error. */
export function callEnd(code: ErrorCode, refusal: CallRefusal | undefined): CallEnd | null {
  if (!Object.hasOwn(CALL_FAILURES, code)) return null;
  const failure =
    code === "refused" && refusal
      ? CALL_REFUSALS[refusal.is]
      : CALL_FAILURES[code as CallFailureCode];
  return { title: failure.cause(), fix: failure.fix(), actions: actionsOf(failure) };
}

/** A denial of a call by the user, with the reason that the user gave to the model. */
type UserDenial = Extract<CallRefusal, { is: "denied_by_user" }>;

/** Returns the refusal if the user denied the call, otherwise `null`. */
export function userDenial(refusal: CallRefusal | undefined): UserDenial | null {
  return refusal?.is === "denied_by_user" ? refusal : null;
}
