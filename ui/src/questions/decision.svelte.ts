// Sends the user's decisions, and says what became of them.

import { call, type ApiError, toApiError } from "$lib/api/client";
import type { Answer, Edit, FormProblem, Question } from "$lib/api/generated";

/** Why a decision was not taken over. */
export type Refusal =
  { is: "changed" } | { is: "invalid"; message: string } | { is: "failed"; message: string };

export class Decision {
  /** Whether an answer or a change is on its way. */
  busy = $state(false);
  refusal = $state<Refusal | null>(null);
  /** What the last answer's form content was refused for. */
  problems = $state<FormProblem[] | null>(null);

  /** Answers exactly this version of the question. Returns whether the answer was taken. */
  async answer(question: Question, answer: Answer): Promise<boolean> {
    const done = await this.#send(() =>
      call("answer_question", { id: question.id, hash: question.hash, answer }),
    );
    return done !== null;
  }

  /** Changes what would cross. Returns the question as it is then, with its new hash. */
  edit(question: Question, edit: Edit): Promise<Question | null> {
    return this.#send(() => call("edit_question", { id: question.id, edit }));
  }

  /** Refuses all open questions of a server, and with `mute` also those to come. */
  async denyAll(server: string, mute: boolean): Promise<boolean> {
    return (await this.#send(() => call("deny_all", { server, mute }))) !== null;
  }

  /** Another question is shown. */
  clear(): void {
    this.refusal = null;
    this.problems = null;
  }

  async #send<T>(act: () => Promise<T>): Promise<T | null> {
    if (this.busy) return null;
    this.busy = true;
    this.clear();
    try {
      return await act();
    } catch (cause) {
      this.#refused(toApiError(cause));
      return null;
    } finally {
      this.busy = false;
    }
  }

  #refused(error: ApiError): void {
    switch (error.code) {
      case "stale":
      case "not_found":
        this.refusal = { is: "changed" };
        break;
      case "invalid":
        this.problems = formProblems(error.data);
        this.refusal = { is: "invalid", message: error.message };
        break;
      default:
        this.refusal = { is: "failed", message: error.message };
    }
  }
}

/** The problems an `invalid` error carries, if it carries some. */
function formProblems(data: unknown): FormProblem[] | null {
  if (typeof data !== "object" || data === null || !("problems" in data)) return null;
  return Array.isArray(data.problems) ? (data.problems as FormProblem[]) : null;
}
