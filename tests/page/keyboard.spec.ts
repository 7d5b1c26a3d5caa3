// Main tasks without a mouse: no clicks, and the focus is always where the next key is needed.
import type { Page } from "@playwright/test";

import { expect, FIRST_START, LEGACY, consentRequest, waitUntilDeniable, test } from "./fixtures";

/** Presses Tab until the control with this role and accessible name is focused. */
async function tabTo(app: Page, role: "button" | "textbox" | "spinbutton" | "link", name: string | RegExp) {
  const control = app.getByRole(role, { name }).first();
  await expect(control, `${name} is there`).toBeVisible();
  for (let presses = 0; presses < 80; presses++) {
    if (await control.evaluate((element) => element === document.activeElement)) return;
    await app.keyboard.press("Tab");
  }
  throw new Error(`${name} can't be reached by Tab`);
}

/** Approves the current consent request by its keyboard shortcut, once it is armed. */
async function allowByKey(app: Page) {
  const allow = consentRequest(app).getByRole("button", { name: /^(Allow once|Accept and send)/ });
  const definition = consentRequest(app).getByRole("button", { name: "Show all of the definition" });
  await expect(consentRequest(app)).toBeVisible();
  if (await definition.isVisible()) {
    await definition.focus();
    await app.keyboard.press("Enter");
  }
  const rest = consentRequest(app).getByRole("button", { name: /^More (above|below)/ });
  // The amount below is known only once the expanded part is drawn.
  await expect(async () => {
    if (await rest.isVisible()) {
      await rest.focus({ timeout: 500 });
      await app.keyboard.press("Enter");
    }
    await expect(allow, "it is armed").toHaveAttribute("aria-disabled", "false", { timeout: 300 });
  }).toPass({ timeout: 15_000 });
  await app.keyboard.press("a");
}

/** Opens an entry of the command palette. */
async function open(app: Page, words: string) {
  await app.keyboard.press("Control+k");
  const palette = app.getByRole("dialog");
  await expect(palette.getByRole("combobox"), "one can type at once").toBeFocused();
  await app.keyboard.type(words);
  await expect(palette.getByRole("option"), `${words} is found`).toHaveCount(1);
  await app.keyboard.press("Enter");
}

test.describe("on the first start", () => {
  test.use({ setup: FIRST_START });

  test("the demo server is started and its tool called", async ({ app }) => {
    await tabTo(app, "button", "Start the demo server");
    await app.keyboard.press("Enter");
    await expect(consentRequest(app).getByRole("button", { name: "Deny" }), "Deny is focused").toBeFocused();
    await allowByKey(app);
    await expect(app.getByRole("navigation", { name: "Navigation" }).getByText("ready")).toBeVisible();
    await expect(app.getByRole("main"), "the focus is in the page again").toBeFocused();

    await open(app, "add two");
    await tabTo(app, "textbox", /First number/);
    await app.keyboard.type("2");
    await app.keyboard.press("Tab");
    await app.keyboard.type("40");
    await app.keyboard.press("Control+Enter");
    await allowByKey(app);
    await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
    await expect(app.getByTestId("tool-result").getByText("42").first(), "the sum").toBeVisible();
    await expect(
      app.getByRole("textbox", { name: /Second number/ }),
      "the question gives the focus back",
    ).toBeFocused();
  });
});

