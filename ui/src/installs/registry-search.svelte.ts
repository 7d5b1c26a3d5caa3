// The search in the registry: page by page, and never an answer to an older question. It outlives its view, so that the way back from a
// server's page leads to the same list.
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

  /** The first page. `refresh` asks the registry even if it answered the same a short while ago. */
  async ask(refresh = false): Promise<void> {
    clearTimeout(this.#timer);
    await this.#read(null, refresh);
  }

  /** The page after those that are shown. */
  async more(): Promise<void> {
    if (this.next !== null && !this.busy) await this.#read(this.next, false);
  }

  async #read(cursor: string | null, refresh: boolean): Promise<void> {
    const asked = ++this.#asked;
    this.busy = true;
    this.error = null;
    try {
      const text = this.text.trim();
      const page = await call("registry_search", { text, cursor, refresh });
      if (asked !== this.#asked) return;
      this.servers = cursor === null ? page.servers : withoutTwins(this.servers, page.servers);
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

/** Pages of a list that changed meanwhile may overlap. */
function withoutTwins(before: RegistryListing[], page: RegistryListing[]): RegistryListing[] {
  const names = new Set(before.map(({ name }) => name));
  return [...before, ...page.filter(({ name }) => !names.has(name))];
}

export let registrySearch: RegistrySearch;
pageState(() => (registrySearch = new RegistrySearch()));
