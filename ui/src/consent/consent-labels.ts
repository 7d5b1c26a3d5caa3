// Labels and titles of consent requests.

import type {
  FieldProblem,
  FormProblem,
  ConsentRequest,
  ConsentRequestBody,
  ApprovalScope,
  UrlWarning,
  ConsentRequestOrigin,
} from "$lib/api/generated";
import { textBeginning, visibleText } from "$lib/format/text-safety";
import { languageTag } from "$lib/state/locale.svelte";

import { m } from "../paraglide/messages";
import type { RuleBlocker } from "../rules/request-rule";
import type { ValueKind } from "./payload";

/** Placeholders for names in a title. No message contains these private-use characters. */
const [NAME, SERVER, APP] = ["\uE000", "\uE001", "\uE002"] as const;

/** Returns a server's name shortened to one line, with hidden characters made visible. */
export function displayName(text: string): string {
  const short = textBeginning(text, 80, 1);
  return visibleText(short) + (short.length < text.length ? "…" : "");
}

/** Formats a number with thousands separators. */
export function formatCount(value: number): string {
  return new Intl.NumberFormat(languageTag()).format(value);
}

/**
 * Returns the title of a request as plain text. Names that come from a server are quoted, and so is the server's name
 * next to them.
 */
export function titleLabel(request: ConsentRequest): string {
  const { body, origin } = request;
  const quoted =
    body.kind === "tool" || body.kind === "read" || appOfSampling(body, origin) !== null;
  return titleParts(request)
    .map(({ text, foreign }) => {
      if (!foreign) return text;
      return quoted ? m.consent_quoted({ name: unquoted(displayName(text)) }) : displayName(text);
    })
    .join("");
}

