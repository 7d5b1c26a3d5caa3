// Where the provider's key must not be: in any file, any log, anything the page holds.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { KEY } from "./provider.mjs";

/** Nothing below this folder has the key in it. */
export function keyless(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = files.filter((file) => bytes(file).includes(KEY));
  assert.deepEqual(found, [], "the key is in no file");
}

/** What one of these files holds; nothing if it went away in between. */
function bytes(file) {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error.code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

/** The page has it neither in its document nor in a field, nor in what it keeps. */
export async function keylessPage(page) {
  const held = await page.run(() => {
    const fields = [...document.querySelectorAll("input, textarea")].map(({ value }) => value);
    return [document.documentElement.outerHTML, ...fields, JSON.stringify({ ...localStorage })].join("\n");
  });
  assert.ok(held.length > 1000, "there is a page to look at");
  assert.ok(!held.includes(KEY), "the key is nowhere in the page");
}
