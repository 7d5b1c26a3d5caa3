// Sends the user's decisions, and says what became of them. An answer on its way, or a late refusal of it, says nothing about
// the question that has come in front since.

import { SvelteSet } from "svelte/reactivity";

import { call, type ApiError, toApiError } from "$lib/api/client";
import type { Answer, Edit, FormProblem, Question } from "$lib/api/generated";

import type { Approved, Staying } from "./gate";
import { version } from "./consent-queue.svelte";

/** Why a decision was not taken over. */
export type Refusal =
  | { is: "changed" }
  | { is: "invalid"; message: string; problems: FormProblem[] | null }
  | { is: "failed"; message: string };

/** What a decision about all questions of a server is kept under; no question has this id. */
const ALL = "";

export class Decision {
  /** The versions of questions whose answer or change is on its way. */
  readonly #sending = new SvelteSet<string>();
  /** The last refusal, and the id of the question it is about. */
  #refused = $state.raw<{ about: string; why: Refusal } | null>(null);

  /** Whether an answer to this version of the question, or a change of it, is on its way. */
  busy(question: Question): boolean {
    return this.#sending.has(version(question));
  }

  /** Why the last decision on this question was not taken, if it was not. */
  refusal(question: Question): Refusal | null {
    return this.#refused?.about === question.id ? this.#refused.why : null;
  }

  /** Why refusing all questions of a server failed, if it did. */
  get allRefusal(): Refusal | null {
    return this.#refused?.about === ALL ? this.#refused.why : null;
  }

  /** Gives an answer that lets something leave. Returns whether it was taken. */
  leave({ question, answer }: Approved): Promise<boolean> {
    return this.#answer(question, answer);
  }

  /** Gives one that lets nothing leave. Returns whether it was taken. */
  answer(question: Question, answer: Staying): Promise<boolean> {
    return this.#answer(question, answer);
  }

  /** Answers exactly this version of the question. */
  async #answer(question: Question, answer: Answer): Promise<boolean> {
    const done = await this.#send(version(question), question.id, () =>
      call("answer_question", { id: question.id, hash: question.hash, answer }),
    );
    return done !== null;
  }

  /** Changes what would cross. Returns the question as it is then, with its new hash. */
  edit(question: Question, edit: Edit): Promise<Question | null> {
    return this.#send(version(question), question.id, () =>
      call("edit_question", { id: question.id, edit }),
    );
  }

  /** Refuses all open questions of a server, and with `mute` also those to come. */
  async denyAll(server: string, mute: boolean): Promise<boolean> {
    const sent = await this.#send(`${ALL} ${server}`, ALL, () =>
      call("deny_all", { server, mute }),
    );
    return sent !== null;
  }

  /** Not twice at a time for the same. */
  async #send<T>(what: string, about: string, act: () => Promise<T>): Promise<T | null> {
    if (this.#sending.has(what)) return null;
    this.#sending.add(what);
    this.#refused = null;
    try {
      return await act();
    } catch (cause) {
      this.#refused = { about, why: refusal(toApiError(cause)) };
      return null;
    } finally {
      this.#sending.delete(what);
    }
  }
}

function refusal(error: ApiError): Refusal {
  switch (error.code) {
    case "stale":
    case "not_found":
      return { is: "changed" };
    case "invalid":
      return { is: "invalid", message: error.message, problems: formProblems(error.data) };
    default:
      return { is: "failed", message: error.message };
  }
}

/** The problems an `invalid` error carries, if it carries some. */
function formProblems(data: unknown): FormProblem[] | null {
  if (typeof data !== "object" || data === null || !("problems" in data)) return null;
  return Array.isArray(data.problems) ? (data.problems as FormProblem[]) : null;
}
