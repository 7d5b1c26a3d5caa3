// Long values are folded. What is folded away and would cross has to be opened before Allow can be used.

import { SvelteMap, SvelteSet } from "svelte/reactivity";

import { pageOf, pagesOf } from "$lib/format/text-pages";
import { beginning, firstParts, type Beginning } from "$lib/format/text-safety";

/** So much of a value is shown before it is opened. All of that has to be scrolled into view. */
export const SHOWN_CHARACTERS = 4_096;
export const SHOWN_LINES = 100;
/** So much of all values of a question together; of a value beyond that, only its beginning. */
export const TOTAL_CHARACTERS = 5_000;
export const TOTAL_LINES = 120;
const BEGINNING_CHARACTERS = 120;
const BEGINNING_LINES = 2;

/** A value that would cross. */
export interface Part {
  /** Where it stands; unique in its question. */
  key: string;
  text: string;
  /** Whether it is never cut, however long it is. Long blanks in it are counted all the same. */
  uncut?: boolean;
}

/** How much of a value is shown before it is opened. */
interface Room {
  characters: number;
  lines: number;
}

const ALONE: Room = { characters: SHOWN_CHARACTERS, lines: SHOWN_LINES };

/** The beginning of a value, and how much is left. */
export function fold({ text, uncut }: Pick<Part, "text" | "uncut">, room = ALONE): Beginning {
  return uncut
    ? firstParts(text, Infinity, Infinity)
    : firstParts(text, room.characters, room.lines);
}

/** The room of each of these values, which stand together. */
function roomsOf(parts: Part[]): Map<string, Room> {
  const left: Room = { characters: TOTAL_CHARACTERS, lines: TOTAL_LINES };
  const rooms = new Map<string, Room>();
  for (const part of parts) {
    if (part.uncut) continue;
    const room = {
      characters: Math.min(SHOWN_CHARACTERS, Math.max(left.characters, BEGINNING_CHARACTERS)),
      lines: Math.min(SHOWN_LINES, Math.max(left.lines, BEGINNING_LINES)),
    };
    rooms.set(mark(part), room);
    const shown = beginning(part.text, room.characters, room.lines);
    left.characters -= shown.length;
    left.lines -= shown === "" ? 0 : shown.split("\n").length;
  }
  return rooms;
}

/** What the user has opened and what of it was drawn. Both hold for exactly the text that was opened. */
export class Reading {
  #open = new SvelteSet<string>();
  /** The pages that were drawn, of texts that are too long to be drawn at once. */
  #drawn = new SvelteMap<string, ReadonlySet<number>>();
  /** The values that stand together. */
  #together = $state.raw<Part[]>([]);
  readonly #rooms = $derived(roomsOf(this.#together));

  /** These values stand together, and share the room that there is. */
  share(parts: Part[]): void {
    this.#together = parts;
  }

  /** What is shown of this one until it is opened. */
  fold(part: Part): Beginning {
    return fold(part, this.#rooms.get(mark(part)));
  }

  /** How many of its characters are hidden and were never drawn. */
  hiddenOf(part: Part): number {
    return this.#hidden(part, this.#rooms.get(mark(part)));
  }

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

  /** How many characters of these, which stand together, are hidden and were never drawn. */
  hidden(parts: Part[]): number {
    const rooms = roomsOf(parts);
    return parts.reduce((sum, part) => sum + this.#hidden(part, rooms.get(mark(part))), 0);
  }

  #hidden(part: Part, room: Room | undefined): number {
    const { hidden } = fold(part, room);
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
