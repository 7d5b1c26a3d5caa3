import { describe, expect, it } from "vitest";

import { diffCommands } from "./command-diff";

const short = (before: string, now: string) =>
  diffCommands(before, now).map(
    ({ word, is }) => ({ same: "=", removed: "-", added: "+" })[is] + word,
  );

describe("what changed in a command", () => {
  it("marks the words that changed and keeps the others", () => {
    expect(short("npx -y server /home", "npx -y server /home/ann --all"), "words").toEqual([
      ..."=npx =-y =server -/home +/home/ann +--all".split(" "),
    ]);
  });

  it("sees a quoted argument as one word", () => {
    expect(short("run 'a b'", "run a b"), "one argument became two").toEqual([
      "=run",
      "-a b",
      "+a",
      "+b",
    ]);
  });

  it("stays quick with very many words", () => {
    const many = Array.from({ length: 5_000 }, (_, i) => `w${i}`).join(" ");
    expect(diffCommands(many, `${many} x`).length, "all of both").toBe(10_001);
  });
});
