// The question in front, and what can be done with it. Nothing leaves but through the gate (`gate.ts`), by `#leave`.

import { SvelteMap } from "svelte/reactivity";

import type { Edit, JsonValue, Question, QuestionBody, Scope } from "$lib/api/generated";

import { Arming } from "./arming.svelte";
import { definitionPart } from "./payload";
import { DecisionSender, type DecisionFailure } from "./decision-sender.svelte";
import { ConsentDraft, draftKey } from "./consent-draft.svelte";
import {
  Approved,
  canApprove,
  type Blocker,
  type ApprovingAnswer,
  type WithholdingAnswer,
  type ApprovalState,
} from "./gate";
import { ConsentQueue, requestVersion } from "./consent-queue.svelte";

/** Questions that are drawn at another place, and how to get to one of them. */
export interface OtherRequests {
  readonly open: Question[];
  show(id: string): void;
}

/** Where a front draws its questions. */
export interface ControllerOptions {
  /** What is drawn at another place. */
  others?: OtherRequests;
  /** Whether they stand where they were asked for; else over everything. */
  inline?: boolean;
}

export class ConsentController {
  readonly queue: ConsentQueue;
  readonly inline: boolean;
  readonly #others: OtherRequests | null;
  /** When Allow counts. It arms anew whenever what would cross changes. */
  readonly arming = new Arming();
  /** When Deny and Cancel count. It arms anew when another question comes in front, and is told of keys alone: who refuses need
   * not aim anew. */
  readonly denyArming = new Arming();
  readonly sender = new DecisionSender();
  readonly #drafts = new Map<string, ConsentDraft>();
  /** What a model was asked here, by question: reviewed whole, and approved. */
  readonly #approvedModelRequests = new SvelteMap<string, string>();
  /** The arguments as they were asked for, by question, of those that were edited here. */
  readonly #originalArguments = new SvelteMap<string, JsonValue>();
  readonly #all: () => Question[];

  constructor(all: () => Question[], { others, inline = false }: ControllerOptions = {}) {
    this.#all = all;
    this.inline = inline;
    this.#others = others ?? null;
    this.queue = new ConsentQueue(all);
  }

