// Markdown to HTML. What comes out is cleaned by `SafeHtml`.
import { Lexer, Marked, type Token } from "marked";

const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    // HTML inside Markdown is shown as what it is: text.
    html: ({ text }) => escape(text),
  },
});

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

export interface Block {
  html: string;
  /** Set for a block of code, which is drawn by `Code`. */
  code?: { text: string; language: string };
}

/** Longer texts are shown as they are written, so that the page stays quick. */
export const LONGEST = 40_000;
// What is nested deeper than anybody writes makes the parser call itself as often: a line that begins with 20 marks of lists
// and quotes, an item that is indented by 80 columns, or emphasis and links that are opened again and again.
const MARK = "(?:[-*+]|\\d{1,9}[.)])";
const DEEP = new RegExp(
  [
    `^(?:[ \\t]*(?:>|${MARK}[ \\t])){20}`,
    `^[ \\t]{80,}(?:>|${MARK})`,
    "[*_~`[\\](!<>]{300}",
    "(?:(?:[*_~[]{1,3}|!\\[)[A-Za-z0-9] ?){60}",
  ].join("|"),
  "m",
);

/** The blocks of a text, so that code can be drawn by its own component. Nothing for what is better shown as it is written. */
export function markdownBlocks(text: string): Block[] | null {
  if (text.length > LONGEST || DEEP.test(text)) return null;
  try {
    return parsed(text);
  } catch (error) {
    // It was nested too deeply after all.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function parsed(text: string): Block[] {
  const tokens = marked.lexer(text);
  const blocks: Block[] = [];
  let run: Token[] = [];
  const flush = () => {
    if (run.length > 0) {
      const part = Object.assign(run, { links: tokens.links });
      blocks.push({ html: marked.parser(part) });
    }
    run = [];
  };
  for (const token of tokens) {
    if (token.type === "code") {
      flush();
      const language = String(token.lang ?? "").split(/\s/)[0] ?? "";
      blocks.push({ html: "", code: { text: String(token.text), language } });
    } else {
      run.push(token);
    }
  }
  flush();
  return blocks;
}

/** What follows a block may still become part of it while it is this short, such as the number of a list's next item. */
const SHORT = 12;

/** How much of a text that still grows is blocks that nothing that follows will change. */
export function settledLength(text: string): number {
  // Ends of lines that the parser writes anew would make its lengths wrong.
  if (text.includes("\r") || text.length > LONGEST || DEEP.test(text)) return 0;
  const tokens = new Lexer(marked.defaults).blockTokens(text, []);
  let end = text.length;
  let seen = false;
  for (const token of tokens.toReversed()) {
    const rest = text.slice(end);
    if (seen && (rest.length > SHORT || rest.trim().includes("\n"))) break;
    seen ||= token.type !== "space";
    end -= token.raw.length;
  }
  const lengths = tokens.reduce((sum, token) => sum + token.raw.length, 0);
  return lengths === text.length ? Math.max(0, end) : 0;
}
