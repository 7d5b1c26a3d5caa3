// Makes hidden, reordering and blank characters in text from servers visible, by name or by count.

/**
 * Matches harmless sequences of otherwise hidden characters: the three flags that are encoded with tag characters, and
 * emoji variation selectors.
 */
const HARMLESS_HIDDEN_SEQUENCE =
  "\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}" +
  "|\\p{Extended_Pictographic}[\\ufe0e\\ufe0f]|[#*0-9]\\ufe0f(?=\\u20e3)";
/** Matches a zero-width joiner between parts of an emoji, which is harmless. */
const HARMLESS_JOINER =
  "(?<=[\\p{Extended_Pictographic}\\u{1f3fb}-\\u{1f3ff}\\ufe0f])\\u200d\\p{Extended_Pictographic}";
// Matches control characters except tab and line feed, invisible and bidirectional characters, line separators, the
// Braille blank, annotation characters and object replacement characters, and combining marks stacked higher than in
// any language, which would cover other lines.
const HIDDEN_CHARACTERS =
  `(?:(?!${HARMLESS_JOINER}|[\\t\\n]|\\r\\n)[\\p{Cc}\\p{Default_Ignorable_Code_Point}\\u2028\\u2029\\u2800\\ufff9-\\ufffc])+` +
  "|(?<=\\p{M}{8})\\p{M}+";
const SPACE_CHARACTERS = "\\t \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000";
/** Matches runs of blanks or line breaks that are too long to be layout. */
const LONG_BLANK_RUN = `(?:\\r\\n|[\\n${SPACE_CHARACTERS}]){40,}|(?:[${SPACE_CHARACTERS}]*\\r?\\n){7,}`;
const REPLACED_OR_HARMLESS_TEXT = new RegExp(
  // eslint-disable-next-line no-misleading-character-class
  `${HARMLESS_HIDDEN_SEQUENCE}|(?<hidden>${HIDDEN_CHARACTERS})|(?<blank>${LONG_BLANK_RUN})`,
  "gu",
);

/** Maximum length of a run of hidden characters whose characters are named individually. */
const MAX_NAMED_CHARACTERS = 8;
/** Maximum number of changes between kinds of blanks in a run whose blanks are named individually. */
const MAX_NAMED_BLANKS = 6;

export interface TextPart {
  /** Displayed text: the original text, or a replacement such as `U+202E`. */
  text: string;
  is: "plain" | "hidden" | "blank";
  /** Number of characters that the replacement counts instead of naming them. */
  folded: number;
}

interface ScannedTextPart extends TextPart {
  /** Length of the original text in UTF-16 code units. */
  length: number;
}

/** Splits text into plain parts and parts that are replaced. With `nameAll`, every replaced character is named. */
function* scanText(text: string, nameAll: boolean): Generator<ScannedTextPart> {
  let end = 0;
  for (const match of text.matchAll(REPLACED_OR_HARMLESS_TEXT)) {
    const { hidden, blank } = match.groups ?? {};
    const run = hidden ?? blank;
    if (run === undefined) continue;
    if (match.index > end) yield plainPart(text.slice(end, match.index));
    yield {
      ...(hidden === undefined ? blanksPart(run, nameAll) : namedPart(run, nameAll)),
      length: run.length,
    };
    end = match.index + run.length;
  }
  if (end < text.length) yield plainPart(text.slice(end));
}

function plainPart(text: string): ScannedTextPart {
  return { text: text.replaceAll("\r\n", "\n"), is: "plain", folded: 0, length: text.length };
}

function namedPart(run: string, nameAll: boolean): TextPart {
  const names = Array.from(run, codePoint);
  const all = nameAll || names.length <= MAX_NAMED_CHARACTERS;
  const words = all ? names.join(" ") : `${names[0]} … ${names.at(-1)} ×${names.length}`;
  const spelledText = textSpelledByTags(run);
  return {
    text: spelledText === "" ? words : `${words} “${spelledText}”`,
    is: "hidden",
    folded: all ? 0 : names.length,
  };
}

/** Returns the ASCII text that a run of tag characters encodes. */
function textSpelledByTags(run: string): string {
  const letters = Array.from(run, (character) => (character.codePointAt(0) ?? 0) - 0xe0000);
  return String.fromCharCode(...letters.filter((l) => l >= 0x20 && l < 0x7f).slice(0, 2_000));
}

function blanksPart(run: string, nameAll: boolean): TextPart {
  const kinds = run.replaceAll("\r\n", "\n").match(/(.)\1*/gsu) ?? [];
  const namedKinds = (nameAll ? kinds : kinds.slice(0, MAX_NAMED_BLANKS)).map(
    (same) => `${blankName(same.charAt(0))}×${same.length}`,
  );
  const more = namedKinds.length < kinds.length ? " …" : "";
  return { text: namedKinds.join(" ") + more, is: "blank", folded: nameAll ? 0 : run.length };
}

const BLANK_NAMES: Record<string, string> = { " ": "␣", "\t": "⇥", "\n": "↵" };

function blankName(character: string): string {
  return BLANK_NAMES[character] ?? codePoint(character);
}

/**
 * Returns the parts of a text with hidden characters made visible. Long runs are counted instead of named, unless
 * `nameAll` is set.
 */
export function visibleParts(text: string, nameAll = false): TextPart[] {
  return Array.from(scanText(text, nameAll), ({ text, is, folded }) => ({ text, is, folded }));
}

/** Beginning of a text with hidden characters made visible. */
export interface TextBeginning {
  parts: TextPart[];
  /** Number of characters that are cut off or only counted. */
  hidden: number;
  /** Set if the end of the text is cut off. */
  cut: boolean;
}

export function beginningParts(text: string, characters: number, lines: number): TextBeginning {
  const parts: TextPart[] = [];
  let [left, shown, folded] = [characters, 0, 0];
  for (const { length, ...part } of scanText(text, false)) {
    if (left <= 0) break;
    const words = part.is === "plain" ? textBeginning(part.text, left, lines) : part.text;
    parts.push({ ...part, text: words });
    left -= words.length;
    folded += part.folded;
    if (words.length < part.text.length) {
      shown += words.length;
      break;
    }
    shown += length;
    if (part.is === "plain") lines -= words.split("\n").length - 1;
  }
  return { parts, hidden: text.length - shown + folded, cut: shown < text.length };
}

/**
 * Returns the text with hidden characters replaced by their names in brackets, for titles and labels. Long blanks
 * remain.
 */
export function visibleText(text: string): string {
  let words = "";
  let end = 0;
  const plain = text.replaceAll("\r\n", "\n");
  for (const match of plain.matchAll(REPLACED_OR_HARMLESS_TEXT)) {
    const run = match.groups?.hidden;
    if (run === undefined) continue;
    words += `${plain.slice(end, match.index)}[${namedPart(run, false).text}]`;
    end = match.index + run.length;
  }
  return words + plain.slice(end);
}

/** Returns the code point of a character in the notation of Unicode, such as `U+0435`. */
export function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Returns the beginning of a text, limited in UTF-16 code units and lines. Never splits a surrogate pair. */
export function textBeginning(text: string, characters: number, lines: number): string {
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
