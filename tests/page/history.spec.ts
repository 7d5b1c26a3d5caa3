// History search with a real host by keyboard alone.
import { expect, test, visit, type DevHost } from "./fixtures";

const message = (id: string, text: string) => {
  const content = [{ type: "text", text }];
  return { id, at: Date.now(), body: { kind: "message", role: "user", content, prompt: null } };
};

async function createConversation(host: DevHost, title: string, texts: string[]): Promise<string> {
  const { id } = await host.call<{ id: string }>("create_conversation", { title });
  await host.call("append_items", {
    conversation: id,
    items: texts.map((text, n) => message(`${title}-${n}`, text)),
  });
  return id;
}

test("the search finds messages in both languages, and opens them by keyboard", async ({ app, host }) => {
  await createConversation(host, "Taxes", ["the form of last year"]);
  const trip = await createConversation(host, "Trip", ["We take the ferry to <b>Bergen</b>.", "我们明天早上在港口见面。"]);
  await visit(app, "#/settings");
  const nav = app.getByRole("navigation");
  const field = nav.getByRole("searchbox", { name: "Search conversations" });
  await field.focus();
  await app.keyboard.type("ferry ber");
  const found = nav.getByRole("list", { name: "Messages in conversations" }).getByRole("link");
  await expect(found, "only the item with both words should be found").toHaveCount(1);
  await expect(found.locator("mark"), "both words should be marked").toHaveText(["ferry", "Ber"].map((w) => new RegExp(w)));
  await expect(found, "HTML should be shown as text").toContainText("<b>Bergen</b>");
  await field.fill("港口");
  await expect(found, "two ideographs should be sufficient").toContainText("我们明天早上在港口见面。");
  await app.keyboard.press("Tab");
  await app.keyboard.press("Enter");
  await expect(app, "the result should open the conversation at its item").toHaveURL(new RegExp(`#/conversation/${trip}/Trip-1$`));
  await expect(app.getByRole("main").getByText("我们明天早上在港口见面。"), "the item should be in view").toBeInViewport();
  await field.focus();
  await app.keyboard.press("Escape");
  await expect(found, "Escape should end the search").toHaveCount(0);

  await app.keyboard.press("Control+k");
  await expect(app.getByRole("dialog").getByRole("combobox"), "the field of the palette should be focused").toBeFocused();
  await app.keyboard.type("last year");
  await expect(app.getByRole("option", { name: /form of last year/ }), "the palette should find the message").toBeVisible();

  await host.call("delete_conversation", { conversation: trip });
  await app.keyboard.press("Escape");
  await field.fill("港口");
  await expect(nav.getByText("No results."), "a deleted conversation should not be found").toBeVisible();
});

test("the search never shows the results of an older query", async ({ app, host }) => {
  await createConversation(host, "Trip", Array.from({ length: 45 }, (_, n) => `ferry number ${n}`));
  await visit(app, "#/settings");
  const nav = app.getByRole("navigation");
  const field = nav.getByRole("searchbox", { name: "Search conversations" });
  await field.fill("ferry");
  const found = nav.getByRole("list", { name: "Messages in conversations" }).getByRole("link");
  await expect(found, "the first page should have 20 results").toHaveCount(20);
  await nav.getByRole("button", { name: "Older" }).click();
  await expect(found, "the second page should be appended").toHaveCount(40);
  await nav.getByRole("button", { name: "Older" }).click();
  await expect(found, "all results should be listed").toHaveCount(45);
  await field.press("End");
  await field.pressSequentially(" number 44");
  await expect(found, "only the result of the last query should be shown").toHaveCount(1);
});
