// Form data of a rule.
import type { ArgumentRule, ClaimRule, RuleDirection, RuleEffect, Rule } from "$lib/api/generated";

import { ENDS, type Ends } from "./durations";

/** Condition on a tool's annotations. `kept` stands for a value from a file that this form can't represent. */
export type Claims = "any" | "writes" | "destructive" | "open" | "kept";
export type Lasts = "always" | "session" | Ends | "kept";

const NONE: ClaimRule = { readOnly: null, destructive: null, idempotent: null, openWorld: null };
const CLAIMS: Record<Exclude<Claims, "any" | "kept">, ClaimRule> = {
  writes: { ...NONE, readOnly: false },
  destructive: { ...NONE, destructive: true },
  open: { ...NONE, openWorld: true },
};

export interface Condition extends ArgumentRule {
  /** Identifies the row. */
  key: number;
}

export class RuleDraft {
  effect = $state<RuleEffect>("ask");
  server = $state("*");
  identity = $state("");
  tool = $state("");
  direction = $state<RuleDirection>("to_server");
  conditions = $state<Condition[]>([]);
  claims = $state<Claims>("any");
  lasts = $state<Lasts>("always");
  note = $state("");
  afterUntrusted = $state(false);
  readonly #rule: Rule | null;
  #next = 0;

  /** Creates a draft of `rule`, or an empty one. */
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
    return this.#rule === null;
  }

  /**
   * Set if the rule can only apply to outgoing payloads: other payloads have no tool, arguments or annotations, and
   * no rule allows them.
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

  /** Returns the rule in its current state. */
  rule(now: number): Rule {
    const before = this.#rule;
    const claims = this.effect === "allow" ? "any" : this.claims;
    const ends = this.lasts in ENDS ? now + ENDS[this.lasts as Ends] : null;
    const isKept = this.lasts === "kept";
    return {
      id: before?.id ?? "",
      source: this.lasts === "session" ? "session" : (before?.source ?? "user"),
      effect: this.effect,
      server: this.server.trim(),
      tool: this.tool.trim() === "" ? null : this.tool.trim(),
      direction: this.onlyTo ? "to_server" : this.direction,
      arguments: this.conditions.map(({ at, test, pattern }) => ({ at, test, pattern })),
      annotations:
        claims === "any"
          ? null
          : claims === "kept"
            ? (before?.annotations ?? null)
            : CLAIMS[claims],
      scope:
        isKept && before ? before.scope : { kind: this.lasts === "session" ? "session" : "always" },
      expiresAt: isKept && before ? before.expiresAt : ends,
      note: this.note.trim(),
      trustedServer: false,
      identity:
        this.effect === "allow" || this.identity.trim() === "" ? null : this.identity.trim(),
      afterUntrusted: this.effect === "allow" && this.afterUntrusted,
    };
  }
}

function claimsOf(claims: ClaimRule | null): Claims {
  if (!claims) return "any";
  const same = (other: ClaimRule) =>
    JSON.stringify(other) === JSON.stringify({ ...NONE, ...claims });
  const found = Object.entries(CLAIMS).find(([, other]) => same(other));
  return (found?.[0] as Claims | undefined) ?? "kept";
}
