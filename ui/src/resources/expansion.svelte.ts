// A template being filled in: its values, and the URI they make, which the host expands a little after the last key.

import { SvelteMap } from "svelte/reactivity";

import { call, toApiError, type ApiError } from "$lib/api/client";
import type { ResourceTemplate } from "$lib/api/generated";
import { pageState } from "$lib/page-state";

/** How long after the last key it is expanded, in milliseconds. */
export const PAUSE = 150;
/** How many templates keep their values. */
const MAX_KEPT = 50;

export class Expansion {
  readonly template: ResourceTemplate;
  values = $state<Record<string, string>>({});
  /** The URI that the values make; nothing before the first answer. */
  uri = $state<string | null>(null);
  error = $state.raw<ApiError | null>(null);
  /** Whether the URI is not yet that of the values. */
  pending = $state(false);

  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(template: ResourceTemplate) {
    this.template = template;
    // Assigned one by one, a variable named like a member of all objects could not be: that is frozen in the window.
    this.values = Object.fromEntries(template.variables.map((variable) => [variable, ""]));
  }

  /** Whether nothing is filled in. A template without variables is never empty. */
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
    // What is still on its way is about other values.
    this.#turn += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.expand(), PAUSE);
  }

  /** Expands it now. */
  async expand(): Promise<void> {
    clearTimeout(this.#timer);
    const turn = ++this.#turn;
    const filled = Object.entries(this.values).filter(([, value]) => value !== "");
    try {
      const { uri } = await call("expand_template", {
        template: this.template.uriTemplate,
        values: Object.fromEntries(filled),
      });
      if (turn !== this.#turn) return;
      this.uri = uri;
      this.error = null;
    } catch (cause) {
      if (turn !== this.#turn) return;
      this.uri = null;
      this.error = toApiError(cause);
    }
    this.pending = false;
  }

  /** The values of the variables before this one, as completion takes them. */
  contextFor(variable: string): Record<string, string> {
    const others = Object.entries(this.values).filter(
      ([name, value]) => name !== variable && value !== "",
    );
    return Object.fromEntries(others);
  }
}

const kept = new SvelteMap<string, Expansion>();
pageState(() => kept.clear());

/** The template as it was left, or empty. */
export function expansionOf(server: string, template: ResourceTemplate): Expansion {
  const key = JSON.stringify([server, template.uriTemplate]);
  const expansion = kept.get(key) ?? new Expansion(template);
  kept.delete(key);
  kept.set(key, expansion);
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_KEPT) break;
    kept.delete(oldest);
  }
  return expansion;
}
