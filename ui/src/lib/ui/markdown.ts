// Markdown to HTML. What comes out is cleaned by `SafeHtml`.
import { Marked, type Token } from "marked";

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

/** The blocks of a text, so that code can be drawn by its own component. */
export function markdownBlocks(text: string): Block[] {
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
