import { readdirSync, readFileSync } from "node:fs";

import { expect, test } from "vitest";

type Messages = Record<string, unknown>;

const folder = "messages";
const areas = readdirSync(`${folder}/en`);

function read(language: string, area: string): Messages {
  const { $schema: _, ...messages } = JSON.parse(
    readFileSync(`${folder}/${language}/${area}`, "utf8"),
  ) as Messages;
  return messages;
}

/** Returns the parameter names of a message (`{name}`) in alphabetical order. */
function inputs(message: unknown): string[] {
  const names = JSON.stringify(message).matchAll(/(?<!\\)\{(\w+)\}/g);
  return [...new Set([...names].map((match) => match[1] ?? ""))].sort();
}

test("both languages have the same areas", () => {
  expect(areas.length, "the areas should be found").toBeGreaterThan(0);
  expect(readdirSync(`${folder}/zh`), "both languages should have the same files").toEqual(areas);
});

test("Chinese uses one word per term", () => {
  const words = areas.map((area) => JSON.stringify(read("zh", area))).join("");
  // 沙盒 is the term for the sandbox, and 你 for the user.
  expect(words).not.toMatch(/沙箱|您/);
});

test.each(areas)("%s has the same messages and parameters in both languages", (area) => {
  const en = read("en", area);
  const zh = read("zh", area);
  expect(Object.keys(zh).sort(), "no message should be missing or superfluous").toEqual(
    Object.keys(en).sort(),
  );
  const prefix = `${area.replace(".json", "")}_`;
  for (const [key, message] of Object.entries(en)) {
    expect(key, "the key should begin with its area").toMatch(new RegExp(`^${prefix}`));
    expect(inputs(zh[key]), `${key} should have the same parameters`).toEqual(inputs(message));
    expect(zh[key], `${key} should not be empty`).not.toBe("");
  }
});
