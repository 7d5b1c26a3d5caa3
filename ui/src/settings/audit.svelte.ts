// The audit log as far as it is loaded: the newest decisions that fit the filters, and older ones on wish.

import { call } from "$lib/api/client";
import type { AuditEntry, AuditRange } from "$lib/api/generated";

/** So many decisions are read at a time. */
export const PAGE = 100;
/** So many are kept in the page at most; the file has them all. */
export const KEPT = 5000;

const DAY = 24 * 60 * 60 * 1000;
/** How long ago, by name. */
const PERIODS: Record<string, number> = { day: DAY, week: 7 * DAY, month: 30 * DAY };

/** Which decisions are wanted. Empty fits all. */
export interface AuditFilter {
  search: string;
  server: string;
  kind: string;
  decision: string;
  period: string;
}

export const ALL: AuditFilter = { search: "", server: "", kind: "", decision: "", period: "" };

export class Audit {
  entries = $state.raw<AuditEntry[]>([]);
  /** Whether there are older ones. */
  more = $state(false);
  loaded = $state(false);
  loading = $state(false);
  error = $state.raw<unknown>(null);
  filter = $state.raw<AuditFilter>(ALL);

  #again = false;
  /** Grows with the filter, so that an answer to another one is not taken for this one's. */
  #version = 0;

  readonly filtered: boolean = $derived(
    (Object.values(this.filter) as string[]).some((value) => value.trim() !== ""),
  );
  readonly canReadOlder: boolean = $derived(this.more && this.entries.length < KEPT);

  /** Asks for other decisions. */
  async look(changes: Partial<AuditFilter>): Promise<void> {
    this.filter = { ...this.filter, ...changes };
    this.#version += 1;
    await this.newest();
  }

  /** Reads the newest decisions, and puts those that are new before the others. */
  async newest(): Promise<void> {
    if (this.loading) {
      this.#again = true;
      return;
    }
    const version = this.#version;
    await this.#load(async () => {
      const page = await call("audit", this.#range(null));
      if (version !== this.#version) return;
      const last = page.entries.at(-1)?.number ?? 0;
      const shown = new Set(page.entries.map((entry) => entry.number));
      const joins = this.#of === version && this.entries.some((entry) => shown.has(entry.number));
      // With a gap between the new page and what is there, only the new page stays.
      const rest = joins ? this.entries.filter((entry) => entry.number < last) : [];
      if (rest.length === 0) this.more = page.more;
      this.entries = [...page.entries, ...rest].slice(0, KEPT);
      this.#of = version;
    });
    if (this.#again) {
      this.#again = false;
      await this.newest();
    }
  }

  /** The filter's version that the entries fit. */
  #of = 0;

  async older(): Promise<void> {
    const before = this.entries.at(-1)?.number;
    if (this.loading || before === undefined) return;
    const version = this.#version;
    await this.#load(async () => {
      const page = await call("audit", this.#range(before));
      if (version !== this.#version) return;
      this.entries = [...this.entries, ...page.entries];
      this.more = page.more;
    });
    if (this.#again) {
      this.#again = false;
      await this.newest();
    }
  }

  #range(before: number | null): AuditRange {
    const { search, server, kind, decision, period } = this.filter;
    const ago = PERIODS[period];
    return {
      limit: PAGE,
      before,
      server: server || null,
      kind: kind || null,
      decision: decision || null,
      since: ago === undefined ? null : Date.now() - ago,
      until: null,
      search: search.trim() || null,
    };
  }

  async #load(read: () => Promise<void>): Promise<void> {
    this.loading = true;
    try {
      await read();
      this.error = null;
      this.loaded = true;
    } catch (cause) {
      this.error = cause;
    }
    this.loading = false;
  }
}
