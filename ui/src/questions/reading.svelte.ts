// Long values are folded. What is folded away and would cross has to be opened before Allow can be used.

import { SvelteMap, SvelteSet } from "svelte/reactivity";

import { pageOf, pagesOf } from "$lib/format/pages";
import { firstParts, type Beginning } from "$lib/format/text-safety";

/** So much of a value is shown before it is opened. Its end has to be scrolled into view all the same. */
export const SHOWN_CHARACTERS = 4_096;
export const SHOWN_LINES = 100;

/** A value that would cross. */
export interface Part {
  /** Where it stands; unique in its question. */
  key: string;
  text: string;
  /** Whether it is never cut, however long it is. Long blanks in it are counted all the same. */
  uncut?: boolean;
}

/** The beginning of a value, and how much is left. */
export function fold({ text, uncut }: Pick<Part, "text" | "uncut">): Beginning {
  return uncut
    ? firstParts(text, Infinity, Infinity)
    : firstParts(text, SHOWN_CHARACTERS, SHOWN_LINES);
}

/** What the user has opened and what of it was drawn. Both hold for exactly the text that was opened. */
export class Reading {
  #open = new SvelteSet<string>();
  /** The pages that were drawn, of texts that are too long to be drawn at once. */
  #drawn = new SvelteMap<string, ReadonlySet<number>>();

  isOpen(part: Part): boolean {
    return this.#open.has(mark(part));
  }

  open(part: Part): void {
    this.#open.add(mark(part));
  }

  close(part: Part): void {
    this.#open.delete(mark(part));
  }

  /** This page of the text was drawn, to the last character of it. */
  drew(part: Part, page: number): void {
    const before = this.#drawn.get(mark(part));
    if (!before?.has(page)) this.#drawn.set(mark(part), new Set(before).add(page));
  }

  /** How many characters of these are hidden and were never drawn. */
  hidden(parts: Part[]): number {
    return parts.reduce((sum, part) => sum + this.#hidden(part), 0);
  }

  #hidden(part: Part): number {
    const { hidden } = fold(part);
    const drawn = this.#drawn.get(mark(part));
    if (hidden === 0 || drawn === undefined) return hidden;
    const pages = Array.from({ length: pagesOf(part.text) }, (_, page) => page);
    return pages
      .filter((page) => !drawn.has(page))
      .reduce((sum, page) => sum + pageOf(part.text, page).length, 0);
  }
}

function mark(part: Part): string {
  return `${part.key}\n${part.text}`;
}
