// Completion of one argument at a time, debounced. A response counts only for the latest request.

import { toApiError } from "$lib/api/client";
import type { Completion } from "$lib/api/generated";

/** How long after the last key a server is asked, in milliseconds. */
export const PAUSE = 150;

export interface Wish {
  argument: string;
  value: string;
  /** The arguments given before. */
  context: Record<string, string>;
}

export class Completions {
  /** The argument that the values are for. */
  argument = $state<string | null>(null);
  values = $state.raw<string[]>([]);
  /** How many there are that are not shown; null where the server does not say. */
  more = $state<number | null>(0);
  /** The chosen value in the list, or -1. */
  active = $state(-1);
  busy = $state(false);
  /** Why the server could not complete. */
  problem = $state<string | null>(null);

  /** The server does not complete at all; it is not asked again. */
  #off = false;
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #complete: (wish: Wish) => Promise<Completion>;

  constructor(complete: (wish: Wish) => Promise<Completion>) {
    this.#complete = complete;
  }

  get open(): boolean {
    return this.argument !== null && this.values.length > 0;
  }

  ask(wish: Wish): void {
    if (this.#off) return;
    const turn = ++this.#turn;
    if (this.argument !== wish.argument) this.#show(null);
    else this.#narrow(wish.value);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(wish, turn), PAUSE);
  }

  close(): void {
    this.#turn += 1;
    clearTimeout(this.#timer);
    this.busy = false;
    this.problem = null;
    this.#show(null);
  }

  /** Moves the choice; from the last value it goes back to none, so that what was typed can be kept. */
  move(by: 1 | -1): void {
    const places = this.values.length + 1;
    this.active = ((this.active + 1 + by + places) % places) - 1;
  }

  get chosen(): string | null {
    return this.values[this.active] ?? null;
  }

  async #run(wish: Wish, turn: number): Promise<void> {
    this.busy = true;
    try {
      const completion = await this.#complete(wish);
      if (turn === this.#turn) this.#show(wish.argument, completion);
    } catch (cause) {
      if (turn !== this.#turn) return;
      this.#show(null);
      const error = toApiError(cause);
      this.#off = error.code === "unsupported";
      if (!this.#off) this.problem = error.message;
    } finally {
      if (turn === this.#turn) this.busy = false;
    }
  }

  /** Until the answer is there, leaves only what goes with the text as it is now: the arrow keys must not choose anything else. */
  #narrow(text: string): void {
    const wanted = text.toLowerCase();
    this.values = this.values.filter((value) => value.toLowerCase().includes(wanted));
    this.active = -1;
  }

  /** What is chosen stays chosen while it is among the values, so that an answer does not get between two keys. */
  #show(argument: string | null, completion?: Completion): void {
    const chosen = this.chosen;
    this.argument = argument;
    this.values = completion?.values ?? [];
    this.more = missing(completion);
    this.active = chosen === null ? -1 : this.values.indexOf(chosen);
    if (completion) this.problem = null;
  }
}

function missing(completion: Completion | undefined): number | null {
  if (!completion) return 0;
  if (completion.total !== null) return Math.max(0, completion.total - completion.values.length);
  return completion.hasMore ? null : 0;
}
