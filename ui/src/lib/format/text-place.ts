// The surroundings of a place in a text, to show where a problem is.

/** Maximum number of characters before and after the place. */
const MAX_SURROUNDING_CHARACTERS = 40;

/** A place in a line of text. */
export interface TextPlace {
  before: string;
  /** The character at the place. Empty at the end of the line. */
  at: string;
  after: string;
  /** Set if more of the line precedes `before`. */
  isCutBefore: boolean;
  isCutAfter: boolean;
}

/** Returns the place at a line and column, both from 1, or `null` if the text has no such line. */
export function textPlace(text: string, line: number, column: number): TextPlace | null {
  const found = text.split("\n")[line - 1];
  if (found === undefined) return null;
  const characters = [...found.replace(/\r$/, "")];
  const at = Math.min(column - 1, characters.length);
  const part = (from: number, to: number) => characters.slice(from, to).join("");
  return {
    before: part(Math.max(0, at - MAX_SURROUNDING_CHARACTERS), at),
    at: part(at, at + 1),
    after: part(at + 1, at + 1 + MAX_SURROUNDING_CHARACTERS),
    isCutBefore: at > MAX_SURROUNDING_CHARACTERS,
    isCutAfter: at + 1 + MAX_SURROUNDING_CHARACTERS < characters.length,
  };
}
