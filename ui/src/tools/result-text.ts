// Detects the format of a result's text, and what it reports.
import type { ToolResult } from "$lib/api/generated";

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

/** Maximum number of parts of a result, and of characters of each, that are searched for an error. */
const MAX_SEARCHED_PARTS = 20;
const MAX_SEARCHED = 10_000;
/** Matches errors of the operating system that a sandbox causes, by their codes and usual texts. */
const FILE_ACCESS_ERROR =
  /\b(?:EROFS|EACCES|EPERM)\b|read-only file ?system|permission denied|operation not permitted/i;

/** Returns `true` if the tool reports that it may not read or change a file. Its text is untrusted. */
export function isFileAccessError({ isError, content }: ToolResult): boolean {
  return (
    isError &&
    content
      .slice(0, MAX_SEARCHED_PARTS)
      .some(
        (part) => part.type === "text" && FILE_ACCESS_ERROR.test(part.text.slice(0, MAX_SEARCHED)),
      )
  );
}
