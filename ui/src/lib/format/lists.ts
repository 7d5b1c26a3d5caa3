// Lists in words.

/** Texts one after the other, with the signs between them that the language of the words around them has. */
export function formatList(texts: readonly string[], language: string): string {
  // The type for units has no sign between them in Chinese.
  return new Intl.ListFormat(language, { type: "conjunction", style: "narrow" }).format(texts);
}
