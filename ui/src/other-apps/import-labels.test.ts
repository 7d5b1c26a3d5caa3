import { readFileSync } from "node:fs";

import { afterEach, expect, test } from "vitest";

import type { ImportNoteKind } from "$lib/api/generated";
import { locale } from "$lib/state/locale.svelte";

import { overwriteGetLocale } from "../paraglide/runtime";

import { importNote } from "./fixtures";
import { noteText } from "./import-labels";

afterEach(() => overwriteGetLocale(locale));

/** Kinds of notes in the contract, which the compiler does not know at run time. */
function noteKinds(): ImportNoteKind[] {
  const contract = readFileSync("src/lib/api/generated.ts", "utf8");
  const [, union = ""] = /export type ImportNoteKind = ([^;]*);/.exec(contract) ?? [];
  return [...union.matchAll(/"(\w+)"/g)].map(([, kind]) => kind as ImportNoteKind);
}

function noteTexts(language: "en" | "zh", ...names: string[]): Map<ImportNoteKind, string> {
  overwriteGetLocale(() => language);
  const texts = noteKinds().flatMap((kind) => {
    const note = { ...importNote(kind, "English", ...names), place: { is: "url" as const } };
    const text = noteText(note);
    return text === undefined ? [] : [[kind, text] as const];
  });
  return new Map(texts);
}

test("every kind of note but a reason has a message in both languages", () => {
  const kinds = noteKinds();
  expect(kinds, "the kinds should be found in the contract").toEqual(
    expect.arrayContaining(["off", "also_in", "reason"]),
  );
  const expected = kinds.filter((kind) => kind !== "reason");
  for (const names of [[], ["first"], ["first", "second"]]) {
    expect([...noteTexts("en", ...names).keys()]).toEqual(expected);
    const chinese = noteTexts("zh", ...names);
    expect([...chinese.keys()]).toEqual(expected);
    for (const [kind, text] of chinese) expect(text, kind).toMatch(/\p{Script=Han}/u);
  }
});

test("messages contain the names of their notes", () => {
  for (const language of ["en", "zh"] as const) {
    const texts = noteTexts(language, "first", "second");
    for (const kind of ["also_in", "not_used", "omitted", "env_file", "input"] as const) {
      expect(texts.get(kind), `${kind} in ${language}`).toMatch(/first.*second/);
    }
    expect(texts.get("placeholder"), "the place and the text").toMatch(/URL.*first/);
  }
});

test("notes with the number of omitted notes have a singular and a plural", () => {
  const one = noteTexts("en", "1");
  const several = noteTexts("en", "7");
  const chinese = noteTexts("zh", "7");
  expect(one.get("more_placeholders")).toMatch(/^1 more text looks/);
  expect(several.get("more_placeholders")).toMatch(/^7 more texts look/);
  expect(one.get("more_warnings")).toMatch(/^1 more warning is /);
  expect(several.get("more_warnings")).toMatch(/^7 more warnings are /);
  expect(one.get("more_plain_passwords")).toMatch(/^1 more such password /);
  expect(several.get("more_plain_passwords")).toMatch(/^7 more such passwords /);
  for (const kind of ["more_placeholders", "more_plain_passwords", "more_warnings"] as const) {
    expect(chinese.get(kind), kind).toContain(" 7 ");
  }
});

test("a warning quotes the word of a link and states the whole risk after it", () => {
  // The host truncates each word to 80 characters.
  const word = `${"w".repeat(80)}…`;
  const risks = {
    shell: "is a shell, which runs any command in its arguments.",
    more_rights: "runs the rest with more rights than yours.",
    code_option: "runs code from the link, or code that it downloads first. Read it completely.",
    source_option:
      "downloads code from an address instead of the usual registry. Read it completely.",
    access_option:
      "gives the container access to a folder or device, or privileges on this computer. Read it completely.",
  } as const;
  const texts = noteTexts("en", word);
  const chinese = noteTexts("zh", word);
  for (const kind of Object.keys(risks) as (keyof typeof risks)[]) {
    expect(texts.get(kind)).toBe(`URL: “${word}” ${risks[kind]}`);
    expect(chinese.get(kind), `${kind} in Chinese`).toMatch(/^.+：“w{80}…”\p{Script=Han}.*。$/u);
  }
});
