// Failures of model answers: cause, remedy and buttons. Used by replies in a conversation, providers under Models,
// and sampling requests of servers.
import type { ModelErrorCode } from "$lib/api/generated";
import type { FailureTexts } from "$lib/failure-texts";

import { m } from "../paraglide/messages";

/** Action that a button of a failed answer performs. `retry` is also the last button of every other failure. */
export type ModelAction = "models" | "other_model" | "new_conversation" | "continue" | "retry";

export const MODEL_ACTIONS: Record<ModelAction, () => string> = {
  models: m.models_open,
  other_model: m.models_choose_other,
  new_conversation: m.shell_new_conversation,
  continue: m.conversation_continue,
  retry: m.conversation_retry,
};

export const MODEL_FAILURES: Record<ModelErrorCode, FailureTexts<ModelAction>> = {
  noKey: {
    cause: m.models_problem_no_key,
    fix: m.models_fix_no_key,
    action: "models",
  },
  keyUnreadable: {
    cause: m.models_problem_key_unreadable,
    fix: m.models_fix_key_unreadable,
    action: "models",
  },
  wrongKey: {
    cause: m.models_problem_wrong_key,
    fix: m.models_fix_wrong_key,
    action: "models",
  },
  forbidden: {
    cause: m.models_problem_forbidden,
    fix: m.models_fix_forbidden,
    action: "models",
    others: ["other_model"],
  },
  noCredit: {
    cause: m.models_problem_no_credit,
    fix: m.models_fix_no_credit,
    action: "other_model",
    others: ["models"],
  },
  rateLimited: {
    cause: m.models_problem_rate_limited,
    fix: m.models_fix_rate_limited,
    action: "retry",
    others: ["other_model"],
  },
  overloaded: {
    cause: m.models_problem_overloaded,
    fix: m.models_fix_overloaded,
    action: "retry",
    others: ["other_model"],
  },
  contextTooLong: {
    cause: m.models_problem_context_too_long,
    fix: m.models_fix_context_too_long,
    action: "new_conversation",
    others: ["other_model"],
  },
  refused: {
    cause: m.models_problem_refused,
    fix: m.models_fix_refused,
    action: "other_model",
  },
  notFound: {
    cause: m.models_problem_not_found,
    fix: m.models_fix_not_found,
    action: "other_model",
    others: ["models"],
  },
  unreachable: {
    cause: m.models_problem_unreachable,
    fix: m.models_fix_unreachable,
    action: "models",
  },
  silent: {
    cause: m.models_problem_silent,
    fix: m.models_fix_silent,
    action: "retry",
    others: ["other_model"],
  },
  cut: {
    cause: m.models_problem_cut,
    fix: m.models_fix_cut,
    action: "retry",
  },
  unreadable: {
    cause: m.models_problem_unreadable,
    fix: m.models_fix_unreadable,
    action: "models",
  },
  tooLarge: {
    cause: m.models_problem_too_large,
    fix: m.models_fix_too_large,
    action: "retry",
  },
  badArguments: {
    cause: m.models_problem_bad_arguments,
    fix: m.models_fix_bad_arguments,
    action: "retry",
    others: ["other_model"],
  },
  cannotCarry: {
    cause: m.models_problem_cannot_carry,
    fix: m.models_fix_cannot_carry,
    action: "models",
    others: ["other_model"],
  },
  unconfirmed: {
    cause: m.models_problem_unconfirmed,
    fix: m.models_fix_unconfirmed,
    action: "models",
  },
  noProvider: {
    cause: m.models_problem_no_provider,
    fix: m.models_fix_no_provider,
    action: "models",
    others: ["other_model"],
  },
  empty: {
    cause: m.models_problem_empty,
    fix: m.models_fix_empty,
    action: "retry",
    others: ["other_model"],
  },
  outOfTokens: {
    cause: m.models_problem_out_of_tokens,
    fix: m.models_fix_out_of_tokens,
    action: "continue",
  },
  unfit: {
    cause: m.models_problem_unfit,
    fix: m.models_fix_unfit,
    action: "retry",
    others: ["other_model"],
  },
  internal: {
    cause: m.models_problem_internal,
    fix: m.models_fix_internal,
    action: "retry",
  },
  provider: {
    cause: m.models_problem_provider,
    fix: m.models_fix_provider,
    action: "retry",
    others: ["other_model"],
  },
};

/** Failure of a request for an answer in a conversation without a model. */
export const NO_MODEL_FAILURE = {
  cause: m.shell_error_no_model,
  fix: m.models_fix_no_model,
  buttonLabel: m.conversation_choose_model,
};

/** Returns the actions for a failed answer in the order of their buttons. They always include `retry`. */
export function modelActions(code: ModelErrorCode): ModelAction[] {
  const { action, others = [] } = MODEL_FAILURES[code];
  const all = [action, ...others];
  // Choosing another model requests an answer as well, so the retry comes before it.
  return all.includes("retry") ? all : [action, "retry", ...others];
}