/** Replaces quotation marks, so that a name can't end its own quotation. */
function unquoted(name: string): string {
  return name.replace(/[“”„‟«»「」『』＂"]/g, "'");
}

/** A part of a title. `foreign` is set for a name chosen by a server or user. */
interface TitlePart {
  text: string;
  foreign: boolean;
}

/**
 * Returns the tool whose app, instead of the server, requests sampling. Returns `null` for a sampling request of the
 * server, and for other requests.
 */
export function appOfSampling(
  body: ConsentRequestBody,
  origin: ConsentRequestOrigin,
): string | null {
  return body.kind === "sampling" && origin.by === "app" ? origin.tool : null;
}

/**
 * Returns the title of a request in parts. Tool calls, prompts and resources are requested for the user or a model, not
 * by the server.
 */
export function titleParts({ body, server, origin }: ConsentRequest): TitlePart[] {
  const [words, name] = titleOf(body, appOfSampling(body, origin));
  return words
    .split(/([\uE000-\uE002])/)
    .filter((text) => text !== "")
    .map((text) => {
      if (text === NAME) return { text: name, foreign: true };
      if (text === APP) return { text: receivingApp(body) ?? "", foreign: true };
      return text === SERVER ? { text: server, foreign: true } : { text, foreign: false };
    });
}

/** Returns the tool whose shown app receives a tool call instead of the server, or `null` for other requests. */
function receivingApp(body: ConsentRequestBody): string | null {
  return body.kind === "tool" ? (body.app ?? null) : null;
}

/** Returns the title message with the placeholders `NAME`, `SERVER` and `APP`, and the replacement of `NAME`. */
function titleOf(body: ConsentRequestBody, app: string | null): [words: string, name: string] {
  if (app !== null) {
    const wants = requestedActionLabel(body);
    return [m.consent_announce_app({ tool: NAME, server: SERVER, wants }), app];
  }
  switch (body.kind) {
    case "tool":
      return body.app === undefined
        ? [m.consent_run_tool({ tool: NAME, server: SERVER }), body.tool]
        : [m.consent_run_app_tool({ tool: NAME, app: APP, server: SERVER }), body.tool];
    case "read":
      return body.callKind === "prompt"
        ? [m.consent_get_prompt({ prompt: NAME, server: SERVER }), body.name]
        : [m.consent_read_resource({ resource: NAME, server: SERVER }), body.name];
    default:
      return [m.consent_announce({ server: SERVER, wants: requestedActionLabel(body) }), ""];
  }
}

/** Returns the requested action as a phrase that follows the server's name. */
export function requestedActionLabel(body: ConsentRequestBody): string {
  switch (body.kind) {
    case "start_server":
      return m.consent_wants_start_server();
    case "connect_server":
      return m.consent_wants_connect_server();
    case "tool":
      return m.consent_wants_tool();
    case "read":
      return body.callKind === "prompt" ? m.rules_wants_prompt() : m.rules_wants_resource();
    case "result":
      return m.consent_wants_result();
    case "sampling":
      return body.step === "response" ? m.consent_wants_answer() : m.consent_wants_model();
    case "form":
      return m.consent_wants_form();
    case "url":
      return m.consent_wants_url();
    case "roots":
      return m.consent_wants_roots();
    case "sign_in":
      return body.reason.is === "step_up" ? m.consent_wants_more() : m.consent_wants_sign_in();
    case "client_id":
      return m.consent_wants_client_id();
  }
}

export function transportLabel(name: string): string {
  if (name === "stdio") return m.consent_transport_stdio();
  return name === "http" ? m.consent_transport_http() : displayName(name);
}

/** Returns a sentence about the origin of a request. `title` returns the title of a conversation by id. */
export function originLabel(
  origin: ConsentRequestOrigin,
  title: (conversation: string) => string | undefined,
): string {
  switch (origin.by) {
    case "user": {
      const found = origin.conversation === null ? undefined : title(origin.conversation);
      return found === undefined
        ? m.consent_why_user()
        : m.consent_why_conversation({ title: displayName(found) });
    }
    case "model": {
      const found = title(origin.conversation);
      return found === undefined
        ? m.review_why_model_unknown()
        : m.review_why_model({ title: displayName(found) });
    }
    case "app":
      return m.review_why_app({ tool: displayName(origin.tool) });
    case "call": {
      const name = displayName(origin.name);
      if (origin.kind === "tool") return m.consent_why_tool({ name });
      return origin.kind === "prompt"
        ? m.consent_why_prompt({ name })
        : m.consent_why_resource({ name });
    }
    case "server":
      return m.consent_why_server();
    case "ended":
      return m.consent_why_ended({ cause: displayName(origin.cause) });
  }
}

export function valueKindLabel(kind: ValueKind): string | null {
  const words: Record<ValueKind, (() => string) | null> = {
    text: null,
    number: m.consent_kind_number,
    boolean: m.consent_kind_boolean,
    null: m.consent_kind_null,
    list: m.consent_kind_list,
    object: m.consent_kind_object,
  };
  return words[kind]?.() ?? null;
}

/** Returns the label of an approving button. `folders` is the number of folders to share. */
export function allowLabel(request: ConsentRequest, scope: ApprovalScope, folders: number): string {
  switch (request.body.kind) {
    case "sampling": {
      const { model, step } = request.body;
      if (step === "response") return m.consent_allow_answer();
      return model ? m.sampling_ask({ model: displayName(model.name) }) : m.consent_allow_model();
    }
    case "result":
      return m.consent_allow_result();
    case "form":
      return m.consent_accept();
    case "url":
      return m.consent_open_url();
    case "roots":
      return folders === 0 ? m.consent_share_none() : m.consent_share({ count: folders });
    case "sign_in":
      return request.body.authorizationUrl === null
        ? m.consent_allow_token()
        : m.consent_allow_sign_in();
    case "client_id":
      return m.consent_allow_client_id();
    case "start_server":
      if (scope === "always") return m.consent_allow_always_command();
      break;
    case "connect_server":
      if (scope === "always") return m.consent_allow_always_address();
      break;
    case "tool":
      if (scope === "always") return m.consent_allow_always_tool();
      break;
  }
  if (scope === "conversation") return m.consent_allow_conversation();
  return scope === "session" ? m.consent_allow_session() : m.consent_allow_once();
}

/**
 * Returns the label of the button that denies a request: "Don't send" for a result, "Decline" for sampling, forms and
 * URLs, otherwise "Deny".
 */
export function denyLabel(body: ConsentRequestBody): string {
  if (body.kind === "result") return m.consent_leave_out();
  const declined = body.kind === "sampling" || body.kind === "form" || body.kind === "url";
  return declined ? m.consent_decline() : m.consent_deny();
}

/** Returns the label of a sampling response's stop reason. Unknown reasons are returned unchanged. */
export function stopReasonLabel(reason: string | null): string {
  switch (reason) {
    case null:
    case "endTurn":
      return m.consent_stop_end_turn();
    case "maxTokens":
      return m.consent_stop_max_tokens();
    case "stopSequence":
      return m.consent_stop_sequence();
    case "toolUse":
      return m.sampling_stop_tool();
    default:
      return displayName(reason);
  }
}

/**
 * Returns the translated description of the rule that requires consent. Unknown rules are returned in the wording of
 * the policy.
 */
export function ruleLabel(rule: string): string {
  const known: Record<string, () => string> = {
    "new-command": m.consent_rule_new_command,
    "command-changed": m.consent_rule_command_changed,
    "sandbox-chosen": m.consent_rule_sandbox_chosen,
    "new-address": m.consent_rule_new_address,
    "address-changed": m.consent_rule_address_changed,
    "tools-ask": m.consent_rule_tools_ask,
    "tool-changed": m.consent_rule_tool_changed,
    "sampling-asks": m.consent_rule_sampling_asks,
    "forms-ask": m.consent_rule_forms_ask,
    "urls-ask": m.consent_rule_urls_ask,
    "app-reads-ask": m.consent_rule_app_reads_ask,
    "app-tools-ask": m.consent_rule_app_tools_ask,
    "roots-ask": m.consent_rule_roots_ask,
    "sign-in-asks": m.consent_rule_sign_in_asks,
    muted: m.consent_rule_muted,
    "rule-asks": m.rules_reason_asks,
    "tool-asks-each-time": m.rules_reason_tool_asks,
    "rule-denies": m.rules_reason_denies,
    "preset-asks": m.rules_reason_preset,
    "policy-unusable": m.rules_reason_user_unusable,
    "managed-unusable": m.rules_reason_managed_unusable,
    "new-tool": m.review_rule_new_tool,
    "after-untrusted": m.review_rule_after_untrusted,
    "result-review": m.consent_rule_result_review,
  };
  return (Object.hasOwn(known, rule) ? known[rule]?.() : undefined) ?? displayName(rule);
}

/** Returns the translated reason why no rule can allow a call. */
export function ruleBlockerLabel(blocker: RuleBlocker): string {
  const words: Record<RuleBlocker, () => string> = {
    unreviewed: m.consent_always_when_unreviewed,
    each_time: m.consent_always_when_each_time,
    rule: m.consent_always_when_rule,
    preset: m.consent_always_when_preset,
    unusable: m.consent_always_when_unusable,
    name: m.consent_always_when_name,
  };
  return words[blocker]();
}

export function urlWarningLabel(warning: UrlWarning): string {
  const words: Record<UrlWarning, () => string> = {
    not_encrypted: m.consent_warn_not_encrypted,
    user_information: m.consent_warn_user_information,
    internationalized: m.consent_warn_internationalized,
    ip_address: m.consent_warn_ip_address,
    local: m.consent_warn_local,
    not_allowed: m.consent_warn_not_allowed,
  };
  return words[warning]();
}

export function formProblemLabel(problem: FormProblem): string {
  const limit = problem.limit ?? 0;
  const words: Record<FieldProblem, () => string> = {
    required: () => m.consent_problem_required(),
    wrong_type: () => m.consent_problem_wrong_type(),
    too_short: () => m.consent_problem_too_short({ limit }),
    too_long: () => m.consent_problem_too_long({ limit }),
    too_small: () => m.consent_problem_too_small({ limit }),
    too_large: () => m.consent_problem_too_large({ limit }),
    too_few: () => m.consent_problem_too_few({ limit }),
    too_many: () => m.consent_problem_too_many({ limit }),
    not_an_option: () => m.consent_problem_not_an_option(),
    not_an_email: () => m.consent_problem_not_an_email(),
    not_a_uri: () => m.consent_problem_not_a_uri(),
    not_a_date: () => m.consent_problem_not_a_date(),
    not_a_date_time: () => m.consent_problem_not_a_date_time(),
    unknown_field: () => m.consent_problem_unknown_field({ field: displayName(problem.field) }),
  };
  return words[problem.problem]();
}

/** Returns the label of the `includeContext` value of a sampling request. */
export function includeContextLabel(context: string): string {
  if (context === "thisServer") return m.consent_context_this();
  return context === "allServers" ? m.consent_context_all() : m.consent_context_none();
}

/** Says that requests wait because the user is in a text field. `first` is the one that is opened first. */
export function heldLabel(first: ConsentRequest, count: number): string {
  const server = displayName(first.server);
  return count > 1 ? m.consent_held_several({ server, count }) : m.consent_held({ server });
}
