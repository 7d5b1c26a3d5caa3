import { describe, expect, it } from "vitest";

import type { JsonValue } from "$lib/api/generated";
import { hasPossiblyRounded } from "$lib/format/json";
import { CHARACTERS_PER_PAGE } from "$lib/format/text-pages";

import { argumentRows, payloadParts } from "./payload";
import { consentRequest, samplingRequestBody, toolBody } from "./fixtures";
import {
  foldedPreview,
  ReadProgress,
  MAX_UNFOLDED_CHARACTERS,
  MAX_TOTAL_CHARACTERS,
} from "./read-progress.svelte";

describe("reading", () => {
  it("shows short values whole", () => {
    expect(foldedPreview({ text: "hello" }), "nothing is hidden").toMatchObject({
      parts: [{ text: "hello" }],
      hidden: 0,
    });
  });

  it("reports numbers that may differ from the number that is sent", () => {
    const read = JSON.parse(
      '{"id":9007199254740993,"ids":[9007199254740991,-9007199254740993]}',
    ) as JsonValue;
    expect(
      argumentRows(read).map((row) => row.text),
      "integers beyond 2^53 are marked, others not",
    ).toEqual(["≈ 9007199254740992", '[\n  9007199254740991,\n  "≈ -9007199254740992"\n]']);
    expect(hasPossiblyRounded(read), "and can't be edited").toBe(true);
    expect(hasPossiblyRounded({ a: [1.5, 9007199254740991] }), "others can").toBe(false);
  });

  it("counts what is hidden behind many characters or lines", () => {
    expect(
      foldedPreview({ text: "x".repeat(MAX_UNFOLDED_CHARACTERS + 7) }).hidden,
      "characters",
    ).toBe(7);
    expect(
      foldedPreview({ text: `${"\n".repeat(10_000)}payload` }),
      "X14: the payload is in view, and what stands before it counted",
    ).toMatchObject({ parts: [{ is: "blank" }, { text: "payload" }], hidden: 10_000 });
    expect(
      foldedPreview({ text: `${"x".repeat(5_000)}${" ".repeat(60)}y`, uncut: true }).hidden,
      "X58: a command is never cut, but its long blanks are counted",
    ).toBe(60);
  });

  it("is open only for exactly the text that was opened", () => {
    const readProgress = new ReadProgress();
    const part = { key: "argument content", text: "x".repeat(5_000) };
    expect(readProgress.unreadTotal([part]), "hidden until it is opened").toBe(
      5_000 - MAX_UNFOLDED_CHARACTERS,
    );
    readProgress.open(part);
    expect(readProgress.unreadTotal([part]), "opened, and not drawn yet").toBe(
      5_000 - MAX_UNFOLDED_CHARACTERS,
    );
    readProgress.markDrawn(part, 0);
    expect(readProgress.unreadTotal([part]), "read").toBe(0);
    readProgress.close(part);
    expect(readProgress.isOpen(part), "it can be folded again").toBe(false);
    expect(readProgress.unreadTotal([part]), "what was read stays read").toBe(0);
    expect(
      readProgress.unreadTotal([{ ...part, text: "y".repeat(5_000) }]),
      "other text has to be opened again",
    ).toBeGreaterThan(0);
  });

  it("counts the pages of a long text that were never drawn (X14)", () => {
    const readProgress = new ReadProgress();
    const part = { key: "argument bulk", text: "x".repeat(2 * CHARACTERS_PER_PAGE + 7) };
    readProgress.open(part);
    readProgress.markDrawn(part, 2);
    expect(readProgress.unreadTotal([part]), "the last one alone does not do").toBe(
      2 * CHARACTERS_PER_PAGE,
    );
    readProgress.markDrawn(part, 0);
    readProgress.markDrawn(part, 0);
    expect(readProgress.unreadTotal([part]), "each counts once").toBe(CHARACTERS_PER_PAGE);
    readProgress.markDrawn(part, 1);
    expect(readProgress.unreadTotal([part]), "then all of it was drawn").toBe(0);
  });

  it("shows of many values together no more than of a few", () => {
    const readProgress = new ReadProgress();
    const parts = Array.from({ length: 20 }, (_, i) => ({ key: `${i}`, text: "x".repeat(3_000) }));
    readProgress.setPayload(parts);
    const shown = parts.reduce((sum, part) => sum + 3_000 - readProgress.fold(part).hidden, 0);
    expect(shown, "a whole one, a part, and beginnings").toBe(MAX_TOTAL_CHARACTERS + 18 * 120);
    expect(readProgress.unreadTotal(parts), "what is counted is what is hidden").toBe(
      60_000 - shown,
    );
    for (const part of parts) {
      readProgress.open(part);
      readProgress.markDrawn(part, 0);
    }
    expect(readProgress.unreadTotal(parts), "all can be opened").toBe(0);
    const lines = Array.from({ length: 5 }, (_, i) => ({
      key: `${i}`,
      text: Array.from({ length: 60 }, (_, line) => `${line}`).join("\n"),
    }));
    readProgress.setPayload(lines);
    const folded = lines.map((part) => readProgress.fold(part).hidden > 0);
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

  it("covers the whole payload", () => {
    const long = "x".repeat(12_600);
    const hidden = new ReadProgress().unreadTotal(
      payloadParts(consentRequest(toolBody({ path: "/x", content: long }))),
    );
    expect(hidden, "what is folded").toBe(12_600 - MAX_UNFOLDED_CHARACTERS);
    const texts = payloadParts(consentRequest(samplingRequestBody)).map((p) => p.text);
    expect(texts, "system prompt, messages, what else is text, and metadata").toEqual([
      "You are terse.",
      "What is in this picture?",
      '"END"',
      "small, large",
      '{\n  "trace": 1\n}',
    ]);
    const padded = `path${" ".repeat(500)}x`;
    expect(
      new ReadProgress().unreadTotal(payloadParts(consentRequest(toolBody({ [padded]: "/x" })))),
      "X14: the names of arguments, too",
    ).toBe(500);
  });
});
