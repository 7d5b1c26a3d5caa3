// Form data of a rule.
import type { ArgumentRule, ClaimRule, RuleDirection, RuleEffect, Rule } from "$lib/api/generated";

import { DURATIONS_MS, type TemporaryDuration } from "./durations";

/** Condition on a tool's annotations. `kept` stands for a condition from a file that this form can't represent. */
export type AnnotationCondition = "any" | "writes" | "destructive" | "open" | "kept";
export type RuleDuration = "always" | "session" | TemporaryDuration | "kept";

const NO_CLAIMS: ClaimRule = {
  readOnly: null,
  destructive: null,
  idempotent: null,
  openWorld: null,
};
const CLAIMS: Record<Exclude<AnnotationCondition, "any" | "kept">, ClaimRule> = {
  writes: { ...NO_CLAIMS, readOnly: false },
  destructive: { ...NO_CLAIMS, destructive: true },
  open: { ...NO_CLAIMS, openWorld: true },
};

export interface ConditionRow extends ArgumentRule {
  /** Unique key of the row in the rendered form. */
  key: number;
}

export class RuleDraft {
  effect = $state<RuleEffect>("ask");
  server = $state("*");
  identity = $state("");
  tool = $state("");
  direction = $state<RuleDirection>("to_server");
  conditions = $state<ConditionRow[]>([]);
  claims = $state<AnnotationCondition>("any");
  lasts = $state<RuleDuration>("always");
  note = $state("");
  afterUntrusted = $state(false);
  readonly #rule: Rule | null;
  #next = 0;

  /** Creates a draft of `rule`, or an empty draft. A rule without an id is new. */
  constructor(rule: Rule | null) {
    this.#rule = rule;
    if (!rule) return;
    this.effect = rule.effect;
    this.server = rule.server;
    this.identity = rule.identity ?? "";
    this.afterUntrusted = rule.afterUntrusted;
    this.tool = rule.tool ?? "";
    this.direction = rule.direction;
    this.conditions = rule.arguments.map((condition) => ({ ...condition, key: this.#next++ }));
    this.claims = claimsOf(rule.annotations);
    this.note = rule.note;
    if (rule.expiresAt !== null || rule.scope.kind === "conversation") this.lasts = "kept";
    else if (rule.scope.kind === "session") this.lasts = "session";
  }

  get isNew(): boolean {
    return this.#rule === null || this.#rule.id === "";
  }

  /**
   * Set if the rule can only apply to outgoing payloads. Incoming payloads have no tool, arguments or annotations, and
   * a rule can't allow them.
   */
  readonly onlyTo = $derived(
    this.effect === "allow" ||
      this.tool.trim() !== "" ||
      this.conditions.length > 0 ||
      this.claims !== "any",
  );

  add(): void {
    this.conditions.push({ key: this.#next++, at: "/", test: "glob", pattern: "" });
  }

  remove(key: number): void {
    this.conditions = this.conditions.filter((condition) => condition.key !== key);
  }

  /**
   * Returns the edited rule. `now` is the current time in milliseconds since 1970, from which a temporary duration
   * counts.
   */
  rule(now: number): Rule {
    const previous = this.#rule;
    const claims = this.effect === "allow" ? "any" : this.claims;
    const ends =
      this.lasts in DURATIONS_MS ? now + DURATIONS_MS[this.lasts as TemporaryDuration] : null;
    const isKept = this.lasts === "kept";
    return {
      id: previous?.id ?? "",
      source: this.lasts === "session" ? "session" : (previous?.source ?? "user"),
      effect: this.effect,
      server: this.server.trim(),
      tool: this.tool.trim() === "" ? null : this.tool.trim(),
      direction: this.onlyTo ? "to_server" : this.direction,
      arguments: this.conditions.map(({ at, test, pattern }) => ({ at, test, pattern })),
      annotations:
        claims === "any"
          ? null
          : claims === "kept"
            ? (previous?.annotations ?? null)
            : CLAIMS[claims],
      scope:
        isKept && previous
          ? previous.scope
          : { kind: this.lasts === "session" ? "session" : "always" },
      expiresAt: isKept && previous ? previous.expiresAt : ends,
      note: this.note.trim(),
      trustedServer: false,
      identity:
        this.effect === "allow" || this.identity.trim() === "" ? null : this.identity.trim(),
      afterUntrusted: this.effect === "allow" && this.afterUntrusted,
    };
  }
}

function claimsOf(claims: ClaimRule | null): AnnotationCondition {
  if (!claims) return "any";
  const same = (other: ClaimRule) =>
    JSON.stringify(other) === JSON.stringify({ ...NO_CLAIMS, ...claims });
  const found = Object.entries(CLAIMS).find(([, other]) => same(other));
  return (found?.[0] as AnnotationCondition | undefined) ?? "kept";
}
