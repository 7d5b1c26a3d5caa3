import { describe, expect, test } from "vitest";

import type { ServerConfig } from "$lib/api/generated";

import { redirectUri } from "./draft-auth";
import { draftProblems, type DraftProblem } from "./draft-problems";
import { ServerDraft } from "./draft.svelte";

const config: Extract<ServerConfig, { type: "stdio" }> = {
  type: "stdio",
  command: "npx",
  args: ["-y", "server files", ""],
  env: { TOKEN: "a=b c" },
  cwd: "/home/ann",
  revision: "2025-06-18",
  tools: { enabled: ["read_*"], disabled: ["read_media"] },
};
const remote: Extract<ServerConfig, { type: "http" }> = {
  type: "http",
  url: "https://example.com/mcp",
  headers: [
    { name: "Authorization", value: null, secret: true },
    { name: "X-Team", value: "42", secret: false },
  ],
  kind: "sse",
  auth: null,
  revision: null,
  tools: { enabled: null, disabled: ["delete"] },
};

describe("a draft", () => {
  test("returns the configuration that it was created from", () => {
    for (const one of [config, remote])
      expect(new ServerDraft("files", one).config, "the configuration should be unchanged").toEqual(
        one,
      );
  });

  test("sends the start with Drawbridge only if it is off or was off", () => {
    for (const [stored, autostart] of [
      [undefined, undefined],
      [false, true],
    ]) {
      const draft = new ServerDraft("files", {
        ...config,
        ...(stored === undefined ? {} : { autostart: stored }),
      });
      expect(draft.config.autostart, "an unchanged setting should stay").toBe(stored);
      draft.autostart = false;
      expect(draft.config.autostart).toBe(false);
      draft.autostart = true;
      expect(draft.config.autostart, "the host keeps an omitted setting").toBe(autostart);
    }
  });

  test("moves and removes arguments", () => {
    const draft = new ServerDraft("files", config);
    const [first, second] = draft.args;
    draft.moveArg(first!.id, -1);
    expect(draft.config, "the first argument should not move up").toMatchObject({
      args: ["-y", "server files", ""],
    });
    draft.moveArg(first!.id, 1);
    expect(draft.config, "the argument should move down").toMatchObject({
      args: ["server files", "-y", ""],
    });
    draft.removeArg(second!.id);
    expect(draft.config, "the argument should be removed").toMatchObject({ args: ["-y", ""] });
    draft.addArg("a b");
    expect(draft.commandLine, "the command line should be quoted").toBe("npx -y '' 'a b'");
  });

  test("omits empty arguments at the end that the user added or cleared", () => {
    const draft = new ServerDraft("files", { ...config, args: ["a", "", "b"] });
    draft.addArg();
    draft.addArg();
    expect(draft.config).toMatchObject({ args: ["a", "", "b"] });
    draft.args[2]!.value = "";
    expect(draft.config, "a stored empty argument should stay").toMatchObject({ args: ["a", ""] });
    draft.args[3]!.value = "c";
    expect(draft.config).toMatchObject({ args: ["a", "", "", "c"] });
  });

  test("keeps a secret variable unless it is entered again, without its value", () => {
    const reference = "${secret:files.TOKEN}";
    const one = { ...config, env: { A: "1", TOKEN: reference }, secretEnv: ["TOKEN"] };
    const draft = new ServerDraft("files", one);
    expect(draft.env[1]?.value, "the secret value should be empty").toBe("");
    expect(draft.config, "the secret should be kept").toEqual(one);
    draft.env[1]!.value = "s3cret";
    draft.env[0]!.secret = true;
    expect(draft.config, "both values should be stored in the keychain").toMatchObject({
      env: { A: "1", TOKEN: "s3cret" },
      secretEnv: ["A", "TOKEN"],
    });
  });

  test("shows a pasted secret, and stores it in the keychain", () => {
    const pasted = { ...config, env: { TOKEN: "s3cret", KEY: "" }, secretEnv: ["TOKEN", "KEY"] };
    const draft = new ServerDraft("files", pasted);
    const rows = draft.env.map(({ value, secret, stored }) => [value, secret, stored]);
    expect(rows, "the pasted values should be shown").toEqual([
      ["s3cret", true, null],
      ["", true, null],
    ]);
    expect(draftProblems(draft, []), "an empty secret should be reported").toEqual(["env_value"]);
    draft.env[1]!.value = "typed";
    expect(draft.config, "both values should be secret").toMatchObject({
      env: { TOKEN: "s3cret", KEY: "typed" },
      secretEnv: ["TOKEN", "KEY"],
    });
  });

  test("omits empty fields except arguments", () => {
    const draft = new ServerDraft("x", { ...config, command: " node ", args: [""], env: {} });
    draft.addEnv();
    draft.cwd = "  ";
    expect(draft.config, "the values should be trimmed").toEqual({
      ...{ ...config, command: "node", args: [""] },
      ...{ env: {}, cwd: null },
    });
  });

  test.each<[DraftProblem, (draft: ServerDraft) => unknown]>([
    ["name_missing", (d) => (d.name = " ")],
    ["name_taken", (d) => (d.name = " git ")],
    ["command_missing", (d) => (d.command = "")],
    ["env_name", (d) => d.addEnv("A B", "1")],
    ["env_name", (d) => d.addEnv("", "value without a name")],
    ["env_twice", (d) => d.addEnv("TOKEN", "2")],
    ["env_value", (d) => ((d.env[0]!.value = ""), (d.env[0]!.secret = true))],
  ])("reports %s", (problem, change) => {
    const draft = new ServerDraft("files", config);
    expect(draftProblems(draft, ["git"]), "there should be no problem before the change").toEqual(
      [],
    );
    change(draft);
    expect(draftProblems(draft, ["git"]), "only this problem should be reported").toEqual([
      problem,
    ]);
  });

  test("marks likely keys as secret, except known other headers", () => {
    const headers = [
      { name: "authorization", value: "Bearer x", secret: false },
      { name: "Accept-Language", value: "en", secret: false },
    ];
    const draft = new ServerDraft("far", { ...remote, headers });
    expect(
      draft.headers.map((row) => row.secret),
      "only the key should be secret",
    ).toEqual([true, false]);
  });

  test.each<[DraftProblem, (draft: ServerDraft) => unknown]>([
    ["url_missing", (d) => (d.url = " ")],
    ["url_bad", (d) => (d.url = "ftp://example.com/")],
    ["url_bad", (d) => (d.url = "https://")],
    ["header_name", (d) => (d.headers[1]!.name = "X Team")],
    ["header_twice", (d) => (d.headers[1]!.name = "AUTHORIZATION")],
    ["header_value", (d) => (d.headers[1]!.value = "")],
    ["auth_client_id", (d) => (d.auth.clientSecret = "s3cret")],
    ["auth_issuer", (d) => (d.auth.issuer = "login.example.com")],
    ["auth_port", (d) => (d.auth.redirectPort = "70000")],
    ["auth_port", (d) => (d.auth.redirectPort = "0")],
  ])("of a remote server reports %s", (problem, change) => {
    const draft = new ServerDraft("far", remote);
    expect(draftProblems(draft, ["git"]), "there should be no problem before the change").toEqual(
      [],
    );
    change(draft);
    expect(draftProblems(draft, ["git"]), "only this problem should be reported").toEqual([
      problem,
    ]);
  });
});

