// Menu bar and its shortcuts, and conversations in windows of their own.
import assert from "node:assert/strict";

import { closeWindow, isShown } from "./close-window.mjs";

const CONTROL = "\uE009";
const ESCAPE = "\uE00C";
const F10 = "\uE03A";
const TITLE = "Ferry times";
const MESSAGE = "Which ferry leaves first?";
const MAIN = "Drawbridge";

const height = (page) => page.run(() => innerHeight);
const composed = (page) => page.run(() => document.querySelector("[data-testid=composer] textarea")?.value);

async function conversationCount(page) {
  const { value } = await page.invoke("read_snapshot", {});
  return value.conversations.length;
}

export async function menuBar(page, _place, step) {
  await step("E11: F10 shows the menu bar, and a shortcut in it runs its action once", async () => {
    await page.go("#/tools");
    // The page ignores keys until it is shown.
    await page.waitForText("Tools of all servers");
    const before = await height(page);
    await page.until("the page to have the focus", () => page.run(() => document.hasFocus()));
    await page.press(F10);
    await page.until("the menu bar to take a part of the window", async () => (await height(page)) < before);
    const count = await conversationCount(page);
    await page.chord(CONTROL, "n");
    await page.waitForElement("textbox", "Message");
    // The action would also run a second time before another shortcut does.
    await page.chord(CONTROL, "k");
    await page.waitForElement("combobox", "Search or run");
    assert.equal(await conversationCount(page), count + 1, "one conversation should be created");
    await page.chord(CONTROL, "n");
    await page.press(ESCAPE);
    await page.until("the palette to be closed", () => page.run(() => document.querySelector("[role=dialog]") === null));
    // An action that had run below the dialog would have created the conversation before another shortcut runs.
    await page.chord(CONTROL, "k");
    await page.waitForElement("combobox", "Search or run");
    await page.press(ESCAPE);
    await page.until("the palette to be closed", () => page.run(() => document.querySelector("[role=dialog]") === null));
    assert.equal(await conversationCount(page), count + 1, "no conversation should be created below a dialog");
    await page.go("#/settings");
    await page.click("checkbox", "Show menu bar");
    await page.until("the menu bar to be hidden", async () => (await height(page)) === before);
  });
}

/** Creates a conversation and opens it in a window of its own. */
async function openWindow(page, title) {
  const { value } = await page.invoke("create_conversation", { title });
  await page.go(`#/conversation/${value.id}`);
  await page.click("button", `More for ${title}`);
  await page.click("menuitem", "Open in new window");
  await page.until("the second window", async () => (await page.windows()) === 2);
  await page.inOtherWindow(async () => {
    await page.until("the title of the window", () => page.run((start) => document.title.startsWith(start), title));
  });
}

export async function conversationWindow(page, _place, step) {
  await step("E11: a conversation is open in one window, and its draft moves with it", async () => {
    const { value } = await page.invoke("create_conversation", { title: TITLE });
    await page.go(`#/conversation/${value.id}`);
    await page.fill("Message", MESSAGE);
    await page.click("button", `More for ${TITLE}`);
    await page.click("menuitem", "Open in new window");
    await page.waitForText("Open in its own window", "main");
    await page.until("the second window", async () => (await page.windows()) === 2);
    await page.inOtherWindow(async () => {
      await page.until("the draft in the second window", async () => (await composed(page)) === MESSAGE);
      assert.ok(!(await page.has("button", "New conversation")), "the window should show only the conversation");
      await page.until("the title of the window", () => page.run((title) => document.title.startsWith(title), TITLE));
      await page.fill("Message", `${MESSAGE} And last?`);
      await page.picture("E11-conversation-window");
    });
    await closeWindow(`${TITLE} - Drawbridge`);
    await page.until("the second window to be closed", async () => (await page.windows()) === 1);
    await page.until("the draft in the main window", async () => (await composed(page)) === `${MESSAGE} And last?`);
  });

  await step("E11: closing the main window hides it while a conversation is open in another one", async () => {
    const title = "Night train";
    await openWindow(page, title);
    await closeWindow(MAIN);
    await page.until("the main window to be hidden", async () => !(await isShown(MAIN)));
    assert.ok(await isShown(`${title} - Drawbridge`), "the other window should stay open");
    await page.inOtherWindow(() => page.click("button", "Show main window"));
    await page.until("the main window to be shown", () => isShown(MAIN));
    await closeWindow(`${title} - Drawbridge`);
    await page.until("the second window to be closed", async () => (await page.windows()) === 1);
    assert.ok(await isShown(MAIN), "the main window should stay open");
  });
}
