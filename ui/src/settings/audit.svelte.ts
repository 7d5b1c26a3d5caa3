// Loaded part of the audit log: the newest decisions that match the filter, and older ones on request.

import { call } from "$lib/api/client";
import type { AuditEntry, AuditRange } from "$lib/api/generated";

/** Maximum number of decisions per read. */
export const ENTRIES_PER_READ = 100;
/** Maximum number of decisions that the page retains. The log itself contains all of them. */
export const MAX_ENTRIES = 5000;

const DAY = 24 * 60 * 60 * 1000;
/** Lengths of the selectable periods in milliseconds. */
const PERIODS: Record<string, number> = { day: DAY, week: 7 * DAY, month: 30 * DAY };

/** Filter of audit entries. Empty fields match every entry. */
export interface AuditFilter {
  search: string;
  server: string;
  kind: string;
  decision: string;
  period: string;
}

export const EMPTY_FILTER: AuditFilter = {
  search: "",
  server: "",
  kind: "",
  decision: "",
  period: "",
};

export class AuditLog {
  entries = $state.raw<AuditEntry[]>([]);
  /** Set if the log contains older decisions that match the filter. */
  more = $state(false);
  loaded = $state(false);
  loading = $state(false);
  error = $state.raw<unknown>(null);
  filter = $state.raw<AuditFilter>(EMPTY_FILTER);

  #isOutdated = false;
  /** Number of filter changes. A response to an earlier filter is dropped. */
  #version = 0;

  readonly filtered: boolean = $derived(
    (Object.values(this.filter) as string[]).some((value) => value.trim() !== ""),
  );
  readonly canReadOlder: boolean = $derived(this.more && this.entries.length < MAX_ENTRIES);

  /** Changes some fields of the filter and reads the matching decisions. */
  async setFilter(changes: Partial<AuditFilter>): Promise<void> {
    this.filter = { ...this.filter, ...changes };
    this.#version += 1;
    await this.newest();
  }

  /** Reads the newest decisions and adds new ones before the known ones. */
  async newest(): Promise<void> {
    if (this.loading) {
      this.#isOutdated = true;
      return;
    }
    const version = this.#version;
    await this.#load(async () => {
      const page = await call("read_audit_log", this.#range(null));
      if (version !== this.#version) return;
      const last = page.entries.at(-1)?.number ?? 0;
      const shown = new Set(page.entries.map((entry) => entry.number));
      const isAdjacent =
        this.#entriesVersion === version && this.entries.some((entry) => shown.has(entry.number));
      // If there is a gap between the new and the known decisions, only the new ones are kept.
      const rest = isAdjacent ? this.entries.filter((entry) => entry.number < last) : [];
      if (rest.length === 0) this.more = page.more;
      this.entries = [...page.entries, ...rest].slice(0, MAX_ENTRIES);
      this.#entriesVersion = version;
    });
    if (this.#isOutdated) {
      this.#isOutdated = false;
      await this.newest();
    }
  }

  /** Value of `#version` for which `entries` were read. */
  #entriesVersion = 0;

  async older(): Promise<void> {
    const oldest = this.entries.at(-1)?.number;
    if (this.loading || oldest === undefined) return;
    const version = this.#version;
    await this.#load(async () => {
      const page = await call("read_audit_log", this.#range(oldest));
      if (version !== this.#version) return;
      this.entries = [...this.entries, ...page.entries];
      this.more = page.more;
    });
    if (this.#isOutdated) {
      this.#isOutdated = false;
      await this.newest();
    }
  }

  #range(oldest: number | null): AuditRange {
    const { search, server, kind, decision, period } = this.filter;
    const ago = PERIODS[period];
    return {
      limit: ENTRIES_PER_READ,
      before: oldest,
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
