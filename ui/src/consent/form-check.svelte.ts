// Validates a form while it is filled in, debounced. Only the latest response counts.

import type { FormProblem, JsonValue } from "$lib/api/generated";

/** Delay after the last change before the content is checked, in milliseconds. */
export const CHECK_DEBOUNCE_MS = 200;

export type FormValidator = (content: JsonValue) => Promise<FormProblem[]>;

export class FormCheck {
  problems = $state<FormProblem[]>([]);
  /** Set if `problems` describes the current content. */
  upToDate = $state(false);
  /** The error of the last check, or `null` if the check succeeded. */
  failure = $state<unknown>(null);

  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #check: FormValidator;

  constructor(check: FormValidator) {
    this.#check = check;
  }

  /** Schedules a check of the changed content. */
  schedule(content: JsonValue): void {
    this.upToDate = false;
    const turn = ++this.#turn;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(content, turn), CHECK_DEBOUNCE_MS);
  }

  /** Sets the problems that the host returned for a rejected submission. */
  setProblems(problems: FormProblem[]): void {
    this.#turn += 1;
    clearTimeout(this.#timer);
    this.problems = problems;
    this.upToDate = true;
  }

  stop(): void {
    this.#turn += 1;
    clearTimeout(this.#timer);
  }

  async #run(content: JsonValue, turn: number): Promise<void> {
    try {
      const problems = await this.#check(content);
      if (turn !== this.#turn) return;
      this.problems = problems;
      this.failure = null;
      this.upToDate = true;
    } catch (error) {
      if (turn === this.#turn) this.failure = error;
    }
  }
}
