import { expect, test } from "vitest";

import { sandboxText } from "./sandbox-text";

test("a compared sandbox is described in words", () => {
  expect(sandboxText("null")).toBe("no sandbox: it can access everything that you can");
  expect(sandboxText('{"folders": [], "network": false}')).toBe(
    "Can change, besides its own home folder: none\nCan read: none\nNetwork: No network",
  );
  const folders = [
    { path: "/a", access: "write" },
    { path: "/b", access: "read" },
    { path: "/c", access: "read" },
  ];
  expect(sandboxText(JSON.stringify({ folders, network: ["example.com", "*.a.org"] }))).toBe(
    "Can change, besides its own home folder: /a\nCan read: /b, /c\nNetwork: example.com, *.a.org",
  );
});

test("what is no known sandbox is shown as it is", () => {
  for (const json of [
    "{",
    '{"folders": [{"path": {"bytes": [1]}, "access": "read"}], "network": true}',
    '{"folders": [{"path": "/a", "access": "execute"}], "network": true}',
    '{"folders": [], "network": 1}',
    '"text"',
  ])
    expect(sandboxText(json)).toBe(json);
});
