// Splits a growing text into finished blocks, which are rendered once, and the rest, which is rendered on every
// change.
import { stableLength } from "$lib/ui/markdown";

export interface MarkdownSplit {
  /** Finished Markdown blocks in order. The same array object until another block is finished. */
  settled: readonly string[];
  /** Text after the finished blocks. */
  end: string;
}

export class StableMarkdownSplitter {
  #settledText = "";
  #pieces: readonly string[] = [];

  /** Splits the current text. If it does not begin with the previously finished blocks, splitting starts again. */
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
