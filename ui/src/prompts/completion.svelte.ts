// Completion of one argument at a time, debounced. A response counts only for the latest request.

import { toApiError } from "$lib/api/client";
import type { Completion } from "$lib/api/generated";

/** Delay after the last key before a completion is requested, in milliseconds. */
export const COMPLETION_DELAY_MS = 150;

export interface CompletionRequest {
  argument: string;
  value: string;
  /** Values of the preceding arguments by name, which the completion may depend on. */
  context: Record<string, string>;
}

export class Completions {
  /** Name of the argument that the values complete, or `null` if there are no values. */
  argument = $state<string | null>(null);
  values = $state.raw<string[]>([]);
  /** Number of further values that the server has, or `null` if it does not report the number. */
  more = $state<number | null>(0);
  /** Index of the selected value, or -1. */
  active = $state(-1);
  busy = $state(false);
  /** The error message of the last request, or `null` if it succeeded. */
  problem = $state<string | null>(null);

  /** Set if the server does not support completion. No further requests are sent then. */
  #off = false;
  #lastRequest = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #complete: (request: CompletionRequest) => Promise<Completion>;

  constructor(complete: (request: CompletionRequest) => Promise<Completion>) {
    this.#complete = complete;
  }

  get open(): boolean {
    return this.argument !== null && this.values.length > 0;
  }

  request(request: CompletionRequest): void {
    if (this.#off) return;
    const requestNumber = ++this.#lastRequest;
    if (this.argument !== request.argument) this.#show(null);
    else this.#narrow(request.value);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(request, requestNumber), COMPLETION_DELAY_MS);
  }

  close(): void {
    this.#lastRequest += 1;
    clearTimeout(this.#timer);
    this.busy = false;
    this.problem = null;
    this.#show(null);
  }

  /** Moves the selection up or down. One position selects no value, so that the typed text can be kept. */
  move(by: 1 | -1): void {
    const places = this.values.length + 1;
    this.active = ((this.active + 1 + by + places) % places) - 1;
  }

  get chosen(): string | null {
    return this.values[this.active] ?? null;
  }

  async #run(request: CompletionRequest, requestNumber: number): Promise<void> {
    this.busy = true;
    try {
      const completion = await this.#complete(request);
      if (requestNumber === this.#lastRequest) this.#show(request.argument, completion);
    } catch (cause) {
      if (requestNumber !== this.#lastRequest) return;
      this.#show(null);
      const error = toApiError(cause);
      this.#off = error.code === "unsupported";
      if (!this.#off) this.problem = error.message;
    } finally {
      if (requestNumber === this.#lastRequest) this.busy = false;
    }
  }

  /**
   * Filters the known values by the typed text until the response arrives, so that the arrow keys select only matching
   * values.
   */
  #narrow(text: string): void {
    const prefix = text.toLowerCase();
    this.values = this.values.filter((value) => value.toLowerCase().includes(prefix));
    this.active = -1;
  }

  /**
   * Shows new values. Keeps the selected value if it is still listed, so that a response between two key presses does
   * not change the selection.
   */
  #show(argument: string | null, completion?: Completion): void {
    const chosen = this.chosen;
    this.argument = argument;
    this.values = completion?.values ?? [];
    this.more = omittedCount(completion);
    this.active = chosen === null ? -1 : this.values.indexOf(chosen);
    if (completion) this.problem = null;
  }
}

function omittedCount(completion: Completion | undefined): number | null {
  if (!completion) return 0;
  if (completion.total !== null) return Math.max(0, completion.total - completion.values.length);
  return completion.hasMore ? null : 0;
}
