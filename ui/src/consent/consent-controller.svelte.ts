// State and actions of the current consent request. Every approval passes the gate (`gate.ts`) in `#approve`, or in
// `allowTogether` for a list of tool calls.

import { SvelteMap } from "svelte/reactivity";

import type {
  ConsentRequestEdit,
  JsonValue,
  ConsentRequest,
  ConsentRequestBody,
  ApprovalScope,
} from "$lib/api/generated";

import { Arming } from "./arming.svelte";
import { definitionPart } from "./payload";
import type { Decidable } from "./decidable";
import { DecisionSender, type DecisionFailure } from "./decision-sender.svelte";
import { ConsentDraft, draftKey } from "./consent-draft.svelte";
import {
  ApprovedDecision,
  canApprove,
  type ApprovalBlocker,
  type ApprovingDecision,
  type NonApprovingDecision,
  type ApprovalState,
} from "./gate";
import {
  ConsentQueue,
  requestStage,
  requestVersion,
  type AsideRequests,
} from "./consent-queue.svelte";
import { TurnDecision } from "./turn-decision.svelte";
import { ruleBlocker, type ToolRequest } from "../rules/request-rule";

/** Access to the consent requests that another controller renders. */
export interface OtherControllerRequests {
  readonly open: ConsentRequest[];
  show(id: string): void;
  /** Hides these requests, because they were decided. */
  markAnswered(requests: readonly ConsentRequest[]): void;
}

/** Options of a consent controller. */
export interface ControllerOptions {
  /** Requests that another controller renders. */
  others?: OtherControllerRequests;
  /** Set if requests are rendered in their conversation instead of the dialog. Defaults to `false`. */
  inline?: boolean;
  /** Requests that were put aside. Shared with the other controller, because a request can move between both. */
  aside?: AsideRequests;
  /** Returns `true` for a request that appears and must not be shown by itself. */
  holdsBack?: (request: ConsentRequest) => boolean;
}

export class ConsentController implements Decidable {
  readonly queue: ConsentQueue;
  readonly inline: boolean;
  readonly #others: OtherControllerRequests | null;
  /** Arming of the approving actions. It restarts whenever the payload changes. */
  readonly arming = new Arming();
  /**
   * Arming of Deny, Cancel and putting aside. It restarts for each request and tracks only keys, because an accidental
   * click on Deny releases no payload.
   */
  readonly denyArming = new Arming();
  readonly sender = new DecisionSender();
  /** Stage of the request that the user has moved to, or `null`. */
  #attended = $state<string | null>(null);
  /** The tool call that the user writes a rule for, or `null`. Its request is covered, and nothing is decided. */
  ruleSource = $state.raw<ToolRequest | null>(null);
  readonly #drafts = new Map<string, ConsentDraft>();
  /** Keys of the model requests that the user approved in this window, by request id. */
  readonly #approvedModelRequests = new SvelteMap<string, string>();
  /** Arguments of edited tool calls before the edit, by request id. */
  readonly #originalArguments = new SvelteMap<string, JsonValue>();
  readonly #all: () => ConsentRequest[];

  constructor(
    all: () => ConsentRequest[],
    { others, inline = false, aside, holdsBack }: ControllerOptions = {},
  ) {
    this.#all = all;
    this.inline = inline;
    this.#others = others ?? null;
    this.queue = new ConsentQueue(all, aside, holdsBack);
  }

