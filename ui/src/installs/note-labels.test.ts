import { readFileSync } from "node:fs";

import { afterEach, expect, test } from "vitest";

import type { InputProblem, InstallNote, PlanPlace } from "$lib/api/generated";
import { locale } from "$lib/state/locale.svelte";

import { importNote } from "../other-apps/fixtures";
import { overwriteGetLocale } from "../paraglide/runtime";

import { installNoteText } from "./note-labels";

afterEach(() => overwriteGetLocale(locale));

const PLACE: PlanPlace = { is: "header", name: "p1" };

/** A note of each kind, whose parameters are `p1`, `p2` and `p3`. */
const NOTES: { [Kind in InstallNote["is"]]: Omit<Extract<InstallNote, { is: Kind }>, "is"> } = {
  other_package_registry: { registry: "p1" },
  no_version: { program: "p1" },
  unpinned_tag: { tag: "p1" },
  no_tag: {},
  other_program: { named: "p1", used: "p2" },
  hash_not_used: { program: "p1" },
  code_variables: { names: ["p1", "p2"] },
  launcher_arguments: { program: "p1" },
  step_afterwards: { description: "p1", command: "p2" },
  public_secret: { place: PLACE },
  undeclared_input: { place: PLACE, variable: "p2" },
  invisible_characters: { place: PLACE, text: "p2" },
  default_omitted: { input: "p1", problem: "not_a_number" },
  unencrypted: {},
  url_from_input: {},
  private_url: {},
  bridge: { note: importNote("bridge", "English", "p1") },
  missing_setting: { text: "p1", setting: "p2" },
  first_value_only: { variable: "p1", setting: "p2" },
  repeated_argument: { argument: "p1", setting: "p2" },
  unknown_reference: { text: "p1" },
  loads_over_network: { program: "p1" },
  program_outside: { program: "p1" },
  uv_packages: {},
  other_platforms: { platforms: ["p1", "p2"], own: "p3" },
  runtime_needed: { runtime: "p1", range: "p2" },
  runtime_mismatch: { runtime: "p1", range: "p2", version: "p3" },
  runtime_unclear: { runtime: "p1", range: "p2", version: "p3" },
};

test("every kind of note has a message with all of its parameters in both languages", () => {
  const contract = readFileSync("src/lib/api/generated.ts", "utf8");
  const [, union = ""] = /export type InstallNote = (.*?);\n\n/s.exec(contract) ?? [];
  const kinds = [...union.matchAll(/"is": "(\w+)"/g)].map(([, kind]) => kind);
  expect(Object.keys(NOTES).sort(), "each kind should have a sample").toEqual(kinds.sort());
  for (const language of ["en", "zh"] as const) {
    overwriteGetLocale(() => language);
    for (const [is, parameters] of Object.entries(NOTES)) {
      const text = installNoteText({ is, ...parameters } as InstallNote);
      const expected = JSON.stringify(parameters).match(/p\d/g) ?? [];
      for (const name of expected) expect(text, `${is} in ${language}`).toContain(name);
      if (language === "zh") expect(text, is).toMatch(/\p{Script=Han}/u);
      else expect(text, is).not.toMatch(/\p{Script=Han}/u);
    }
  }
});

test("a step without a description and parts of a plan have labels", () => {
  overwriteGetLocale(() => "en");
  expect(installNoteText({ is: "step_afterwards", description: null, command: null })).toMatch(
    /: a step of your own$/,
  );
  const places: PlanPlace[] = [
    { is: "url" },
    ...(["argument", "variable", "header", "input"] as const).map((is) => ({ is, name: "x" })),
  ];
  const texts = places.map((place) => installNoteText({ is: "public_secret", place }));
  expect(new Set(texts).size, "each part should have its own label").toBe(places.length);
});

test("a note on an omitted default states a fact and asks for nothing", () => {
  const problems: InputProblem[] = [
    ...(["missing", "too_many", "not_text", "not_a_choice", "not_a_number"] as const),
    ...(["out_of_range", "not_a_boolean", "not_a_path"] as const),
  ];
  const note = (problem: InputProblem) =>
    installNoteText({ is: "default_omitted", input: "port", problem });
  overwriteGetLocale(() => "en");
  expect(note("not_a_number")).toBe("The default of port is not used: it is not a number.");
  const english = problems.map(note);
  for (const text of english) expect(text).toMatch(/^The default of port is not used: (it|the) /);
  overwriteGetLocale(() => "zh");
  const chinese = problems.map(note);
  for (const text of chinese) expect(text).not.toContain("请");
  for (const texts of [english, chinese])
    expect(new Set(texts).size, "each problem should have its own reason").toBe(problems.length);
});
