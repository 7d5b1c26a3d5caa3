// Selects the newest items, which are rendered directly so that a growing one moves nothing. Earlier items are
// rendered in a virtual list.
import type { ConversationItem } from "$lib/api/generated";

/** Number of items that are rendered directly when a conversation opens. */
const NEWEST = 20;
/** Maximum number of directly rendered items. */
const MAX_NEWEST = 120;

export class NewestItems {
  #first: string | null = null;

  /** Returns the index of the first of the newest items. It refers to the same item until another branch is shown. */
  startIndex(items: readonly ConversationItem[]): number {
    const at = items.findLastIndex((item) => item.id === this.#first);
    return at < 0 ? this.#cut(items) : at;
  }

  /**
   * Reduces the newest items to the initial number if they exceed the maximum. Items move on screen, so call it only
   * while the reader is at the end.
   */
  shorten(items: readonly ConversationItem[]): void {
    if (items.length - this.startIndex(items) > MAX_NEWEST) this.#cut(items);
  }

  #cut(items: readonly ConversationItem[]): number {
    const at = Math.max(0, items.length - NEWEST);
    this.#first = items[at]?.id ?? null;
    return at;
  }
}