test.describe("with a running server", () => {
  test.use({ setup: LEGACY });

  test("a form is filled in and sent", async ({ app }) => {
    await open(app, "check_in");
    await tabTo(app, "button", "Call");
    await app.keyboard.press("Enter");
    await allowByKey(app);
    const frame = consentRequest(app);
    await expect(frame).toContainText("asks you to fill in a form");
    await expect(frame.getByRole("button", { name: "Decline" }), "Decline is focused").toBeFocused();
    const field = frame.getByRole("textbox").first();
    for (let presses = 0; presses < 30; presses++) {
      if (await field.evaluate((element) => element === document.activeElement)) break;
      await app.keyboard.press("Tab");
    }
    await expect(field, "the form can be reached").toBeFocused();
    await app.keyboard.type("Aurora");
    await expect(field, "letters are text here, not shortcuts").toHaveValue("Aurora");
    await tabTo(app, "button", /Accept and send/);
    await expect(frame.getByRole("button", { name: /Accept and send/ })).toHaveAttribute("aria-disabled", "false");
    await app.keyboard.press("Enter");
    // Between two requests the frame is empty for a moment, in which Escape has no effect.
    await expect(frame, "the server goes on to its next question").toContainText("asks for your folders");
    await waitUntilDeniable(app);
    await app.keyboard.press("Escape");
    await expect(frame, "the name has arrived").toContainText("Welcome the Aurora in one sentence.");
  });

  test("a conversation: a prompt by /, a resource by @, a message, a tool", async ({ app }) => {
    await app.keyboard.press("Control+n");
    const composer = app.getByTestId("composer").getByRole("textbox");
    await expect(composer, "one can write at once").toBeFocused();

    await app.keyboard.press("/");
    await expect(app.getByRole("combobox", { name: "Find a prompt" })).toBeFocused();
    await app.keyboard.type("greet");
    await expect(app.getByRole("option", { name: /Greet a ship/ }), "it is found").toBeVisible();
    await app.keyboard.press("Enter");
    await expect(app.getByRole("combobox", { name: /Harbour/ }), "the first argument").toBeFocused();
    await app.keyboard.type("Ber");
    await expect(app.getByRole("option", { name: "Bergen" })).toBeVisible();
    await app.keyboard.press("ArrowDown");
    await app.keyboard.press("Enter");
    await app.keyboard.press("Tab");
    await app.keyboard.type("Borealis");
    await app.keyboard.press("Enter");
    await expect(app.getByRole("button", { name: "Add to the message" }), "the next step").toBeFocused();
    await app.keyboard.press("Enter");
    const log = app.getByRole("log");
    const chips = app.getByRole("list", { name: "Attached to this message" });
    await expect(chips, "it waits beside what is written").toContainText("Greet a ship");
    await expect(composer, "one can go on writing").toBeFocused();

    await app.keyboard.press("@");
    await expect(app.getByRole("combobox", { name: "Find a resource" }), "its search").toBeFocused();
    await app.keyboard.type("welcome");
    await expect(app.getByRole("option", { name: /Welcome/ })).toBeVisible();
    await app.keyboard.press("Enter");
    await expect(chips, "so does this").toContainText("Welcome");
    await expect(composer).toBeFocused();

    await app.keyboard.type("Ahoy");
    await app.keyboard.press("Enter");
    // Text that is typed while a message is being sent is preserved.
    await app.keyboard.type("next");
    await expect(log.getByText("Ahoy", { exact: true })).toBeVisible();
    await expect(log.getByText(/crew of the Borealis/), "the prompt went before it").toBeVisible();
    await expect(log.getByRole("article", { name: /Welcome/ }), "and the resource").toBeVisible();
    await expect(composer, "no letter is lost").toHaveValue("next");

    await tabTo(app, "button", "Run a tool");
    await app.keyboard.press("Enter");
    await expect(app.getByRole("combobox", { name: "Find a tool" }), "its search").toBeFocused();
    await app.keyboard.type("show_everything");
    await expect(app.getByRole("option", { name: /Show everything/ }), "it is found").toBeVisible();
    await app.keyboard.press("Enter");
    await tabTo(app, "button", "Call");
    await app.keyboard.press("Enter");
    await allowByKey(app);
    await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
    await app.keyboard.press("Escape");
    await expect(log.getByRole("article", { name: /show_everything/ }), "its card").toBeVisible();
  });

  test("the activity pane of the current view", async ({ app }) => {
    await open(app, "add two");
    await app.keyboard.press("Control+i");
    const pane = app.getByRole("complementary", { name: "Activity of harbour" });
    await expect(pane.getByRole("listbox")).toContainText("tools/list");
    await app.keyboard.press("Control+n");
    await expect(
      app.getByRole("complementary", { name: "Activity" }).getByRole("combobox", { name: "Server" }),
      "a conversation has that of a server of one's choice",
    ).toHaveValue("harbour");
    await app.keyboard.press("Control+i");
    await expect(app.getByRole("complementary"), "it goes as it came").toHaveCount(0);
  });
});
