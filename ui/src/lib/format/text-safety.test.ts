import { expect, test } from "vitest";

import { beginning, visibleParts, visibleText } from "./text-safety";

test.each([
  ["\u202e", "U+202E", "right-to-left override"],
  ["\u2066", "U+2066", "isolate"],
  ["\u200b", "U+200B", "zero width space"],
  ["\u200d", "U+200D", "joiner that joins nothing"],
  ["\u0000", "U+0000", "null"],
  ["\u001b", "U+001B", "escape"],
  ["\u0085", "U+0085", "next line"],
  ["\u00ad", "U+00AD", "soft hyphen"],
  ["\u2028", "U+2028", "line separator"],
  ["\ufeff", "U+FEFF", "byte order mark"],
  ["\u{e0041}", "U+E0041", "tag"],
  ["\r", "U+000D", "carriage return alone"],
])("%j is named %s (%s)", (character, name) => {
  expect(visibleText(`a${character}b`), "it can be seen").toBe(`a[${name}]b`);
});

test("text that is what it seems stays as it is", () => {
  const text = "Zażółć\tgęślą\njaźń 查询 👩‍👩‍👧 🏳️‍🌈 e\u0301 שלום";
  expect(visibleParts(text), "one part, not hidden").toEqual([{ text, hidden: false }]);
  expect(visibleText("a\r\nb"), "line ends of Windows").toBe("a\nb");
  expect(visibleParts(""), "nothing").toEqual([]);
});

test("the beginning has a bound in characters and lines, and whole characters", () => {
  expect(beginning("abcdef", 3, 9), "characters").toBe("abc");
  expect(beginning("a\nb\nc", 99, 2), "lines").toBe("a\nb");
  expect(beginning("a\nb", 99, 2), "as many lines as allowed").toBe("a\nb");
  expect(beginning("ab👍", 3, 9), "never half a character").toBe("ab");
  expect(beginning("ab👍", 4, 9), "a whole one").toBe("ab👍");
});
