// The ranges of a consent request that were in view.
import { describe, expect, it } from "vitest";

import { MAX_RANGES, ViewedRanges } from "./viewed-ranges";

describe("what was in view", () => {
  it("is all only once it was scrolled through without a gap", () => {
    const viewed = new ViewedRanges();
    viewed.add(0, 400);
    viewed.add(1_600, 2_000);
    expect(viewed.missing(2_000), "both ends alone do not do").toBe(400);
    viewed.add(370, 770);
    viewed.add(740, 1_140);
    expect(viewed.missing(2_000), "the gap becomes smaller").toBe(1_140);
    viewed.add(1_230, 1_630);
    expect(viewed.missing(2_000), "also from its end").toBe(1_140);
    viewed.add(1_100, 1_500);
    expect(viewed.missing(2_000)).toBeNull();
  });

  it("takes fractions of a pixel for nothing, and nothing for something", () => {
    const viewed = new ViewedRanges();
    viewed.add(10, 10);
    expect(viewed.missing(400), "nothing was in view").toBe(0);
    viewed.add(0.5, 200.4);
    viewed.add(201.2, 399.5);
    expect(viewed.missing(400)).toBeNull();
    expect(new ViewedRanges().missing(0), "there is nothing to see").toBeNull();
  });

  it("has to be seen anew where it was drawn otherwise, and stays seen above", () => {
    const viewed = new ViewedRanges();
    viewed.add(0, 1_000);
    viewed.cut(600);
    expect(viewed.missing(1_000)).toBe(600);
    viewed.cut(0);
    expect(viewed.missing(1_000)).toBe(0);
  });

  it("is bounded, and never locks for good", () => {
    const viewed = new ViewedRanges();
    const height = 100 * (MAX_RANGES + 20);
    for (let at = 0; at < height; at += 100) viewed.add(at, at + 50);
    for (let steps = 0; steps < 2 * height; steps += 1) {
      const missing = viewed.missing(height);
      if (missing === null) break;
      viewed.add(missing, missing + 60);
    }
    expect(viewed.missing(height), "what is missing leads through it").toBeNull();
  });
});
