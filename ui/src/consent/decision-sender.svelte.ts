// Sends the user's decisions, and says what became of them. An answer on its way, or a late refusal of it, says nothing about
// the question that has come in front since.

import { SvelteSet } from "svelte/reactivity";

import { call, type ApiError, toApiError } from "$lib/api/client";
import type { Answer, Edit, FormProblem, Question } from "$lib/api/generated";

import type { Approved, WithholdingAnswer } from "./gate";
import { requestVersion } from "./consent-queue.svelte";

/** Why a decision was not taken over. */
export type DecisionFailure =
  | { is: "changed" }
  | { is: "invalid"; message: string; problems: FormProblem[] | null }
  | { is: "failed"; message: string };

/** What a decision about all questions of a server is kept under; no question has this id. */
const DENY_ALL = "";

export class DecisionSender {
  /** The versions of questions whose answer or change is on its way. */
  readonly #sending = new SvelteSet<string>();
  /** The last refusal, and the id of the question it is about. */
  #lastFailure = $state.raw<{ about: string; why: DecisionFailure } | null>(null);

  /** Whether an answer to this version of the question, or a change of it, is on its way. */
  isSending(request: Question): boolean {
    return this.#sending.has(requestVersion(request));
  }

  /** Why the last decision on this question was not taken, if it was not. */
  failure(request: Question): DecisionFailure | null {
    return this.#lastFailure?.about === request.id ? this.#lastFailure.why : null;
  }

  /** Why refusing all questions of a server failed, if it did. */
  get denyAllFailure(): DecisionFailure | null {
    return this.#lastFailure?.about === DENY_ALL ? this.#lastFailure.why : null;
  }

  /** Gives an answer that lets something leave. Returns whether it was taken. */
  sendApproved({ request, answer }: Approved): Promise<boolean> {
    return this.#sendAnswer(request, answer);
  }

  /** Gives one that lets nothing leave. Returns whether it was taken. */
  send(request: Question, answer: WithholdingAnswer): Promise<boolean> {
    return this.#sendAnswer(request, answer);
  }

  /** Answers exactly this version of the question. */
  async #sendAnswer(request: Question, answer: Answer): Promise<boolean> {
    const done = await this.#once(requestVersion(request), request.id, () =>
      call("answer_question", { id: request.id, hash: request.hash, answer }),
    );
    return done !== null;
  }

  /** Changes what would cross. Returns the question as it is then, with its new hash. */
  edit(request: Question, edit: Edit): Promise<Question | null> {
    return this.#once(requestVersion(request), request.id, () =>
      call("edit_question", { id: request.id, edit }),
    );
  }

  /** Refuses all open questions of a server, and with `mute` also those to come. */
  async denyAll(server: string, mute: boolean): Promise<boolean> {
    const sent = await this.#once(`${DENY_ALL} ${server}`, DENY_ALL, () =>
      call("deny_all", { server, mute }),
    );
    return sent !== null;
  }

  /** Not twice at a time for the same. */
  async #once<T>(what: string, about: string, act: () => Promise<T>): Promise<T | null> {
    if (this.#sending.has(what)) return null;
    this.#sending.add(what);
    this.#lastFailure = null;
    try {
      return await act();
    } catch (cause) {
      this.#lastFailure = { about, why: toFailure(toApiError(cause)) };
      return null;
    } finally {
      this.#sending.delete(what);
    }
  }
}

function toFailure(error: ApiError): DecisionFailure {
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
