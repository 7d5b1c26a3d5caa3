// Formulas in Markdown: the source in the delimiters of LaTeX is text, and nothing else changes.
import { cleanup, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, test } from "vitest";

import { StableMarkdownSplitter } from "../../conversation/stable-markdown";

import Markdown from "./Markdown.svelte";
import { markdownBlocks, stableLength } from "./markdown";

afterEach(() => cleanup());

function rendered(text: string): HTMLElement {
  const { container } = render(Markdown, { text });
  const [found] = container.getElementsByClassName("markdown");
  if (!(found instanceof HTMLElement)) throw new Error("there is no Markdown");
  for (const button of found.querySelectorAll("button")) button.remove();
  return found;
}
const words = (text: string) => rendered(text).textContent.trim();
const tags = (text: string, selector: string) =>
  [...rendered(text).querySelectorAll(selector)].map(({ textContent }) => textContent);

describe("a formula", () => {
  test.each([
    String.raw`\(x\)`,
    String.raw`\[x\]`,
    "$$x$$",
    String.raw`\(\{a\} \\ \_b\_ * c * _d_ ~~e~~ [f](https://a.example) ![g](h)\)`,
    String.raw`\[a \\ b \\[2pt] c\]`,
    String.raw`$$\$5 + $6 & <b onclick="x">c</b>$$`,
    String.raw`before \(a*b\) and $$c*d_1$$ after`,
    String.raw`\(f(x) \\\)`,
    "$$\\begin{aligned}\n  a &= b \\\\\n- c\n+ d\n# e\n> f\n1. g\n===\n\\end{aligned}$$",
    "\\[\n\\{a\\} \\\\\n- b\n\\]",
    "\\[\na\n=\nb\n\\]",
  ])("is shown as written: %j", (text) => {
    expect(words(text)).toBe(text);
    expect(tags(text, "a, b, em, strong, del, img, li, h1, h2, blockquote, code")).toEqual([]);
  });

  test("is separate from the Markdown around it", () => {
    const code = "`\\(f` *g* `h\\)`";
    const text = String.raw`*a \(b*c\) d* and **\(e^*\)** in ${code} \{i\}`;
    expect(words(text)).toBe(String.raw`a \(b*c\) d and \(e^*\) in \(f g h\) {i}`);
    expect(tags(text, "em")).toEqual([String.raw`a \(b*c\) d`, "g"]);
    expect(tags(text, "strong")).toEqual([String.raw`\(e^*\)`]);
    expect(tags(text, "code")).toEqual([String.raw`\(f`, String.raw`h\)`]);
  });

  test("may follow a line of text, and be in a list or a table", () => {
    const block = "\\[\na\n- b\n=\n\\]";
    expect(tags(`So:\n${block}\n*end*`, "pre, em, h1, li")).toEqual([block, "end"]);
    expect(tags("- \\(a\\_b\\)\n- $$\n  c\n  $$", "li").map((item) => item?.trim())).toEqual([
      String.raw`\(a\_b\)`,
      "$$\nc\n$$",
    ]);
    expect(tags("| a |\n| - |\n| \\(b\\_c\\) |", "td")).toEqual([String.raw`\(b\_c\)`]);
  });

  test.each([
    ["costs $$5", "costs $$5"],
    [String.raw`\(a`, "(a"],
    ["\\[a\n\nb\\]", /^\[a\s+b\]$/],
    [String.raw`\\ \* \#`, String.raw`\ * #`],
  ])("needs both delimiters in one paragraph: %j", (text, shown) => {
    expect(words(text)).toMatch(shown);
  });

  test("of a growing text is final once it is closed", () => {
    const formula = "\\[\na + b + c + d + e\n- f is in a list unless the formula is closed\n";
    expect(stableLength(`text\n\n${formula}`), "it may still be closed").toBe("text\n\n".length);
    const whole = `text\n\n${formula}\\]\nThe end of the text.\n\nNext`;
    const cutter = new StableMarkdownSplitter();
    let cut = cutter.cut("");
    for (let end = 1; end <= whole.length; end++) {
      const previous = cut.settled;
      cut = cutter.cut(whole.slice(0, end));
      expect(cut.settled.slice(0, previous.length)).toEqual(previous);
    }
    expect(cut.settled.length, "the text should be split").toBeGreaterThan(1);
  });

  test.each(["\\(a", "\\[a\n", "$$ a\n", "a\n$$", "- \\[\n", "\\\\(", "$$a$$\nb\n", "*\\(a* "])(
    "of 40,000 characters of %j is rendered in time",
    (part) => {
      const text = part.repeat(Math.floor(39_000 / part.length));
      const start = performance.now();
      markdownBlocks(text);
      expect(performance.now() - start).toBeLessThan(4000);
    },
  );
});

test("a drawing is shown as its source, with the name of its language", () => {
  const source = 'graph TD\n  A["a\\nb"] --> B';
  const found = rendered("```mermaid\n" + source + "\n```");
  expect(screen.getByText("mermaid")).toBeVisible();
  expect(found.querySelector("pre")?.textContent.trim()).toBe(source);
});
