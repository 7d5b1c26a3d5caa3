// Decides which consent requests are drawn in the open conversation: those about tool calls of its model and their
// results.

import type { ConsentRequest } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";

/**
 * Minimum height that an inline request needs to be readable, in pixels. If less is available, the dialog renders it.
 */
const MIN_REQUEST_HEIGHT = 380;
/** Maximum height of an inline request, in pixels. */
const MAX_REQUEST_HEIGHT = 760;
/** Height that an inline request leaves free above and below it, in pixels. */
const REQUEST_MARGIN = 8;
/** Minimum height of the log above a list of requests, in pixels. */
const MIN_LOG_HEIGHT = 120;

/** Tool call cards of the open conversation. */
export interface ConversationCards {
  conversation: string;
  /** Returns `true` if the conversation has a card for the call with this id. */
  has(call: string): boolean;
  /** Scrolls the card of the call with this id into view. */
  reveal(call: string): void;
}

class InlinePlacement {
  /** Tool call cards of the open conversation, or `null` if none is open. */
  cards = $state.raw<ConversationCards | null>(null);
  /**
   * Height of the log and the consent requests below it, in pixels. `null` if unknown. Independent of where the
   * requests are rendered.
   */
  viewportHeight = $state<number | null>(null);
  /** Height available to an inline request, in pixels. */
  readonly maxHeight: number = $derived(
    Math.min(MAX_REQUEST_HEIGHT, (this.viewportHeight ?? MAX_REQUEST_HEIGHT) - REQUEST_MARGIN),
  );
  /** Maximum height of a list of requests below the log, in pixels. */
  readonly maxListHeight: number = $derived(
    Math.min(MAX_REQUEST_HEIGHT, (this.viewportHeight ?? Infinity) - MIN_LOG_HEIGHT),
  );
  /** Set while the current inline request is visible in the conversation's viewport. */
  inView = $state(false);

  /** Returns `true` if a request is rendered inline. The dialog renders all other requests. */
  accepts({ body, origin, call }: ConsentRequest): boolean {
    const place = this.cards;
    if (place === null || this.maxHeight < MIN_REQUEST_HEIGHT || call === undefined) return false;
    const isOfCall = body.kind === "tool" || body.kind === "result";
    if (!isOfCall || origin.by !== "model") return false;
    return origin.conversation === place.conversation && place.has(call);
  }
}

export let inlinePlacement: InlinePlacement;
registerPageState(() => (inlinePlacement = new InlinePlacement()));
