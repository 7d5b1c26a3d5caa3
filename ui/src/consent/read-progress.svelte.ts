// Tracks which folded values of a payload were read. All of them must be opened before the request can be approved.

import { SvelteMap, SvelteSet } from "svelte/reactivity";

import { pageText, pageCount } from "$lib/format/text-pages";
import { textBeginning, beginningParts, type TextBeginning } from "$lib/format/text-safety";

/**
 * Maximum number of characters of a value that is shown without folding. `MAX_UNFOLDED_LINES` is the corresponding
 * number of lines. A value that is not folded must be scrolled into view.
 */
export const MAX_UNFOLDED_CHARACTERS = 4_096;
export const MAX_UNFOLDED_LINES = 100;
/**
 * Maximum number of characters that the previews of all values of a request have together. Values beyond this limit or
 * the following number of lines are reduced to a short beginning.
 */
export const MAX_TOTAL_CHARACTERS = 5_000;
export const MAX_TOTAL_LINES = 120;
const MAX_BEGINNING_CHARACTERS = 120;
const MAX_BEGINNING_LINES = 2;

/** Text of the payload that the user has to read before an approval. */
export interface PayloadPart {
  /** Key of the part, unique within its request. */
  key: string;
  text: string;
  /**
   * Set if the value is never folded, regardless of its length. Long runs of blanks are still replaced by their count.
   */
  uncut?: boolean;
}

/** Maximum size of the preview of a value. */
interface PreviewLimit {
  characters: number;
  lines: number;
}

const DEFAULT_LIMIT: PreviewLimit = {
  characters: MAX_UNFOLDED_CHARACTERS,
  lines: MAX_UNFOLDED_LINES,
};

/** Returns the preview of a value and the number of hidden characters. */
export function foldedPreview(
  { text, uncut }: Pick<PayloadPart, "text" | "uncut">,
  limit = DEFAULT_LIMIT,
): TextBeginning {
  return uncut
    ? beginningParts(text, Infinity, Infinity)
    : beginningParts(text, limit.characters, limit.lines);
}

/** Computes the preview limit of each value. All values share the total limit. */
function previewLimits(parts: PayloadPart[]): Map<string, PreviewLimit> {
  const left: PreviewLimit = { characters: MAX_TOTAL_CHARACTERS, lines: MAX_TOTAL_LINES };
  const limits = new Map<string, PreviewLimit>();
  for (const part of parts) {
    if (part.uncut) continue;
    const limit = {
      characters: Math.min(
        MAX_UNFOLDED_CHARACTERS,
        Math.max(left.characters, MAX_BEGINNING_CHARACTERS),
      ),
      lines: Math.min(MAX_UNFOLDED_LINES, Math.max(left.lines, MAX_BEGINNING_LINES)),
    };
    limits.set(partId(part), limit);
    const shown = textBeginning(part.text, limit.characters, limit.lines);
    left.characters -= shown.length;
    left.lines -= shown === "" ? 0 : shown.split("\n").length;
  }
  return limits;
}

/** Returns the total number of characters that the previews hide. */
export function totalHiddenCharacters(parts: PayloadPart[]): number {
  const limits = previewLimits(parts);
  return parts.reduce((sum, part) => sum + foldedPreview(part, limits.get(partId(part))).hidden, 0);
}

/**
 * Values that the user has expanded, and the pages of them that were rendered. Bound to the exact text of each value.
 */
export class ReadProgress {
  #open = new SvelteSet<string>();
  /** Indexes of the rendered pages by value, for texts of several pages. */
  #drawn = new SvelteMap<string, ReadonlySet<number>>();
  /** All parts of the payload, which share the total limit. */
  #parts = $state.raw<PayloadPart[]>([]);
  readonly #limits = $derived(previewLimits(this.#parts));

  /** Sets the parts that share the total limit. */
  setPayload(parts: PayloadPart[]): void {
    this.#parts = parts;
  }

  /** Returns the preview of a part and the number of hidden characters. */
  fold(part: PayloadPart): TextBeginning {
    return foldedPreview(part, this.#limits.get(partId(part)));
  }

  /** Returns the number of characters of a part that are hidden and were never rendered. */
  unreadCharacters(part: PayloadPart): number {
    return this.#hidden(part, this.#limits.get(partId(part)));
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

  /** Records that a page of the text was rendered completely. */
  markDrawn(part: PayloadPart, page: number): void {
    const before = this.#drawn.get(partId(part));
    if (!before?.has(page)) this.#drawn.set(partId(part), new Set(before).add(page));
  }

  /** Returns the number of characters of all parts that are hidden and were never rendered. */
  unreadTotal(parts: PayloadPart[]): number {
    const limits = previewLimits(parts);
    return parts.reduce((sum, part) => sum + this.#hidden(part, limits.get(partId(part))), 0);
  }

  #hidden(part: PayloadPart, limit: PreviewLimit | undefined): number {
    const { hidden } = foldedPreview(part, limit);
    const drawn = this.#drawn.get(partId(part));
    if (hidden === 0 || drawn === undefined) return hidden;
    const pages = Array.from({ length: pageCount(part.text) }, (_, page) => page);
    return pages
      .filter((page) => !drawn.has(page))
      .reduce((sum, page) => sum + pageText(part.text, page).length, 0);
  }
}

function partId(part: PayloadPart): string {
  return `${part.key}\n${part.text}`;
}
