// One walk through the app without a mouse: from an added server to the settings. After each step the focus is where the
// next key is needed, and it is never lost in between.
import type { Locator, Page } from "@playwright/test";

import { Provider } from "../provider.cjs";
import { consentRequest, DEMO, expect, FIRST_START, test as base } from "./fixtures";

const KEY = "sk-canary-walk-90d1";
/** Time in milliseconds after which a focus on the body counts as lost. A replaced view takes a moment. */
const LOST_AFTER_MS = 500;

const test = base.extend<{ provider: Provider }>({
  provider: [
    async ({ host, page }, use) => {
      const provider = await Provider.start(KEY);
      await provider.setUpIn(host);
      await host.call("set_default_model", { model: { provider: "fake", model: "gpt-5.2" } });
      await page.addInitScript(recordFocus, LOST_AFTER_MS);
      await use(provider);
      await provider.stop();
    },
    { auto: true },
  ],
});
test.use({ setup: { ...FIRST_START, servers: {} } });

interface Recorded {
  /** Texts of the page at each time that the focus was on the body for too long. */
  lost: string[];
  /** Types of pointer events. */
  pointers: string[];
}

/** Records losses of the focus, from the first key on, and events of a pointer. Runs in the page. */
function recordFocus(lostAfterMs: number): void {
  const recorded: Recorded = { lost: [], pointers: [] };
  (window as unknown as { recorded: Recorded }).recorded = recorded;
  let since: number | null = null;
  let last = "nothing";
  const check = () => {
    const { activeElement: active } = document;
    if (active && active !== document.body) {
      since = null;
      last = `${active.tagName} ${active.getAttribute("aria-label") ?? active.textContent?.trim().slice(0, 60)}`;
    } else {
      since ??= performance.now();
      if (performance.now() - since < lostAfterMs) return;
      recorded.lost.push(`${location.hash} after ${last}`);
      since = Infinity;
    }
  };
  addEventListener("keydown", () => setInterval(check, 50), { once: true, capture: true });
  for (const type of ["pointerdown", "mousedown", "click"]) {
    // A key that activates a button causes a click without a position.
    addEventListener(type, (event) => (event as MouseEvent).detail > 0 && recorded.pointers.push(type), { capture: true });
  }
}

const recorded = (app: Page) => app.evaluate(() => (window as unknown as { recorded: Recorded }).recorded);

const main = (app: Page) => app.getByRole("main");

/** Presses Tab until the element is focused. */
async function tabTo(app: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let presses = 0; presses < 120; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await app.keyboard.press("Tab");
  }
  throw new Error(`${target} can't be reached by Tab`);
}

/** Opens an entry of the command palette. */
async function open(app: Page, words: string): Promise<void> {
  await app.keyboard.press("Control+k");
  await expect(app.getByRole("dialog").getByRole("combobox"), "the field of the palette should be focused").toBeFocused();
  await app.keyboard.type(words);
  await expect(app.getByRole("dialog").getByRole("option").first()).toContainText(words, { ignoreCase: true });
  await app.keyboard.press("Enter");
}

/** Reads the current request to its end by keys, and waits until this button approves it. */
async function readByKeys(app: Page, approval: Locator): Promise<void> {
  const frame = consentRequest(app);
  await expect(frame.getByRole("button", { name: "Deny", exact: true }), "Deny should be focused first").toBeFocused();
  const rest = frame.getByRole("button", { name: /^(More (above|below)|Show all of)/ }).first();
  await expect(async () => {
    if (await rest.isVisible()) {
      await tabTo(app, rest);
      await app.keyboard.press("Enter");
      const isInside = () => frame.evaluate((element) => element.contains(document.activeElement));
      expect(await isInside(), "the focus should stay in the request").toBe(true);
    }
    await expect(approval, "the request should be armed").toHaveAttribute("aria-disabled", "false", { timeout: 1_000 });
  }).toPass({ timeout: 20_000 });
}

