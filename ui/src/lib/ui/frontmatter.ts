// Front matter of a Markdown file: lines between two lines of three hyphens, which Markdown would render as a
// heading.

/** Splits a file into its front matter, which is `null` if there is none, and the remaining text. */
export function splitFrontmatter(text: string): { head: string | null; rest: string } {
  const opening = /^---[ \t]*\r?\n/.exec(text);
  if (opening === null) return { head: null, rest: text };
  const end = /^---[ \t]*(\r?\n|$)/gm;
  end.lastIndex = opening[0].length;
  const found = end.exec(text);
  // Without a closing line there is no front matter.
  if (found === null) return { head: null, rest: text };
  return {
    head: text.slice(opening[0].length, found.index).replace(/\r?\n$/, ""),
    rest: text.slice(found.index + found[0].length),
  };
}
