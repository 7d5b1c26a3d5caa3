import { expect, test } from "vitest";

import { textPlace } from "./text-place";

test("a place has the characters around it, counted as a user sees them", () => {
  expect(textPlace('{\r\n  "é😀": }\r\n', 2, 9)).toEqual({
    ...{ before: '  "é😀": ', at: "}", after: "", isCutBefore: false, isCutAfter: false },
  });
  expect(textPlace("a", 2, 1), "a missing line should have no place").toBeNull();
  expect(textPlace("ab", 1, 9), "a place after the end should be the end").toMatchObject({
    ...{ before: "ab", at: "", after: "" },
  });
});

test("a long line is cut on both sides", () => {
  const place = textPlace(`${"x".repeat(300)}y${"z".repeat(300)}`, 1, 301);
  expect(place).toMatchObject({ at: "y", isCutBefore: true, isCutAfter: true });
  expect([place?.before.length, place?.after.length]).toEqual([40, 40]);
});