  /** All pending requests, including those of the other controller. */
  readonly pending: ConsentRequest[] = $derived.by(() => [
    ...this.queue.open,
    ...(this.#others?.open ?? []),
  ]);

  /**
   * The pending tool calls of the model, without those that were put aside. They are decided together while `showsTurn`
   * is set.
   */
  readonly turn: TurnDecision = new TurnDecision(this, () =>
    this.queue.open.filter((one) => !this.queue.isAside(one)),
  );
  /**
   * Set if the list of the model's tool calls is shown instead of a single request. Only inline requests have a list.
   */
  readonly showsTurn: boolean = $derived.by(
    () => this.inline && this.turn.isOffered && !this.queue.isOpened && !this.#isWriting(),
  );
  /** The displayed request, or `null` if there is none or the list is shown. */
  readonly request: ConsentRequest | null = $derived.by(() =>
    this.showsTurn ? null : this.queue.current,
  );
  readonly subject: string | null = $derived(this.request?.id ?? null);
  readonly draft: ConsentDraft | null = $derived.by(() =>
    this.request ? this.#draftOf(this.request) : null,
  );
  readonly blocker: ApprovalBlocker | null = $derived.by(() => this.#blocker());
  /**
   * Version of the displayed content. Changes with the payload and the user's input. `null` without a current request.
   */
  readonly shown: string | null = $derived.by(() =>
    this.request && this.draft ? `${requestVersion(this.request)} ${this.draft.inputState}` : null,
  );
  /** Set while a decision on the current request, an edit of it, or the choice of a sandbox is being sent. */
  readonly busy: boolean = $derived.by(
    () =>
      this.request !== null &&
      (this.sender.isSending(this.request) || this.draft?.containing === true),
  );
  /** The failure of the last decision on the current request, or `null` if there is none. */
  readonly failure: DecisionFailure | null = $derived.by(() =>
    this.request ? this.sender.failure(this.request) : null,
  );
  readonly approvalState: ApprovalState = $derived.by(() => this.#approvalState(this.blocker));
  /** Set while the displayed request has fields to fill in, or the user edits its payload. */
  readonly hasFields: boolean = $derived.by(() => {
    const { blocker, draft, request } = this;
    if (!request || !draft || blocker?.is === "impossible") return false;
    return (
      draft.editing || request.body.kind === "client_id" || (draft.form?.fields.length ?? 0) > 0
    );
  });
  /** Set if the user has moved to the current request or opened it. One that appeared by itself may not be noticed. */
  readonly isAttended: boolean = $derived.by(
    () =>
      this.request !== null &&
      (this.#attended === requestStage(this.request) || this.queue.isCurrentOpened),
  );
  readonly acceptsLetters: boolean = $derived(this.isAttended && !this.hasFields);
  readonly canAllow: boolean = $derived.by(() => canApprove(this.approvalState));
  /** The reason why the request can't be sent to the model again, or `null` if it can. */
  readonly retryBlocker: ApprovalBlocker | null = $derived.by(() => this.#retryBlocker());
  readonly retryState: ApprovalState = $derived.by(() => this.#approvalState(this.retryBlocker));

  attend(): void {
    this.#attended = this.request === null ? null : requestStage(this.request);
  }

  /** Opens the editor of a rule for the current tool call, unless no rule can allow it. */
  beginRule(): void {
    const { request } = this;
    if (request?.body.kind !== "tool") return;
    const source = { ...request, body: request.body };
    if (ruleBlocker(source) === null) this.ruleSource = source;
  }

  endRule(): void {
    this.ruleSource = null;
  }

  /**
   * Returns the arguments of a tool call before the user edited them, or `undefined` if they were not edited in this
   * window.
   */
  originalArguments({ id }: ConsentRequest): JsonValue | undefined {
    return this.#originalArguments.get(id);
  }

  /**
   * Approves the current request if `event` is deliberate and nothing prevents an approval. `lasts` limits the lifetime
   * of the grant, in milliseconds.
   */
  async allow(scope: ApprovalScope, event: Event, lasts?: number): Promise<void> {
    const { request, draft } = this;
    if (request && draft) await this.#approve(draft.answer(request, scope, lasts), event);
  }

  async allowFirst(event: Event): Promise<void> {
    await this.allow(this.request?.scopes[0] ?? "once", event);
  }

  submitForm(event: Event): Promise<void> | null {
    const kind = this.request?.body.kind;
    return kind === "form" || kind === "client_id" ? this.allow("once", event) : null;
  }

  /**
   * Approves each of these tool calls once. Returns `null` if `event` is not a deliberate approval of the whole list.
   * Resolves to `false` if the host rejected a decision.
   */
  allowTogether(
    requests: readonly ConsentRequest[],
    event: Event,
    list: ApprovalState,
  ): Promise<boolean> | null {
    const approved: ApprovedDecision[] = [];
    for (const request of requests) {
      const one = ApprovedDecision.fromEvent(
        event,
        request,
        { action: "allow", scope: "once" },
        list,
      );
      if (!one) return null;
      approved.push(one);
    }
    return this.#sendTogether(
      requests,
      approved.map((one) => this.sender.sendApproved(one)),
    );
  }

  /** Denies each of these tool calls. Resolves to `false` if the host rejected a decision. */
  denyTogether(requests: readonly ConsentRequest[]): Promise<boolean> {
    const sent = requests.map((request) => this.sender.send(request, { action: "deny" }));
    return this.#sendTogether(requests, sent);
  }

  /** Waits until all decisions were sent, and hides the requests whose decision was accepted. */
  async #sendTogether(
    requests: readonly ConsentRequest[],
    sent: Promise<boolean>[],
  ): Promise<boolean> {
    const accepted = await Promise.all(sent);
    const answered = requests.filter((_, i) => accepted[i]);
    for (const request of answered) this.queue.markAnswered(request);
    this.#others?.markAnswered(answered);
    return answered.length === requests.length;
  }

  /** Approves the current request with an empty list of roots. */
  async shareNone(event: Event): Promise<void> {
    await this.#approve({ action: "share", folders: [] }, event);
  }

  /** Sends the reviewed sampling request to the model again. */
  async retry(event: Event): Promise<void> {
    await this.#approve({ action: "rerun_model" }, event);
  }

  /**
   * Continues a sampling request without sending a payload: switches to a handwritten response, returns to the previous
   * step, or stops the model.
   */
  async steerSampling(
    action: "write_response" | "return_to_request" | "stop_model",
  ): Promise<void> {
    const { request } = this;
    if (request) await this.sender.send(request, { action });
  }

  /** Edits the payload. The request is shown with its new hash, and arming restarts. */
  async edit(edit: ConsentRequestEdit): Promise<void> {
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

  /** Shows a request in the dialog or in its conversation, depending on where it is rendered. */
  show(id: string): void {
    if (!this.#others?.open.some((request) => request.id === id)) return this.queue.show(id);
    this.queue.isListOpen = false;
    this.#others.show(id);
  }

  /** Denies the current request if `event` is armed and deliberate. */
  async deny(event: Event): Promise<void> {
    await this.#deny({ action: "deny" }, event);
  }

  /** Denies the current request with the user's reason, which the model receives. */
  async denyBecause(event: Event): Promise<void> {
    const reason = this.draft?.reason?.trim() ?? "";
    await this.#deny(
      reason === "" ? { action: "deny" } : { action: "deny_because", reason },
      event,
    );
  }

  /**
   * Closes the current request without a decision if `event` is armed and deliberate. Nothing is sent, and the request
   * stays pending.
   */
  putAside(event: Event): void {
    const { request } = this;
    if (!request || this.busy || !this.denyArming.accepts(event)) return;
    this.#attended = null;
    this.queue.putAside(request);
  }

  /** Cancels the current request. */
  async cancel(event: Event): Promise<void> {
    await this.#deny({ action: "cancel" }, event);
  }

  /**
   * Denies all requests of the current request's server if `event` is armed and deliberate. With `mute`, future
   * requests of the server are denied as well.
   */
  async denyAllInFront(event: Event, mute: boolean): Promise<void> {
    if (this.request && this.denyArming.accepts(event))
      await this.denyAll(this.request.server, mute);
  }

  async denyAll(server: string, mute: boolean): Promise<void> {
    await this.sender.denyAll(server, mute);
  }

  /** Deletes the drafts and edits of requests that are no longer pending. */
  discardStaleDrafts(): void {
    const there = new Set(this.#all().map(draftKey));
    for (const [key, draft] of this.#drafts) {
      if (there.has(key)) continue;
      draft.stop();
      this.#drafts.delete(key);
    }
    const open = new Set(this.#all().map(({ id }) => id));
    this.sender.forgetOthers(new Set([...open, ...(this.#others?.open ?? []).map(({ id }) => id)]));
    for (const map of [this.#approvedModelRequests, this.#originalArguments])
      for (const id of map.keys()) if (!open.has(id)) map.delete(id);
  }

  /** Sends an approval if the gate accepts `event`. Every approval of a single request passes the gate here. */
  async #approve(answer: ApprovingDecision, event: Event): Promise<void> {
    const { request, draft } = this;
    if (!request || !draft) return;
    const approvalState = answer.action === "rerun_model" ? this.retryState : this.approvalState;
    const approved = ApprovedDecision.fromEvent(event, request, answer, approvalState);
    if (!approved) return;
    if (answer.action === "submit" && draft.form && !draft.form.attemptSubmit()) return;
    const isAsk = request.body.kind === "sampling" && request.body.step === "request";
    const asks = isAsk ? modelRequestKey(request) : null;
    const isTaken = await this.sender.sendApproved(approved);
    if (!isTaken) return this.#onFailure(request, draft);
    // The model's response arrives under the id of the same request.
    if (asks !== null) this.#approvedModelRequests.set(request.id, asks);
    this.queue.markAnswered(request);
  }

  async #deny(answer: NonApprovingDecision, event: Event): Promise<void> {
    const { request } = this;
    if (!request || !this.denyArming.accepts(event)) return;
    if (await this.sender.send(request, answer)) this.queue.markAnswered(request);
  }

  #onFailure(request: ConsentRequest, draft: ConsentDraft): void {
    if (this.request?.id === request.id) this.arming.restart();
    const failure = this.sender.failure(request);
    if (failure?.is !== "invalid" || !failure.problems) return;
    draft.form?.check.setProblems(failure.problems);
    draft.form?.attemptSubmit();
  }

  /** Returns `true` while the user edits the current request or writes a reason for its denial. */
  #isWriting(): boolean {
    const { current } = this.queue;
    const draft = current && this.#drafts.get(draftKey(current));
    return draft ? draft.editing || draft.reason !== null : false;
  }

  #draftOf(request: ConsentRequest): ConsentDraft {
    const key = draftKey(request);
    let draft = this.#drafts.get(key);
    if (!draft) {
      draft = new ConsentDraft(request);
      this.#drafts.set(key, draft);
    }
    return draft;
  }

  #approvalState(blocker: ApprovalBlocker | null): ApprovalState {
    return { arming: this.arming, blocker, busy: this.busy };
  }

  #retryBlocker(): ApprovalBlocker | null {
    const { request } = this;
    if (
      request?.body.kind !== "sampling" ||
      request.body.step !== "response" ||
      !request.body.canRerun
    )
      return { is: "impossible" };
    // The request was entirely viewed when it was approved and has not changed since.
    return this.#approvedModelRequests.get(request.id) === modelRequestKey(request)
      ? null
      : { is: "unreviewed" };
  }

  #blocker(): ApprovalBlocker | null {
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
    // The payload must be read before the definition.
    for (const parts of [draft.payload(request), definition === null ? [] : [definition]]) {
      const hidden = draft.readProgress.unreadTotal(parts);
      if (hidden > 0) return { is: "unread", hidden };
    }
    return needsFullView(body) && !draft.fullyViewed ? { is: "unviewed" } : null;
  }
}

/**
 * Returns a key that identifies a model call: the request, the model, and the content that the provider can't
 * represent. `null` if no model is selected.
 */
function modelRequestKey({ body }: ConsentRequest): string | null {
  if (body.kind !== "sampling" || body.model === null) return null;
  return JSON.stringify([body.request, body.model.model, body.losses]);
}

/**
 * Returns `true` if the user must view the whole payload before an approval. Not required if the user chose all of its
 * values. A form may contain default values.
 */
function needsFullView({ kind }: ConsentRequestBody): boolean {
  return kind !== "roots" && kind !== "client_id";
}
