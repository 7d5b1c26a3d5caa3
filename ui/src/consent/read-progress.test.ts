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
  it("shows short values completely", () => {
    expect(foldedPreview({ text: "hello" }), "nothing should be hidden").toMatchObject({
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
      "only integers beyond 2^53 should be marked",
    ).toEqual(["≈ 9007199254740992", '[\n  9007199254740991,\n  "≈ -9007199254740992"\n]']);
    expect(hasPossiblyRounded(read), "rounded numbers should not be editable").toBe(true);
    expect(
      hasPossiblyRounded({ a: [1.5, 9007199254740991] }),
      "exact numbers should be editable",
    ).toBe(false);
  });

  it("counts hidden text after many characters or lines", () => {
    expect(
      foldedPreview({ text: "x".repeat(MAX_UNFOLDED_CHARACTERS + 7) }).hidden,
      "hidden characters should be counted",
    ).toBe(7);
    expect(
      foldedPreview({ text: `${"\n".repeat(10_000)}payload` }),
      "X14: the payload should be visible, and the blanks before it counted",
    ).toMatchObject({ parts: [{ is: "blank" }, { text: "payload" }], hidden: 10_000 });
    expect(
      foldedPreview({ text: `${"x".repeat(5_000)}${" ".repeat(60)}y`, uncut: true }).hidden,
      "X58: a command should not be cut, but its long blanks should be counted",
    ).toBe(60);
  });

  it("is expanded only for exactly the text that was expanded", () => {
    const readProgress = new ReadProgress();
    const part = { key: "argument content", text: "x".repeat(5_000) };
    expect(
      readProgress.unreadTotal([part]),
      "the text should be hidden before it is expanded",
    ).toBe(5_000 - MAX_UNFOLDED_CHARACTERS);
    readProgress.open(part);
    expect(
      readProgress.unreadTotal([part]),
      "expanded text should be unread before it is rendered",
    ).toBe(5_000 - MAX_UNFOLDED_CHARACTERS);
    readProgress.markDrawn(part, 0);
    expect(readProgress.unreadTotal([part]), "rendered text should be read").toBe(0);
    readProgress.close(part);
    expect(readProgress.isOpen(part), "the text should be collapsible again").toBe(false);
    expect(readProgress.unreadTotal([part]), "read text should stay read").toBe(0);
    expect(
      readProgress.unreadTotal([{ ...part, text: "y".repeat(5_000) }]),
      "another text should be unread",
    ).toBeGreaterThan(0);
  });

  it("counts the pages of a long text that were not rendered (X14)", () => {
    const readProgress = new ReadProgress();
    const part = { key: "argument bulk", text: "x".repeat(2 * CHARACTERS_PER_PAGE + 7) };
    readProgress.open(part);
    readProgress.markDrawn(part, 2);
    expect(readProgress.unreadTotal([part]), "the last page alone should not be sufficient").toBe(
      2 * CHARACTERS_PER_PAGE,
    );
    readProgress.markDrawn(part, 0);
    readProgress.markDrawn(part, 0);
    expect(readProgress.unreadTotal([part]), "each page should be counted once").toBe(
      CHARACTERS_PER_PAGE,
    );
    readProgress.markDrawn(part, 1);
    expect(readProgress.unreadTotal([part]), "all pages should be read").toBe(0);
  });

  it("shows no more of many values together than of a few", () => {
    const readProgress = new ReadProgress();
    const parts = Array.from({ length: 20 }, (_, i) => ({ key: `${i}`, text: "x".repeat(3_000) }));
    readProgress.setPayload(parts);
    const shown = parts.reduce((sum, part) => sum + 3_000 - readProgress.fold(part).hidden, 0);
    expect(
      shown,
      "one value should be complete, one partial, and others only their beginning",
    ).toBe(MAX_TOTAL_CHARACTERS + 18 * 120);
    expect(readProgress.unreadTotal(parts), "the hidden characters should be counted").toBe(
      60_000 - shown,
    );
    for (const part of parts) {
      readProgress.open(part);
      readProgress.markDrawn(part, 0);
    }
    expect(readProgress.unreadTotal(parts), "all values should be expandable").toBe(0);
    const lines = Array.from({ length: 5 }, (_, i) => ({
      key: `${i}`,
      text: Array.from({ length: 60 }, (_, line) => `${line}`).join("\n"),
    }));
    readProgress.setPayload(lines);
    const folded = lines.map((part) => readProgress.fold(part).hidden > 0);
    expect(folded, "values with many lines should be collapsed, too").toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  it("creates a row for each argument, independent of its name", () => {
    const value = JSON.parse(
      '{"path":"/x","n":5,"text":"5","list":[1],"__proto__":true,"no":null}',
    ) as never;
    expect(
      argumentRows(value).map((r) => [r.name, r.kind, r.text]),
      "the rows should have names, kinds and texts, and distinguish numbers from text",
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
    expect(hidden, "collapsed text should be counted").toBe(12_600 - MAX_UNFOLDED_CHARACTERS);
    const texts = payloadParts(consentRequest(samplingRequestBody)).map((p) => p.text);
    expect(
      texts,
      "the parts should include the system prompt, messages, other text and metadata",
    ).toEqual([
      "You are terse.",
      "What is in this picture?",
      '"END"',
      "small, large",
      '{\n  "trace": 1\n}',
    ]);
    const padded = `path${" ".repeat(500)}x`;
    expect(
      new ReadProgress().unreadTotal(payloadParts(consentRequest(toolBody({ [padded]: "/x" })))),
      "X14: names of arguments should be counted, too",
    ).toBe(500);
  });
});
