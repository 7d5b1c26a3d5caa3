// Conversation: messages of the user, prompts by /, resources by @, and tools.
import { allow, expect, test, visit, type DevHost } from "./fixtures";
import type { Page } from "@playwright/test";

async function open(app: Page, host: DevHost): Promise<void> {
  const { id } = await host.call<{ id: string }>("create_conversation", { title: "Trip plan" });
  await visit(app, `#/conversation/${id}`);
  await expect(app.getByTestId("composer")).toBeVisible();
}

test("a prompt is found by /, filled in, previewed and inserted by keyboard alone", async ({ app, host }) => {
  await open(app, host);
  await app.getByRole("textbox", { name: "Message" }).focus();
  await app.keyboard.press("/");
  const dialog = app.getByRole("dialog");
  await expect(dialog.getByText("Greet a ship").first(), "all prompts should be listed").toBeVisible();
  await expect(dialog.getByRole("combobox", { name: "Find a prompt" }), "the search field should be focused").toBeFocused();
  await app.keyboard.type("tide");
  await app.keyboard.press("Enter");
  await expect(dialog.getByRole("combobox", { name: /Harbour/ })).toBeFocused();
  await app.keyboard.type("Ber");
  await expect(dialog.getByRole("option", { name: "Bergen" })).toBeVisible();
  await app.keyboard.press("ArrowDown");
  await app.keyboard.press("Enter");
  await app.keyboard.press("Enter");
  await expect(dialog.getByText(/Report on the tides at Bergen/).first(), "the prompt should be previewed").toBeVisible();
  const put = dialog.getByRole("button", { name: "Add to the message" });
  await put.focus();
  await app.keyboard.press("Enter");
  await expect(dialog).toBeHidden();
  const chips = app.getByRole("list", { name: "Attached to this message" });
  await expect(chips, "E3: the prompt should be attached to the message").toContainText(/tide/i);
  await expect(app.getByRole("textbox", { name: "Message" })).toBeFocused();
  await app.keyboard.press("Enter");
  await expect(chips, "E3: the prompt should be sent without a text").toBeHidden();
  await expect(app.getByRole("main").getByText(/Report on the tides at Bergen/).first()).toBeVisible();
  await expect(app.getByRole("main").getByText(/tide_report|Tide report/).first(), "the conversation should name the prompt").toBeVisible();
});

test("a message, a resource found by @ and a tool call are restored after a reload", async ({ app, host }) => {
  await open(app, host);
  const main = app.getByRole("main");
  const write = app.getByRole("textbox", { name: "Message" });
  await write.fill("Remember the **charts**.");
  await app.getByRole("button", { name: "Send" }).click();
  await expect(main.getByText("charts", { exact: true }), "the message should be rendered as Markdown").toBeVisible();

  await write.focus();
  await app.keyboard.press("@");
  await expect(app.getByRole("combobox", { name: "Find a resource" }), "the search field should be focused").toBeFocused();
  await app.keyboard.type("welcome");
  await expect(app.getByRole("dialog").getByRole("option").first(), "the best match should be first").toContainText("Welcome");
  await app.keyboard.press("Enter");
  const chips = app.getByRole("list", { name: "Attached to this message" });
  await expect(chips, "E20: the resource should be attached to the message").toContainText("resource of harbour");
  await app.getByRole("button", { name: "Send", exact: true }).click();
  await expect(main.getByText("from harbour").first()).toBeVisible();

  await app.getByRole("button", { name: "Run a tool" }).click();
  await expect(app.getByRole("combobox", { name: "Find a tool" }), "the search field should be focused").toBeFocused();
  await app.keyboard.type("Add two");
  await expect(app.getByRole("dialog").getByRole("option").first(), "the best match should be first").toContainText("Add two");
  await app.keyboard.press("Enter");
  await app.getByRole("textbox", { name: /First number/ }).fill("20");
  await app.getByRole("textbox", { name: /Second number/ }).fill("22");
  await app.getByRole("button", { name: "Call", exact: true }).click();
  await allow(app, "Allow once");
  await expect(main.getByText("done").first(), "the conversation should show the completed call").toBeVisible();
  await app.reload();
  await expect(main.getByText("charts", { exact: true })).toBeVisible();
  await expect(main.getByText("from harbour").first()).toBeVisible();
  await expect(main.getByText("add", { exact: true }).first()).toBeVisible();
});

test("a conversation is renamed and deleted in the left column", async ({ app, host }) => {
  await open(app, host);
  const left = app.getByRole("navigation", { name: "Navigation" });
  await left.getByRole("button", { name: "More for Trip plan" }).click();
  await app.getByRole("menuitem", { name: "Rename" }).click();
  await app.getByRole("textbox", { name: "Title" }).fill("To Bergen");
  await app.keyboard.press("Enter");
  await expect(left.getByText("To Bergen")).toBeVisible();
  await left.getByRole("button", { name: "More for To Bergen" }).click();
  await app.getByRole("menuitem", { name: "Delete" }).click();
  await app.getByRole("alertdialog").or(app.getByRole("dialog")).getByRole("button", { name: "Delete" }).click();
  await expect(left.getByText("To Bergen")).toHaveCount(0);
});
