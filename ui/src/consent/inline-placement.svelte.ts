// Questions that are drawn where they were asked for: those about calls of the model and their results, in the conversation
// that is open.

import type { Question } from "$lib/api/generated";
import { pageState } from "$lib/page-state";

/** The least height that a question can be read in at its place, in pixels. Where there is less it is asked over everything. */
const MIN_HEIGHT = 380;
/** The greatest height that one has. */
const MAX_HEIGHT = 560;
/** What is left above and below it. */
const MARGIN = 24;

/** A conversation that is open, with the cards of its calls. */
export interface ConversationCards {
  conversation: string;
  /** Whether it has a card for this call. */
  has(call: string): boolean;
  /** Brings the card of this call into view. */
  reveal(call: string): void;
}

class InlinePlacement {
  /** The one that is open. */
  cards = $state.raw<ConversationCards | null>(null);
  /** How high what is in view of the conversation is, in pixels; none if that is not known. */
  viewportHeight = $state<number | null>(null);
  /** How high a question may be there. */
  readonly maxHeight: number = $derived(
    Math.min(MAX_HEIGHT, (this.viewportHeight ?? MAX_HEIGHT) - MARGIN),
  );
  /** Whether the question in front can be seen there. */
  inView = $state(false);

  /** Whether a question is drawn there. Whatever else a question is about, it is asked in a frame over everything. */
  accepts({ body, why, call }: Question): boolean {
    const place = this.cards;
    if (place === null || this.maxHeight < MIN_HEIGHT || call === undefined) return false;
    const isOfCall = body.kind === "tool" || body.kind === "result";
    if (!isOfCall || why.by !== "model") return false;
    return why.conversation === place.conversation && place.has(call);
  }
}

export let inlinePlacement: InlinePlacement;
pageState(() => (inlinePlacement = new InlinePlacement()));
