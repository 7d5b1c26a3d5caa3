// Long values are folded. What is folded away and would cross has to be opened before Allow can be used.

import { SvelteSet } from "svelte/reactivity";

import { firstParts, type Beginning } from "$lib/format/text-safety";

/** So much of a value is shown before it is opened. */
export const SHOWN_CHARACTERS = 600;
export const SHOWN_LINES = 10;

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

/** What the user has opened. Having read holds for exactly the text that was opened. */
export class Reading {
  #read = new SvelteSet<string>();
  #closed = new SvelteSet<string>();

  isOpen(part: Part): boolean {
    return this.#read.has(mark(part)) && !this.#closed.has(mark(part));
  }

  open(part: Part): void {
    this.#read.add(mark(part));
    this.#closed.delete(mark(part));
  }

  close(part: Part): void {
    this.#closed.add(mark(part));
  }

  /** How many characters of these are hidden and were never opened. */
  hidden(parts: Part[]): number {
    return parts.reduce(
      (sum, part) => sum + (this.#read.has(mark(part)) ? 0 : fold(part).hidden),
      0,
    );
  }
}

function mark(part: Part): string {
  return `${part.key}\n${part.text}`;
}
