// Decides several tool calls of one model turn with one action. Each call is approved separately, with its own id and
// hash. A conversation has one turn at a time, so all open calls of its model belong to the same turn.

import { SvelteSet } from "svelte/reactivity";

import type { ConsentRequest, ConsentRequestBody } from "$lib/api/generated";
import { hasPossiblyRounded } from "$lib/format/json";

import { followsUntrustedContent } from "../rules/request-rule";
import { Arming } from "./arming.svelte";
import { requestVersion } from "./consent-queue.svelte";
import type { Decidable } from "./decidable";
import type { DecisionFailure } from "./decision-sender.svelte";
import { canApprove, type ApprovalState, type ApprovalBlocker } from "./gate";
import { payloadParts } from "./payload";
import { totalHiddenCharacters } from "./read-progress.svelte";

/** Minimum number of calls for which a list with a joint decision is shown. */
const MIN_JOINTLY_DECIDED_CALLS = 2;

/** Reason why a call has to be reviewed individually. */
export type ReviewReason = "definition" | "warning" | "untrusted" | "long" | "rounded" | "scope";

type ToolBody = Extract<ConsentRequestBody, { kind: "tool" }>;

/** Consent request for a tool call. */
export type ToolRequest = ConsentRequest & { body: ToolBody };

export interface TurnRow {
  request: ToolRequest;
  /** Reason why this call has to be reviewed individually, or `null` if the list can decide it. */
  reason: ReviewReason | null;
  /** Set if the decision on the list includes the call. */
  included: boolean;
  /** The failure of the last decision on this call, or `null` if there is none. */
  failure: DecisionFailure | null;
}

/** Sends the decisions about the calls of a list to the host. */
export interface TurnSender {
  readonly sender: { failure(request: ConsentRequest): DecisionFailure | null };
  /**
   * Approves each call once. Returns `null` if `event` is not a deliberate approval of the whole list. Resolves to
   * `false` if the host rejected a decision.
   */
  allowTogether(
    requests: readonly ConsentRequest[],
    event: Event,
    list: ApprovalState,
  ): Promise<boolean> | null;
  /** Denies each call. Resolves to `false` if the host rejected a decision. */
  denyTogether(requests: readonly ConsentRequest[]): Promise<boolean>;
}

export class TurnDecision implements Decidable {
  readonly arming = new Arming();
  readonly denyArming = new Arming();
  /** Set once the user has viewed the whole list. */
  fullyViewed = $state(false);
  /** Set while decisions are being sent. */
  sending = $state(false);

  readonly #to: TurnSender;
  readonly #open: () => ConsentRequest[];
  /** Ids of the calls in the list that the user has moved to, or `null`. */
  #attended = $state<string | null>(null);
  /** Ids of the requests that the user has excluded. */
  readonly #excluded = new SvelteSet<string>();

  /** `open` returns the pending requests. The list contains those that are tool calls of a model. */
  constructor(to: TurnSender, open: () => ConsentRequest[]) {
    this.#to = to;
    this.#open = open;
  }

