import { describe, expect, it } from "vitest";

import { markdownBlocks } from "$lib/ui/markdown";

import { StableMarkdownSplitter } from "./stable-markdown";

const TEXT = `# Title

A paragraph over
two lines with [a link](https://a.example).

- one
- two

  still two
- three

1. first

2. second

| a | b |
| - | - |
| 1 | 2 |

\`\`\`js
const x = "# no title";

let y;
\`\`\`

> said
> twice

    indented

The end.
`;

/** Renders the texts and removes the tags that only mark the start of a block. */
const html = (texts: readonly string[]) =>
  texts
    .flatMap((text) => markdownBlocks(text) ?? [])
    .map((block) => block.code?.text ?? block.html)
    .join("")
    .replace(/\s+/g, " ");

describe("a growing text", () => {
  it("is rendered like the complete text at every split", () => {
    for (const step of [1, 2, 3, 7, 40]) {
      const cutter = new StableMarkdownSplitter();
      let cut = cutter.cut("");
      for (let end = step; end < TEXT.length + step; end += step) {
        const previous = cut.settled;
        cut = cutter.cut(TEXT.slice(0, end));
        expect(cut.settled.slice(0, previous.length), "settled blocks should be unchanged").toEqual(
          previous,
        );
      }
      expect(cut.settled.length, "the text should be split into several blocks").toBeGreaterThan(3);
      expect(
        html([...cut.settled, cut.end]),
        `the result should be equal in steps of ${step}`,
      ).toBe(html([TEXT]));
    }
  });

  it("starts over with another text", () => {
    const cutter = new StableMarkdownSplitter();
    expect(
      cutter.cut("one\n\ntwo and some more words").settled,
      "the first block should be settled",
    ).toHaveLength(1);
    expect(cutter.cut("other"), "no block of the previous text should remain").toEqual({
      settled: [],
      end: "other",
    });
  });

  it("keeps a block unfinished while its end may change it", () => {
    const cutter = new StableMarkdownSplitter();
    expect(cutter.cut("- a\n\n-").settled, "an ambiguous end should not be settled").toEqual([]);
    expect(cutter.cut("- a\n\n- b\n\nwords that follow the list").settled).toHaveLength(1);
  });
});
