// Joins and splits command lines with the quoting of a POSIX shell.

/**
 * Joins words into a command line. Words are quoted where necessary, so that the boundaries of the arguments are
 * visible.
 */
export function joinCommand(words: string[]): string {
  return words.map(quotedWord).join(" ");
}

function quotedWord(word: string): string {
  if (word !== "" && /^[\p{L}\p{N}_@%+=:,./~-]+$/u.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Splits a command line like a shell, without expansion. Returns `null` if a quote is not closed. */
export function splitCommand(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let i = 0; i < line.length; i++) {
    const c = line[i] ?? "";
    if (quote === "'") {
      if (c === "'") quote = null;
      else word += c;
    } else if (c === "\\" && (quote === null || /["\\$`]/.test(line[i + 1] ?? ""))) {
      if (i + 1 >= line.length) return null;
      word = (word ?? "") + (line[++i] ?? "");
    } else if (quote === '"') {
      if (c === '"') quote = null;
      else word += c;
    } else if (c === "'" || c === '"') {
      quote = c;
      word ??= "";
    } else if (/\s/.test(c)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? "") + c;
    }
  }
  if (quote !== null) return null;
  if (word !== null) words.push(word);
  return words;
}
