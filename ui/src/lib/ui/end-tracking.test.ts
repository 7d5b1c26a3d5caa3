import { expect, test } from "vitest";

import { shouldFollowEnd } from "./end-tracking";

const VIEW_HEIGHT = 100;
const positionAt = (top: number, whole = 1000) => ({ top, view: VIEW_HEIGHT, whole });

test.each([
  ["at the end", positionAt(500), positionAt(900), false, true],
  ["near the end", positionAt(500), positionAt(880), false, true],
  ["up from the end", positionAt(900), positionAt(700), true, false],
  ["further up", positionAt(700), positionAt(600), false, false],
  ["down, but not to the end", positionAt(600), positionAt(700), false, false],
  [
    "rows were appended and the place didn't move",
    positionAt(900),
    positionAt(900, 1200),
    true,
    true,
  ],
  ["the end is reached in steps", positionAt(900, 1200), positionAt(1000, 1200), true, true],
  ["a filter made the list shorter", positionAt(900), positionAt(300, 600), true, true],
  ["everything fits", positionAt(0, 80), positionAt(0, 80), false, true],
  ["the first scroll, in the middle", null, positionAt(300), true, true],
])("%s", (_name, before, now, followed, expected) => {
  expect(shouldFollowEnd(before, now, followed), "the end should be followed as expected").toBe(
    expected,
  );
});
