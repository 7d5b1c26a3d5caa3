// Formats lists of texts.

/** Joins texts with the list separators of a language. */
export function formatList(texts: readonly string[], language: string): string {
  // The type `unit` has no separator in Chinese.
  return new Intl.ListFormat(language, { type: "conjunction", style: "narrow" }).format(texts);
}
