import { describe, expect, it } from "vitest";

import { lossLabel } from "./sampling-labels";

describe("what a provider can't carry", () => {
  it.each([
    ["temperature", "Not supported by this provider: a temperature for this model (omitted)."],
    [
      "thinkingWithTools",
      "Not supported by this provider: thinking with tools for this model (omitted).",
    ],
    ["ofALaterVersion", "Not supported by this provider: ofALaterVersion (omitted)."],
  ])("%s is said in words", (what, words) => {
    expect(lossLabel({ what, then: "leaveOut" }), "the whole sentence").toBe(words);
  });
});
