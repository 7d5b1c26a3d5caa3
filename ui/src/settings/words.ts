// Decisions and approvals in the page's words.

import type { Scope } from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";

import { m } from "../paraglide/messages";

type Words = Record<string, () => string>;

/** What a decision was about. */
export function kindWords(kind: string): string {
  return look(kind, {
    "start-server": m.settings_kind_start_server,
    "connect-server": m.settings_kind_connect_server,
    tool: m.settings_kind_tool,
    sampling: m.settings_kind_sampling,
    "sampling-answer": m.settings_kind_sampling_answer,
    elicitation: m.settings_kind_elicitation,
    url: m.settings_kind_url,
    roots: m.settings_kind_roots,
    revoke: m.settings_kind_revoke,
  });
}

export function decisionWords(decision: string): string {
  return look(decision, {
    allowed: m.settings_decision_allowed,
    denied: m.settings_decision_denied,
    cancelled: m.settings_decision_cancelled,
    withdrawn: m.settings_decision_withdrawn,
  });
}

export function scopeWords(scope: Scope): string {
  return look(scope, {
    once: m.settings_scope_once,
    conversation: m.settings_scope_conversation,
    session: m.settings_scope_session,
    always: m.settings_scope_always,
  });
}

/** Who decided. */
export function byWords(by: string): string {
  return look(by, {
    user: m.settings_by_user,
    grant: m.settings_by_grant,
    answers: m.settings_by_answers,
    policy: m.settings_by_policy,
  });
}

/** A word of a later version is shown as it is. */
function look(key: string, words: Words): string {
  return (Object.hasOwn(words, key) ? words[key]?.() : undefined) ?? visibleText(key);
}
