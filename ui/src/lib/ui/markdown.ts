// Renders Markdown to HTML that contains every word of the source, because models receive the source. `SafeHtml`
// sanitizes the result.
import { Marked, type Token, type Tokens } from "marked";

import { formulaExtensions, FormulaLexer, hasFormulaInHeading, openFormulaStart } from "./formulas";
import { safePictureUrl } from "./safe-picture";
import { GUIDE_PAGE_LINK } from "./guide-page";

const marked = new Marked({
  gfm: true,
  breaks: false,
  extensions: [
    {
      // The tokenizer never creates these tokens. `markdownBlocks` converts links to them, in the guide only.
      name: "guidePage",
      renderer(token) {
        const words = this.parser.parseInline(token.tokens ?? []);
        return `<a href="${escape(String(token.href))}">${words}</a>`;
      },
    },
    ...formulaExtensions(escape),
  ],
  tokenizer: {
    // Link definitions render nothing and could hide text. Without this rule, they are text.
    def: () => undefined,
    // `false` leaves the text to the tokenizer of marked.
    lheading: (src) => (hasFormulaInHeading(src) ? undefined : false),
  },
  renderer: {
    // HTML and character references such as `&#x202e;` are rendered as text.
    html: ({ text }) => escape(text),
    text(token) {
      if ("tokens" in token && token.tokens) return this.parser.parseInline(token.tokens);
      return escape(token.type === "text" ? token.raw : token.text);
    },
    link({ href, title, tokens }) {
      const words = this.parser.parseInline(tokens);
      const isEmpty = words.replace(/<(?!img)[^>]*>/g, "").trim() === "";
      const url = ALLOWED_LINK_SCHEME.test(href) ? encodedUrl(href) : null;
      const target = url === null || isEmpty ? ` (${escape(href)})` : "";
      return `<a href="${escape(url ?? "")}">${words}</a>${target}${titleSuffix(title)}`;
    },
    image({ href, title, text }) {
      const src = safePictureUrl(href);
      const picture = src === null ? "" : `<img src="${escape(src)}" alt="">`;
      const source = src === null ? ` (${escape(shortened(href))})` : "";
      return `${picture}${escape(text)}${source}${titleSuffix(title)}`;
    },
    code: ({ text, lang }) =>
      `${lang ? `<p>${escape(lang)}</p>` : ""}<pre><code>${escape(text)}</code></pre>`,
    table(token) {
      // Extra cells beyond the header are rendered, too.
      const cells = [token.header, ...token.rows].flat().map((cell) => cell.text);
      return tableText(cells.join("")) === tableText(token.raw)
        ? false
        : `<pre>${escape(token.raw)}</pre>`;
    },
  },
});

/** Matches URLs that links may have. */
const ALLOWED_LINK_SCHEME = /^(?:https?:|mailto:)/i;
/** Maximum number of characters of the URL that replaces a remote picture. */
const MAX_PICTURE_URL_CHARACTERS = 200;

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function encodedUrl(href: string): string | null {
  try {
    return encodeURI(href).replaceAll("%25", "%");
  } catch {
    // A lone surrogate can't be encoded.
    return null;
  }
}

function titleSuffix(title: string | null | undefined): string {
  return title ? ` (${escape(title)})` : "";
}

function shortened(href: string): string {
  const isData = href.startsWith("data:") && href.length > MAX_PICTURE_URL_CHARACTERS;
  return isData ? `${href.slice(0, MAX_PICTURE_URL_CHARACTERS)}…` : href;
}

/** Returns the text of a table, without its markup. */
function tableText(text: string): string {
  return text.replace(/[\s|\\:-]/g, "");
}

export interface MarkdownBlock {
  html: string;
  /** Set for a code block, which the component `Code` renders. The info string begins with the language. */
  code?: { text: string; language: string; info: string };
}

/**
 * Maximum number of characters of rendered Markdown. A longer text is shown as source, so that the page stays
 * responsive.
 */
export const MAX_MARKDOWN_LENGTH = 40_000;
// Nesting deeper than in any real text makes the parser recurse as deeply: a line that begins with 20 list or quote
// markers, an item indented by 80 columns, or emphasis and links that are opened again and again.
const LIST_MARKER = "(?:[-*+]|\\d{1,9}[.)])";
const DEEP_NESTING = new RegExp(
  [
    `^(?:[ \\t]*(?:>|${LIST_MARKER}[ \\t])){20}`,
    `^[ \\t]{80,}(?:>|${LIST_MARKER})`,
    "[*_~`[\\](!<>]{300}",
    "(?:(?:[*_~[]{1,3}|!\\[)[A-Za-z0-9] ?){60}",
  ].join("|"),
  "m",
);

/**
 * Splits a text into rendered HTML and code blocks, which a separate component renders. Returns `null` if the text must
 * be shown as source. `guide` enables links to other pages of the user guide.
 */
export function markdownBlocks(text: string, guide = false): MarkdownBlock[] | null {
  if (text.length > MAX_MARKDOWN_LENGTH || DEEP_NESTING.test(text)) return null;
  try {
    return parsedBlocks(text, guide);
  } catch (error) {
    // The text was nested too deeply for the parser.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function parsedBlocks(text: string, guide: boolean): MarkdownBlock[] {
  const tokens = new FormulaLexer(marked.defaults).lex(text);
  if (guide) void marked.walkTokens(tokens, toGuidePage);
  const blocks: MarkdownBlock[] = [];
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
  if (token.type === "link" && GUIDE_PAGE_LINK.test((token as Tokens.Link).href))
    token.type = "guidePage";
}

/** Maximum length in characters of a trailing block that is not final yet, such as the number of the next list item. */
const MAX_UNFINISHED_BLOCK_LENGTH = 12;

/** Returns the length of the leading blocks of a growing text that are final: text appended later can't change them. */
export function stableLength(text: string): number {
  // Normalized line breaks would make the lengths wrong.
  if (text.includes("\r") || text.length > MAX_MARKDOWN_LENGTH || DEEP_NESTING.test(text)) return 0;
  const tokens = new FormulaLexer(marked.defaults).blockTokens(text, []);
  const open = openFormulaStart(text);
  let end = text.length;
  let hasContent = false;
  for (const token of tokens.toReversed()) {
    const rest = text.slice(end);
    const isLong = rest.length > MAX_UNFINISHED_BLOCK_LENGTH || rest.trim().includes("\n");
    if (hasContent && isLong && end <= open) break;
    hasContent ||= token.type !== "space";
    end -= token.raw.length;
  }
  const lengths = tokens.reduce((sum, token) => sum + token.raw.length, 0);
  return lengths === text.length ? Math.max(0, end) : 0;
}

/** Returns `true` if the rendered blocks look like the source: a single paragraph without markup. */
export function looksLikeSource(text: string, [first, second]: MarkdownBlock[]): boolean {
  return (
    second === undefined &&
    !/\s{2}|\n/.test(text) &&
    first?.html.trim() === `<p>${escape(text)}</p>`
  );
}
