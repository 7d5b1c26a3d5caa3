import { expect, test } from "vitest";

import { shouldFollowEnd } from "./end-tracking";

const VIEW_HEIGHT = 100;
const at = (top: number, whole = 1000) => ({ top, view: VIEW_HEIGHT, whole });

test.each([
  ["at the end", at(500), at(900), false, true],
  ["near the end", at(500), at(880), false, true],
  ["up from the end", at(900), at(700), true, false],
  ["further up", at(700), at(600), false, false],
  ["down, but not to the end", at(600), at(700), false, false],
  ["rows were appended and the place didn't move", at(900), at(900, 1200), true, true],
  ["the end is reached in steps", at(900, 1200), at(1000, 1200), true, true],
  ["a filter made the list shorter", at(900), at(300, 600), true, true],
  ["everything fits", at(0, 80), at(0, 80), false, true],
  ["the first scroll, in the middle", null, at(300), true, true],
])("%s", (_name, before, now, followed, expected) => {
  expect(shouldFollowEnd(before, now, followed), "the end should be followed as expected").toBe(
    expected,
  );
});
