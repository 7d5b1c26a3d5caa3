// Text from servers may hold characters that hide or reorder what is read, or blanks that push it out of view. They are made
// visible, each named or counted.

/** What is no sign of anything hidden: the three flags that are spelled in tags, and the marks that choose how an emoji looks. */
const PLAIN =
  "\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}" +
  "|\\p{Extended_Pictographic}[\\ufe0e\\ufe0f]|[#*0-9]\\ufe0f(?=\\u20e3)";
/** A joiner between parts of an emoji is what it seems. */
const JOINED =
  "(?<=[\\p{Extended_Pictographic}\\u{1f3fb}-\\u{1f3ff}\\ufe0f])\\u200d\\p{Extended_Pictographic}";
// Controls but tab and line feed; all that is drawn as nothing, or turns the direction; separators of lines; the blank of
// Braille; annotations and what stands for objects; and marks stacked higher than any language does, which would cover other lines.
const HIDDEN =
  `(?:(?!${JOINED}|[\\t\\n]|\\r\\n)[\\p{Cc}\\p{Default_Ignorable_Code_Point}\\u2028\\u2029\\u2800\\ufff9-\\ufffc])+` +
  "|(?<=\\p{M}{8})\\p{M}+";
const SPACE = "\\t \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000";
/** So many blanks, or ends of lines, in a row are no layout any more. */
const BLANK = `(?:\\r\\n|[\\n${SPACE}]){40,}|(?:[${SPACE}]*\\r?\\n){7,}`;
// eslint-disable-next-line no-misleading-character-class
const MARKS = new RegExp(`${PLAIN}|(?<hidden>${HIDDEN})|(?<blank>${BLANK})`, "gu");

/** So many hidden characters in a row are named one by one. */
const NAMED = 8;
/** So many changes of the kind of blank are told one by one. */
const TOLD = 6;

export interface TextPart {
  /** What is shown: the text itself, or what stands for it, such as `U+202E`. */
  text: string;
  is: "plain" | "hidden" | "blank";
  /** How many characters it stands for that it does not tell one by one. */
  folded: number;
}

interface Scanned extends TextPart {
  /** How much of the text it is. */
  length: number;
}

/** Cuts text into what can be shown as it is and what has to be named; with `whole`, to the last character. */
function* scan(text: string, whole: boolean): Generator<Scanned> {
  let end = 0;
  for (const match of text.matchAll(MARKS)) {
    const { hidden, blank } = match.groups ?? {};
    const run = hidden ?? blank;
    if (run === undefined) continue;
    if (match.index > end) yield plain(text.slice(end, match.index));
    yield {
      ...(hidden === undefined ? blanks(run, whole) : named(run, whole)),
      length: run.length,
    };
    end = match.index + run.length;
  }
  if (end < text.length) yield plain(text.slice(end));
}

function plain(text: string): Scanned {
  return { text: text.replaceAll("\r\n", "\n"), is: "plain", folded: 0, length: text.length };
}

function named(run: string, whole: boolean): TextPart {
  const names = Array.from(run, codePoint);
  const all = whole || names.length <= NAMED;
  const words = all ? names.join(" ") : `${names[0]} … ${names.at(-1)} ×${names.length}`;
  const said = spelled(run);
  return {
    text: said === "" ? words : `${words} “${said}”`,
    is: "hidden",
    folded: all ? 0 : names.length,
  };
}

/** What tag characters spell: each stands for an ASCII character. */
function spelled(run: string): string {
  const letters = Array.from(run, (character) => (character.codePointAt(0) ?? 0) - 0xe0000);
  return String.fromCharCode(...letters.filter((l) => l >= 0x20 && l < 0x7f).slice(0, 2_000));
}

function blanks(run: string, whole: boolean): TextPart {
  const kinds = run.replaceAll("\r\n", "\n").match(/(.)\1*/gsu) ?? [];
  const told = (whole ? kinds : kinds.slice(0, TOLD)).map(
    (same) => `${blankName(same.charAt(0))}×${same.length}`,
  );
  const more = told.length < kinds.length ? " …" : "";
  return { text: told.join(" ") + more, is: "blank", folded: whole ? 0 : run.length };
}

const BLANK_NAMES: Record<string, string> = { " ": "␣", "\t": "⇥", "\n": "↵" };

function blankName(character: string): string {
  return BLANK_NAMES[character] ?? codePoint(character);
}

/** Text as it can be shown, every character of it; long runs of what can't be seen are counted unless it is to be `whole`. */
export function visibleParts(text: string, whole = false): TextPart[] {
  return Array.from(scan(text, whole), ({ text, is, folded }) => ({ text, is, folded }));
}

/** The beginning of a text as it can be shown. */
export interface Beginning {
  parts: TextPart[];
  /** How many characters it leaves out or only counts. */
  hidden: number;
  /** Whether it leaves out the end. */
  cut: boolean;
}

export function firstParts(text: string, characters: number, lines: number): Beginning {
  const parts: TextPart[] = [];
  let [left, shown, folded] = [characters, 0, 0];
  for (const { length, ...part } of scan(text, false)) {
    if (left <= 0) break;
    const words = part.is === "plain" ? beginning(part.text, left, lines) : part.text;
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

/** The same as one plain text, for titles and labels. Blanks stay. */
export function visibleText(text: string): string {
  let words = "";
  let end = 0;
  const plain = text.replaceAll("\r\n", "\n");
  for (const match of plain.matchAll(MARKS)) {
    const run = match.groups?.hidden;
    if (run === undefined) continue;
    words += `${plain.slice(end, match.index)}[${named(run, false).text}]`;
    end = match.index + run.length;
  }
  return words + plain.slice(end);
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
