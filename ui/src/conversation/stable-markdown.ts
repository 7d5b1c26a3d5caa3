// Splits a growing text into finished blocks, which are rendered once, and the rest, which is rendered on every
// change.
import { stableLength } from "$lib/ui/markdown";

export interface MarkdownSplit {
  /** Finished Markdown blocks in order. The same array until another block is finished. */
  settled: readonly string[];
  /** The unfinished rest. */
  end: string;
}

export class StableMarkdown {
  #settledText = "";
  #pieces: readonly string[] = [];

  /** Splits the current text. A text that does not extend the last one is split from the start. */
  cut(text: string): MarkdownSplit {
    if (!text.startsWith(this.#settledText)) {
      this.#settledText = "";
      this.#pieces = [];
    }
    const rest = text.slice(this.#settledText.length);
    const length = stableLength(rest);
    if (length === 0) return { settled: this.#pieces, end: rest };
    const piece = rest.slice(0, length);
    this.#settledText += piece;
    // Blank text renders nothing.
    if (piece.trim() !== "") this.#pieces = [...this.#pieces, piece];
    return { settled: this.#pieces, end: rest.slice(length) };
  }
}
