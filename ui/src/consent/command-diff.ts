// Compares the approved command with the command that would run, word by word.

import { splitCommand } from "$lib/format/command-line";

export interface DiffWord {
  word: string;
  is: "same" | "removed" | "added";
}

/**
 * Maximum number of words of a command for a word-by-word comparison. A longer command is shown as removed and added as
 * a whole.
 */
const MAX_COMPARED_WORDS = 400;

export function diffCommands(before: string, now: string): DiffWord[] {
  return diffWords(splitCommand(before) ?? [before], splitCommand(now) ?? [now]);
}

/**
 * Computes the word differences: words of the longest common subsequence are unchanged, all others are removed or
 * added.
 */
function diffWords(before: string[], now: string[]): DiffWord[] {
  if (before.length > MAX_COMPARED_WORDS || now.length > MAX_COMPARED_WORDS) {
    return [...markedWords(before, "removed"), ...markedWords(now, "added")];
  }
  const common = commonLengths(before, now);
  const words: DiffWord[] = [];
  let b = 0;
  let n = 0;
  while (b < before.length || n < now.length) {
    const old = before[b];
    const fresh = now[n];
    if (old !== undefined && old === fresh) {
      words.push({ word: old, is: "same" });
      b += 1;
      n += 1;
    } else if (
      old !== undefined &&
      (fresh === undefined || tableValue(common, b + 1, n) >= tableValue(common, b, n + 1))
    ) {
      words.push({ word: old, is: "removed" });
      b += 1;
    } else {
      words.push({ word: fresh ?? "", is: "added" });
      n += 1;
    }
  }
  return words;
}

function markedWords(words: string[], is: DiffWord["is"]): DiffWord[] {
  return words.map((word) => ({ word, is }));
}

/** Returns a table of the length of the longest common subsequence for each pair of suffixes. */
function commonLengths(before: string[], now: string[]): number[][] {
  const table = Array.from({ length: before.length + 1 }, () =>
    new Array<number>(now.length + 1).fill(0),
  );
  for (let b = before.length - 1; b >= 0; b--) {
    for (let n = now.length - 1; n >= 0; n--) {
      const longest =
        before[b] === now[n]
          ? tableValue(table, b + 1, n + 1) + 1
          : Math.max(tableValue(table, b + 1, n), tableValue(table, b, n + 1));
      (table[b] as number[])[n] = longest;
    }
  }
  return table;
}

function tableValue(table: number[][], b: number, n: number): number {
  return table[b]?.[n] ?? 0;
}
