// The audit log as far as it is loaded: the newest page, and older ones on wish.

import { call } from "$lib/api/client";
import type { AuditEntry } from "$lib/api/generated";

/** So many decisions are read at a time. */
export const PAGE = 100;
/** So many are kept in the page at most; the file has them all. */
export const KEPT = 5000;

export class Audit {
  entries = $state.raw<AuditEntry[]>([]);
  /** Whether there are older ones. */
  more = $state(false);
  loaded = $state(false);
  loading = $state(false);
  error = $state.raw<unknown>(null);
  filter = $state("");
  /** Only this decision, or all. */
  decision = $state("");

  #again = false;

  readonly shown: AuditEntry[] = $derived.by(() => {
    const words = this.filter.trim().toLowerCase().split(/\s+/);
    return this.entries.filter(
      (entry) =>
        (this.decision === "" || entry.decision === this.decision) &&
        words.every((word) => searched(entry).includes(word)),
    );
  });

  readonly canReadOlder: boolean = $derived(this.more && this.entries.length < KEPT);

  /** Reads the newest decisions, and puts those that are new before the others. */
  async newest(): Promise<void> {
    if (this.loading) {
      this.#again = true;
      return;
    }
    await this.#load(async () => {
      const page = await call("audit", { limit: PAGE, before: null });
      const last = page.entries.at(-1)?.number ?? 0;
      const first = this.entries[0]?.number ?? 0;
      // With a gap between the new page and what is there, only the new page stays.
      const rest = last <= first + 1 ? this.entries.filter((entry) => entry.number < last) : [];
      if (rest.length === 0) this.more = page.more;
      this.entries = [...page.entries, ...rest].slice(0, KEPT);
    });
    if (this.#again) {
      this.#again = false;
      await this.newest();
    }
  }

  async older(): Promise<void> {
    const before = this.entries.at(-1)?.number;
    if (this.loading || before === undefined) return;
    await this.#load(async () => {
      const page = await call("audit", { limit: PAGE, before });
      this.entries = [...this.entries, ...page.entries];
      this.more = page.more;
    });
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

function searched(entry: AuditEntry): string {
  return `${entry.server} ${entry.kind} ${entry.subject} ${entry.decision} ${entry.by}`.toLowerCase();
}
