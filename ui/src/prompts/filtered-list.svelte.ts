// Selectable list that is filtered by typing.

import type { ReviewMarks } from "$lib/api/generated";
import { fuzzyFilter } from "$lib/format/fuzzy";

export interface Pickable {
  id: string;
  /** Texts that the query is compared with, the most important first. */
  words: string[];
}

/** Offer of a server as a selectable row. The server defines all fields except `server`. */
export interface Offer extends Pickable {
  server: string;
  name: string;
  title: string | null;
  description: string | null;
  /** Data URL of an icon that is safe to show, or `null`. */
  icon: string | null;
  /** Review marks of the offer's definition. */
  marks: ReviewMarks;
  /** Label of the offer's kind, for lists with several kinds. */
  kind?: string;
}

/** Maximum number of rendered items. The user finds further items by typing a longer query. */
export const MAX_SHOWN_ITEMS = 100;

export class FilteredList<T extends Pickable> {
  query = $state("");
  #active = $state(0);
  readonly #all: () => T[];

  constructor(all: () => T[]) {
    this.#all = all;
  }

  readonly matches: T[] = $derived.by(() =>
    fuzzyFilter(this.query, this.#all(), (item) => item.words),
  );
  readonly shown: T[] = $derived(this.matches.slice(0, MAX_SHOWN_ITEMS));
  readonly active: number = $derived(Math.min(this.#active, Math.max(0, this.shown.length - 1)));
  readonly chosen: T | null = $derived(this.shown[this.active] ?? null);

  type(query: string): void {
    this.query = query;
    this.#active = 0;
  }

  choose(index: number): void {
    this.#active = index;
  }

  move(by: number): void {
    const count = this.shown.length;
    if (count > 0) this.#active = (this.active + by + count) % count;
  }
}

/** Returns the action of a key in a selectable list, or `null` if the key has none. */
export function pickListKey(key: string): { move: number } | "take" | "close" | null {
  switch (key) {
    case "ArrowDown":
      return { move: 1 };
    case "ArrowUp":
      return { move: -1 };
    case "PageDown":
      return { move: 10 };
    case "PageUp":
      return { move: -10 };
    case "Enter":
      return "take";
    case "Escape":
      return "close";
    default:
      return null;
  }
}
