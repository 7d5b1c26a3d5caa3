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
