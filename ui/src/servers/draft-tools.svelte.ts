// The lists of tools that models are offered, while they are being written.
import type { ToolFilter } from "$lib/api/generated";

/** Maximum number of patterns in a list. The host has the same limit. */
const MAX_PATTERNS = 1_000;
/** Maximum length of a pattern in UTF-8 bytes. The host has the same limit. */
const MAX_PATTERN = 1_000;

export class ToolFilterDraft {
  /** Selected filter: `all` offers every tool to models, `only` those that match `enabled`. */
  which = $state<"all" | "only">("all");
  /** Patterns of the enabled tools, one per line. Used only if `which` is `only`. */
  enabled = $state("");
  /** Patterns of the disabled tools, one per line. */
  disabled = $state("");
  readonly #before: ToolFilter | undefined;
  readonly #shown: string;

  constructor(before?: ToolFilter) {
    this.#before = before;
    this.which = before?.enabled ? "only" : "all";
    this.enabled = before?.enabled?.join("\n") ?? "";
    this.disabled = before?.disabled.join("\n") ?? "";
    this.#shown = this.#text;
  }

  get #text(): string {
    return JSON.stringify([this.which, this.enabled, this.disabled]);
  }

  /**
   * Returns the edited filter. Without an edit, returns the stored one unchanged, so that names which the form can't
   * represent are preserved.
   */
  get wanted(): ToolFilter | undefined {
    if (this.#text === this.#shown) return this.#before;
    const enabled = this.which === "only" ? parsePatterns(this.enabled) : null;
    return { enabled, disabled: parsePatterns(this.disabled) };
  }

  /** Set if the list of enabled tools or one of its patterns exceeds the limits of the host. */
  get isEnabledTooLong(): boolean {
    return isTooLong(this.wanted?.enabled ?? []);
  }

  /** Set if the list of disabled tools or one of its patterns is longer than the host accepts. */
  get isDisabledTooLong(): boolean {
    return isTooLong(this.wanted?.disabled ?? []);
  }
}

function isTooLong(list: string[]): boolean {
  const isLong = (pattern: string) => new TextEncoder().encode(pattern).length > MAX_PATTERN;
  return list.length > MAX_PATTERNS || list.some(isLong);
}

function parsePatterns(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "");
}
