// Checks a form while it is filled in: a little after the last change, and only the latest answer counts.

import type { FormProblem, JsonValue } from "$lib/api/generated";

/** How long after the last change a form is checked, in milliseconds. */
export const CHECK_DEBOUNCE = 200;

export type Check = (content: JsonValue) => Promise<FormProblem[]>;

export class FormCheck {
  problems = $state<FormProblem[]>([]);
  /** Whether the problems belong to what is in the form now. */
  upToDate = $state(false);
  /** Why it could not be checked. */
  failure = $state<unknown>(null);

  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #check: Check;

  constructor(check: Check) {
    this.#check = check;
  }

  /** The form now holds this. */
  schedule(content: JsonValue): void {
    this.upToDate = false;
    const turn = ++this.#turn;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(content, turn), CHECK_DEBOUNCE);
  }

  /** The problems as the answer to a submission named them. */
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
