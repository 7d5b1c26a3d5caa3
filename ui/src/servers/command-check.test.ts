import { describe, expect, test } from "vitest";

import type { ServerConfig } from "$lib/api/generated";

import { commandToCheck, commandValues } from "./command-check";
import { ServerDraft } from "./draft.svelte";

type LocalConfig = Extract<ServerConfig, { type: "stdio" }>;

function draftOf(changes: Partial<LocalConfig>): ServerDraft {
  return new ServerDraft("files", {
    ...{ type: "stdio", command: "npx", args: [], env: {}, cwd: null, revision: null },
    ...changes,
  });
}

describe("values that others wrote", () => {
  const pasted: Partial<LocalConfig> = {
    ...{ command: "//far/bin/run", cwd: "//far/share", env: { PATH: "//far/bin" } },
  };

  test("are not checked before they are edited", () => {
    const draft = draftOf(pasted);
    const given = commandValues(draft);
    expect(commandToCheck(draft, given)).toBeNull();
    draft.command = "/bin/run";
    expect(commandToCheck(draft, given), "the given working folder decides").toBeNull();
    draft.cwd = "/home/ann";
    expect(commandToCheck(draft, given)).toEqual({
      ...{ command: "/bin/run", path: null, cwd: "/home/ann" },
    });
  });

  test("include a PATH in which a program would be searched", () => {
    const draft = draftOf({ env: { PATH: "/far" } });
    const given = commandValues(draft);
    draft.cwd = "/home/ann";
    expect(commandToCheck(draft, given)).toEqual({ command: null, path: null, cwd: "/home/ann" });
    draft.env[0]!.value = "/bin";
    expect(commandToCheck(draft, given)).toMatchObject({ command: "npx", path: "/bin" });
  });

  test("do not include a program in the user's own search path", () => {
    const draft = draftOf({ cwd: "/far" });
    expect(commandToCheck(draft, commandValues(draft))).toEqual({
      ...{ command: "npx", path: null, cwd: null },
    });
  });
});

test("a program is not searched in a secret PATH", () => {
  const draft = draftOf({ env: { PATH: "${secret:path}" }, secretEnv: ["PATH"], cwd: "/home/ann" });
  expect(commandToCheck(draft)).toEqual({ command: null, path: null, cwd: "/home/ann" });
});

test("case matters in the name of PATH except on Windows", () => {
  const draft = draftOf({ env: { Path: "/bin" } });
  expect(commandValues(draft, false).path).toBe("");
  expect(commandValues(draft, true).path).toBe("/bin");
});
