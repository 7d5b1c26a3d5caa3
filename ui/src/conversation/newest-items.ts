// The newest items are drawn as they are, so that one that grows moves nothing; what is before them is a virtual list.
import type { ConversationItem } from "$lib/api/generated";

/** How many are drawn as they are when a conversation opens. */
const NEWEST = 20;
/** So many may become of them. */
const MOST = 120;

export class NewestItems {
  #first: string | null = null;

  /** The index of the first of them. It stays the same item, unless another branch is shown. */
  begin(items: readonly ConversationItem[]): number {
    const at = items.findLastIndex((item) => item.id === this.#first);
    return at < 0 ? this.#cut(items) : at;
  }

  /** Leaves only the last ones, if they have become too many. Only for a reader who is at the end: places move. */
  shorten(items: readonly ConversationItem[]): void {
    if (items.length - this.begin(items) > MOST) this.#cut(items);
  }

  #cut(items: readonly ConversationItem[]): number {
    const at = Math.max(0, items.length - NEWEST);
    this.#first = items[at]?.id ?? null;
    return at;
  }
}
