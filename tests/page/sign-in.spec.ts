// Sign-in at a certified authorization server through its pages: once, with refreshes.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { allow, axeViolations, callTool, type DevHost, expect, FIRST_START, consentRequest, test, visit } from "./fixtures";
import { AuthorizationServer, signInAs } from "./sign-in";

let authServer: AuthorizationServer | null = null;

test.use({ setup: { ...FIRST_START, servers: {} } });
test.beforeEach(async () => {
  authServer = await AuthorizationServer.start();
});
test.afterEach(async () => {
  await authServer?.stop();
  authServer = null;
});

/** Adds and starts a server, up to the consent request of its sign-in. */
async function addServer(host: DevHost, server: string): Promise<void> {
  await host.call("add_server", {
    name: "harbour",
    config: { type: "http", url: server, headers: [], kind: null, revision: null, auth: null },
  });
  void host.call("start_server", { server: "harbour" });
  await host.answerNext("connect_server", { action: "allow", scope: "always" });
}

/** Approves the sign-in, and completes it in the browser as this user. */
async function signIn(app: Page, host: DevHost, name: string): Promise<void> {
  const before = host.opened().length;
  await allow(app, "Open the sign-in page");
  await expect.poll(() => host.opened().length, { message: "the browser should be opened" }).toBe(before + 1);
  const browser = await app.context().browser()!.newContext();
  await signInAs(name, await browser.newPage(), host.opened().at(-1)!);
  await browser.close();
}

async function whoami(app: Page): Promise<string> {
  // A page that was loaded again makes an ordinary call. Otherwise it would repeat the last one.
  await app.reload();
  await callTool(app, "whoami");
  await allow(app, "Allow once");
  const result = app.getByTestId("tool-result");
  await expect(result, "the call should complete").toHaveAttribute("data-state", "done");
  return result.innerText();
}

/** Returns the content of all files in a folder except the test's keychain. */
function storedData(folder: string): string {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== "platform")
    .map((entry) => join(folder, entry.name))
    .map((path) => {
      try {
        return readFileSync(path, "utf8");
      } catch {
        return storedData(path);
      }
    })
    .join("\n");
}

test("a sign-in survives a restart, is refreshed, and ends with a sign-out", async ({ app, host }) => {
  await addServer(host, authServer!.server);
  const frame = consentRequest(app);
  await expect(frame, "the request should show the host of the issuer").toContainText(new URL(authServer!.issuer).host);
  await expect(frame, "the request should list the scopes").toContainText("harbour:write");
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  await signIn(app, host, "ada");

  await visit(app, "#/server/harbour/sign-in");
  const main = app.getByRole("main");
  await expect(main.getByText("ready").first(), "the server should be connected").toBeVisible();
  await expect(main.getByText("harbour:read"), "the scopes should be shown").toBeVisible();
  await expect(main.getByText("renewed automatically"), "the automatic renewal should be shown").toBeVisible();
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  expect(await whoami(app), "the access token should be issued for the user").toContain("You are ada");
  // [auth-dcr-native] [auth-dcr-application-type]
  const registered = (await authServer!.events()).find((event) => event.registered);
  expect(registered, "the client should be registered as a native application").toMatchObject({ type: "native" });

  // A page whose host has ended tries to reconnect, which the browser reports.
  await app.goto("about:blank");
  await host.restart();
  await app.goto(host.url);
  void host.call("start_server", { server: "harbour" });
  await expect.poll(async () => (await host.snapshot()).servers[0]?.state.is).toBe("ready");
  expect(await whoami(app), "the sign-in should survive a restart").toContain("You are ada");
  expect(await authServer!.count({ grant: "authorization_code" }), "one authorization code should be used").toBe(1);

  // [auth-refresh-replace]: each refresh token is valid once, so the second refresh proves that the new one was
  // stored.
  for (const times of [1, 2]) {
    await authServer!.endAccess();
    expect(await whoami(app), "an expired token should be refreshed without the user").toContain("You are ada");
    expect(await authServer!.count({ grant: "refresh_token" }), "each expiry should cause one refresh").toBe(times);
  }
  expect(await authServer!.count({ grant: "authorization_code" }), "no further authorization code should be used").toBe(1);

  await visit(app, "#/server/harbour/sign-in");
  await main.getByRole("button", { name: "Sign out" }).click();
  await app.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await expect(main.getByText(/^Signed out/), "the sign-out should be reported").toBeVisible();
  await expect(main.getByText("Not signed in."), "no account should be signed in").toBeVisible();
  const revoked = (await authServer!.events()).filter((event) => event.revoked);
  expect(revoked.length, "the authorization server should revoke the tokens").toBeGreaterThan(0);
  expect(await authServer!.count({ registered: registered!.registered! }), "the client should be registered once").toBe(1);
});

test("after signing out, the user can sign in with another account", async ({ app, host }) => {
  await addServer(host, authServer!.server);
  await signIn(app, host, "ada");
  await expect.poll(async () => (await host.snapshot()).servers[0]?.state.is).toBe("ready");
  await visit(app, "#/server/harbour/sign-in");
  const main = app.getByRole("main");
  await main.getByRole("button", { name: "Change account" }).click();
  await app.getByRole("dialog").getByRole("button", { name: "Change account" }).click();
  await signIn(app, host, "grace");
  await expect.poll(async () => (await host.snapshot()).servers[0]?.state.is).toBe("ready");
  expect(await whoami(app), "the access token should be issued for the other account").toContain("You are grace");
});

test("the steps of a sign-in are shown, and contain no secret", async ({ app, host }) => {
  await addServer(host, authServer!.server);
  await signIn(app, host, "ada");
  await expect.poll(async () => (await host.snapshot()).servers[0]?.state.is).toBe("ready");
  const { steps } = await host.call<{ steps: unknown[] }>("read_authorization", { server: "harbour" });
  const text = JSON.stringify(steps);
  expect(text, "the steps should contain the token request").toContain("/token");
  expect(text, "secrets should be redacted").toContain("[redacted]");
  const tokens = readFileSync(join(host.platform, "keychain.json"), "utf8").match(/[\w-]{40,}/g) ?? [];
  expect(tokens.length, "the keychain should contain tokens").toBeGreaterThan(0);
  const everything = text + JSON.stringify(await host.snapshot()) + storedData(host.folder);
  for (const token of tokens) expect(everything, "no token should be shown or stored in a file").not.toContain(token);
});
