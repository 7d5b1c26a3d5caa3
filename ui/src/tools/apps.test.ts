import { describe, expect, test } from "vitest";

import type { JsonValue } from "$lib/api/generated";

import { appUri, isAppUri } from "./apps";

describe("apps", () => {
  test.each([
    ["ui://files/view", true],
    ["UI://files/view", true],
    ["file:///ui://x", false],
    ["", false],
  ])("the URI %j is that of an app: %s", (uri, is) => {
    expect(isAppUri(uri)).toBe(is);
  });

  test.each<[JsonValue, string | null]>([
    [{ _meta: { ui: { resourceUri: "ui://files/view" } } }, "ui://files/view"],
    [{ _meta: { "ui/resourceUri": "ui://files/old" } }, "ui://files/old"],
    [{ _meta: { ui: { resourceUri: "ui://a" }, "ui/resourceUri": "ui://b" } }, "ui://a"],
    [{ _meta: { ui: { resourceUri: "https://evil.example" } } }, null],
    [{ _meta: { ui: { resourceUri: 7 } } }, null],
    [{ _meta: { ui: [] } }, null],
    [{ _meta: null }, null],
    [null, null],
  ])("a tool with %j has the app %s", (others, uri) => {
    expect(appUri({ others })).toBe(uri);
  });
});
