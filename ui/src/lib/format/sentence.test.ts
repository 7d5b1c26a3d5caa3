import { expect, test } from "vitest";

import { sentence } from "./sentence";

test.each([
  ["its command was not approved", "Its command was not approved"],
  ["the working folder /a does not exist", "The working folder /a does not exist"],
  ["expected a comma after this item", "Expected a comma after this item"],
  ["npx exited with code 1", "npx exited with code 1"],
  ["items: expected a list", "items: expected a list"],
  ["item.a is missing", "item.a is missing"],
  ["", ""],
])("%s", (text, shown) => {
  expect(sentence(text)).toBe(shown);
});