  readonly rows: TurnRow[] = $derived.by(() =>
    this.#open()
      .filter(isTurnRequest)
      .map((request) => {
        const reason = reviewReason(request);
        const included = reason === null && !this.#excluded.has(request.id);
        return { request, reason, included, failure: this.#to.sender.failure(request) };
      }),
  );
  /** Requests that the joint decision includes. */
  readonly included: ToolRequest[] = $derived.by(() =>
    this.rows.filter((row) => row.included).map(({ request }) => request),
  );
  /** Set if enough calls can be decided together. Stays set while their decisions are being sent. */
  readonly isOffered: boolean = $derived.by(
    () =>
      this.rows.filter(({ reason }) => reason === null).length >= MIN_JOINTLY_DECIDED_CALLS ||
      (this.sending && this.rows.length > 0),
  );
  /** Version of the listed calls. Changes with every byte of a payload. */
  readonly version: string = $derived.by(() =>
    this.rows.map(({ request, reason }) => `${requestVersion(request)} ${reason}`).join("\n"),
  );
  /** Version of the list and of the selection in it. */
  readonly shown: string = $derived.by(() =>
    [this.version, ...this.included.map(({ id }) => id)].join("\n"),
  );
  readonly subject: string | null = $derived.by(() =>
    this.included.length === 0 ? null : this.included.map(({ id }) => id).join("\n"),
  );
  readonly blocker: ApprovalBlocker | null = $derived.by(() => {
    if (this.included.length === 0) return { is: "unselected" };
    return this.fullyViewed ? null : { is: "unviewed" };
  });
  readonly approvalState: ApprovalState = $derived.by(() => ({
    arming: this.arming,
    blocker: this.blocker,
    busy: this.sending,
  }));
  readonly canAllow: boolean = $derived.by(() => canApprove(this.approvalState));

  readonly #listed: string = $derived.by(() =>
    this.rows.map(({ request }) => request.id).join("\n"),
  );
  readonly acceptsLetters: boolean = $derived.by(() => this.#attended === this.#listed);

  /** Includes a call in the decision, or excludes it. */
  include(id: string, included: boolean): void {
    if (included) this.#excluded.delete(id);
    else this.#excluded.add(id);
  }

  /** Approves each included call once if `event` is deliberate and nothing prevents an approval. */
  async allowFirst(event: Event): Promise<void> {
    const sent = this.#to.allowTogether(this.included, event, this.approvalState);
    if (sent !== null) await this.#finish(sent);
  }

  /** Denies each included call if `event` is armed and deliberate. */
  async deny(event: Event): Promise<void> {
    const { included } = this;
    if (this.sending || included.length === 0 || !this.denyArming.accepts(event)) return;
    await this.#finish(this.#to.denyTogether(included));
  }

  /** Records that the user has moved to the list. Another call that appears in it may not be noticed. */
  attend(): void {
    this.#attended = this.#listed;
  }

  submitForm(): null {
    return null;
  }

  async #finish(sent: Promise<boolean>): Promise<void> {
    this.sending = true;
    try {
      if (!(await sent)) this.arming.restart();
    } finally {
      this.sending = false;
    }
  }
}

/** Returns `true` for a request about a tool call of a model. */
export function isTurnRequest(request: ConsentRequest): request is ToolRequest {
  return request.body.kind === "tool" && request.origin.by === "model";
}

/** Returns a predicate for the tool calls of this conversation's model. */
export function isTurnRequestOf(conversation: string): (request: ConsentRequest) => boolean {
  return (request) =>
    isTurnRequest(request) &&
    request.origin.by === "model" &&
    request.origin.conversation === conversation;
}

/** Returns the ids of the conversations whose models have pending tool calls. */
export function conversationsWithTurnRequests(open: readonly ConsentRequest[]): string[] {
  const found = open
    .filter(isTurnRequest)
    .flatMap(({ origin }) => (origin.by === "model" ? [origin.conversation] : []));
  return [...new Set(found)];
}

/** Returns the reason why a call has to be reviewed individually, or `null` if a list can decide it. */
export function reviewReason(request: ToolRequest): ReviewReason | null {
  const { body, marks, scopes } = request;
  const isReviewed = marks.review === "reviewed" && body.definition === undefined;
  if (!isReviewed || body.changedSinceAllowed || marks.diff !== null) return "definition";
  if (marks.outdated || marks.flags.length > 0 || marks.lookAlikes.length > 0) return "warning";
  if (followsUntrustedContent(request)) return "untrusted";
  if (hasPossiblyRounded(body.arguments)) return "rounded";
  if (totalHiddenCharacters(payloadParts(request)) > 0) return "long";
  return scopes.length === 0 || scopes.includes("once") ? null : "scope";
}
