import { expect, test } from "vitest";

import { isSentence } from "./sentence";

test.each([
  ["its start was not approved", true],
  ["the working folder /a does not exist", true],
  ["expected a comma after this item", true],
  ["npx exited with code 1", false],
  ["items: expected a list", false],
  ["it.a is missing", false],
  ["", false],
])("%s begins with an ordinary word: %s", (text, shown) => {
  expect(isSentence(text)).toBe(shown);
});
