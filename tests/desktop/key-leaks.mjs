// Checks that the provider's key is in no file, log or part of the page.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** API key of the mock provider of models. It must only be in requests to the provider. */
export const KEY = "sk-canary-desktop-9e41d7";

/** Asserts that no file in this folder contains the key. */
export function assertNoKeyInFiles(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = files.filter((file) => bytes(file).includes(KEY));
  assert.deepEqual(found, [], "no file should contain the key");
}

/** Returns the content of a file. Empty if the file was removed in the meantime. */
function bytes(file) {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error.code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

/** Asserts that neither the document nor a field nor the storage of the page contains the key. */
export async function assertPageHasNoKey(page) {
  const pageContents = await page.run(() => {
    const fields = [...document.querySelectorAll("input, textarea")].map(({ value }) => value);
    return [document.documentElement.outerHTML, ...fields, JSON.stringify({ ...localStorage })].join("\n");
  });
  assert.ok(pageContents.length > 1000, "the page should have content");
  assert.ok(!pageContents.includes(KEY), "the page should not contain the key");
}
