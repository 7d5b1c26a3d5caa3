// Decides which consent requests are drawn in the open conversation: those about tool calls of its model and their
// results.

import type { ConsentRequest } from "$lib/api/generated";
import { pageState } from "$lib/page-state";

/** Minimum height in which a request can be read, in pixels. With less, it is shown in the dialog. */
const MIN_HEIGHT = 380;
/** Maximum height of an inline request, in pixels. */
const MAX_HEIGHT = 560;
/** Height left free above and below an inline request, in pixels. */
const MARGIN = 24;
/** Height of the log that a list of requests below it leaves visible, in pixels. */
const MIN_LOG_HEIGHT = 120;

/** The cards of the tool calls in the open conversation. */
export interface ConversationCards {
  conversation: string;
  /** Returns `true` if the conversation has a card for this call. */
  has(call: string): boolean;
  /** Scrolls the card of this call into view. */
  reveal(call: string): void;
}

class InlinePlacement {
  /** The cards of the open conversation, or `null` if none is open. */
  cards = $state.raw<ConversationCards | null>(null);
  /**
   * Height of the log and the consent requests below it, in pixels, or `null` if it is not known. It does not depend on
   * the place of the requests.
   */
  viewportHeight = $state<number | null>(null);
  /** Height available to an inline request, in pixels. */
  readonly maxHeight: number = $derived(
    Math.min(MAX_HEIGHT, (this.viewportHeight ?? MAX_HEIGHT) - MARGIN),
  );
  /** Height available to a list of requests below the log, in pixels. */
  readonly maxListHeight: number = $derived(
    Math.min(MAX_HEIGHT, (this.viewportHeight ?? Infinity) - MIN_LOG_HEIGHT),
  );
  /** Set while the current inline request is in view. */
  inView = $state(false);

  /** Returns `true` if a request is drawn inline. All other kinds use the dialog. */
  accepts({ body, why, call }: ConsentRequest): boolean {
    const place = this.cards;
    if (place === null || this.maxHeight < MIN_HEIGHT || call === undefined) return false;
    const isOfCall = body.kind === "tool" || body.kind === "result";
    if (!isOfCall || why.by !== "model") return false;
    return why.conversation === place.conversation && place.has(call);
  }
}

export let inlinePlacement: InlinePlacement;
pageState(() => (inlinePlacement = new InlinePlacement()));