describe("OAuth settings", () => {
  const auth = {
    ...{ clientId: "drawbridge", clientSecret: null, hasSecret: true },
    ...{ issuer: "https://login.example.com/7", scopes: ["ships:read", "ships:write"] },
    ...{ redirectPort: 4321, secretNames: ["far.key"] },
    rest: null,
  };

  test("are preserved without the secret", () => {
    const one = { ...remote, auth };
    expect(new ServerDraft("far", one).config, "the configuration should be unchanged").toEqual(
      one,
    );
  });

  test("preserve hidden fields of pasted settings", () => {
    const rest = {
      ...{ clientAuth: null, clientMetadataUrl: null },
      ...{ grant: "client_credentials", privateKey: null, algorithm: null },
      ...{ identityProvider: null, dpop: null, assertion: null },
    };
    const pasted = { ...remote, auth: { ...auth, clientSecret: "s3cret", rest } };
    expect(new ServerDraft("far", pasted).config, "hidden fields should be preserved").toEqual(
      pasted,
    );
  });

  test("replace or remove the stored secret", () => {
    const draft = new ServerDraft("far", { ...remote, auth });
    draft.auth.clientSecret = "s3cret";
    expect(draft.config, "the new secret should be sent").toMatchObject({
      auth: { clientSecret: "s3cret" },
    });
    draft.auth.clientSecret = "";
    draft.auth.hasStoredSecret = false;
    expect(draft.config, "the secret should be removed").toMatchObject({
      auth: { clientSecret: null, hasSecret: false },
    });
  });

  test("show the redirect URI of a port", () => {
    const draft = new ServerDraft("far", { ...remote, auth });
    expect(redirectUri(draft.auth), "the redirect URI should be complete").toBe(
      "http://127.0.0.1:4321/callback",
    );
    draft.auth.redirectPort = "";
    expect(redirectUri(draft.auth), "a dynamic port should have no fixed redirect URI").toBeNull();
    expect(draft.config, "no port should be kept").toMatchObject({ auth: { redirectPort: null } });
  });

  test("are null if empty, unless they were set before", () => {
    const draft = new ServerDraft("far", remote);
    draft.auth.scopes = "  ";
    expect(draft.config, "empty settings should be null").toMatchObject({ auth: null });
    const before = new ServerDraft("far", { ...remote, auth });
    before.auth = {
      ...{ clientId: "", clientSecret: "", hasStoredSecret: false },
      ...{ issuer: "", scopes: "", redirectPort: "" },
    };
    expect(before.config, "all settings should be cleared").toMatchObject({
      auth: {
        ...{ clientId: null, clientSecret: null, hasSecret: false },
        ...{ issuer: null, scopes: [], redirectPort: null },
      },
    });
  });
});
