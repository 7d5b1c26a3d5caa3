// Sign-in at a certified authorization server through its pages: once, with refreshes.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { allow, axeViolations, callTool, type DevHost, expect, FIRST_START, consentRequest, test, visit } from "./fixtures";
import { AuthorizationServer, signInAs } from "./sign-in";

let there: AuthorizationServer | null = null;

test.use({ setup: { ...FIRST_START, servers: {} } });
test.beforeEach(async () => {
  there = await AuthorizationServer.start();
});
test.afterEach(async () => {
  await there?.stop();
  there = null;
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
  await expect.poll(() => host.opened().length, { message: "the browser is opened" }).toBe(before + 1);
  const browser = await app.context().browser()!.newContext();
  await signInAs(name, await browser.newPage(), host.opened().at(-1)!);
  await browser.close();
}

async function whoami(app: Page): Promise<string> {
  await callTool(app, "whoami");
  await allow(app, "Allow once");
  const result = app.getByTestId("tool-result");
  await expect(result, "the call is done").toHaveAttribute("data-state", "done");
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

test("signs in, calls, restarts, refreshes, signs out", async ({ app, host }) => {
  await addServer(host, there!.server);
  const frame = consentRequest(app);
  await expect(frame, "where the page is").toContainText(new URL(there!.issuer).host);
  await expect(frame, "what it grants").toContainText("harbour:write");
  expect(await axeViolations(app), "axe").toEqual([]);
  await signIn(app, host, "ada");

  await visit(app, "#/server/harbour/sign-in");
  const main = app.getByRole("main");
  await expect(main.getByText("ready").first(), "it is connected").toBeVisible();
  await expect(main.getByText("harbour:read"), "the scopes are shown").toBeVisible();
  await expect(main.getByText("renewed automatically"), "it lasts").toBeVisible();
  expect(await axeViolations(app), "axe").toEqual([]);
  expect(await whoami(app), "the token is this user's").toContain("You are ada");
  // [auth-dcr-native] [auth-dcr-application-type]
  const registered = (await there!.events()).find((event) => event.registered);
  expect(registered, "registered as what it is").toMatchObject({ type: "native" });

  // A page whose host has ended tries to reconnect, which the browser reports.
  await app.goto("about:blank");
  await host.restart();
  await app.goto(host.url);
  void host.call("start_server", { server: "harbour" });
  await expect.poll(async () => (await host.snapshot()).servers[0]?.state.is).toBe("ready");
  expect(await whoami(app), "signed in from before").toContain("You are ada");
  expect(await there!.count({ grant: "authorization_code" }), "once in all").toBe(1);

  // [auth-refresh-replace]: each refresh token is valid once, so the second refresh proves that the new one was
  // stored.
  for (const times of [1, 2]) {
    await there!.endAccess();
    expect(await whoami(app), "nobody is asked").toContain("You are ada");
    expect(await there!.count({ grant: "refresh_token" }), "one refresh").toBe(times);
  }
  expect(await there!.count({ grant: "authorization_code" }), "still once").toBe(1);

  await visit(app, "#/server/harbour/sign-in");
  await main.getByRole("button", { name: "Sign out" }).click();
  await app.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await expect(main.getByText(/^Signed out/), "said").toBeVisible();
  await expect(main.getByText("Not signed in."), "nobody is signed in").toBeVisible();
  const revoked = (await there!.events()).filter((event) => event.revoked);
  expect(revoked.length, "the tokens are void there as well").toBeGreaterThan(0);
  expect(await there!.count({ registered: registered!.registered! }), "one registration").toBe(1);
});

test("after signing out, the user can sign in with another account", async ({ app, host }) => {
  await addServer(host, there!.server);
  await signIn(app, host, "ada");
  await expect.poll(async () => (await host.snapshot()).servers[0]?.state.is).toBe("ready");
  await visit(app, "#/server/harbour/sign-in");
  const main = app.getByRole("main");
  await main.getByRole("button", { name: "Change account" }).click();
  await app.getByRole("dialog").getByRole("button", { name: "Change account" }).click();
  await signIn(app, host, "grace");
  await expect.poll(async () => (await host.snapshot()).servers[0]?.state.is).toBe("ready");
  expect(await whoami(app), "another account").toContain("You are grace");
});

test("the steps of a sign-in are shown, and contain no secret", async ({ app, host }) => {
  await addServer(host, there!.server);
  await signIn(app, host, "ada");
  await expect.poll(async () => (await host.snapshot()).servers[0]?.state.is).toBe("ready");
  const { steps } = await host.call<{ steps: unknown[] }>("authorization", { server: "harbour" });
  const text = JSON.stringify(steps);
  expect(text, "the requests are there").toContain("/token");
  expect(text, "what is secret is marked").toContain("[redacted]");
  const tokens = readFileSync(join(host.platform, "keychain.json"), "utf8").match(/[\w-]{40,}/g) ?? [];
  expect(tokens.length, "something is in the keychain").toBeGreaterThan(0);
  const everything = text + JSON.stringify(await host.snapshot()) + storedData(host.folder);
  for (const token of tokens) expect(everything, "no token is told or written").not.toContain(token);
});
