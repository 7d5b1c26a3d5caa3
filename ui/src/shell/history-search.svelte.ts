// Full-text search over all conversations, page by page. A response to an outdated query is dropped.
import { call, toApiError, type ApiError } from "$lib/api/client";
import type { FoundItem } from "$lib/api/generated";
import { failures } from "$lib/state/failures.svelte";
import { router } from "$lib/state/router.svelte";

import { overlay } from "./overlay.svelte";

/** Delay after the last key before the history is searched, in milliseconds. */
const REST = 120;

export class HistorySearch {
  /** Results for `searched`, newest first. */
  found = $state.raw<FoundItem[]>([]);
  searched = $state("");
  hasMore = $state(false);
  error = $state.raw<ApiError | null>(null);
  #limit: number;
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `limit` is the number of results per page. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Schedules a search. The previous results stay until then. */
  type(text: string): void {
    clearTimeout(this.#timer);
    const wanted = text.trim();
    if (wanted === "") this.#clear();
    else this.#timer = setTimeout(() => void this.#ask(wanted, undefined), REST);
  }

  /** Reads older results. */
  async more(): Promise<void> {
    await this.#ask(this.searched, this.found.at(-1)?.number);
  }

  /** Cancels the running search. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#asked += 1;
  }

  #clear(): void {
    this.stop();
    this.found = [];
    this.searched = "";
    this.hasMore = false;
    this.error = null;
  }

  async #ask(text: string, before: number | undefined): Promise<void> {
    const asked = ++this.#asked;
    try {
      const limit = this.#limit;
      const page = await call("search_history", { text, limit, ...(before ? { before } : {}) });
      if (asked !== this.#asked) return;
      this.found = before ? [...this.found, ...page.found] : page.found;
      this.hasMore = page.hasMore;
      this.error = null;
      this.searched = text;
    } catch (cause) {
      if (asked === this.#asked) this.error = toApiError(cause);
    }
  }
}

/** Opens a conversation at a search result, in the branch that contains it. */
export async function openFound({ conversation, item }: FoundItem): Promise<void> {
  try {
    await call("choose_branch", { conversation, item });
    overlay.left = false;
    router.go({ at: "conversation", id: conversation, item });
  } catch (cause) {
    failures.add(cause);
  }
}
