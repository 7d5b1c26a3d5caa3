// The page's own words for questions.

import type {
  FieldProblem,
  FormProblem,
  Question,
  QuestionBody,
  Scope,
  UrlWarning,
  Why,
} from "$lib/api/generated";
import { beginning, visibleText } from "$lib/format/text-safety";
import { languageTag } from "$lib/state/locale.svelte";

import { m } from "../paraglide/messages";
import type { ValueKind } from "./crossing";

/** Stand for names in a sentence until it is taken apart. No message has these characters. */
const [NAME, SERVER] = ["\uE000", "\uE001"] as const;

/** A name from outside, short and visible, to stand inside a sentence of ours. */
export function named(text: string): string {
  const short = beginning(text, 80, 1);
  return visibleText(short) + (short.length < text.length ? "…" : "");
}

/** A number with its thousands apart. */
export function numbered(value: number): string {
  return new Intl.NumberFormat(languageTag()).format(value);
}

/** The title of a question as plain text. A name that comes from a server stands in quotation marks, and so does its server's. */
export function titleWords(question: Question): string {
  const quoted = question.body.kind === "tool" || question.body.kind === "read";
  return titleParts(question)
    .map(({ text, foreign }) => {
      if (!foreign) return text;
      return quoted ? m.questions_quoted({ name: unquoted(named(text)) }) : named(text);
    })
    .join("");
}

