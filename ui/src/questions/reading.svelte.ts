// Long values are folded. What is folded away and would cross has to be opened before Allow can be used.

import { SvelteSet } from "svelte/reactivity";

import { beginning } from "$lib/format/text-safety";

/** So much of a value is shown before it is opened. */
export const SHOWN_CHARACTERS = 600;
export const SHOWN_LINES = 10;

export interface Folded {
  shown: string;
  /** How many characters are not shown. */
  hidden: number;
}

/** The beginning of a text, and how much is left. */
export function fold(text: string): Folded {
  const shown = beginning(text, SHOWN_CHARACTERS, SHOWN_LINES);
  return { shown, hidden: text.length - shown.length };
}

/** A value that would cross. */
export interface Part {
  /** Where it stands; unique in its question. */
  key: string;
  text: string;
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
      (sum, part) => sum + (this.#read.has(mark(part)) ? 0 : fold(part.text).hidden),
      0,
    );
  }
}

function mark(part: Part): string {
  return `${part.key}\n${part.text}`;
}
