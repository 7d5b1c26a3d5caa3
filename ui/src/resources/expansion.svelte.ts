// State of a resource template: its variables and the resulting URI, which the host expands after typing pauses.

import { SvelteMap } from "svelte/reactivity";

import { call, toApiError, type ApiError } from "$lib/api/client";
import type { ResourceTemplate } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";

/** Delay after the last key before the expansion is requested, in milliseconds. */
export const EXPANSION_DELAY_MS = 150;
/** Maximum number of templates whose values are retained. */
const MAX_KEPT = 50;

export class TemplateExpansion {
  readonly template: ResourceTemplate;
  values = $state<Record<string, string>>({});
  /** The expanded URI, or `null` before the first response of the host. */
  uri = $state<string | null>(null);
  error = $state.raw<ApiError | null>(null);
  /** Set while `uri` does not match the current values. */
  pending = $state(false);

  #lastRequest = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(template: ResourceTemplate) {
    this.template = template;
    // Assigning members one by one would fail for a variable named like a member of `Object.prototype`, which is
    // frozen in the window.
    this.values = Object.fromEntries(template.variables.map((variable) => [variable, ""]));
  }

  /** Set if no variable has a value. Never set for a template without variables. */
  get empty(): boolean {
    const values = Object.values(this.values);
    return values.length > 0 && values.every((value) => value === "");
  }

  set(variable: string, value: string): void {
    this.values[variable] = value;
    this.expandSoon();
  }

  expandSoon(): void {
    this.pending = true;
    // A running expansion belongs to other values.
    this.#lastRequest += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.expand(), EXPANSION_DELAY_MS);
  }

  /** Requests the expansion of the current values from the host. */
  async expand(): Promise<void> {
    clearTimeout(this.#timer);
    const request = ++this.#lastRequest;
    const filled = Object.entries(this.values).filter(([, value]) => value !== "");
    try {
      const { uri } = await call("expand_template", {
        template: this.template.uriTemplate,
        values: Object.fromEntries(filled),
      });
      if (request !== this.#lastRequest) return;
      this.uri = uri;
      this.error = null;
    } catch (cause) {
      if (request !== this.#lastRequest) return;
      this.uri = null;
      this.error = toApiError(cause);
    }
    this.pending = false;
  }

  /** Returns the values of the variables that precede `variable`, which completion requires. */
  contextFor(variable: string): Record<string, string> {
    const others = Object.entries(this.values).filter(
      ([name, value]) => name !== variable && value !== "",
    );
    return Object.fromEntries(others);
  }
}

const retained = new SvelteMap<string, TemplateExpansion>();
registerPageState(() => retained.clear());

/** Returns the retained state of a template, or a new one. */
export function expansionOf(server: string, template: ResourceTemplate): TemplateExpansion {
  const key = JSON.stringify([server, template.uriTemplate]);
  const expansion = retained.get(key) ?? new TemplateExpansion(template);
  retained.delete(key);
  retained.set(key, expansion);
  for (const oldest of retained.keys()) {
    if (retained.size <= MAX_KEPT) break;
    retained.delete(oldest);
  }
  return expansion;
}
