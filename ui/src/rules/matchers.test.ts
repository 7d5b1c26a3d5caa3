import { describe, expect, it } from "vitest";

import type { ArgumentTest } from "$lib/api/generated";

import { suggestedMatcher } from "./matchers";

const suggestionFor = (at: string, pattern: string, test: ArgumentTest = "glob", schema = {}) =>
  suggestedMatcher({ at, test, pattern }, schema);

describe("a string condition", () => {
  it("suggests a path or URL condition by the name of the argument", () => {
    for (const at of ["/path", "/o/filePath", "/file", "/output_dir", "/paths"])
      expect(suggestionFor(at, "x"), at).toBe("path");
    for (const at of ["/url", "/o/callbackUrl", "/endpoint", "/uris"])
      expect(suggestionFor(at, "x"), at).toBe("url");
    for (const at of ["/text", "/profile", "/curl", "/"])
      expect(suggestionFor(at, "x"), at).toBeNull();
  });

  it("suggests one by its pattern", () => {
    for (const pattern of ["/secret/*", "~/x", "C:\\\\x", "./x", "a/*"])
      expect(suggestionFor("/x", pattern), pattern).toBe("path");
    for (const pattern of ["https://*.x.com/*", "*://x", "*.x.com/*"])
      expect(suggestionFor("/x", pattern), pattern).toBe("url");
    for (const pattern of ["main", "*@example.com", "v1.2"])
      expect(suggestionFor("/x", pattern), pattern).toBeNull();
  });

  it("suggests one by the schema of the tool", () => {
    const schema = {
      properties: {
        a: { type: "string", format: "uri" },
        b: { type: "array", items: { type: "string", format: "path" } },
        c: { type: "object", properties: { "d/e": { format: "uri-reference" } } },
      },
    };
    expect(suggestionFor("/a", "x", "glob", schema), "a format should be recognized").toBe("url");
    expect(
      suggestionFor("/b", "x", "regex", schema),
      "the schema of list items should be recognized",
    ).toBe("path");
    expect(
      suggestionFor("/c/d~1e", "x", "glob", schema),
      "a nested schema should be recognized",
    ).toBe("url");
    expect(
      suggestionFor("/c/__proto__", "x", "glob", schema),
      "an inherited name should be ignored",
    ).toBeNull();
  });

  it("has suggestions only for string matchers", () => {
    for (const test of ["path", "url", "folder", "number"] as const)
      expect(suggestionFor("/path", "/x", test), test).toBeNull();
  });
});