test("a server is added, started and called, its tool is used in a chat, and its approval revoked, without a mouse", async ({
  app,
}) => {
  test.slow();
  const approve = (name: RegExp) => consentRequest(app).getByRole("button", { name }).first();

  await test.step("add a server", async () => {
    await open(app, "Add a server");
    await expect(main(app), "the opened view should be focused").toBeFocused();
    await tabTo(app, app.getByRole("textbox", { name: /^URL, command/ }));
    const entry = { command: DEMO, args: ["--era", "legacy"] };
    await app.keyboard.insertText(JSON.stringify({ mcpServers: { harbour: entry } }));
    await tabTo(app, app.getByRole("button", { name: "Add 1 server" }));
    await app.keyboard.press("Enter");
    await expect(app.getByRole("heading", { name: "harbour", level: 1 })).toBeVisible();
    await expect(main(app), "the page of the server should be focused").toBeFocused();
  });

  await test.step("start it", async () => {
    await tabTo(app, main(app).getByRole("button", { name: "Start", exact: true }));
    await app.keyboard.press("Enter");
    await readByKeys(app, approve(/^Allow once/));
    await app.keyboard.press("a");
    await expect(main(app).getByText("ready").first()).toBeVisible();
    await expect(
      main(app).locator("button:focus, :scope:focus"),
      "a button that replaces Start, or the page, should be focused",
    ).toHaveCount(1);
  });

  await test.step("approve a call and read its result", async () => {
    await open(app, "Add two numbers");
    await tabTo(app, app.getByRole("textbox", { name: /First number/ }));
    await app.keyboard.type("2");
    await app.keyboard.press("Tab");
    await app.keyboard.type("40");
    const second = app.getByRole("textbox", { name: /Second number/ });
    await expect(second).toBeFocused();
    await app.keyboard.press("Control+Enter");
    await readByKeys(app, approve(/^Allow once/));
    await app.keyboard.press("a");
    const result = app.getByTestId("tool-result");
    await expect(result).toContainText("2 + 40 = 42");
    await expect(second, "the field should be focused again").toBeFocused();
    await tabTo(app, result.getByRole("button", { name: "Text", exact: true }));
    await app.keyboard.press("Enter");
    await expect(result.getByRole("button", { name: "Text", exact: true }), "the result should be operated by keys").toBeFocused();
  });

  await test.step("chat with a tool", async () => {
    await app.keyboard.press("Control+n");
    const composer = app.getByTestId("composer").getByRole("textbox");
    await expect(composer, "the message field should be focused").toBeFocused();
    await app.keyboard.type("please add at the harbour");
    await app.keyboard.press("Enter");
    const until = approve(/^Allow (until|in|for)/);
    // A request in a conversation leaves the focus in the message field.
    await expect(until).toBeVisible();
    await expect(composer, "the message field should keep the focus").toBeFocused();
    await app.keyboard.press("F6");
    await readByKeys(app, until);
    await tabTo(app, until);
    await expect(until).toHaveAttribute("aria-disabled", "false");
    await app.keyboard.press("Enter");
    await expect(app.getByRole("log").getByText(/The harbour said something else/), "the model should have the result").toBeVisible();
    await expect(composer, "the message field should be focused again").toBeFocused();
  });

  await test.step("send a prompt found by /", async () => {
    const composer = app.getByTestId("composer").getByRole("textbox");
    await app.keyboard.press("/");
    await expect(app.getByRole("combobox", { name: "Find a prompt" })).toBeFocused();
    await app.keyboard.type("safety");
    await expect(app.getByRole("option", { name: /Safety check/ })).toBeVisible();
    await app.keyboard.press("Enter");
    const add = app.getByRole("button", { name: "Add to the message" });
    await expect(add, "the button that adds the prompt should be focused").toBeFocused();
    await app.keyboard.press("Enter");
    await expect(app.getByRole("list", { name: "Attached to this message" })).toContainText("Safety check");
    await expect(composer, "the message field should be focused again").toBeFocused();
    await app.keyboard.press("Enter");
    await expect(app.getByRole("list", { name: "Attached to this message" }), "the prompt should be sent").toBeHidden();
    await expect(composer).toBeFocused();
  });

  await test.step("find and revoke the approval", async () => {
    await open(app, "Rules");
    await expect(main(app), "the opened view should be focused").toBeFocused();
    const list = app.getByRole("list", { name: "Allowed without asking" });
    const revoke = list.getByRole("button", { name: /^Revoke: .*add/ });
    await tabTo(app, revoke);
    await app.keyboard.press("Enter");
    await expect(revoke).toHaveCount(0);
    await expect(list.locator(":focus"), "what became of the approval should be focused").toHaveCount(1);
  });

  await test.step("change a setting", async () => {
    await app.keyboard.press("Control+,");
    await expect(app.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
    await expect(main(app), "the opened view should be focused").toBeFocused();
    const box = app.getByRole("checkbox", { name: /Notify me about requests/ });
    await tabTo(app, box);
    await app.keyboard.press("Space");
    await expect(box, "the setting should be changed").not.toBeChecked();
    await expect(box, "the setting should stay focused").toBeFocused();
  });

  const { lost, pointers } = await recorded(app);
  expect(lost, "the focus should never be lost").toEqual([]);
  expect(pointers, "no pointer should be used").toEqual([]);
});
