import { describe, expect, it } from "vitest";

import { lossWords } from "./sampling-words";

describe("what a provider can't carry", () => {
  it.each([
    ["temperature", "This provider can't carry a temperature to this model: left out."],
    [
      "thinkingWithTools",
      "This provider can't carry thinking beside tools to this model: left out.",
    ],
    ["ofALaterVersion", "This provider can't carry ofALaterVersion: left out."],
  ])("%s is said in words", (what, words) => {
    expect(lossWords({ what, then: "leaveOut" }), "the whole sentence").toBe(words);
  });
});
