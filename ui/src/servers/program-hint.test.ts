import { readFileSync } from "node:fs";

import { afterEach, expect, test } from "vitest";

import { locale } from "$lib/state/locale.svelte";

import { overwriteGetLocale } from "../paraglide/runtime";

import { commandHint, programHint } from "./program-hint";

afterEach(() => overwriteGetLocale(locale));

test("programs have the same hints as in the host", () => {
  overwriteGetLocale(() => "en");
  const source = readFileSync("../crates/process/src/programs/search_path.rs", "utf8");
  const arms = [...source.matchAll(/^ +("[^\n]*") => "It comes with [^\n]*\(([^)\n]*)\)\."/gm)];
  const names = arms.flatMap(([, pattern = "", site = ""]) =>
    [...pattern.matchAll(/"([^"]*)"/g)].map(([, name = ""]) => [name, site] as const),
  );
  expect(names.length, "the hints of the host should be found").toBeGreaterThan(15);
  for (const [name, site] of names) {
    expect(programHint(name), name).toContain(`(${site})`);
    expect(programHint(`${name}.CMD`), name).toContain(`(${site})`);
  }
});

test("a command with a space or a tilde gets its own hint, and another program none", () => {
  overwriteGetLocale(() => "en");
  expect(programHint("npx -y server")).toMatch(/list of arguments/);
  expect(programHint("~/bin/a b")).toMatch(/home folder/);
  for (const command of ["notes-server", "constructor", ""]) {
    expect(programHint(command), command).toBeNull();
  }
});

test("a command that was not looked up has a hint if it can't be a program", () => {
  overwriteGetLocale(() => "en");
  expect(commandHint("uvx mcp-server-time")).toMatch(/list of arguments/);
  expect(commandHint("~/bin/a")).toMatch(/home folder/);
  for (const command of ["uvx", "/opt/my apps/server", "C:\\Program Files\\a.exe", ""]) {
    expect(commandHint(command), command).toBeNull();
  }
});
