// Long texts in parts of a size that is drawn at once.

/** How long a part is, in UTF-16 units. */
export const PAGE = 50_000;

/** How many parts a text has; at least one. */
export function pagesOf(text: string): number {
  return Math.max(1, Math.ceil(text.length / PAGE));
}

/** One part, counted from 0. No character is cut in half: it belongs to the part that it begins in. */
export function pageOf(text: string, page: number): string {
  return text.slice(edge(text, page * PAGE), edge(text, (page + 1) * PAGE));
}

function edge(text: string, at: number): number {
  const inside =
    /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1));
  return inside ? at + 1 : at;
}
