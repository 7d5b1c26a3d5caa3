import { describe, expect, test } from "vitest";

import type { JsonValue } from "$lib/api/generated";

import { refersToApp, isAppUri } from "./apps";

describe("apps", () => {
  test.each([
    ["ui://files/view", true],
    ["UI://files/view", true],
    ["file:///ui://x", false],
    ["", false],
  ])("the URI %j is that of an app: %s", (uri, is) => {
    expect(isAppUri(uri)).toBe(is);
  });

  test.each<[JsonValue, boolean]>([
    [{ _meta: { ui: { resourceUri: "ui://files/view" } } }, true],
    [{ _meta: { "ui/resourceUri": "ui://files/view" } }, true],
    [{ _meta: { ui: { resourceUri: "https://evil.example" } } }, false],
    [{ _meta: { ui: { resourceUri: 7 } } }, false],
    [{ _meta: { ui: [] } }, false],
    [{ _meta: null }, false],
    [null, false],
  ])("a tool with %j has an app: %s", (others, has) => {
    expect(refersToApp({ others })).toBe(has);
  });
});
