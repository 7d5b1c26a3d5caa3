// A server's activity as the page knows it: read once, then only what was appended.

import { call, toApiError, type ApiError } from "$lib/api/client";
import type { ActivityEntry } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";

/** How many entries are kept; the host may keep fewer. */
export const MAX_ENTRIES = 5000;
/** How many are read at once: as many as the host keeps. */
export const PAGE = 2000;
/** How long entries are gathered before they are read, in milliseconds. */
export const PAUSE = 100;

export class ActivityLog {
  readonly server: string;
  entries = $state.raw<ActivityEntry[]>([]);
  /** Whether the first page has come. */
  ready = $state(false);
  error = $state.raw<ApiError | null>(null);

  #watchers = 0;
  #reading = false;
  /** The latest number that was announced. */
  #announced = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(server: string) {
    this.server = server;
  }

  /** The number of the latest entry that is known. */
  get last(): number {
    return this.entries.at(-1)?.seq ?? 0;
  }

  /** Follows what is appended until the returned function is called; fits as the result of an `$effect`. */
  watch(): () => void {
    this.#watchers += 1;
    const stop = app.onEvent((event) => {
      if (event.type === "activity_appended" && event.server === this.server) {
        this.appended(event.last);
      }
    });
    void this.read();
    return () => {
      stop();
      this.#watchers -= 1;
      if (this.#watchers > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Takes note that there are entries up to this number. */
  appended(last: number): void {
    // An answer may have overtaken the event.
    this.#announced = Math.max(this.#announced, last);
    if (last > this.last) this.#soon();
  }

  /** Reads what is new. */
  async read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const before = this.last;
    try {
      const after = this.last === 0 ? null : this.last;
      const page = await call("activity", { server: this.server, after, limit: PAGE });
      const fresh = page.entries.filter((entry) => entry.seq > this.last);
      if (fresh.length > 0) this.entries = [...this.entries, ...fresh].slice(-MAX_ENTRIES);
      this.error = null;
      this.ready = true;
    } catch (cause) {
      this.error = toApiError(cause);
    }
    this.#reading = false;
    if (this.#announced > this.last && this.last > before) this.#soon();
  }

  #soon(): void {
    if (this.#reading || this.#watchers === 0) return;
    this.#timer ??= setTimeout(() => void this.read(), PAUSE);
  }
}
