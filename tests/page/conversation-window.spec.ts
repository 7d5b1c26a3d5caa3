// Window of one conversation, as the app opens it, next to the main one.
import { axeViolations, consentRequest, expect, test, visit, waitUntilDeniable } from "./fixtures";

test("E11: a window shows one conversation, and a request that is decided in it disappears in the other one", async ({ app, host }) => {
  const { id } = await host.call<{ id: string }>("create_conversation", { title: "Trip plan" });
  await visit(app, `#/conversation/${id}`);
  const other = await app.context().newPage();
  await other.goto(`${host.url}/?conversation=${id}#/conversation/${id}`);
  await expect(other.getByTestId("composer"), "the conversation should be shown").toBeVisible();
  await expect(other, "the window should have the title of the conversation").toHaveTitle("Trip plan - Drawbridge");
  await expect(other.getByRole("navigation"), "the window should have no left column").toHaveCount(0);
  expect(await axeViolations(other)).toEqual([]);

  await visit(other, "#/settings");
  await expect(other.getByTestId("composer"), "other views should be left to the main window").toBeVisible();
  await expect.poll(() => other.evaluate(() => location.hash)).toBe(`#/conversation/${id}`);

  await other.getByRole("button", { name: "Run a tool" }).click();
  await expect(other.getByRole("combobox", { name: "Find a tool" }), "the search field should be focused").toBeFocused();
  await other.keyboard.type("Add two");
  await expect(other.getByRole("dialog").getByRole("option").first(), "the best match should be first").toContainText("Add two");
  await other.keyboard.press("Enter");
  await other.getByRole("textbox", { name: /First number/ }).fill("20");
  await other.getByRole("textbox", { name: /Second number/ }).fill("22");
  await other.getByRole("button", { name: "Call", exact: true }).click();
  // A browser does not know which conversations other tabs show, so here both have the request. It opens only where the
  // user asked for it, because the message field of the other one has the focus.
  await expect(app.getByTestId("held-request")).toBeVisible();
  await waitUntilDeniable(other);
  await consentRequest(other).getByRole("button", { name: "Deny", exact: true }).click();
  await expect(consentRequest(other), "a decided request should disappear").toBeHidden();
  await expect(app.getByTestId("held-request"), "it should disappear in the other one, too").toBeHidden();
});
