import { describe, expect, it } from "vitest";

import { diffCommands } from "./command-diff";

const diffText = (before: string, now: string) =>
  diffCommands(before, now).map(
    ({ word, is }) => ({ same: "=", removed: "-", added: "+" })[is] + word,
  );

describe("the changes of a command", () => {
  it("marks changed words and keeps the others", () => {
    expect(
      diffText("npx -y server /home", "npx -y server /home/ann --all"),
      "added and removed words should be marked",
    ).toEqual([..."=npx =-y =server -/home +/home/ann +--all".split(" ")]);
  });

  it("treats a quoted argument as one word", () => {
    expect(diffText("run 'a b'", "run a b"), "an argument that was split should be marked").toEqual(
      ["=run", "-a b", "+a", "+b"],
    );
  });

  it("compares many words quickly", () => {
    const many = Array.from({ length: 5_000 }, (_, i) => `w${i}`).join(" ");
    expect(diffCommands(many, `${many} x`).length, "the difference should contain all words").toBe(
      10_001,
    );
  });
});
