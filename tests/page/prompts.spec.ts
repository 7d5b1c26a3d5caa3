import { ERAS, expect, test, visit } from "./fixtures";

for (const [era, setup] of ERAS) {
  test.describe(era, () => {
    test.use({ setup });

    test("completion depends on earlier arguments, and the prompt is previewed and inserted into a conversation", async ({ app }) => {
      await visit(app, "#/server/harbour/prompts/greet_ship");
      const main = app.getByRole("main");
      const harbour = main.getByRole("combobox", { name: /Harbour/ });
      await harbour.fill("Ber");
      await main.getByRole("option", { name: "Bergen" }).click();
      await expect(harbour).toHaveValue("Bergen");
      const ship = main.getByRole("combobox", { name: /Ship/ });
      await ship.focus();
      const offered = main.getByRole("listbox", { name: /Suggestions for Ship/ }).getByRole("option");
      await expect(offered.first(), "ships should be suggested").toBeVisible();
      await ship.fill("Bor");
      await expect(offered, "only matching ships in Bergen should be suggested").toHaveText(["Borealis"]);
      await app.keyboard.press("ArrowDown");
      await app.keyboard.press("Enter");
      await expect(ship).toHaveValue("Borealis");
      await main.getByRole("button", { name: "Preview" }).click();
      await expect(main.getByText(/greeting from the harbour master of Bergen to the crew of the Borealis/)).toBeVisible();
      await main.getByRole("button", { name: "Insert into the conversation" }).click();
      await expect(app, "a conversation should be opened").toHaveURL(/#\/conversation\//);
      await expect(app.getByRole("main").getByText(/crew of the Borealis/).first()).toBeVisible();
    });
  });
}

test("a missing required argument is shown", async ({ app }) => {
  await visit(app, "#/server/harbour/prompts/greet_ship");
  await app.getByRole("main").getByRole("button", { name: "Preview" }).click();
  await expect(app.getByRole("main").getByText("Fill this in.").first()).toBeVisible();
});
