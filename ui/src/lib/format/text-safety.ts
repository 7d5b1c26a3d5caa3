// Text from servers may hold characters that hide or reorder what is read. They are made visible.

// Controls except tab and line feed; soft hyphen; bidi marks, embeddings, overrides and isolates; zero-width and
// invisible characters; line and paragraph separators; interlinear annotation; tags; variation selectors supplement.
// Joiners between parts of an emoji are what they seem.
const HIDDEN =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class
  /(?!(?<=[\p{Extended_Pictographic}\u{1f3fb}-\u{1f3ff}\ufe0f])\u200d\p{Extended_Pictographic})[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

export interface TextPart {
  text: string;
  /** Whether it stands for a character that can't be seen, as `U+202E`. */
  hidden: boolean;
}

/** Cuts text into what can be shown as it is and what has to be named. */
export function visibleParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  const plain = text.replaceAll("\r\n", "\n");
  for (const match of plain.matchAll(HIDDEN)) {
    if (match.index > end) parts.push({ text: plain.slice(end, match.index), hidden: false });
    parts.push({ text: codePoint(match[0]), hidden: true });
    end = match.index + match[0].length;
  }
  if (end < plain.length) parts.push({ text: plain.slice(end), hidden: false });
  return parts;
}

/** The same as one plain text, for titles and labels. */
export function visibleText(text: string): string {
  return visibleParts(text)
    .map((part) => (part.hidden ? `[${part.text}]` : part.text))
    .join("");
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The beginning of a text: at most so many characters and lines, never half a character. */
export function beginning(text: string, characters: number, lines: number): string {
  let end = Math.min(text.length, characters);
  let at = -1;
  for (let line = 0; line < lines; line++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0 || at >= end) break;
    if (line === lines - 1) end = at;
  }
  if (/[\ud800-\udbff]/.test(text[end - 1] ?? "") && end < text.length) end -= 1;
  return text.slice(0, end);
}
