import { expect, test, visit, ERAS } from "./fixtures";

const PLAN = `#/server/harbour/skills/${encodeURIComponent("skill://harbour/plan-passage/SKILL.md")}`;

for (const [era, setup] of ERAS) {
  test.describe(era, () => {
    test.use({ setup });

    test("a skill is listed, and read with its files", async ({ app }) => {
      await visit(app, "#/server/harbour/overview");
      await app.getByRole("tab", { name: /Skills/ }).click();
      const main = app.getByRole("main");
      await main.getByRole("option", { name: /plan-passage/ }).click();
      await expect(app, "it has an address").toHaveURL(/skills\/skill/);
      await main.getByRole("button", { name: "Read", exact: true }).click();
      await expect(main.getByRole("heading", { name: "Plan a passage" }), "its instructions").toBeVisible();
      await main.getByRole("button", { name: "references/rules-of-thumb.md" }).click();
      await expect(main.getByRole("table").first(), "a file of it").toBeVisible();
    });
  });
}

test("a skill is attached to a conversation, where it stays", async ({ app }) => {
  await visit(app, PLAN);
  await app.getByRole("main").getByRole("button", { name: "Attach…" }).click();
  await app.getByRole("dialog").getByRole("button", { name: "New conversation" }).click();
  await expect(app).toHaveURL(/#\/conversation\//);
  await expect(app.getByText("skill from harbour"), "whose it is").toBeVisible();
  await app.reload();
  await app.getByRole("article", { name: "Attached plan-passage" }).getByRole("button").first().click();
  await expect(app.getByRole("main").getByRole("heading", { name: "Plan a passage" }), "with its text").toBeVisible();
});

test("a skill is found by @ beside resources", async ({ app, host }) => {
  const { id } = (await host.call("create_conversation", { title: "Trip" })) as { id: string };
  await visit(app, `#/conversation/${id}`);
  await app.getByTestId("composer").getByRole("textbox").press("@");
  await app.getByRole("combobox", { name: "Find a resource or skill" }).fill("skill");
  await app.getByRole("option", { name: /plan-passage/ }).click();
  await expect(app.getByRole("article", { name: "Attached plan-passage" })).toBeVisible();
});
