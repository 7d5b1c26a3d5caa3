// Detects the format of a result's text.

/** Maximum length in characters of a text that is parsed. */
const MAX_PARSED = 200_000;

/** Returns `true` if the text is a JSON object or array, which Markdown would distort. */
export function isJsonText(text: string): boolean {
  if (text.length > MAX_PARSED || !/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
