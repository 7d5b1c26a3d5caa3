// Compares the pages, links and labels of the guide with the message catalogs.
import { readdirSync, readFileSync } from "node:fs";

import { Marked, type Token, type Tokens } from "marked";
import { describe, expect, test } from "vitest";

import { GUIDE_PAGE_LINK } from "$lib/ui/guide-page";
import { MAX_MARKDOWN_LENGTH, markdownBlocks } from "$lib/ui/markdown";

import { GUIDE_PAGES } from "./pages";

const LANGUAGES = ["en", "zh"] as const;
type Language = (typeof LANGUAGES)[number];

const marked = new Marked();

function read(language: Language, page: string): string {
  return readFileSync(`guide/${language}/${page}.md`, "utf8");
}

/** Returns all Markdown tokens of one type at any depth. */
function tokens(text: string, type: string): Token[] {
  const found: Token[] = [];
  void marked.walkTokens(marked.lexer(text), (token) => {
    if (token.type === type) found.push(token);
  });
  return found;
}

/** Returns the unformatted text of a token. */
function words(token: Token): string {
  if ("tokens" in token && token.tokens) return token.tokens.map(words).join("");
  return (token as Tokens.Text).text.replaceAll("\n", " ");
}

function headings(text: string): number[] {
  return tokens(text, "heading").map((token) => (token as Tokens.Heading).depth);
}

/** Returns all messages of a language that have no parameters, such as labels of buttons. */
function labels(language: Language): Set<string> {
  const folder = `messages/${language}`;
  const texts = readdirSync(folder).flatMap((area) => {
    const catalogue = JSON.parse(readFileSync(`${folder}/${area}`, "utf8")) as Record<
      string,
      unknown
    >;
    return Object.values(catalogue).flatMap(variants);
  });
  return new Set(texts.filter((text) => !/\{\w+\}/.test(text)));
}

function variants(message: unknown): string[] {
  if (typeof message === "string") return [message];
  const forms = message as { match: Record<string, string> }[];
  return forms.flatMap(({ match }) => Object.values(match));
}

function title(language: Language, page: string): unknown {
  const catalogue = JSON.parse(readFileSync(`messages/${language}/guide.json`, "utf8")) as Record<
    string,
    string
  >;
  return catalogue[`guide_page_${page.replaceAll("-", "_")}`];
}

describe.each(LANGUAGES)("the guide in %s", (language) => {
  const known = labels(language);

  test("has exactly the pages that the window lists", () => {
    const files = readdirSync(`guide/${language}`).sort();
    expect(files).toEqual(GUIDE_PAGES.map((page) => `${page}.md`).sort());
    expect(known.size, "the message catalog should be read").toBeGreaterThan(1000);
  });

  test.each(GUIDE_PAGES)("%s starts with its title and renders", (page) => {
    const text = read(language, page);
    const [first] = tokens(text, "heading");
    expect(first && words(first), "the title should be that of the list").toBe(
      title(language, page),
    );
    expect(
      headings(text).filter((depth) => depth === 1),
      "the page should have one title",
    ).toHaveLength(1);
    expect(text.length, "the page should not exceed the maximum length").toBeLessThan(
      MAX_MARKDOWN_LENGTH,
    );
    expect(markdownBlocks(text, true), "the page should be rendered as Markdown").not.toBeNull();
    expect(tokens(text, "html"), "the page should contain no HTML").toEqual([]);
  });

  test.each(GUIDE_PAGES)("%s has the same headings in both languages", (page) => {
    expect(headings(read(language, page))).toEqual(headings(read("en", page)));
    expect(
      tokens(read(language, page), "code").length,
      "the page should have the same number of examples",
    ).toBe(tokens(read("en", page), "code").length);
  });

  test.each(GUIDE_PAGES)("%s links to pages that exist", (page) => {
    const broken = tokens(read(language, page), "link")
      .map((token) => (token as Tokens.Link).href)
      .filter((href) => !GUIDE_PAGES.some((other) => other === GUIDE_PAGE_LINK.exec(href)?.[1]));
    expect(broken).toEqual([]);
  });

  test.each(GUIDE_PAGES)("%s uses only texts of the window in bold", (page) => {
    const bold = tokens(read(language, page), "strong").map(words);
    expect(bold.filter((label) => !known.has(label))).toEqual([]);
    const marks = tokens(read(language, page), "text")
      .map((token) => token as Tokens.Text)
      .filter((token) => token.tokens === undefined)
      .map(({ text }) => text);
    expect(
      marks.filter((text) => text.includes("**")),
      "each bold mark should be closed",
    ).toEqual([]);
  });

  test.each(GUIDE_PAGES)("%s has the same examples", (page) => {
    const examples = (of: Language) =>
      tokens(read(of, page), "code")
        .map((token) => token as Tokens.Code)
        .filter(({ lang }) => lang === "console" || lang === "json")
        .map(({ text }) => text);
    expect(examples(language)).toEqual(examples("en"));
  });
});

test("opens links to guide pages only within the guide", () => {
  const text = "See [the rules](rules.md).";
  expect(markdownBlocks(text, true)?.[0]?.html).toContain('<a href="rules.md">the rules</a>');
  expect(markdownBlocks(text)?.[0]?.html).toContain('<a href="">the rules</a> (rules.md)');
});
