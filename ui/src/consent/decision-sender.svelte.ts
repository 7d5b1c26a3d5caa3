// Sends decisions and records their failures. A pending decision or a late failure affects only its own request.

import { SvelteMap, SvelteSet } from "svelte/reactivity";

import { call, type ApiError, toApiError } from "$lib/api/client";
import type {
  ConsentDecision,
  ConsentRequestEdit,
  FormProblem,
  ConsentRequest,
} from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";

import type { ApprovedDecision, NonApprovingDecision } from "./gate";
import { requestVersion } from "./consent-queue.svelte";

/** Reason why a decision was rejected. */
export type DecisionFailure =
  | { is: "changed" }
  | { is: "invalid"; message: string; problems: FormProblem[] | null }
  | { is: "failed"; message: string };

/** Key under which a failed denial of all requests of a server is recorded. No request has this id. */
const DENY_ALL_KEY = "";

export class DecisionSender {
  /** Versions of the requests whose decision or edit is pending. */
  readonly #sending = new SvelteSet<string>();
  /** Failures of the last decisions, by request id. */
  readonly #failures = new SvelteMap<string, DecisionFailure>();

  /** Returns `true` while a decision on this version of the request, or an edit of it, is pending. */
  isSending(request: ConsentRequest): boolean {
    return this.#sending.has(requestVersion(request));
  }

  /** Returns the failure of the last decision on this request, or `null`. */
  failure(request: ConsentRequest): DecisionFailure | null {
    return this.#failures.get(request.id) ?? null;
  }

  /** Failure of the last attempt to deny all pending requests, or `null` if it succeeded. */
  get denyAllFailure(): DecisionFailure | null {
    return this.#failures.get(DENY_ALL_KEY) ?? null;
  }

  /** Deletes the failures of all requests except those with these ids. */
  forgetOthers(open: ReadonlySet<string>): void {
    for (const id of [...this.#failures.keys()])
      if (id !== DENY_ALL_KEY && !open.has(id)) this.#failures.delete(id);
  }

  /** Sends an approval that passed the gate. Resolves to `true` if the host accepted it. */
  sendApproved({ request, answer }: ApprovedDecision): Promise<boolean> {
    return this.#sendAnswer(request, answer);
  }

  /** Sends a decision that releases no payload. Resolves to `true` if the host accepted it. */
  send(request: ConsentRequest, answer: NonApprovingDecision): Promise<boolean> {
    return this.#sendAnswer(request, answer);
  }

  /** Sends a decision that is bound to this version of the request. */
  async #sendAnswer(request: ConsentRequest, answer: ConsentDecision): Promise<boolean> {
    const done = await this.#once(requestVersion(request), request.id, () =>
      call("decide_consent_request", { id: request.id, hash: request.hash, answer }),
    );
    return done !== null;
  }

  /** Edits the payload. Resolves to the request with its new hash, or `null` if the edit failed. */
  edit(request: ConsentRequest, edit: ConsentRequestEdit): Promise<ConsentRequest | null> {
    return this.#once(requestVersion(request), request.id, () =>
      call("edit_consent_request", { id: request.id, edit }),
    );
  }

  /** Denies all pending requests of a server. With `mute`, future requests are denied as well. */
  async denyAll(server: string, mute: boolean): Promise<boolean> {
    const sent = await this.#once(`${DENY_ALL_KEY} ${server}`, DENY_ALL_KEY, () =>
      call("deny_all_consent_requests", { server, mute }),
    );
    // The host ends it even if no call of the server was among the requests.
    if (sent !== null) app.endRepetition(server);
    return sent !== null;
  }

  /**
   * Runs `act` unless an action with the key `what` is pending. Records its failure under `about`. Returns `null` if it
   * was skipped or failed.
   */
  async #once<T>(what: string, about: string, act: () => Promise<T>): Promise<T | null> {
    if (this.#sending.has(what)) return null;
    this.#sending.add(what);
    this.#failures.delete(about);
    try {
      return await act();
    } catch (cause) {
      this.#failures.set(about, toFailure(toApiError(cause)));
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

/** Returns the form problems in the data of an `invalid` error, or `null` if it has none. */
function formProblems(data: unknown): FormProblem[] | null {
  if (typeof data !== "object" || data === null || !("problems" in data)) return null;
  return Array.isArray(data.problems) ? (data.problems as FormProblem[]) : null;
}
