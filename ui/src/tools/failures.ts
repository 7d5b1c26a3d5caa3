// Failures of calls: cause, remedy and buttons. Used by the run of a tool and by calls in a conversation.
import type { CallFailureCode, ErrorCode } from "$lib/api/generated";
import type { FailureTexts } from "$lib/failure-texts";

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

/** Returns the failure texts for a call that ended with this error, or `null` if calls can't end with it. */
export function callFailure(code: ErrorCode): FailureTexts<CallAction> | null {
  return Object.hasOwn(CALL_FAILURES, code) ? CALL_FAILURES[code as CallFailureCode] : null;
}

/** Beginning of the error text of a call that the user denied, as the host writes it (`CallFailure::Refused`). */
const DENIED_BY_USER = "refused: by the user";

/** A denial of a call by the user. */
export interface UserDenial {
  /** Reason that the user gave to the model, or `null` if there is none. */
  reason: string | null;
}

/**
 * Returns the user's denial that this error text describes, or `null` if the call ended for another reason. `code` is
 * unset for calls of older versions, of which only the text is stored. With another code, the text is not only the
 * host's: that of an error response begins with the name of the server.
 */
export function userDenial(error: string, code: ErrorCode | undefined): UserDenial | null {
  if (code !== undefined && code !== "refused") return null;
  if (error === DENIED_BY_USER) return { reason: null };
  const beforeReason = `${DENIED_BY_USER}, who says: `;
  return error.startsWith(beforeReason) ? { reason: error.slice(beforeReason.length) } : null;
}

/**
 * Returns the title for a call that ended with this error. `hasRun` is set if the server had started to process the
 * call.
 */
export function callEndTitle(code: ErrorCode, hasRun: boolean): string | undefined {
  if (code === "refused" && hasRun) return m.tools_end_refused_midway();
  return callFailure(code)?.cause();
}
