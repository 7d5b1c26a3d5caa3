// A text that grows, cut into blocks that are done, which are drawn once, and the end, which is drawn as it comes.
import { stableLength } from "$lib/ui/markdown";

export interface MarkdownSplit {
  /** Markdown that no longer changes, in order. The same array while nothing new is done. */
  settled: readonly string[];
  /** The rest. */
  end: string;
}

export class StableMarkdown {
  #taken = "";
  #pieces: readonly string[] = [];

  /** Cuts the text as it is now. One that does not begin as the last one did is cut anew. */
  cut(text: string): MarkdownSplit {
    if (!text.startsWith(this.#taken)) {
      this.#taken = "";
      this.#pieces = [];
    }
    const rest = text.slice(this.#taken.length);
    const length = stableLength(rest);
    if (length === 0) return { settled: this.#pieces, end: rest };
    const piece = rest.slice(0, length);
    this.#taken += piece;
    // What is only blank is drawn as nothing.
    if (piece.trim() !== "") this.#pieces = [...this.#pieces, piece];
    return { settled: this.#pieces, end: rest.slice(length) };
  }
}
