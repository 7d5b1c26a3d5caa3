// Labels of rules. Foreign names and patterns are shortened, with hidden characters made visible.

import type { ArgumentRule, ClaimRule, DecisionSource, RuleEffect, Rule } from "$lib/api/generated";
import { textBeginning, visibleText } from "$lib/format/text-safety";

import { m } from "../paraglide/messages";
import { ruleLabel } from "../consent/consent-labels";

export function shortName(text: string): string {
  const start = textBeginning(text, 80, 1);
  return visibleText(start) + (start.length < text.length ? "…" : "");
}

export function ruleEffectLabel(effect: RuleEffect): string {
  return { allow: m.rules_allow, ask: m.rules_ask, deny: m.rules_deny }[effect]();
}

/** Returns the servers and tools that a rule applies to, as one text. */
export function ruleSubjectLabel(rule: Rule): string {
  const server = rule.server === "*" ? m.rules_any_server() : shortName(rule.server);
  if (rule.sampling) {
    const { requestsPerHour: requests, tokensPerHour: tokens } = rule.sampling;
    return m.sampling_rule_about({ server, requests, tokens });
  }
  if (rule.tool !== null) return m.rules_about_tool({ tool: shortName(rule.tool), server });
  if (rule.arguments.length > 0 || rule.annotations || rule.trustedServer)
    return m.rules_about_tools({ server });
  switch (rule.direction) {
    case "to_server":
      return m.rules_about_to({ server });
    case "from_server":
      return m.rules_about_from({ server });
    case "both":
      return m.rules_about_both({ server });
  }
}

/** Returns a translated text for each condition of a rule. */
export function conditionLabels(rule: Rule): string[] {
  const words: string[] = rule.arguments.map(argumentLabel);
  if (rule.identity !== null)
    words.unshift(m.rules_if_identity({ identity: shortName(rule.identity) }));
  if (rule.annotations) words.push(...claimLabel(rule.annotations));
  if (rule.scope.kind === "conversation") words.push(m.rules_in_conversation());
  if (rule.afterUntrusted) words.push(m.rules_even_after());
  return words;
}

function argumentLabel({ at, test, pattern }: ArgumentRule): string {
  const what = { at: shortName(at), pattern: shortName(pattern) };
  switch (test) {
    case "glob":
      return m.rules_if_glob(what);
    case "regex":
      return m.rules_if_regex(what);
    case "folder":
      return m.rules_if_folder(what);
    case "path":
      return m.rules_if_path(what);
    case "url":
      return m.rules_if_url(what);
    case "number":
      return m.rules_if_number(what);
  }
}

function claimLabel(claims: ClaimRule): string[] {
  const pairs: [boolean | null, () => string, () => string][] = [
    [claims.readOnly, m.rules_if_read_only, m.rules_if_not_read_only],
    [claims.destructive, m.rules_if_destructive, m.rules_if_not_destructive],
    [claims.idempotent, m.rules_if_idempotent, m.rules_if_not_idempotent],
    [claims.openWorld, m.rules_if_open_world, m.rules_if_not_open_world],
  ];
  return pairs.flatMap(([said, yes, no]) => (said === null ? [] : [said ? yes() : no()]));
}

/** Returns a summary of the rule in one line. */
export function ruleSummary(rule: Rule): string {
  return `${ruleEffectLabel(rule.effect)}: ${[ruleSubjectLabel(rule), ...conditionLabels(rule)].join(", ")}.`;
}

/** Returns the translated reason for a decision of the policy. */
export function decisionReasonLabel(reason: string): string {
  const known: Record<string, () => string> = {
    allowed: m.rules_reason_allowed,
    "rule-denies": m.rules_reason_denies,
    "rule-asks": m.rules_reason_asks,
    "preset-asks": m.rules_reason_preset,
    "policy-unusable": m.rules_reason_user_unusable,
    "managed-unusable": m.rules_reason_managed_unusable,
    "turned-off": m.rules_reason_turned_off,
  };
  return Object.hasOwn(known, reason) ? (known[reason]?.() ?? "") : ruleLabel(reason);
}

export function decisionSourceLabel(by: DecisionSource): string {
  switch (by.kind) {
    case "built_in":
      return m.rules_by_built_in();
    case "grant":
      return m.rules_by_grant();
    case "preset":
      return m.rules_by_preset();
    case "managed_preset":
      return m.rules_by_managed_preset();
    case "repeated_approval":
      return m.rules_by_repeated_approval();
    case "rule": {
      const { id, source } = by.rule;
      if (source === "managed") return m.rules_by_managed({ id });
      return source === "session" ? m.rules_by_session({ id }) : m.rules_by_rule({ id });
    }
  }
}

/** Returns a text that states if a rule matches a call, and otherwise the reason why it does not. */
export function ruleMatchLabel(fit: string, argument: number | null): string {
  const known: Record<string, () => string> = {
    fits: m.rules_fit_fits,
    "other-server": m.rules_fit_server,
    "other-direction": m.rules_fit_direction,
    "other-tool": m.rules_fit_tool,
    "other-argument": () => m.rules_fit_argument({ number: (argument ?? 0) + 1 }),
    "other-annotations": m.rules_fit_annotations,
    "other-conversation": m.rules_fit_conversation,
    expired: m.rules_fit_expired,
    changed: m.rules_fit_changed,
    "not-reviewed": m.rules_fit_not_reviewed,
    "asks-each-time": m.rules_fit_asks_each_time,
    "over-budget": m.sampling_rule_fit_budget,
    "after-untrusted": m.rules_fit_after_untrusted,
  };
  return (Object.hasOwn(known, fit) ? known[fit]?.() : undefined) ?? visibleText(fit);
}

/** Returns a text with the reason why a condition on an argument matches or does not match. */
export function conditionResultLabel(reason: string): string {
  const known: Record<string, () => string> = {
    matches: m.rules_why_matches,
    differs: m.rules_why_differs,
    missing: m.rules_why_missing,
    "not-judged": m.rules_why_not_judged,
    "too-long": m.rules_why_too_long,
    respelled: m.rules_why_respelled,
    climbs: m.rules_why_climbs,
    "crosses-parts": m.rules_why_crosses_parts,
    holds: m.rules_why_holds,
    "not-whole": m.rules_why_not_whole,
    "second-name": m.rules_why_second_name,
    letters: m.rules_why_letters,
    unresolved: m.rules_why_unresolved,
    "leads-elsewhere": m.rules_why_leads_elsewhere,
    "user-info": m.rules_why_user_info,
    "not-address": m.rules_why_not_address,
    "not-number": m.rules_why_not_number,
    "text-number": m.rules_why_text_number,
  };
  return (Object.hasOwn(known, reason) ? known[reason]?.() : undefined) ?? visibleText(reason);
}
