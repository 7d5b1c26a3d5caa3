import { readFileSync } from "node:fs";

import { afterEach, expect, test } from "vitest";

import { styleVariables } from "./style-variables";

const TOKENS = ["--page", "--ink", "--text-m", "--shadow", "--font"];

afterEach(() => {
  for (const token of TOKENS) document.documentElement.style.removeProperty(token);
});

test("has exactly the standard variables", () => {
  const source = readFileSync("../crates/mcp-apps/src/host_context/styles.rs", "utf8");
  const list = /STYLE_VARIABLES[^=]*= \[(.*?)\];/s.exec(source)?.[1] ?? "";
  const names = [...list.matchAll(/"(--[\w-]+)"/g)].map(([, name]) => name);
  expect(names.length, "the list of the host should be found").toBe(76);
  expect(Object.keys(styleVariables("light")).sort()).toEqual(names.sort());
});

test("has values of the tokens, without references to them", () => {
  const { style } = document.documentElement;
  style.setProperty("--page", "rgb(1, 2, 3)");
  style.setProperty("--text-m", "13px");
  style.setProperty("--font", "system-ui, sans-serif");
  const variables = styleVariables("dark");
  expect(variables["--color-background-primary"]).toBe("rgb(1, 2, 3)");
  expect(variables["--font-text-md-size"]).toBe("13px");
  expect(variables["--font-sans"]).toBe("system-ui, sans-serif");
  expect(JSON.stringify(variables), "apps do not know the tokens").not.toContain("var(");
  expect(document.body.children.length, "nothing should stay in the document").toBe(0);
});
