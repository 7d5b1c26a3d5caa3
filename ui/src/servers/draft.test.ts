import { describe, expect, test } from "vitest";

import { Draft, type DraftProblem } from "./draft.svelte";

const config = {
  command: "npx",
  args: ["-y", "server files", ""],
  env: { TOKEN: "a=b c" },
  cwd: "/home/ann",
};

describe("a draft", () => {
  test("gives back the configuration it was made of", () => {
    expect(new Draft("files", config).config, "nothing is lost or changed").toEqual(config);
  });

  test("moves and removes arguments", () => {
    const draft = new Draft("files", config);
    const [first, second] = draft.args;
    draft.moveArg(first!.id, -1);
    expect(draft.config.args, "the first can't go up").toEqual(["-y", "server files", ""]);
    draft.moveArg(first!.id, 1);
    expect(draft.config.args, "one down").toEqual(["server files", "-y", ""]);
    draft.removeArg(second!.id);
    expect(draft.config.args, "one less").toEqual(["-y", ""]);
    draft.addArg("a b");
    expect(draft.commandLine, "as it will be asked for").toBe("npx -y '' 'a b'");
  });

  test("leaves out what is empty, but not empty arguments", () => {
    const draft = new Draft("x", { command: " node ", args: [""], env: {}, cwd: null });
    draft.addEnv();
    draft.cwd = "  ";
    expect(draft.config, "trimmed").toEqual({ command: "node", args: [""], env: {}, cwd: null });
  });

  test.each<[DraftProblem, (draft: Draft) => unknown]>([
    ["name_missing", (d) => (d.name = " ")],
    ["name_taken", (d) => (d.name = " git ")],
    ["command_missing", (d) => (d.command = "")],
    ["env_name", (d) => d.addEnv("A B", "1")],
    ["env_name", (d) => d.addEnv("", "value without a name")],
    ["env_twice", (d) => d.addEnv("TOKEN", "2")],
  ])("says %s", (problem, change) => {
    const draft = new Draft("files", config);
    expect(draft.problems(["git"]), "all is well before").toEqual([]);
    change(draft);
    expect(draft.problems(["git"]), "and only this is wrong after").toEqual([problem]);
  });
});
