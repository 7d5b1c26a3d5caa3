// Splits long texts into pages that can be rendered at once.

/** Length of a page in UTF-16 code units. */
export const CHARACTERS_PER_PAGE = 50_000;

/** Returns the number of pages of a text, at least one. */
export function pageCount(text: string): number {
  return Math.max(1, Math.ceil(text.length / CHARACTERS_PER_PAGE));
}

/** Returns the page with this index, counted from 0. A surrogate pair belongs to the page in which it starts. */
export function pageText(text: string, page: number): string {
  return text.slice(
    pageBoundary(text, page * CHARACTERS_PER_PAGE),
    pageBoundary(text, (page + 1) * CHARACTERS_PER_PAGE),
  );
}

function pageBoundary(text: string, at: number): number {
  const inside =
    /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1));
  return inside ? at + 1 : at;
}
