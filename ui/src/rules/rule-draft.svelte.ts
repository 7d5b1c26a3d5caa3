// Form data of a rule.
import type {
  ArgumentRule,
  ClaimRule,
  RuleDirection,
  RuleEffect,
  Rule,
  RuleScope,
} from "$lib/api/generated";

import { DURATIONS_MS, type TemporaryDuration } from "./durations";

/** Condition on a tool's annotations. `kept` stands for a condition from a file that this form can't represent. */
export type AnnotationCondition = "any" | "writes" | "destructive" | "open" | "kept";
export type RuleDuration = "always" | "session" | "conversation" | TemporaryDuration | "kept";

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
  /** The only conversation in which a rule may allow, or `null` if there is no such limit. */
  readonly #onlyIn: string | null;
  #next = 0;

  /**
   * Creates a draft of `rule`, or an empty draft. A rule without an id is new. With `onlyIn`, a rule that allows is
   * limited to this conversation.
   */
  constructor(rule: Rule | null, onlyIn: string | null = null) {
    this.#rule = rule;
    this.#onlyIn = onlyIn;
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

  /** Set if the rule allows and is therefore limited to one conversation. */
  readonly isLimited: boolean = $derived.by(() => this.effect === "allow" && this.#onlyIn !== null);
  /** Duration of the edited rule. It is fixed for a rule that is limited to one conversation. */
  readonly duration: RuleDuration = $derived.by(() =>
    this.isLimited ? "conversation" : this.lasts,
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
    const lasts = this.duration;
    const ends = lasts in DURATIONS_MS ? now + DURATIONS_MS[lasts as TemporaryDuration] : null;
    const isKept = lasts === "kept";
    return {
      id: previous?.id ?? "",
      source:
        lasts === "session" || lasts === "conversation" ? "session" : (previous?.source ?? "user"),
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
      scope: isKept && previous ? previous.scope : this.#scope(lasts),
      expiresAt: isKept && previous ? previous.expiresAt : ends,
      note: this.note.trim(),
      trustedServer: false,
      identity:
        this.effect === "allow" || this.identity.trim() === "" ? null : this.identity.trim(),
      afterUntrusted: this.effect === "allow" && this.afterUntrusted,
    };
  }

  #scope(lasts: RuleDuration): RuleScope {
    if (lasts === "conversation" && this.#onlyIn !== null)
      return { kind: "conversation", conversation: this.#onlyIn };
    return { kind: lasts === "session" ? "session" : "always" };
  }
}

function claimsOf(claims: ClaimRule | null): AnnotationCondition {
  if (!claims) return "any";
  const same = (other: ClaimRule) =>
    JSON.stringify(other) === JSON.stringify({ ...NO_CLAIMS, ...claims });
  const found = Object.entries(CLAIMS).find(([, other]) => same(other));
  return (found?.[0] as AnnotationCondition | undefined) ?? "kept";
}
