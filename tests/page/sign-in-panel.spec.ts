// The panel of a sign-in: while it goes on, when the page is loaded again, when it fails, and when more is asked for.
import type { Page } from "@playwright/test";

import { allow, axeFinds, type DevHost, expect, FIRST_START, question, test, visit } from "./fixtures";
import { ScriptedSignIn, sentBackTo } from "./scripted-sign-in";

const OPEN = "Open the sign-in page";
let there: ScriptedSignIn | null = null;

test.use({ setup: { ...FIRST_START, servers: {} } });
test.afterEach(async () => {
  await there?.stop();
  there = null;
});

/** Adds the server and starts it, up to the question of its sign-in. */
async function begin(app: Page, host: DevHost): Promise<void> {
  const config = { type: "http", url: there!.server, headers: [], kind: null, revision: null };
  await host.call("add_server", { name: "harbour", config });
  void host.call("start_server", { server: "harbour" });
  await host.answerNext("connect_server", { action: "allow", scope: "always" });
  await host.question("sign_in");
  await visit(app, "#/server/harbour/sign-in");
  await expect(question(app), "it is asked about").toContainText("wants you to sign in");
}

/** The page that the browser was told to open last. */
async function opened(host: DevHost, count = 1): Promise<string> {
  await expect.poll(() => host.opened().length, { message: "the browser is opened" }).toBe(count);
  return host.opened().at(-1)!;
}

/** Goes to the sign-in page as the system's browser does, and is sent back. */
async function signIn(app: Page, page: string): Promise<void> {
  const browser = await app.context().newPage();
  await browser.goto(page);
  await expect(browser, "the browser comes back to this computer").toHaveURL(/^http:\/\/127\.0\.0\.1:\d+\//);
  await browser.close();
}

async function state(host: DevHost): Promise<string | undefined> {
  return (await host.snapshot()).servers[0]?.state.is;
}

async function axe(app: Page): Promise<void> {
  expect(await axeFinds(app), "axe").toEqual([]);
}

test("one that goes on survives a reload of the page, and can be cancelled", async ({ app, host }) => {
  there = await ScriptedSignIn.start();
  await begin(app, host);
  await app.reload();
  await expect(question(app), "the question is there again").toContainText("wants you to sign in");
  await expect(question(app).getByRole("button", { name: "Deny" }), "refusing has the focus").toBeFocused();
  await allow(app, OPEN);
  await opened(host);
  await app.reload();
  const note = app.getByRole("group", { name: "Signing in" });
  await expect(note, "it goes on").toContainText("Waiting for you to sign in in the browser.");
  await expect(note.getByRole("timer"), "for so long").toContainText("left");
  await axe(app);
  await note.getByRole("button", { name: "Cancel sign-in" }).click();
  await expect(note, "it is over").toBeHidden();
  const main = app.getByRole("main");
  await expect(main.getByText("needs sign-in"), "the state in words").toBeVisible();
  await expect(main.getByRole("button", { name: "Sign in" }).first(), "the next step").toBeVisible();
  expect(await state(host), "it waits").toBe("needs_sign_in");
});

test("the address that another browser ended up at is pasted; then all is there to see", async ({ app, host }) => {
  there = await ScriptedSignIn.start();
  await begin(app, host);
  await allow(app, OPEN);
  const page = await opened(host);
  await app.getByText("Did nothing open, or the wrong browser?").click();
  const field = app.getByRole("textbox", { name: "Final address" });
  await field.fill("http://127.0.0.1:1/callback?code=a&state=b");
  await app.getByRole("button", { name: "Continue" }).click();
  await expect(app.getByText(/this is not the address/), "a wrong one is said").toBeVisible();
  const back = await sentBackTo(page);
  await field.fill(back);
  await app.getByRole("button", { name: "Continue" }).click();

  const account = app.getByRole("region", { name: "Account" });
  await expect(account.locator(".url"), "who issued").toContainText(new URL(there.issuer).host);
  await expect(account, "how it identifies itself").toContainText("registered by Drawbridge");
  await expect.poll(() => state(host), { message: "it is used" }).toBe("ready");
  const steps = app.getByRole("region", { name: "Steps of the last sign-in" }).getByRole("listitem");
  await steps.filter({ hasText: "getting the token" }).getByRole("button").click();
  await expect(steps.locator("mark").first(), "what is secret is marked").toBeVisible();
  const code = new URL(back).searchParams.get("code")!;
  await expect(app.locator("body"), "and is nowhere").not.toContainText(code);
  await axe(app);

  await account.getByRole("button", { name: "Sign out" }).click();
  await app.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await expect(app.getByText(/^Signed out\. .* revoked the tokens/), "what became of the tokens").toBeVisible();
  await expect(account, "nobody is signed in").toContainText("Not signed in.");
});

test("one that fails says at which step and why, and can be copied", async ({ app, host, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  there = await ScriptedSignIn.start({ pkce: ["plain"] });
  const config = { type: "http", url: there.server, headers: [], kind: null, revision: null };
  await host.call("add_server", { name: "harbour", config });
  void host.call("start_server", { server: "harbour" });
  await host.answerNext("connect_server", { action: "allow", scope: "always" });
  await visit(app, "#/server/harbour/sign-in");
  const note = app.getByRole("group", { name: "The last sign-in failed" });
  await expect(note, "why").toContainText("PKCE");
  const region = app.getByRole("region", { name: "Steps of the last sign-in" });
  const last = region.getByRole("listitem").last();
  await expect(last, "where").toContainText("failed");
  await expect(last.getByRole("button"), "it is open").toHaveAttribute("aria-expanded", "true");
  await axe(app);
  await region.getByRole("button", { name: "Copy as text" }).click();
  const copied = () => app.evaluate(() => navigator.clipboard.readText());
  await expect.poll(copied, "the report").toContain("FAILED");
  expect(await copied(), "with its request").toContain("> GET http");
});

test("what a server wants beyond is asked for as new, beside what was granted", async ({ app, host }) => {
  there = await ScriptedSignIn.start({}, { challengeScope: "ships:read", toolScopes: { echo: "ships:write" } });
  await begin(app, host);
  await expect(question(app), "what is asked for").toContainText("ships:read");
  await allow(app, OPEN);
  await signIn(app, await opened(host));
  await expect.poll(() => state(host), { message: "it is used" }).toBe("ready");

  await visit(app, "#/server/harbour/tools/echo");
  await app.getByLabel("text", { exact: true }).fill("all aboard");
  await app.getByRole("button", { name: "Call", exact: true }).click();
  await allow(app, "Allow once");
  const frame = question(app);
  await expect(frame, "more is wanted").toContainText("requests more permissions");
  const scopes = frame.getByRole("listitem");
  await expect(scopes.filter({ hasText: "ships:write" }), "by a word").toContainText("new");
  await expect(scopes.filter({ hasText: "ships:read" }), "by another").toContainText("as before");
  await axe(app);
  await allow(app, OPEN);
  await signIn(app, await opened(host, 2));
  await expect(app.getByTestId("tool-result"), "the call goes on").toHaveAttribute("data-state", "done");
});
