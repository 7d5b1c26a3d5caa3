import { readFileSync } from "node:fs";

import { afterEach, expect, test } from "vitest";

import { locale } from "$lib/state/locale.svelte";

import { overwriteGetLocale } from "../paraglide/runtime";
import { identityPartLabel } from "./review-labels";

afterEach(() => overwriteGetLocale(locale));

test("every pinned part of a command or address has a label", () => {
  const code = readFileSync("../crates/launches/src/pinned_parts.rs", "utf8");
  const parts = [...code.matchAll(/parts\.insert\("([^"]+)"/g)].map(([, part]) => part ?? "");
  expect(parts, "the parts should be found in the source code").toEqual(
    expect.arrayContaining(["command", "package", "url"]),
  );
  // In English, a label may be equal to the name of its part, which is returned for a part without a label.
  overwriteGetLocale(() => "zh");
  expect(parts.filter((part) => identityPartLabel(part) === part)).toEqual([]);
});