/** A name that can't end its own quotation. */
function unquoted(name: string): string {
  return name.replace(/[“”„‟«»「」『』＂"]/g, "'");
}

/**
 * Who wants what, in pieces, so that the names in it can be told from the words. A tool is run, a prompt got and a resource
 * read for the user or a model, not for its server.
 */
export function titleParts({ body, server }: Question): { text: string; foreign: boolean }[] {
  const [words, name] = titleOf(body);
  return words
    .split(/([\uE000\uE001])/)
    .filter((text) => text !== "")
    .map((text) => {
      if (text === NAME) return { text: name, foreign: true };
      return text === SERVER ? { text: server, foreign: true } : { text, foreign: false };
    });
}

/** The words of a title, and the name that stands in it beside the server's. */
function titleOf(body: QuestionBody): [words: string, name: string] {
  switch (body.kind) {
    case "tool":
      return [m.questions_run_tool({ tool: NAME, server: SERVER }), body.tool];
    case "read":
      return body.what === "prompt"
        ? [m.questions_get_prompt({ prompt: NAME, server: SERVER }), body.name]
        : [m.questions_read_resource({ resource: NAME, server: SERVER }), body.name];
    default:
      return [m.questions_announce({ server: SERVER, wants: wants(body) }), ""];
  }
}

/** What is asked for, to follow the name of the server. */
export function wants(body: QuestionBody): string {
  switch (body.kind) {
    case "start_server":
      return m.questions_wants_start_server();
    case "connect_server":
      return m.questions_wants_connect_server();
    case "tool":
      return m.questions_wants_tool();
    case "read":
      return body.what === "prompt" ? m.rules_wants_prompt() : m.rules_wants_resource();
    case "result":
      return m.questions_wants_result();
    case "sampling":
      return body.step === "response" ? m.questions_wants_answer() : m.questions_wants_model();
    case "form":
      return m.questions_wants_form();
    case "url":
      return m.questions_wants_url();
    case "roots":
      return m.questions_wants_roots();
    case "sign_in":
      return body.reason.is === "step_up" ? m.questions_wants_more() : m.questions_wants_sign_in();
    case "client_id":
      return m.questions_wants_client_id();
  }
}

export function transport(name: string): string {
  if (name === "stdio") return m.questions_transport_stdio();
  return name === "http" ? m.questions_transport_http() : named(name);
}

/** Why it is asked now. `title` finds a conversation's title. */
export function reason(why: Why, title: (conversation: string) => string | undefined): string {
  switch (why.by) {
    case "user": {
      const found = why.conversation === null ? undefined : title(why.conversation);
      return found === undefined
        ? m.questions_why_user()
        : m.questions_why_conversation({ title: named(found) });
    }
    case "model": {
      const found = title(why.conversation);
      return found === undefined
        ? m.review_why_model_unknown()
        : m.review_why_model({ title: named(found) });
    }
    case "call": {
      const name = named(why.name);
      if (why.kind === "tool") return m.questions_why_tool({ name });
      return why.kind === "prompt"
        ? m.questions_why_prompt({ name })
        : m.questions_why_resource({ name });
    }
    case "server":
      return m.questions_why_server();
    case "ended":
      return m.questions_why_ended({ cause: named(why.cause) });
  }
}

export function kindWords(kind: ValueKind): string | null {
  const words: Record<ValueKind, (() => string) | null> = {
    text: null,
    number: m.questions_kind_number,
    boolean: m.questions_kind_boolean,
    null: m.questions_kind_null,
    list: m.questions_kind_list,
    object: m.questions_kind_object,
  };
  return words[kind]?.() ?? null;
}

/** What the button says that lets a question cross for so long. `folders` are those to be shared. */
export function allowWords(question: Question, scope: Scope, folders: number): string {
  switch (question.body.kind) {
    case "sampling": {
      const { model, step } = question.body;
      if (step === "response") return m.questions_allow_answer();
      return model ? m.sampling_ask({ model: named(model.name) }) : m.questions_allow_model();
    }
    case "result":
      return m.questions_allow_result();
    case "form":
      return m.questions_accept();
    case "url":
      return m.questions_open_url();
    case "roots":
      return folders === 0 ? m.questions_share_none() : m.questions_share({ count: folders });
    case "sign_in":
      return question.body.authorizationUrl === null
        ? m.questions_allow_token()
        : m.questions_allow_sign_in();
    case "client_id":
      return m.questions_allow_client_id();
    case "start_server":
      if (scope === "always") return m.questions_allow_always_command();
      break;
    case "connect_server":
      if (scope === "always") return m.questions_allow_always_address();
      break;
    case "tool":
      if (scope === "always") return m.questions_allow_always_tool();
      break;
  }
  if (scope === "conversation") return m.questions_allow_conversation();
  return scope === "session" ? m.questions_allow_session() : m.questions_allow_once();
}

/** What the button says that refuses. */
export function denyWords(body: QuestionBody): string {
  if (body.kind === "result") return m.questions_leave_out();
  const declined = body.kind === "sampling" || body.kind === "form" || body.kind === "url";
  return declined ? m.questions_decline() : m.questions_deny();
}

/** Why an answer ends; unknown reasons as they are. */
export function stopWords(reason: string | null): string {
  switch (reason) {
    case null:
    case "endTurn":
      return m.questions_stop_end_turn();
    case "maxTokens":
      return m.questions_stop_max_tokens();
    case "stopSequence":
      return m.questions_stop_sequence();
    case "toolUse":
      return m.sampling_stop_tool();
    default:
      return named(reason);
  }
}

/** The rule that asked: by its name, else as the policy words it. */
export function ruleWords(rule: string): string {
  const known: Record<string, () => string> = {
    "new-command": m.questions_rule_new_command,
    "command-changed": m.questions_rule_command_changed,
    "new-address": m.questions_rule_new_address,
    "address-changed": m.questions_rule_address_changed,
    "tools-ask": m.questions_rule_tools_ask,
    "tool-changed": m.questions_rule_tool_changed,
    "sampling-asks": m.questions_rule_sampling_asks,
    "forms-ask": m.questions_rule_forms_ask,
    "urls-ask": m.questions_rule_urls_ask,
    "roots-ask": m.questions_rule_roots_ask,
    "sign-in-asks": m.questions_rule_sign_in_asks,
    muted: m.questions_rule_muted,
    "rule-asks": m.rules_reason_asks,
    "tool-asks-each-time": m.rules_reason_tool_asks,
    "rule-denies": m.rules_reason_denies,
    "preset-asks": m.rules_reason_preset,
    "policy-unusable": m.rules_reason_user_unusable,
    "managed-unusable": m.rules_reason_managed_unusable,
    "new-tool": m.review_rule_new_tool,
    "after-untrusted": m.review_rule_after_untrusted,
    "result-review": m.questions_rule_result_review,
  };
  return (Object.hasOwn(known, rule) ? known[rule]?.() : undefined) ?? named(rule);
}

export function warningWords(warning: UrlWarning): string {
  const words: Record<UrlWarning, () => string> = {
    not_encrypted: m.questions_warn_not_encrypted,
    user_information: m.questions_warn_user_information,
    internationalized: m.questions_warn_internationalized,
    ip_address: m.questions_warn_ip_address,
    local: m.questions_warn_local,
    not_allowed: m.questions_warn_not_allowed,
  };
  return words[warning]();
}

export function problemWords(problem: FormProblem): string {
  const limit = problem.limit ?? 0;
  const words: Record<FieldProblem, () => string> = {
    required: () => m.questions_problem_required(),
    wrong_type: () => m.questions_problem_wrong_type(),
    too_short: () => m.questions_problem_too_short({ limit }),
    too_long: () => m.questions_problem_too_long({ limit }),
    too_small: () => m.questions_problem_too_small({ limit }),
    too_large: () => m.questions_problem_too_large({ limit }),
    too_few: () => m.questions_problem_too_few({ limit }),
    too_many: () => m.questions_problem_too_many({ limit }),
    not_an_option: () => m.questions_problem_not_an_option(),
    not_an_email: () => m.questions_problem_not_an_email(),
    not_a_uri: () => m.questions_problem_not_a_uri(),
    not_a_date: () => m.questions_problem_not_a_date(),
    not_a_date_time: () => m.questions_problem_not_a_date_time(),
    unknown_field: () => m.questions_problem_unknown_field({ field: named(problem.field) }),
  };
  return words[problem.problem]();
}

/** What of other servers a request wants to include. */
export function contextWords(context: string): string {
  if (context === "thisServer") return m.questions_context_this();
  return context === "allServers" ? m.questions_context_all() : m.questions_context_none();
}
