// What the text of a result is.

/** Longer text isn't looked at. */
const LONGEST = 200_000;

/** Whether the text is a JSON object or list, which Markdown would only disturb. */
export function isJsonText(text: string): boolean {
  if (text.length > LONGEST || !/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
