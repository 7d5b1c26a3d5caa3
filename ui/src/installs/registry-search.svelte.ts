// The registry search, page by page. A response to an outdated query is dropped. It outlives its view, so that
// returning from a server's page shows the same list.
import { call, toApiError, type ApiError } from "$lib/api/client";
import type { RegistryAnswer, RegistryListing } from "$lib/api/generated";
import { pageState } from "$lib/page-state";

/** How long the typing rests before the registry is asked, in milliseconds. */
export const REST_MS = 300;
/** The longest text that is searched for. The host refuses more than 200 bytes. */
export const MAX_TEXT = 60;

class RegistrySearch {
  text = $state("");
  servers = $state.raw<RegistryListing[]>([]);
  answer = $state.raw<RegistryAnswer | null>(null);
  /** How many entries could not be read. */
  unreadable = $state(0);
  next = $state<string | null>(null);
  error = $state.raw<ApiError | null>(null);
  busy = $state(false);
  /** The text that the list is of, which may not be what the field says by now. */
  #listed: string | null = null;
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Asks once the typing rests. What was found before stays until then. */
  typed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.ask(), REST_MS);
  }

  /** Ends what waits to be asked. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Whether the list is of what the field says. */
  get isCurrent(): boolean {
    return this.answer !== null && this.#listed === this.text.trim();
  }

  /** The first page. `refresh` asks the registry even if it answered the same a short while ago. */
  async ask(refresh = false): Promise<void> {
    clearTimeout(this.#timer);
    await this.#read(this.text.trim(), null, refresh);
  }

  /** The page after those that are shown. */
  async more(): Promise<void> {
    if (this.next === null || this.#listed === null || this.busy) return;
    await this.#read(this.#listed, this.next, false);
  }

  async #read(text: string, cursor: string | null, refresh: boolean): Promise<void> {
    const asked = ++this.#asked;
    this.busy = true;
    this.error = null;
    try {
      const page = await call("registry_search", { text, cursor, refresh });
      if (asked !== this.#asked) return;
      this.#listed = text;
      this.servers = withoutTwins(cursor === null ? [] : this.servers, page.servers);
      this.unreadable = page.unreadable + (cursor === null ? 0 : this.unreadable);
      this.next = page.nextCursor;
      this.answer = page.answer;
    } catch (cause) {
      if (asked !== this.#asked) return;
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

/** Each name once: pages of a list that changed meanwhile may overlap, and a registry may repeat a name. */
function withoutTwins(before: RegistryListing[], page: RegistryListing[]): RegistryListing[] {
  const byName = new Map(before.map((listing) => [listing.name, listing]));
  for (const listing of page) {
    if (!byName.has(listing.name)) byName.set(listing.name, listing);
  }
  return [...byName.values()];
}

export let registrySearch: RegistrySearch;
pageState(() => (registrySearch = new RegistrySearch()));
