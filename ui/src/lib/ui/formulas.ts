// Formulas in Markdown in the delimiters of LaTeX: `\(…\)`, `\[…\]` and `$$…$$`. Their source is shown as text. Markdown
// would remove backslashes from it, and interpret characters such as `_`, `*` and `-`.
import { Hooks, Lexer } from "marked";
import type { MarkedOptions, Token, TokenizerAndRendererExtension, Tokens } from "marked";

/** Maximum length of a formula in characters. It bounds the time spent on delimiters that are never closed. */
const MAX_FORMULA_LENGTH = 2000;
/** Length in characters of the beginning of a paragraph in which formulas with lines of their own are searched. */
const SEARCHED_LENGTH = 2 * MAX_FORMULA_LENGTH;
/** Matches a line break in a formula. A blank line ends a paragraph, and also a formula. */
const BREAK = String.raw`\\?\n(?![ \t]*\n)`;

/** Returns the source of a pattern for a formula whose content consists of these characters and of line breaks. */
const delimited = (open: string, characters: string, close: string) =>
  `${open}(?:${characters}|${BREAK}){1,${MAX_FORMULA_LENGTH}}${close}`;

const PARENTHESES = delimited(String.raw`\\\(`, String.raw`[^\\\n]|\\[^)\n]`, String.raw`\\\)`);
const BRACKETS = delimited(String.raw`\\\[`, String.raw`[^\\\n]|\\[^\]\n]`, String.raw`\\\]`);
const DOLLARS = delimited(
  String.raw`\$\$`,
  String.raw`[^$\\\n]|\\[^\n]|\$(?!\$)`,
  String.raw`\$\$`,
);
/** Matches a formula that has lines of its own. */
const LINES = ` {0,3}(?:${BRACKETS}|${DOLLARS})[ \\t]*(?![^\\n])`;

const INLINE = new RegExp(`^(?:${PARENTHESES}|${BRACKETS}|${DOLLARS})`);
const BLOCK = new RegExp(`^${LINES}`);
/**
 * Matches the first line break of a paragraph before a formula, which is captured, or before its end: a blank line or
 * the underline of a heading.
 */
const FORMULA_OR_END = new RegExp(
  String.raw`\n(?:(?=(${LINES}))|[ \t]*\n| {0,3}(?:=+|-+)[ \t]*(?![^\n]))`,
);
/** Matches an escaped backslash or a formula, whichever is first. */
const ESCAPE_OR_FORMULA = new RegExp(String.raw`\\\\|${PARENTHESES}|${BRACKETS}|${DOLLARS}`, "g");
/** Matches the beginning of a line on which a formula may begin. */
const OPENING = /^ {0,3}(?:\\\[|\$\$)/gm;

/** Returns the index of the line break before the first formula with lines of its own, or `null` if there is none. */
function breakBeforeFormula(text: string): number | null {
  const found = FORMULA_OR_END.exec(text.slice(0, SEARCHED_LENGTH));
  return found?.[1] === undefined ? null : found.index;
}

/** Returns the extensions of `marked` that tokenize formulas. `escape` makes a text safe for HTML. */
export function formulaExtensions(
  escape: (text: string) => string,
): TokenizerAndRendererExtension[] {
  return [
    {
      name: "formulaBlock",
      level: "block",
      start(src) {
        const index = breakBeforeFormula(src);
        return index === null ? undefined : index + 1;
      },
      tokenizer(src) {
        const raw = BLOCK.exec(src)?.[0];
        return raw === undefined ? undefined : { type: "formulaBlock", raw, text: raw.trim() };
      },
      renderer: (token) =>
        `<pre>${escape((token as Tokens.Generic & { text: string }).text)}</pre>`,
    },
    {
      name: "formula",
      level: "inline",
      // Text ends at a backslash anyway.
      start: (src) => src.indexOf("$$"),
      tokenizer(src) {
        const raw = INLINE.exec(src)?.[0];
        return raw === undefined ? undefined : { type: "formula", raw };
      },
      renderer: (token) => escape(token.raw),
    },
  ];
}

/** Lexer that lets no emphasis begin or end inside of a formula. */
export class FormulaLexer extends Lexer {
  /** Inline text that is tokenized at the moment. */
  source = "";

  constructor(options: MarkedOptions) {
    super({ ...options, hooks: new FormulaHooks() });
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    const outer = this.source;
    this.source = source;
    try {
      return super.inlineTokens(source, tokens);
    } finally {
      this.source = outer;
    }
  }
}

class FormulaHooks extends Hooks {
  /** Replaces formulas in a text in which `marked` has already replaced code, links and escaped characters. */
  override emStrongMask(masked: string): string {
    // `marked` calls this with the lexer.
    const { source } = (this as unknown as { lexer: FormulaLexer }).lexer;
    let result = "";
    ESCAPE_OR_FORMULA.lastIndex = 0;
    for (let found; (found = ESCAPE_OR_FORMULA.exec(source)) !== null;) {
      const { index } = found;
      const isOutsideOfCode = ["++", "$$"].includes(masked.slice(index, index + 2));
      if (found[0] === "\\\\" || !isOutsideOfCode) {
        ESCAPE_OR_FORMULA.lastIndex = index + 2;
        continue;
      }
      result += `${masked.slice(result.length, index)}[${"a".repeat(found[0].length - 2)}]`;
    }
    return result + masked.slice(result.length);
  }
}

/** Returns `true` if a text that begins with the lines of a heading has a formula between them. */
export const hasFormulaInHeading = (text: string): boolean => breakBeforeFormula(text) !== null;

/**
 * Returns the index from which a growing text may become a formula with lines of its own, because it begins like one.
 * Returns the length of the text if there is none.
 */
export function openFormulaStart(text: string): number {
  let start = text.length;
  // The last line is not known to be blank, as it may still grow.
  for (const [i, line] of text.split("\n").toReversed().entries()) {
    if (i > 0 && line.trim() === "") break;
    start -= line.length + (i > 0 ? 1 : 0);
  }
  const paragraph = text.slice(start);
  for (const { index } of paragraph.matchAll(OPENING)) {
    if (!BLOCK.test(paragraph.slice(index))) return start + index;
  }
  return text.length;
}
