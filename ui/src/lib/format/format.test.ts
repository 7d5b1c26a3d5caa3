import { describe, expect, test } from "vitest";

import { formatExactBytes, formatBytes } from "./bytes";
import { joinCommand, splitCommand } from "./command-line";
import { fuzzyFilter, fuzzyMatch } from "./fuzzy";
import { parseJson } from "./json";
import { keyNames } from "./keys";
import { formatList } from "./lists";
import { formatClock, formatDuration, formatRelative } from "./times";

describe("sizes", () => {
  test.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1 kB"],
    [2149, "2.1 kB"],
    [999_949, "1,000 kB"],
    [999_950, "1 MB"],
    [123_456_789, "123 MB"],
    [5e15, "5,000 TB"],
  ])("%d bytes", (bytes, words) => {
    expect(formatBytes(bytes, "en"), "the size should have at most one decimal place").toBe(words);
  });

  test("formats the exact size", () => {
    expect(formatExactBytes(2149, "en"), "the size should include every byte").toBe("2,149 B");
  });
});

test("separates list items in every language", () => {
  expect(formatList(["A", "B", "C"], "en")).toBe("A, B, C");
  expect(formatList(["A", "B", "C"], "zh-Hans")).toBe("A、B、C");
});

describe("times", () => {
  const now = Date.UTC(2026, 10, 20, 12);
  test.each([
    [5_000, "now"],
    [61_000, "1 minute ago"],
    [59 * 60_000, "59 minutes ago"],
    [3 * 3_600_000, "3 hours ago"],
    [25 * 3_600_000, "yesterday"],
    [10 * 86_400_000, "Nov 10, 2026"],
  ])("%d ms ago", (ago, words) => {
    expect(formatRelative(now - ago, now, "en"), "the time should have the largest full unit").toBe(
      words,
    );
  });

  test("formats times in Chinese", () => {
    expect(
      formatRelative(now - 61_000, now, "zh-Hans"),
      "the language tag should be respected",
    ).toBe("1分钟前");
  });

  test.each([
    [0.42, "0.4 ms"],
    [320.4, "320 ms"],
    [999.4, "999 ms"],
    [1_230, "1.2 s"],
    [59_960, "1 min"],
    [185_000, "3 min 5 s"],
  ])("%d ms take", (ms, words) => {
    expect(formatDuration(ms, "en"), "the duration should have a suitable unit").toBe(words);
  });

  test("shows milliseconds in clock times", () => {
    expect(formatClock(now + 7, "en"), "the time should include milliseconds").toMatch(
      /^\d\d:\d\d:00\.007$/,
    );
  });
});

describe("fuzzy search", () => {
  test("finds letters in order only", () => {
    expect(
      fuzzyMatch("rdf", "read_file")?.at,
      "the positions of the letters should be found",
    ).toEqual([0, 3, 5]);
    expect(fuzzyMatch("fdr", "read_file"), "another order should not match").toBeNull();
    expect(fuzzyMatch("", "anything")?.score, "an empty query should match everything").toBe(0);
  });

  test("prefers complete matches, then prefixes, then starts of words", () => {
    const names = ["unread", "write_file", "read", "read_file", "thread"];
    expect(
      fuzzyFilter("read", names, (name) => [name]),
      "matches should be ordered by rank, without names that do not match",
    ).toEqual(["read", "read_file", "unread", "thread"]);
    expect(
      fuzzyFilter("wf", ["swift", "write_file"], (name) => [name])[0],
      "starts of words should rank first",
    ).toBe("write_file");
  });

  test("matches letters of any script and case", () => {
    expect(fuzzyMatch("天气", "查询天气")?.at, "Chinese should match").toEqual([2, 3]);
    expect(fuzzyMatch("RF", "readFile")?.at, "camel-case words should match").toEqual([0, 4]);
  });
});

describe("command lines", () => {
  test.each([
    [["npx", "-y", "@scope/server@1.2", "/home/ann"], "npx -y @scope/server@1.2 /home/ann"],
    [["a", "b c", ""], "a 'b c' ''"],
    [["say", "it's $HOME"], `say 'it'\\''s $HOME'`],
    [["x", "a\nb", "*"], "x 'a\nb' '*'"],
  ])("joins and splits %o", (words, line) => {
    expect(joinCommand(words), "the words should be joined to one line").toBe(line);
    expect(splitCommand(line), "the line should be split into the same words").toEqual(words);
  });

  test("splits alternative notations", () => {
    expect(
      splitCommand(`a "b \\"c\\" \\d" e\\ f`),
      "double quotes and backslashes should be supported",
    ).toEqual(["a", 'b "c" \\d', "e f"]);
    expect(splitCommand(`a 'b`), "an open quote should be rejected").toBeNull();
  });
});

describe("JSON", () => {
  test.each([
    ["", 1, 1],
    ["{", 1, 2],
    ['{"a": 1,}', 1, 9],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ["[1, 2", 1, 6],
    ['{"a" 1}', 1, 6],
    ["[1] 2", 1, 5],
    ['{"a": nul}', 1, 7],
    ['["a\nb"]', 1, 2],
    ["{'a': 1}", 1, 2],
    ["[01]", 1, 3],
  ])("reports the error in %j at line %d, column %d", (text, line, column) => {
    expect(parseJson(text), "the position of the error should be reported").toEqual({
      ok: false,
      line,
      column,
    });
  });

  test("parses valid JSON", () => {
    expect(parseJson(' {"a": [1, {"b": null}]} '), "the value should be returned").toEqual({
      ok: true,
      value: { a: [1, { b: null }] },
    });
  });
});

test("names keys like the operating system", () => {
  expect(keyNames("Mod+K", false), "the names should be those of other systems").toEqual([
    "Ctrl",
    "K",
  ]);
  expect(keyNames("Mod+Shift+K", true), "the names should be those of macOS").toEqual([
    "⌘",
    "⇧",
    "K",
  ]);
});
