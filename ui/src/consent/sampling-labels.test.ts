import { describe, expect, it } from "vitest";

import { lossLabel } from "./sampling-labels";

describe("content that a provider does not support", () => {
  it.each([
    ["temperature", "Not supported by this provider: a temperature for this model (omitted)."],
    [
      "thinkingWithTools",
      "Not supported by this provider: thinking with tools for this model (omitted).",
    ],
    ["ofALaterVersion", "Not supported by this provider: ofALaterVersion (omitted)."],
  ])("%s has a message", (feature, words) => {
    expect(lossLabel({ feature, conversion: "leaveOut" }), "the message should be complete").toBe(
      words,
    );
  });
});
