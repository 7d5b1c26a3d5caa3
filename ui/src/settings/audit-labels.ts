// Labels of audit entries.

import type { ApprovalScope } from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";

import { m } from "../paraglide/messages";

type Words = Record<string, () => string>;

/** Kinds of audit entries that the filter can select. */
export const AUDIT_KINDS = [
  "tool",
  "app-tool",
  "prompt",
  "resource",
  "result",
  "start-server",
  "connect-server",
  "sampling",
  "sampling-answer",
  "sampling-settings",
  "elicitation",
  "url",
  "roots",
  "sign-in",
  "client-id",
  "signed-in",
  "sign-out",
  "revoke",
  "restore",
  "read-only-tool",
  "rule",
  "tools",
  "app-tools",
  "review",
  "mute",
  "data-flow",
  "settings",
  "log-damaged",
  "log-unsealed",
  "log-shortened",
  "log-imported",
];
/** Decisions that the filter can select. */
export const AUDIT_DECISIONS = ["allowed", "denied", "cancelled", "withdrawn", "noted"];

/** Returns the translated label of the kind of an audit entry. */
export function auditKindLabel(kind: string): string {
  return labelOf(kind, {
    "start-server": m.settings_kind_start_server,
    "connect-server": m.settings_kind_connect_server,
    tool: m.settings_kind_tool,
    sampling: m.settings_kind_sampling,
    "sampling-answer": m.settings_kind_sampling_answer,
    "sampling-settings": m.sampling_kind_settings,
    elicitation: m.settings_kind_elicitation,
    url: m.settings_kind_url,
    roots: m.settings_kind_roots,
    revoke: m.settings_kind_revoke,
    restore: m.settings_kind_restore,
    "read-only-tool": m.settings_kind_read_only_tool,
    "sign-in": m.audit_kind_sign_in,
    "client-id": m.audit_kind_client_id,
    "signed-in": m.audit_kind_signed_in,
    "sign-out": m.audit_kind_sign_out,
    prompt: m.audit_kind_prompt,
    resource: m.audit_kind_resource,
    result: m.audit_kind_result,
    "data-flow": m.audit_kind_data_flow,
    rule: m.audit_kind_rule,
    tools: m.audit_kind_tools,
    "app-tool": m.audit_kind_app_tool,
    "app-tools": m.audit_kind_app_tools,
    review: m.audit_kind_review,
    mute: m.audit_kind_mute,
    settings: m.audit_kind_settings,
    "log-damaged": m.audit_kind_damaged,
    "log-unsealed": m.audit_kind_unsealed,
    "log-shortened": m.audit_kind_shortened,
    "log-imported": m.audit_kind_imported,
  });
}

export function decisionLabel(decision: string): string {
  return labelOf(decision, {
    allowed: m.settings_decision_allowed,
    denied: m.settings_decision_denied,
    cancelled: m.settings_decision_cancelled,
    withdrawn: m.settings_decision_withdrawn,
    noted: m.audit_noted,
  });
}

/** Returns the translated origin of a request: user, model, server or host. */
export function requestOriginLabel(asker: string): string {
  return labelOf(asker, {
    user: m.audit_asker_user,
    model: m.audit_asker_model,
    app: m.audit_asker_app,
    server: m.audit_asker_server,
    host: m.audit_asker_host,
  });
}

export function scopeLabel(scope: ApprovalScope): string {
  return labelOf(scope, {
    once: m.settings_scope_once,
    conversation: m.settings_scope_conversation,
    session: m.settings_scope_session,
    always: m.settings_scope_always,
  });
}

/** Returns the translated label of the actor that decided: the user, a grant, an answers file or the policy. */
export function decidedByLabel(by: string): string {
  return labelOf(by, {
    user: m.settings_by_user,
    grant: m.settings_by_grant,
    answers: m.settings_by_answers,
    policy: m.settings_by_policy,
  });
}

/** Returns the label of a value from a table. Values of later versions are returned unchanged. */
function labelOf(key: string, words: Words): string {
  return (Object.hasOwn(words, key) ? words[key]?.() : undefined) ?? visibleText(key);
}
