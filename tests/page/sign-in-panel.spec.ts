// Sign-in panel: while a sign-in is running, after a reload, after a failure, and for more scopes.
import type { Page } from "@playwright/test";

import { allow, axeViolations, type DevHost, expect, FIRST_START, consentRequest, test, visit } from "./fixtures";
import { ScriptedSignIn, redirectUrl } from "./scripted-sign-in";

const OPEN_SIGN_IN_LABEL = "Open the sign-in page";
let authServer: ScriptedSignIn | null = null;

test.use({ setup: { ...FIRST_START, servers: {} } });
test.afterEach(async () => {
  await authServer?.stop();
  authServer = null;
});

/** Adds and starts a server that requires a sign-in, up to the consent request of the sign-in. */
async function startSignIn(app: Page, host: DevHost): Promise<void> {
  const config = { type: "http", url: authServer!.server, headers: [], kind: null, revision: null };
  await host.call("add_server", { name: "harbour", config });
  void host.call("start_server", { server: "harbour" });
  await host.answerNext("connect_server", { action: "allow", scope: "always" });
  await host.consentRequest("sign_in");
  await visit(app, "#/server/harbour/sign-in");
  await expect(consentRequest(app), "the sign-in should require consent").toContainText("wants you to sign in");
}

/** Returns the URL of the last page that was opened in the browser. */
async function opened(host: DevHost, count = 1): Promise<string> {
  await expect.poll(() => host.opened().length, { message: "the browser should be opened" }).toBe(count);
  return host.opened().at(-1)!;
}