  /** All that wait for the user, wherever they are drawn. */
  readonly pending: Question[] = $derived.by(() => [
    ...this.queue.open,
    ...(this.#others?.open ?? []),
  ]);

  readonly request: Question | null = $derived.by(() => this.queue.current);
  readonly draft: ConsentDraft | null = $derived.by(() =>
    this.request ? this.#draftOf(this.request) : null,
  );
  readonly blocker: Blocker | null = $derived.by(() => this.#blocker());
  /** Changes whenever anything that Allow would let cross does. */
  readonly shown: string | null = $derived.by(() =>
    this.request && this.draft ? `${requestVersion(this.request)} ${this.draft.inputState}` : null,
  );
  /** Whether the answer to the question in front, or a change of it, is on its way. */
  readonly busy: boolean = $derived.by(
    () => this.request !== null && this.sender.isSending(this.request),
  );
  /** Why the last decision on the question in front was not taken, if it was not. */
  readonly failure: DecisionFailure | null = $derived.by(() =>
    this.request ? this.sender.failure(this.request) : null,
  );
  readonly approvalState: ApprovalState = $derived.by(() => this.#approvalState(this.blocker));
  readonly canAllow: boolean = $derived.by(() => canApprove(this.approvalState));
  /** The same for asking a model once more. */
  readonly retryBlocker: Blocker | null = $derived.by(() => this.#retryBlocker());
  readonly retryState: ApprovalState = $derived.by(() => this.#approvalState(this.retryBlocker));

  /** The arguments that a call was asked for with, if they were edited here. */
  originalArguments({ id }: Question): JsonValue | undefined {
    return this.#originalArguments.get(id);
  }

  /** Lets the question cross, if `event` may do that. `lasts` bounds how long an approval holds, in milliseconds. */
  async allow(scope: Scope, event: Event, lasts?: number): Promise<void> {
    const { request, draft } = this;
    if (request && draft) await this.#approve(draft.answer(request, scope, lasts), event);
  }

  /** Tells the server that there are no folders. */
  async shareNone(event: Event): Promise<void> {
    await this.#approve({ action: "share", folders: [] }, event);
  }

  /** Asks the model once more: what went to it goes to it again. */
  async retry(event: Event): Promise<void> {
    await this.#approve({ action: "again" }, event);
  }

  /** What becomes of a request to a model, where nothing crosses: by hand, back, stop. */
  async steerSampling(action: "by_hand" | "back" | "stop"): Promise<void> {
    const { request } = this;
    if (request) await this.sender.send(request, { action });
  }

  /** Changes what would cross. It is shown with its new hash, and armed anew. */
  async edit(edit: Edit): Promise<void> {
    const { request, draft } = this;
    if (!request || !draft) return;
    const changed = await this.sender.edit(request, edit);
    if (!changed) return;
    const { body } = request;
    if (body.kind === "tool" && !this.#originalArguments.has(request.id))
      this.#originalArguments.set(request.id, body.arguments);
    this.queue.replace(request, changed);
    draft.editing = false;
  }

  /** Goes to a question, wherever it is drawn. */
  show(id: string): void {
    if (!this.#others?.open.some((request) => request.id === id)) return this.queue.show(id);
    this.queue.isListOpen = false;
    this.#others.show(id);
  }

  /** Refuses the question, if `event` may do that. */
  async deny(event: Event): Promise<void> {
    await this.#deny({ action: "deny" }, event);
  }

  /** Refuses it with what the user wrote, which the model gets to read. */
  async denyBecause(event: Event): Promise<void> {
    const reason = this.draft?.reason?.trim() ?? "";
    await this.#deny(
      reason === "" ? { action: "deny" } : { action: "deny_because", reason },
      event,
    );
  }

  /** Closing is cancel. */
  async cancel(event: Event): Promise<void> {
    await this.#deny({ action: "cancel" }, event);
  }

  /** Refuses all questions of the server that asks the one in front, if `event` may do that. */
  async denyAllInFront(event: Event, mute: boolean): Promise<void> {
    if (this.request && this.denyArming.accepts(event))
      await this.denyAll(this.request.server, mute);
  }

  async denyAll(server: string, mute: boolean): Promise<void> {
    await this.sender.denyAll(server, mute);
  }

  /** Forgets the drafts of questions that are gone. */
  discardStaleDrafts(): void {
    const there = new Set(this.#all().map(draftKey));
    for (const [key, draft] of this.#drafts) {
      if (there.has(key)) continue;
      draft.stop();
      this.#drafts.delete(key);
    }
    const open = new Set(this.#all().map(({ id }) => id));
    for (const map of [this.#approvedModelRequests, this.#originalArguments])
      for (const id of map.keys()) if (!open.has(id)) map.delete(id);
  }

  /** The only way to an answer that lets something leave. */
  async #approve(answer: ApprovingAnswer, event: Event): Promise<void> {
    const { request, draft } = this;
    if (!request || !draft) return;
    const approvalState = answer.action === "again" ? this.retryState : this.approvalState;
    const approved = Approved.fromEvent(event, request, answer, approvalState);
    if (!approved) return;
    if (answer.action === "submit" && draft.form && !draft.form.attemptSubmit()) return;
    const isAsk = request.body.kind === "sampling" && request.body.step === "request";
    const asks = isAsk ? modelRequestKey(request) : null;
    const isTaken = await this.sender.sendApproved(approved);
    if (!isTaken) return this.#onFailure(request, draft);
    // What a model is asked comes back under the same question.
    if (asks !== null) this.#approvedModelRequests.set(request.id, asks);
    this.queue.markAnswered(request);
  }

  async #deny(answer: WithholdingAnswer, event: Event): Promise<void> {
    const { request } = this;
    if (!request || !this.denyArming.accepts(event)) return;
    if (await this.sender.send(request, answer)) this.queue.markAnswered(request);
  }

  #onFailure(request: Question, draft: ConsentDraft): void {
    if (this.request?.id === request.id) this.arming.restart();
    const failure = this.sender.failure(request);
    if (failure?.is !== "invalid" || !failure.problems) return;
    draft.form?.check.setProblems(failure.problems);
    draft.form?.attemptSubmit();
  }

  #draftOf(request: Question): ConsentDraft {
    const key = draftKey(request);
    let draft = this.#drafts.get(key);
    if (!draft) {
      draft = new ConsentDraft(request);
      this.#drafts.set(key, draft);
    }
    return draft;
  }

  #approvalState(blocker: Blocker | null): ApprovalState {
    return { arming: this.arming, blocker, busy: this.busy };
  }

  #retryBlocker(): Blocker | null {
    const { request } = this;
    if (
      request?.body.kind !== "sampling" ||
      request.body.step !== "response" ||
      !request.body.again
    )
      return { is: "impossible" };
    // All of it was in view here when it was approved, and nothing of it is another now.
    return this.#approvedModelRequests.get(request.id) === modelRequestKey(request)
      ? null
      : { is: "unreviewed" };
  }

  #blocker(): Blocker | null {
    const { request, draft } = this;
    if (!request || !draft) return null;
    const { body } = request;
    if (body.kind === "sampling" && body.step === "running") return { is: "running" };
    if (body.kind === "form" && body.unsupported !== null) return { is: "impossible" };
    if (body.kind === "url" && !body.url.openable) return { is: "impossible" };
    if (body.kind === "sign_in" && body.authorizationUrl?.openable === false)
      return { is: "impossible" };
    if (body.kind === "client_id" && draft.client.clientId.trim() === "") return { is: "unfilled" };
    if (draft.editing)
      return { is: body.kind === "sampling" && body.step === "response" ? "unwritten" : "editing" };
    const definition = definitionPart(body);
    // First what is sent, then what it is sent to.
    for (const parts of [draft.payload(request), definition === null ? [] : [definition]]) {
      const hidden = draft.readProgress.unreadTotal(parts);
      if (hidden > 0) return { is: "unread", hidden };
    }
    return needsFullView(body) && !draft.fullyViewed ? { is: "unviewed" } : null;
  }
}

/** What a model is asked, as it is shown: the request, the model, and what is left out for it. */
function modelRequestKey({ body }: Question): string | null {
  if (body.kind !== "sampling" || body.model === null) return null;
  return JSON.stringify([body.request, body.model.model, body.losses]);
}

/** Whether something crosses that the user did not choose or enter. A form may come filled in. */
function needsFullView({ kind }: QuestionBody): boolean {
  return kind !== "roots" && kind !== "client_id";
}
