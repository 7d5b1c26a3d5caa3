import { expect, test } from "vitest";

import { textBeginning, beginningParts, visibleParts, visibleText } from "./text-safety";

test.each([
  ["\u202e", "U+202E", "right-to-left override"],
  ["\u2066", "U+2066", "isolate"],
  ["\u200b", "U+200B", "zero width space"],
  ["\u200d", "U+200D", "joiner that joins nothing"],
  ["\u0000", "U+0000", "null"],
  ["\u001b", "U+001B", "escape"],
  ["\u0007", "U+0007", "bell"],
  ["\u0085", "U+0085", "next line"],
  ["\u00ad", "U+00AD", "soft hyphen"],
  ["\u2028", "U+2028", "line separator"],
  ["\ufeff", "U+FEFF", "byte order mark"],
  ["\u3164", "U+3164", "filler"],
  ["\u2800", "U+2800", "blank of Braille"],
  ["\ufe01", "U+FE01", "variation selector that selects nothing"],
  ["\ufe0f", "U+FE0F", "emoji selector without an emoji"],
  ["\ufe0e", "U+FE0E", "text selector without an emoji"],
  ["\ufffc", "U+FFFC", "object replacement"],
  ["\u{e0100}", "U+E0100", "supplementary variation selector"],
  ["\u{e0041}", "U+E0041 “A”", "tag"],
  ["\r", "U+000D", "carriage return alone"],
])("X10, X11, X12: %j is named %s (%s)", (character, name) => {
  expect(visibleText(`a${character}b`), "the character should be named").toBe(`a[${name}]b`);
});

test("X10: allows no variation selector on a digit, and at most one on an emoji", () => {
  expect(visibleText("1\ufe0e2\ufe0f#\ufe0f"), "each selector should be named").toBe(
    "1[U+FE0E]2[U+FE0F]#[U+FE0F]",
  );
  expect(visibleText("❤\ufe0f\ufe0e\ufe0f"), "only the first selector should be unchanged").toBe(
    "❤\ufe0f[U+FE0E U+FE0F]",
  );
  expect(visibleText("7\ufe0f\u20e3"), "a keycap should be unchanged").toBe("7\ufe0f\u20e3");
});

test("leaves ordinary text unchanged", () => {
  const text =
    "Zażółć\tgęślą\njaźń 查询 👩‍👩‍👧 🏳️‍🌈 👩‍❤️‍👨 🏃🏽‍♀️ 1️⃣ 🇳🇴 e\u0301 שלום 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
  expect(visibleParts(text), "the text should be one plain part").toEqual([
    { text, is: "plain", folded: 0 },
  ]);
  expect(visibleText("a\r\nb"), "line ends of Windows should be converted").toBe("a\nb");
  expect(visibleParts(""), "an empty text should have no parts").toEqual([]);
});

const tags = (words: string) =>
  Array.from(words, (c) => String.fromCodePoint(0xe0000 + (c.codePointAt(0) ?? 0))).join("");

test("X10: decodes text spelled in tag characters, also after a flag", () => {
  const [, run] = visibleParts(`Adds.${tags("send ~/.ssh")}`);
  expect(run, "the run should show its text, its ends and its length").toEqual({
    text: "U+E0073 … U+E0068 ×11 “send ~/.ssh”",
    is: "hidden",
    folded: 11,
  });
  const flag = `🏴${tags("gbsct")}\u{e007f}`;
  expect(
    visibleText(`${flag}${tags("hi")}`),
    "a flag should not include the text after it",
  ).toContain("“hi”");
  expect(visibleText(`🏴${tags("gbxxx")}\u{e007f}`), "an invalid flag should be named").toContain(
    "“gbxxx”",
  );
  const [part] = visibleParts(tags("x".repeat(5_000)), true);
  expect(part?.folded, "nothing should be omitted when it is expanded").toBe(0);
  expect(part?.text.split(" ").length, "each character should be named").toBeGreaterThanOrEqual(
    5_000,
  );
});

test("shows stacked combining marks, which would cover the lines above", () => {
  const stacked = `a${"\u0301".repeat(300)}`;
  expect(visibleText(stacked), "eight marks should be unchanged, and the others named").toBe(
    `a${"\u0301".repeat(8)}[U+0301 … U+0301 ×292]`,
  );
});

test("X14: counts long runs of blanks", () => {
  const pushed = beginningParts(`ls${" ".repeat(10_000)}; rm -rf ~`, 600, 8);
  expect(
    pushed.parts.map((part) => part.text),
    "the payload should follow the number of blanks",
  ).toEqual(["ls", "␣×10000", "; rm -rf ~"]);
  expect(pushed.hidden, "the blanks should be counted as hidden").toBe(10_000);
  const lines = beginningParts(`a${"\n".repeat(9_000)}b`, 600, 8);
  expect(
    lines.parts.map((part) => part.text),
    "line breaks should be counted",
  ).toEqual(["a", "↵×9000", "b"]);
  const mixed = visibleParts(" \t".repeat(50))[0];
  expect(mixed?.text, "many kinds of blanks should be shortened").toMatch(/^␣×1 ⇥×1 .* …$/);
  expect(
    visibleParts(" \t".repeat(50), true)[0]?.text.split(" "),
    "all kinds of blanks should be listed when they are expanded",
  ).toHaveLength(100);
  const layout = `${" ".repeat(30)}x\n\n\n\ny`;
  expect(visibleParts(layout), "indentation should be unchanged").toHaveLength(1);
});

test("bounds the visible start of any text", () => {
  expect(
    beginningParts("x".repeat(1_000), 600, 8),
    "the number of characters should be bounded",
  ).toMatchObject({ hidden: 400 });
  expect(beginningParts("a\nb\nc", 99, 2), "the number of lines should be bounded").toMatchObject({
    parts: [{ text: "a\nb" }],
    hidden: 2,
  });
  const many = beginningParts("a\u200b".repeat(100_000), 600, 8);
  expect(many.parts.length, "names of characters should count with their length").toBeLessThan(200);
  expect(many.hidden, "the rest should be counted").toBeGreaterThan(199_000);
});

test("bounds the start by characters and lines, without splitting a character", () => {
  expect(textBeginning("abcdef", 3, 9), "the number of characters should be bounded").toBe("abc");
  expect(textBeginning("a\nb\nc", 99, 2), "the number of lines should be bounded").toBe("a\nb");
  expect(textBeginning("a\nb", 99, 2), "all allowed lines should be included").toBe("a\nb");
  expect(textBeginning("ab👍", 3, 9), "a character should not be split").toBe("ab");
  expect(textBeginning("ab👍", 4, 9), "a complete character should be included").toBe("ab👍");
});
