// Main tasks without a mouse: no clicks, and the focus is always where the next key is needed.
import type { Page } from "@playwright/test";

import { expect, FIRST_START, LEGACY, consentRequest, waitUntilDeniable, test } from "./fixtures";

/** Presses Tab until the control with this role and accessible name is focused. */
async function tabTo(app: Page, role: "button" | "textbox" | "spinbutton" | "link", name: string | RegExp) {
  const control = app.getByRole(role, { name }).first();
  await expect(control, `${name} should be visible`).toBeVisible();
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
    await expect(allow, "the request should be armed").toHaveAttribute("aria-disabled", "false", { timeout: 300 });
  }).toPass({ timeout: 15_000 });
  await app.keyboard.press("a");
}

/** Opens an entry of the command palette. */
async function open(app: Page, words: string) {
  await app.keyboard.press("Control+k");
  const palette = app.getByRole("dialog");
  await expect(palette.getByRole("combobox"), "the field of the palette should be focused").toBeFocused();
  await app.keyboard.type(words);
  await expect(palette.getByRole("option"), `the palette should find ${words}`).toHaveCount(1);
  await app.keyboard.press("Enter");
}

test.describe("on the first start", () => {
  test.use({ setup: FIRST_START });

  test("the demo server is started and its tool called", async ({ app }) => {
    await tabTo(app, "button", "Start the demo server");
    await app.keyboard.press("Enter");
    await expect(consentRequest(app).getByRole("button", { name: "Deny" }), "Deny should be focused").toBeFocused();
    await allowByKey(app);
    await expect(app.getByRole("navigation", { name: "Navigation" }).getByText("ready")).toBeVisible();
    await expect(app.getByRole("main"), "the main area should be focused after the decision").toBeFocused();

    await open(app, "add two");
    await tabTo(app, "textbox", /First number/);
    await app.keyboard.type("2");
    await app.keyboard.press("Tab");
    await app.keyboard.type("40");
    await app.keyboard.press("Control+Enter");
    await allowByKey(app);
    await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
    await expect(app.getByTestId("tool-result").getByText("42").first(), "the result should show the sum").toBeVisible();
    await expect(
      app.getByRole("textbox", { name: /Second number/ }),
      "the field should be focused again after the decision",
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
    await expect(frame.getByRole("button", { name: "Decline" }), "Decline should be focused").toBeFocused();
    const field = frame.getByRole("textbox").first();
    for (let presses = 0; presses < 30; presses++) {
      if (await field.evaluate((element) => element === document.activeElement)) break;
      await app.keyboard.press("Tab");
    }
    await expect(field, "the form should be reachable by Tab").toBeFocused();
    await app.keyboard.type("Aurora");
    await expect(field, "letters should be typed into the field instead of acting as shortcuts").toHaveValue("Aurora");
    await tabTo(app, "button", /Accept and send/);
    await expect(frame.getByRole("button", { name: /Accept and send/ })).toHaveAttribute("aria-disabled", "false");
    await app.keyboard.press("Enter");
    // Between two requests the frame is empty for a moment, in which keys have no effect.
    await expect(frame, "the next request of the server should be shown").toContainText("asks for your folders");
    await waitUntilDeniable(app);
    await app.keyboard.press("F6");
    await app.keyboard.press("d");
    await expect(frame, "the next request should contain the submitted name").toContainText("Welcome the Aurora in one sentence.");
  });

  test("a prompt, a resource, a message and a tool call are sent in a conversation", async ({ app }) => {
    await app.keyboard.press("Control+n");
    const composer = app.getByTestId("composer").getByRole("textbox");
    await expect(composer, "the message field should be focused").toBeFocused();

    await app.keyboard.press("/");
    await expect(app.getByRole("combobox", { name: "Find a prompt" })).toBeFocused();
    await app.keyboard.type("greet");
    await expect(app.getByRole("option", { name: /Greet a ship/ }), "the prompt should be found").toBeVisible();
    await app.keyboard.press("Enter");
    await expect(app.getByRole("combobox", { name: /Harbour/ }), "the first argument should be focused").toBeFocused();
    await app.keyboard.type("Ber");
    await expect(app.getByRole("option", { name: "Bergen" })).toBeVisible();
    await app.keyboard.press("ArrowDown");
    await app.keyboard.press("Enter");
    await app.keyboard.press("Tab");
    await app.keyboard.type("Borealis");
    await app.keyboard.press("Enter");
    await expect(app.getByRole("button", { name: "Add to the message" }), "the button to add the prompt should be focused").toBeFocused();
    await app.keyboard.press("Enter");
    const log = app.getByRole("log");
    const chips = app.getByRole("list", { name: "Attached to this message" });
    await expect(chips, "the prompt should be attached to the message").toContainText("Greet a ship");
    await expect(composer, "the message field should be focused again").toBeFocused();

    await app.keyboard.press("@");
    await expect(app.getByRole("combobox", { name: "Find a resource" }), "the search field should be focused").toBeFocused();
    await app.keyboard.type("welcome");
    await expect(app.getByRole("option", { name: /Welcome/ })).toBeVisible();
    await app.keyboard.press("Enter");
    await expect(chips, "the resource should be attached to the message").toContainText("Welcome");
    await expect(composer).toBeFocused();

    await app.keyboard.type("Ahoy");
    await app.keyboard.press("Enter");
    // Text that is typed while a message is being sent is preserved.
    await app.keyboard.type("next");
    await expect(log.getByText("Ahoy", { exact: true })).toBeVisible();
    await expect(log.getByText(/crew of the Borealis/), "the prompt should be sent with the message").toBeVisible();
    await expect(log.getByRole("article", { name: /Welcome/ }), "the resource should be sent with the message").toBeVisible();
    await expect(composer, "text that is typed while sending should be preserved").toHaveValue("next");

    await tabTo(app, "button", "Run a tool");
    await app.keyboard.press("Enter");
    await expect(app.getByRole("combobox", { name: "Find a tool" }), "the search field should be focused").toBeFocused();
    await app.keyboard.type("show_everything");
    await expect(app.getByRole("option", { name: /Show everything/ }), "the tool should be found").toBeVisible();
    await app.keyboard.press("Enter");
    await tabTo(app, "button", "Call");
    await app.keyboard.press("Enter");
    await allowByKey(app);
    await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
    await app.keyboard.press("Escape");
    await expect(log.getByRole("article", { name: /show_everything/ }), "the conversation should show the card of the call").toBeVisible();
  });

  test("the activity pane shows the server of the current view", async ({ app }) => {
    await open(app, "add two");
    await app.keyboard.press("Control+i");
    const pane = app.getByRole("complementary", { name: "Activity of harbour" });
    await expect(pane.getByRole("listbox")).toContainText("tools/list");
    await app.keyboard.press("Control+n");
    await expect(
      app.getByRole("complementary", { name: "Activity" }).getByRole("combobox", { name: "Server" }),
      "the pane of a conversation should show a selectable server",
    ).toHaveValue("harbour");
    await app.keyboard.press("Control+i");
    await expect(app.getByRole("complementary"), "the shortcut should close the pane").toHaveCount(0);
  });
});
