import { describe, expect, it } from "vitest";

import type { JsonValue } from "$lib/api/generated";
import { hasRounded } from "$lib/format/json";
import { PAGE } from "$lib/format/text-pages";

import { argumentRows, crossing } from "./payload";
import { question, samplingRequest, tool } from "./fixtures";
import { fold, Reading, SHOWN_CHARACTERS, TOTAL_CHARACTERS } from "./read-progress.svelte";

describe("reading", () => {
  it("shows short values whole", () => {
    expect(fold({ text: "hello" }), "nothing is hidden").toMatchObject({
      parts: [{ text: "hello" }],
      hidden: 0,
    });
  });

  it("says where a number may be another than the one that crosses", () => {
    const read = JSON.parse(
      '{"id":9007199254740993,"ids":[9007199254740991,-9007199254740993]}',
    ) as JsonValue;
    expect(
      argumentRows(read).map((row) => row.text),
      "integers beyond 2^53 are marked, others not",
    ).toEqual(["≈ 9007199254740992", '[\n  9007199254740991,\n  "≈ -9007199254740992"\n]']);
    expect(hasRounded(read), "and can't be edited").toBe(true);
    expect(hasRounded({ a: [1.5, 9007199254740991] }), "others can").toBe(false);
  });

  it("counts what is hidden behind many characters or lines", () => {
    expect(fold({ text: "x".repeat(SHOWN_CHARACTERS + 7) }).hidden, "characters").toBe(7);
    expect(
      fold({ text: `${"\n".repeat(10_000)}payload` }),
      "X14: the payload is in view, and what stands before it counted",
    ).toMatchObject({ parts: [{ is: "blank" }, { text: "payload" }], hidden: 10_000 });
    expect(
      fold({ text: `${"x".repeat(5_000)}${" ".repeat(60)}y`, uncut: true }).hidden,
      "X58: a command is never cut, but its long blanks are counted",
    ).toBe(60);
  });

  it("is open only for exactly the text that was opened", () => {
    const reading = new Reading();
    const part = { key: "argument content", text: "x".repeat(5_000) };
    expect(reading.hidden([part]), "hidden until it is opened").toBe(5_000 - SHOWN_CHARACTERS);
    reading.open(part);
    expect(reading.hidden([part]), "opened, and not drawn yet").toBe(5_000 - SHOWN_CHARACTERS);
    reading.drew(part, 0);
    expect(reading.hidden([part]), "read").toBe(0);
    reading.close(part);
    expect(reading.isOpen(part), "it can be folded again").toBe(false);
    expect(reading.hidden([part]), "what was read stays read").toBe(0);
    expect(
      reading.hidden([{ ...part, text: "y".repeat(5_000) }]),
      "other text has to be opened again",
    ).toBeGreaterThan(0);
  });

  it("counts the pages of a long text that were never drawn (X14)", () => {
    const reading = new Reading();
    const part = { key: "argument bulk", text: "x".repeat(2 * PAGE + 7) };
    reading.open(part);
    reading.drew(part, 2);
    expect(reading.hidden([part]), "the last one alone does not do").toBe(2 * PAGE);
    reading.drew(part, 0);
    reading.drew(part, 0);
    expect(reading.hidden([part]), "each counts once").toBe(PAGE);
    reading.drew(part, 1);
    expect(reading.hidden([part]), "then all of it was drawn").toBe(0);
  });

  it("shows of many values together no more than of a few", () => {
    const reading = new Reading();
    const parts = Array.from({ length: 20 }, (_, i) => ({ key: `${i}`, text: "x".repeat(3_000) }));
    reading.share(parts);
    const shown = parts.reduce((sum, part) => sum + 3_000 - reading.fold(part).hidden, 0);
    expect(shown, "a whole one, a part, and beginnings").toBe(TOTAL_CHARACTERS + 18 * 120);
    expect(reading.hidden(parts), "what is counted is what is hidden").toBe(60_000 - shown);
    for (const part of parts) {
      reading.open(part);
      reading.drew(part, 0);
    }
    expect(reading.hidden(parts), "all can be opened").toBe(0);
    const lines = Array.from({ length: 5 }, (_, i) => ({
      key: `${i}`,
      text: Array.from({ length: 60 }, (_, line) => `${line}`).join("\n"),
    }));
    reading.share(lines);
    const folded = lines.map((part) => reading.fold(part).hidden > 0);
    expect(folded, "many lines, too").toEqual([false, false, true, true, true]);
  });

  it("makes a row of each argument, whatever its name", () => {
    const value = JSON.parse(
      '{"path":"/x","n":5,"text":"5","list":[1],"__proto__":true,"no":null}',
    ) as never;
    expect(
      argumentRows(value).map((r) => [r.name, r.kind, r.text]),
      "names, kinds and texts, a number told from its text",
    ).toEqual([
      ["path", "text", "/x"],
      ["n", "number", "5"],
      ["text", "text", "5"],
      ["list", "list", "[\n  1\n]"],
      ["__proto__", "boolean", "true"],
      ["no", "null", "null"],
    ]);
  });

  it("looks at everything that would cross", () => {
    const long = "x".repeat(12_600);
    const hidden = new Reading().hidden(crossing(question(tool({ path: "/x", content: long }))));
    expect(hidden, "what is folded").toBe(12_600 - SHOWN_CHARACTERS);
    const texts = crossing(question(samplingRequest)).map((p) => p.text);
    expect(texts, "system prompt, messages, what else is text, and metadata").toEqual([
      "You are terse.",
      "What is in this picture?",
      '"END"',
      "small, large",
      '{\n  "trace": 1\n}',
    ]);
    const padded = `path${" ".repeat(500)}x`;
    expect(
      new Reading().hidden(crossing(question(tool({ [padded]: "/x" })))),
      "X14: the names of arguments, too",
    ).toBe(500);
  });
});
