import { expect, consentRequest, allow, test, visit, ERAS, callTool } from "./fixtures";

const open = (uri: string) => `#/server/harbour/resources/${encodeURIComponent(uri)}`;

for (const [era, setup] of ERAS) {
  test.describe(era, () => {
    test.use({ setup });

    test("text, a picture and a sound are read", async ({ app }) => {
      const main = app.getByRole("main");
      for (const [uri, shown] of [
        ["harbour:///guide.md", main.getByRole("heading", { name: "A guide to the harbour" })],
        ["harbour:///chart.png", main.locator("img[src^='data:'], img[src^='blob:']").first()],
        ["harbour:///bell.wav", main.locator("audio").first()],
      ] as const) {
        await visit(app, open(uri));
        await main.getByRole("button", { name: "Read", exact: true }).click();
        await expect(shown, `${uri} should be shown`).toBeVisible();
      }
    });

    test("a subscribed resource is marked when it changes", async ({ app }) => {
      await visit(app, open("clock:///now"));
      const main = app.getByRole("main");
      await main.getByRole("button", { name: "Read", exact: true }).click();
      await main.getByRole("button", { name: "Watch for changes" }).click();
      await expect(main.getByText("Changed since you read it."), "the change of the clock should be marked").toBeVisible();
      await main.getByRole("button", { name: "Stop watching" }).click();
      await expect(main.getByRole("button", { name: "Watch for changes" })).toBeVisible();
    });

    test("a template is completed with values from the server, and read", async ({ app }) => {
      await visit(app, "#/server/harbour/resources");
      const main = app.getByRole("main");
      await main.getByText("Tide table").first().click();
      await main.getByRole("combobox", { name: "harbour" }).fill("ber");
      await main.getByRole("option", { name: "Bergen" }).click();
      await main.getByRole("combobox", { name: "day" }).fill("tue");
      await main.getByRole("option", { name: "tuesday" }).click();
      await expect(main.getByText("tide:///Bergen/tuesday").first(), "the completed URI should be shown").toBeVisible();
      await main.getByRole("button", { name: "Read", exact: true }).click();
      await expect(main.getByRole("table").first()).toBeVisible();
    });

    test("a consent request of a resource is shown before it opens", async ({ app }) => {
      await visit(app, open("diary:///captain"));
      await app.getByRole("main").getByRole("button", { name: "Read", exact: true }).click();
      await expect(consentRequest(app)).toContainText("Before the diary opens:");
      await consentRequest(app).getByRole("checkbox", { name: /I promise not to tell/ }).check();
      await allow(app, "Accept and send");
      await expect(app.getByRole("main").getByText(/never found the treasure/).first()).toBeVisible();
    });
  });
}

test("a new resource is listed as soon as the server announces it", async ({ app }) => {
  await visit(app, "#/server/harbour/tools/write_note");
  await app.getByRole("textbox", { name: /^Name/ }).fill("first-note");
  await app.getByRole("textbox", { name: /^Text/ }).fill("Hello");
  await app.getByRole("button", { name: "Call", exact: true }).click();
  await allow(app, "Allow once");
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
  await visit(app, "#/server/harbour/resources");
  await app.getByRole("searchbox", { name: "Search resources" }).fill("first");
  await expect(app.getByRole("main").getByText("Note: first-note").first()).toBeVisible();
});

test("a resource is attached to a conversation", async ({ app }) => {
  await visit(app, open("harbour:///welcome.txt"));
  await app.getByRole("main").getByRole("button", { name: "Attach…" }).click();
  await app.getByRole("dialog").getByRole("button", { name: "New conversation" }).click();
  await expect(app).toHaveURL(/#\/conversation\//);
  await expect(app.getByRole("main").getByText(/Welcome|welcome\.txt/).first()).toBeVisible();
});

test("a link in a result opens the resource", async ({ app }) => {
  await callTool(app, "show_everything");
  await allow(app, "Allow once");
  await app.getByTestId("tool-result").getByRole("button", { name: "Open" }).last().click();
  await expect(app).toHaveURL(/resources/);
});
