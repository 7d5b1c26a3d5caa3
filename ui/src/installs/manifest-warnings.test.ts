import { readFileSync } from "node:fs";

import { render, screen } from "@testing-library/svelte";
import { afterEach, expect, test } from "vitest";

import type { BundleSignature, ManifestValueType, ManifestWarning } from "$lib/api/generated";
import { locale } from "$lib/state/locale.svelte";

import { overwriteGetLocale } from "../paraglide/runtime";

import BundleFacts from "./BundleFacts.svelte";
import { bundleOffer } from "./fixtures";
import { manifestWarningText, signatureText } from "./manifest-warnings";

afterEach(() => overwriteGetLocale(locale));

/** A warning of each kind, whose parameters are `p1` and 7001. */
const WARNINGS: {
  [Kind in ManifestWarning["is"]]: Omit<Extract<ManifestWarning, { is: Kind }>, "is">;
} = {
  unknown_member: { member: "p1" },
  missing_member: { member: "p1" },
  wrong_type: { member: "p1", expected: "text" },
  wrong_items: { member: "p1", expected: "object" },
  too_many_items: { member: "p1", used: 7001 },
  truncated: { member: "p1" },
  unknown_manifest_version: { version: "p1" },
  uncomparable_version: { version: "p1" },
  unknown_setting_type: { member: "p1" },
  picture_outside: { picture: "p1" },
  translations_path: { member: "p1" },
};

test("each state of a signature is shown in both languages, and a signer as unverified", () => {
  const { origin } = bundleOffer();
  if (origin.from !== "bundle") throw new Error("the offer should be a bundle");
  const texts: [BundleSignature, RegExp, RegExp][] = [
    [{ state: "absent" }, /^It is not signed\.$/, /^未签名。$/],
    [{ state: "claimed", name: "Alice" }, /“Alice”.*does not verify it/, /“Alice”.*不验证/],
    [{ state: "unreadable" }, /can't be read/, /无法读取/],
  ];
  for (const [signature, english, chinese] of texts) {
    overwriteGetLocale(() => "zh");
    expect(signatureText(signature)).toMatch(chinese);
    overwriteGetLocale(() => "en");
    const { unmount } = render(BundleFacts, { bundle: { ...origin, signature } });
    expect(screen.getByText(english), signature.state).toBeVisible();
    unmount();
  }
});

test("every kind of warning has a message with all of its parameters in both languages", () => {
  const contract = readFileSync("src/lib/api/generated.ts", "utf8");
  const [, union = ""] = /export type ManifestWarning = (.*?);\n\n/s.exec(contract) ?? [];
  const kinds = [...union.matchAll(/"is": "(\w+)"/g)].map(([, kind]) => kind);
  expect(Object.keys(WARNINGS).sort(), "each kind should have a sample").toEqual(kinds.sort());
  for (const language of ["en", "zh"] as const) {
    overwriteGetLocale(() => language);
    for (const [is, parameters] of Object.entries(WARNINGS)) {
      const text = manifestWarningText({ is, ...parameters } as ManifestWarning);
      const expected = JSON.stringify(parameters).match(/p\d|7001/g) ?? [];
      for (const name of expected) expect(text, `${is} in ${language}`).toContain(name);
      if (language === "zh") expect(text, is).toMatch(/\p{Script=Han}/u);
      else expect(text, is).not.toMatch(/\p{Script=Han}/u);
    }
  }
});

test("each type of value has its own label", () => {
  const types: ManifestValueType[] = ["text", "boolean", "number", "object", "list"];
  for (const language of ["en", "zh"] as const) {
    overwriteGetLocale(() => language);
    const text = (expected: ManifestValueType) =>
      manifestWarningText({ is: "wrong_type", member: "icon", expected });
    expect(new Set(types.map(text)).size, language).toBe(types.length);
  }
});

test("the warnings of a bundle are shown in the language of the page, and hidden characters are visible", () => {
  overwriteGetLocale(() => "en");
  const { origin } = bundleOffer();
  if (origin.from !== "bundle") throw new Error("the sample should be a bundle");
  const warnings: ManifestWarning[] = [
    { is: "wrong_type", member: "homepage", expected: "text" },
    { is: "unknown_member", member: "colo\u202eur" },
  ];
  const { container } = render(BundleFacts, { bundle: { ...origin, warnings } });
  expect(screen.getByText("homepage is not a text, so it is not used.")).toBeVisible();
  expect(container).toHaveTextContent(/colo.*U\+202E.*ur is unknown and ignored\./);
});