/** Opens the sign-in page like the system's browser, and follows its redirect. */
async function signIn(app: Page, page: string): Promise<void> {
  const browser = await app.context().newPage();
  await browser.goto(page);
  await expect(browser, "the browser should be redirected to this computer").toHaveURL(/^http:\/\/127\.0\.0\.1:\d+\//);
  await browser.close();
}

async function state(host: DevHost): Promise<string | undefined> {
  return (await host.snapshot()).servers[0]?.state.is;
}

async function axe(app: Page): Promise<void> {
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
}

test("a running sign-in survives a reload of the page, and can be cancelled", async ({ app, host }) => {
  authServer = await ScriptedSignIn.start();
  await startSignIn(app, host);
  await app.reload();
  await expect(consentRequest(app), "the consent request should be shown after a reload").toContainText("wants you to sign in");
  await expect(consentRequest(app).getByRole("button", { name: "Deny" }), "Deny should be focused").toBeFocused();
  await allow(app, OPEN_SIGN_IN_LABEL);
  await opened(host);
  await app.reload();
  const note = app.getByRole("group", { name: "Signing in" });
  await expect(note, "the sign-in should still be running").toContainText("Waiting for you to sign in in the browser.");
  await expect(note.getByRole("timer"), "the remaining time should be shown").toContainText("left");
  await axe(app);
  await note.getByRole("button", { name: "Cancel sign-in" }).click();
  await expect(note, "the note should be closed").toBeHidden();
  const main = app.getByRole("main");
  await expect(main.getByText("needs sign-in"), "the state should be shown").toBeVisible();
  await expect(main.getByRole("button", { name: "Sign in" }).first(), "the button to sign in should be shown").toBeVisible();
  expect(await state(host), "the server should require a sign-in").toBe("needs_sign_in");
});

test("the redirect URL of another browser is pasted, and the account is shown", async ({ app, host }) => {
  authServer = await ScriptedSignIn.start();
  await startSignIn(app, host);
  await allow(app, OPEN_SIGN_IN_LABEL);
  const page = await opened(host);
  await app.getByText("Did nothing open, or the wrong browser?").click();
  const field = app.getByRole("textbox", { name: "Final address" });
  await field.fill("http://127.0.0.1:1/callback?code=a&state=b");
  await app.getByRole("button", { name: "Continue" }).click();
  await expect(app.getByText(/this is not the address/), "a wrong URL should be rejected").toBeVisible();
  const back = await redirectUrl(page);
  await field.fill(back);
  await app.getByRole("button", { name: "Continue" }).click();

  const account = app.getByRole("region", { name: "Account" });
  await expect(account.locator(".url"), "the account should show the issuer").toContainText(new URL(authServer.issuer).host);
  await expect(account, "the account should show how the client is identified").toContainText("registered by Drawbridge");
  await expect.poll(() => state(host), { message: "the server should be ready" }).toBe("ready");
  const steps = app.getByRole("region", { name: "Steps of the last sign-in" }).getByRole("listitem");
  await steps.filter({ hasText: "getting the token" }).getByRole("button").click();
  await expect(steps.locator("mark").first(), "secrets should be marked").toBeVisible();
  const code = new URL(back).searchParams.get("code")!;
  await expect(app.locator("body"), "the page should not contain the authorization code").not.toContainText(code);
  await axe(app);

  await account.getByRole("button", { name: "Sign out" }).click();
  await app.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await expect(app.getByText(/^Signed out\. .* revoked the tokens/), "the revocation of the tokens should be reported").toBeVisible();
  await expect(account, "no account should be signed in").toContainText("Not signed in.");
});

test("a failed sign-in shows the step and cause, and can be copied", async ({ app, host, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  authServer = await ScriptedSignIn.start({ pkce: ["plain"] });
  const config = { type: "http", url: authServer.server, headers: [], kind: null, revision: null };
  await host.call("add_server", { name: "harbour", config });
  void host.call("start_server", { server: "harbour" });
  await host.answerNext("connect_server", { action: "allow", scope: "always" });
  await visit(app, "#/server/harbour/sign-in");
  const note = app.getByRole("group", { name: "The last sign-in failed" });
  await expect(note, "the note should show the cause").toContainText("PKCE");
  const region = app.getByRole("region", { name: "Steps of the last sign-in" });
  const last = region.getByRole("listitem").last();
  await expect(last, "the failed step should be marked").toContainText("failed");
  await expect(last.getByRole("button"), "the failed step should be expanded").toHaveAttribute("aria-expanded", "true");
  await axe(app);
  await region.getByRole("button", { name: "Copy as text" }).click();
  const copied = () => app.evaluate(() => navigator.clipboard.readText());
  await expect.poll(copied, "the report should be in the clipboard").toContain("FAILED");
  expect(await copied(), "the report should contain the request").toContain("> GET http");
});

test("additional scopes are marked as new next to the granted ones", async ({ app, host }) => {
  authServer = await ScriptedSignIn.start({}, { challengeScope: "ships:read", toolScopes: { echo: "ships:write" } });
  await startSignIn(app, host);
  await expect(consentRequest(app), "the request should list the scopes").toContainText("ships:read");
  await allow(app, OPEN_SIGN_IN_LABEL);
  await signIn(app, await opened(host));
  await expect.poll(() => state(host), { message: "the server should be ready" }).toBe("ready");

  await visit(app, "#/server/harbour/tools/echo");
  await app.getByLabel("text", { exact: true }).fill("all aboard");
  await app.getByRole("button", { name: "Call", exact: true }).click();
  await allow(app, "Allow once");
  const frame = consentRequest(app);
  await expect(frame, "more scopes should require consent").toContainText("requests more permissions");
  const scopes = frame.getByRole("listitem");
  await expect(scopes.filter({ hasText: "ships:write" }), "the additional scope should be marked as new").toContainText("new");
  await expect(scopes.filter({ hasText: "ships:read" }), "the granted scope should be marked as known").toContainText("as before");
  await axe(app);
  await allow(app, OPEN_SIGN_IN_LABEL);
  await signIn(app, await opened(host, 2));
  await expect(app.getByTestId("tool-result"), "the call should complete after the sign-in").toHaveAttribute("data-state", "done");
});
