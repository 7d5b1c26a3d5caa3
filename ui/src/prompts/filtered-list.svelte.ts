// A list to pick from by typing: what matches, and which is chosen.

import type { ReviewMarks } from "$lib/api/generated";
import { fuzzyFilter } from "$lib/format/fuzzy";

export interface Pickable {
  id: string;
  /** What is searched, the most telling first. */
  words: string[];
}

/** Something a server offers, as a row to pick. All but `server` are its own words. */
export interface Offer extends Pickable {
  server: string;
  name: string;
  title: string | null;
  description: string | null;
  /** A picture that is safe to show. */
  icon: string | null;
  /** What is worth a second look about it. */
  marks: ReviewMarks;
  /** The kind of thing it is, in words, where a list has several. */
  kind?: string;
}

/** So many are shown; the rest is found by typing more. */
export const SHOWN = 100;

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
  readonly shown: T[] = $derived(this.matches.slice(0, SHOWN));
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

/** What a key does in a list that is picked from; null if nothing. */
export function pickKey(key: string): { move: number } | "take" | "close" | null {
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
