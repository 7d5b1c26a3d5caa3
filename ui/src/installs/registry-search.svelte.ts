// Paginated registry search. A response to an outdated query is dropped. The state outlives its view, so that
// returning from a server's page shows the same list.
import { call, toApiError, type ApiError } from "$lib/api/client";
import type { RegistryAnswer, RegistryListing } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";

/** Delay after the last key before the registry is searched, in milliseconds. */
export const SEARCH_DELAY_MS = 300;
/** Maximum length of a query. The host rejects more than 200 bytes. */
export const MAX_QUERY_LENGTH = 60;

class RegistrySearch {
  text = $state("");
  servers = $state.raw<RegistryListing[]>([]);
  answer = $state.raw<RegistryAnswer | null>(null);
  /** Number of entries in the registry's response that could not be parsed. */
  unreadable = $state(0);
  next = $state<string | null>(null);
  error = $state.raw<ApiError | null>(null);
  busy = $state(false);
  /** Query whose results are listed. May differ from the text in the field. */
  #listed: string | null = null;
  #lastRequest = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Schedules a search for the entered text. The previous results remain until it completes. */
  typed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.search(), SEARCH_DELAY_MS);
  }

  /** Cancels the scheduled search. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Set if the list matches the text in the field. */
  get isCurrent(): boolean {
    return this.answer !== null && this.#listed === this.text.trim();
  }

  /** Reads the first page of results. `refresh` bypasses cached registry responses. */
  async search(refresh = false): Promise<void> {
    clearTimeout(this.#timer);
    await this.#read(this.text.trim(), null, refresh);
  }

  /** Reads the next page of results. */
  async more(): Promise<void> {
    if (this.next === null || this.#listed === null || this.busy) return;
    await this.#read(this.#listed, this.next, false);
  }

  async #read(text: string, cursor: string | null, refresh: boolean): Promise<void> {
    const request = ++this.#lastRequest;
    this.busy = true;
    this.error = null;
    try {
      const page = await call("search_registry", { text, cursor, refresh });
      if (request !== this.#lastRequest) return;
      this.#listed = text;
      this.servers = uniqueListings(cursor === null ? [] : this.servers, page.servers);
      this.unreadable = page.unreadable + (cursor === null ? 0 : this.unreadable);
      this.next = page.nextCursor;
      this.answer = page.answer;
    } catch (cause) {
      if (request !== this.#lastRequest) return;
      this.error = toApiError(cause);
      if (cursor === null) {
        this.servers = [];
        this.next = null;
        this.answer = null;
      }
    }
    this.busy = false;
  }
}

/**
 * Adds the listings of a page to the known ones, without repeated names. Pages of a changing registry may overlap, and
 * a registry may repeat a name.
 */
function uniqueListings(known: RegistryListing[], page: RegistryListing[]): RegistryListing[] {
  const byName = new Map(known.map((listing) => [listing.name, listing]));
  for (const listing of page) {
    if (!byName.has(listing.name)) byName.set(listing.name, listing);
  }
  return [...byName.values()];
}

export let registrySearch: RegistrySearch;
registerPageState(() => (registrySearch = new RegistrySearch()));
