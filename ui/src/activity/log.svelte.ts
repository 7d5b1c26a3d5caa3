// Activity log of one server: read once, then extended by appended entries. Used by the activity tab and pane.

import { call, toApiError, type ApiError } from "$lib/api/client";
import type { ActivityEntry } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";

/** Maximum number of retained entries. The host may retain fewer. */
export const MAX_ENTRIES = 5000;
/** Maximum number of entries per read. Equals the number that the host retains. */
export const ENTRIES_PER_READ = 2000;
/** Delay during which appended entries are collected before a read, in milliseconds. */
export const READ_DELAY_MS = 100;

export class ActivityLog {
  readonly server: string;
  entries = $state.raw<ActivityEntry[]>([]);
  /** Set once the first page of entries has been read. */
  ready = $state(false);
  error = $state.raw<ApiError | null>(null);

  #watchers = 0;
  #reading = false;
  /** The highest sequence number that the host has announced by an event. */
  #announced = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(server: string) {
    this.server = server;
  }

  /** The sequence number of the latest known entry. */
  get last(): number {
    return this.entries.at(-1)?.seq ?? 0;
  }

  /** Follows appended entries until the returned function is called. Suitable as the result of an `$effect`. */
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

  /** Records that entries exist up to this sequence number. */
  appended(last: number): void {
    // A read may already have returned this entry.
    this.#announced = Math.max(this.#announced, last);
    if (last > this.last) this.#scheduleRead();
  }

  /** Reads the entries after the last known one. */
  async read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lastBefore = this.last;
    try {
      const after = this.last === 0 ? null : this.last;
      const page = await call("read_activity", {
        server: this.server,
        after,
        limit: ENTRIES_PER_READ,
      });
      const fresh = page.entries.filter((entry) => entry.seq > this.last);
      if (fresh.length > 0) this.entries = [...this.entries, ...fresh].slice(-MAX_ENTRIES);
      this.error = null;
      this.ready = true;
    } catch (cause) {
      this.error = toApiError(cause);
    }
    this.#reading = false;
    if (this.#announced > this.last && this.last > lastBefore) this.#scheduleRead();
  }

  #scheduleRead(): void {
    if (this.#reading || this.#watchers === 0) return;
    this.#timer ??= setTimeout(() => void this.read(), READ_DELAY_MS);
  }
}
