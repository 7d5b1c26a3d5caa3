import { expect, test } from "vitest";

import type { InstallOrigin, PreviewedServer, ServerOrigin } from "$lib/api/generated";

import { upgradeChanges } from "./upgrade-changes";
import { bundleOffer, SHA256 } from "./fixtures";

const AUTHOR = "Author, according to the bundle";
const server: PreviewedServer = {
  ...{ type: "stdio", command: "/data/notes", foundAt: null, args: [] },
  ...{ env: {}, sandbox: null },
};

function installed(author: string | null): ServerOrigin {
  const files = { sha256: SHA256, tree: "00", folder: "notes-0123", author };
  return { from: "bundle", name: "notes", version: "1.0.0", files };
}

function offered(author: string): InstallOrigin {
  const { origin } = bundleOffer();
  return origin.from === "bundle" ? { ...origin, author } : origin;
}

test.each([
  ["Alice", "Alice", []],
  ["Alice", "Mallory", [{ name: AUTHOR, before: "Alice", after: "Mallory" }]],
  ["Alice", "", [{ name: AUTHOR, before: "Alice", after: null }]],
  ["", "Mallory", [{ name: AUTHOR, before: null, after: "Mallory" }]],
  [null, "Mallory", []],
])("the author of a bundle changes from %j to %j", (before, after, expected) => {
  expect(upgradeChanges(offered(after), installed(before), server, server)).toEqual(expected);
});
