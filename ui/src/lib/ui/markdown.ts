// Markdown to HTML in which every word of the source can be read: a model gets the source. What comes out is cleaned by `SafeHtml`.
import { Lexer, Marked, type Token, type Tokens } from "marked";

import { safePictureUrl } from "./safe-picture";
import { GUIDE_PAGE } from "./guide-page";

const marked = new Marked({
  gfm: true,
  breaks: false,
  extensions: [
    {
      // No text becomes one: `markdownBlocks` makes it of a link, and only in the guide.
      name: "guidePage",
      renderer(token) {
        const words = this.parser.parseInline(token.tokens ?? []);
        return `<a href="${escape(String(token.href))}">${words}</a>`;
      },
    },
  ],
  tokenizer: {
    // What defines a link draws nothing, so it could say anything. Without it, it is text.
    def: () => undefined,
  },
  renderer: {
    // HTML inside Markdown is shown as what it is: text. So are names of characters, such as `&#x202e;`.
    html: ({ text }) => escape(text),
    text(token) {
      if ("tokens" in token && token.tokens) return this.parser.parseInline(token.tokens);
      return escape(token.type === "text" ? token.raw : token.text);
    },
    link({ href, title, tokens }) {
      const words = this.parser.parseInline(tokens);
      const isEmpty = words.replace(/<(?!img)[^>]*>/g, "").trim() === "";
      const url = LEADS.test(href) ? encoded(href) : null;
      const whither = url === null || isEmpty ? ` (${escape(href)})` : "";
      return `<a href="${escape(url ?? "")}">${words}</a>${whither}${behind(title)}`;
    },
    image({ href, title, text }) {
      const src = safePictureUrl(href);
      const picture = src === null ? "" : `<img src="${escape(src)}" alt="">`;
      const whence = src === null ? ` (${escape(shortened(href))})` : "";
      return `${picture}${escape(text)}${whence}${behind(title)}`;
    },
    code: ({ text, lang }) =>
      `${lang ? `<p>${escape(lang)}</p>` : ""}<pre><code>${escape(text)}</code></pre>`,
    table(token) {
      // Cells beyond those of the head would be left out.
      const cells = [token.header, ...token.rows].flat().map((cell) => cell.text);
      return bare(cells.join("")) === bare(token.raw) ? false : `<pre>${escape(token.raw)}</pre>`;
    },
  },
});

/** What a link may lead to. */
const LEADS = /^(?:https?:|mailto:)/i;
/** So much of an address that has no picture is shown in its place. */
const ADDRESS = 200;

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function encoded(href: string): string | null {
  try {
    return encodeURI(href).replaceAll("%25", "%");
  } catch {
    // Half a character can't be written.
    return null;
  }
}

function behind(title: string | null | undefined): string {
  return title ? ` (${escape(title)})` : "";
}

function shortened(href: string): string {
  const isData = href.startsWith("data:") && href.length > ADDRESS;
  return isData ? `${href.slice(0, ADDRESS)}…` : href;
}

/** A table's words, without what makes it one. */
function bare(text: string): string {
  return text.replace(/[\s|\\:-]/g, "");
}

export interface Block {
  html: string;
  /** Set for a block of code, which is drawn by `Code`. The info is all that is said of it, its language first. */
  code?: { text: string; language: string; info: string };
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

/**
 * The blocks of a text, so that code can be drawn by its own component. Nothing for what is better shown as it is written.
 * In the `guide`, links may lead to its other pages.
 */
export function markdownBlocks(text: string, guide = false): Block[] | null {
  if (text.length > LONGEST || DEEP.test(text)) return null;
  try {
    return parsed(text, guide);
  } catch (error) {
    // It was nested too deeply after all.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function parsed(text: string, guide: boolean): Block[] {
  const tokens = marked.lexer(text);
  if (guide) void marked.walkTokens(tokens, toGuidePage);
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
      const { text, lang = "" } = token as Tokens.Code;
      const language = lang.split(/\s/)[0] ?? "";
      blocks.push({ html: "", code: { text, language, info: lang } });
    } else {
      run.push(token);
    }
  }
  flush();
  return blocks;
}

function toGuidePage(token: Token): void {
  if (token.type === "link" && GUIDE_PAGE.test((token as Tokens.Link).href))
    token.type = "guidePage";
}

/** What follows a block may still become part of it while it is this short, such as the number of a list's next item. */
const SHORT = 12;

/** How much of a text that still grows is blocks that nothing that follows will change. */
export function stableLength(text: string): number {
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

/** Whether blocks look as what they were written as: one paragraph without any mark. */
export function isPlain(text: string, [first, second]: Block[]): boolean {
  return (
    second === undefined &&
    !/\s{2}|\n/.test(text) &&
    first?.html.trim() === `<p>${escape(text)}</p>`
  );
}
