// Fuzzy search: matches the letters of the query in order. Adjacent letters and starts of words score higher.

export interface FuzzyMatch {
  /** Quality of the match. Higher is better. */
  score: number;
  /** Indexes of the matched characters, for highlighting. */
  at: number[];
}

// Each matched letter has a score of 1, to which these are added.
const WORD_START_SCORE = 8;
const ADJACENT_LETTER_SCORE = 5;
const SKIPPED_LETTER_SCORE = -1;
const EXACT_MATCH_SCORE = 40;
const PREFIX_MATCH_SCORE = 20;

/**
 * Matches `query` against `text`. Returns `null` if a letter of the query is missing. An empty query matches every
 * text.
 */
export function fuzzyMatch(query: string, text: string): FuzzyMatch | null {
  const needle = query.trim().toLowerCase();
  if (needle === "") return { score: 0, at: [] };
  const lower = text.toLowerCase();
  const index = lower.indexOf(needle);
  if (index >= 0) {
    const bonus = lower === needle ? EXACT_MATCH_SCORE : index === 0 ? PREFIX_MATCH_SCORE : 0;
    const start = startsWord(text, index) ? WORD_START_SCORE : 0;
    return {
      score: needle.length * (1 + ADJACENT_LETTER_SCORE) + start + bonus - Math.min(index, 20) / 10,
      at: Array.from({ length: needle.length }, (_, i) => index + i),
    };
  }
  const at: number[] = [];
  let score = 0;
  let from = 0;
  for (const letter of needle) {
    if (letter === " ") continue;
    const found = bestNextIndex(text, lower, letter, from);
    if (found < 0) return null;
    const previous = at.at(-1);
    score += 1 + (startsWord(text, found) ? WORD_START_SCORE : 0);
    if (previous !== undefined) {
      score +=
        found === previous + 1
          ? ADJACENT_LETTER_SCORE
          : Math.max(SKIPPED_LETTER_SCORE * (found - previous), -6);
    }
    at.push(found);
    from = found + letter.length;
  }
  return { score, at };
}

/**
 * Returns the index of the next occurrence of a letter: directly at `from`, else at the start of a word, else anywhere.
 */
function bestNextIndex(text: string, lower: string, letter: string, from: number): number {
  const first = lower.indexOf(letter, from);
  if (first < 0 || first === from) return first;
  for (let i = first; i >= 0 && i < text.length; i = lower.indexOf(letter, i + 1)) {
    if (startsWord(text, i)) return i;
  }
  return first;
}

function startsWord(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text[at - 1] ?? "";
  const here = text[at] ?? "";
  return /[\s_\-./:@]/.test(before) || (/[a-z]/.test(before) && /[A-Z]/.test(here));
}

/**
 * Returns the matching items, best match first. Items with equal scores keep their order. The best match among its
 * texts determines the score of an item.
 */
export function fuzzyFilter<T>(query: string, items: T[], texts: (item: T) => string[]): T[] {
  if (query.trim() === "") return items;
  return items
    .map((item) => {
      const scores = texts(item).map(
        (text, i) => (fuzzyMatch(query, text)?.score ?? -Infinity) - i,
      );
      return { item, score: Math.max(...scores) };
    })
    .filter(({ score }) => score > -Infinity)
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item);
}
