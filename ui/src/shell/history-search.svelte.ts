// Full-text search over all conversations, page by page. A response to an outdated query is dropped.
import { call, toApiError, type ApiError } from "$lib/api/client";
import type { FoundItem } from "$lib/api/generated";
import { failures } from "$lib/state/failures.svelte";
import { router } from "$lib/state/router.svelte";

import { overlay } from "./overlay.svelte";

/** Delay after the last key before the history is searched, in milliseconds. */
const REST = 120;

export class HistorySearch {
  /** Results of the query `searched`, newest first. */
  found = $state.raw<FoundItem[]>([]);
  searched = $state("");
  hasMore = $state(false);
  error = $state.raw<ApiError | null>(null);
  #limit: number;
  #lastRequest = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `limit` is the maximum number of results per page. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Schedules a search for this text. The previous results remain until it completes. */
  type(text: string): void {
    clearTimeout(this.#timer);
    const query = text.trim();
    if (query === "") this.#clear();
    else this.#timer = setTimeout(() => void this.#read(query, undefined), REST);
  }

  /** Reads the next page of results, which are older. */
  async more(): Promise<void> {
    await this.#read(this.searched, this.found.at(-1)?.number);
  }

  /** Cancels the running or scheduled search. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#lastRequest += 1;
  }

  #clear(): void {
    this.stop();
    this.found = [];
    this.searched = "";
    this.hasMore = false;
    this.error = null;
  }

  async #read(text: string, before: number | undefined): Promise<void> {
    const request = ++this.#lastRequest;
    try {
      const limit = this.#limit;
      const page = await call("search_history", { text, limit, ...(before ? { before } : {}) });
      if (request !== this.#lastRequest) return;
      this.found = before ? [...this.found, ...page.found] : page.found;
      this.hasMore = page.hasMore;
      this.error = null;
      this.searched = text;
    } catch (cause) {
      if (request === this.#lastRequest) this.error = toApiError(cause);
    }
  }
}

/** Opens the conversation of a search result at the item, in a branch that contains the item. */
export async function openSearchHit({ conversation, item }: FoundItem): Promise<void> {
  try {
    await call("choose_branch", { conversation, item });
    overlay.left = false;
    router.go({ at: "conversation", id: conversation, item });
  } catch (cause) {
    failures.add(cause);
  }
}
