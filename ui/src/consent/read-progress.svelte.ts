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
export interface PayloadPart {
  /** Where it stands; unique in its question. */
  key: string;
  text: string;
  /** Whether it is never cut, however long it is. Long blanks in it are counted all the same. */
  uncut?: boolean;
}

/** How much of a value is shown before it is opened. */
interface PreviewLimit {
  characters: number;
  lines: number;
}

const DEFAULT_LIMIT: PreviewLimit = { characters: SHOWN_CHARACTERS, lines: SHOWN_LINES };

/** The beginning of a value, and how much is left. */
export function fold(
  { text, uncut }: Pick<PayloadPart, "text" | "uncut">,
  room = DEFAULT_LIMIT,
): Beginning {
  return uncut
    ? firstParts(text, Infinity, Infinity)
    : firstParts(text, room.characters, room.lines);
}

/** The room of each of these values, which stand together. */
function previewLimits(parts: PayloadPart[]): Map<string, PreviewLimit> {
  const left: PreviewLimit = { characters: TOTAL_CHARACTERS, lines: TOTAL_LINES };
  const rooms = new Map<string, PreviewLimit>();
  for (const part of parts) {
    if (part.uncut) continue;
    const room = {
      characters: Math.min(SHOWN_CHARACTERS, Math.max(left.characters, BEGINNING_CHARACTERS)),
      lines: Math.min(SHOWN_LINES, Math.max(left.lines, BEGINNING_LINES)),
    };
    rooms.set(partId(part), room);
    const shown = beginning(part.text, room.characters, room.lines);
    left.characters -= shown.length;
    left.lines -= shown === "" ? 0 : shown.split("\n").length;
  }
  return rooms;
}

/** What the user has opened and what of it was drawn. Both hold for exactly the text that was opened. */
export class ReadProgress {
  #open = new SvelteSet<string>();
  /** The pages that were drawn, of texts that are too long to be drawn at once. */
  #drawn = new SvelteMap<string, ReadonlySet<number>>();
  /** The values that stand together. */
  #together = $state.raw<PayloadPart[]>([]);
  readonly #rooms = $derived(previewLimits(this.#together));

  /** These values stand together, and share the room that there is. */
  setPayload(parts: PayloadPart[]): void {
    this.#together = parts;
  }

  /** What is shown of this one until it is opened. */
  fold(part: PayloadPart): Beginning {
    return fold(part, this.#rooms.get(partId(part)));
  }

  /** How many of its characters are hidden and were never drawn. */
  unreadCharacters(part: PayloadPart): number {
    return this.#hidden(part, this.#rooms.get(partId(part)));
  }

  isOpen(part: PayloadPart): boolean {
    return this.#open.has(partId(part));
  }

  open(part: PayloadPart): void {
    this.#open.add(partId(part));
  }

  close(part: PayloadPart): void {
    this.#open.delete(partId(part));
  }

  /** This page of the text was drawn, to the last character of it. */
  markDrawn(part: PayloadPart, page: number): void {
    const before = this.#drawn.get(partId(part));
    if (!before?.has(page)) this.#drawn.set(partId(part), new Set(before).add(page));
  }

  /** How many characters of these, which stand together, are hidden and were never drawn. */
  unreadTotal(parts: PayloadPart[]): number {
    const rooms = previewLimits(parts);
    return parts.reduce((sum, part) => sum + this.#hidden(part, rooms.get(partId(part))), 0);
  }

  #hidden(part: PayloadPart, room: PreviewLimit | undefined): number {
    const { hidden } = fold(part, room);
    const drawn = this.#drawn.get(partId(part));
    if (hidden === 0 || drawn === undefined) return hidden;
    const pages = Array.from({ length: pagesOf(part.text) }, (_, page) => page);
    return pages
      .filter((page) => !drawn.has(page))
      .reduce((sum, page) => sum + pageOf(part.text, page).length, 0);
  }
}

function partId(part: PayloadPart): string {
  return `${part.key}\n${part.text}`;
}
