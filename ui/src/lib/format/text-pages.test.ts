import { expect, test } from "vitest";

import { PAGE, pageOf, pagesOf } from "./text-pages";

test("X20, X25: every character of a long text is in exactly one page", () => {
  const text = `${"a".repeat(PAGE - 1)}👍${"b".repeat(2 * PAGE)}`;
  const pages = Array.from({ length: pagesOf(text) }, (_, page) => pageOf(text, page));
  expect(pages.join(""), "together they are the text").toBe(text);
  expect(pages[0]?.endsWith("👍"), "no character is cut in half").toBe(true);
  expect(
    pages.every((page) => page.length <= PAGE + 1),
    "no part is longer",
  ).toBe(true);
  expect(pagesOf(""), "no text is one part").toBe(1);
});
