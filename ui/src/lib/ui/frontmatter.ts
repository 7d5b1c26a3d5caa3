// The header of a Markdown file: lines between two of three hyphens, which Markdown would take for a heading.

/** The lines between the hyphens, if there are any, and the rest of the text. */
export function frontmatter(text: string): { head: string | null; rest: string } {
  const begin = /^---[ \t]*\r?\n/.exec(text);
  if (begin === null) return { head: null, rest: text };
  const end = /^---[ \t]*(\r?\n|$)/gm;
  end.lastIndex = begin[0].length;
  const found = end.exec(text);
  // Without an end it is no header.
  if (found === null) return { head: null, rest: text };
  return {
    head: text.slice(begin[0].length, found.index).replace(/\r?\n$/, ""),
    rest: text.slice(found.index + found[0].length),
  };
}
