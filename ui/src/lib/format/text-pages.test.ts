import { expect, test } from "vitest";

import { CHARACTERS_PER_PAGE, pageText, pageCount } from "./text-pages";

test("X20, X25: every character of a long text is in exactly one page", () => {
  const text = `${"a".repeat(CHARACTERS_PER_PAGE - 1)}👍${"b".repeat(2 * CHARACTERS_PER_PAGE)}`;
  const pages = Array.from({ length: pageCount(text) }, (_, page) => pageText(text, page));
  expect(pages.join(""), "the pages should contain the whole text").toBe(text);
  expect(pages[0]?.endsWith("👍"), "no character should be split").toBe(true);
  expect(
    pages.every((page) => page.length <= CHARACTERS_PER_PAGE + 1),
    "no page should be longer than the limit",
  ).toBe(true);
  expect(pageCount(""), "an empty text should be one page").toBe(1);
});
