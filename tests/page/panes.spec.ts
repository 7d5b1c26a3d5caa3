// Space in the window: resizable panes, and a left column with many servers.
import { DEMO, expect, MODERN, test, visit } from "./fixtures";

test.describe("E14", () => {
  test("the left column and a list are resized by keyboard and by pointer", async ({ app }) => {
    await visit(app, "#/server/harbour/tools");
    for (const name of ["Resize the left column", "Resize the list"]) {
      const edge = app.getByRole("separator", { name });
      const width = async () => Number(await edge.getAttribute("aria-valuenow"));
      await expect.poll(width, { message: `${name}: the separator should report the width of the pane` }).toBeGreaterThan(150);
      const before = await width();
      await edge.focus();
      await app.keyboard.press("ArrowRight");
      await app.keyboard.press("ArrowRight");
      await expect.poll(width, { message: `${name}: two presses of the arrow key should widen the pane by two steps` }).toBe(before + 32);
      await app.keyboard.press("Enter");
      await expect.poll(width, { message: `${name}: Enter should restore the default width` }).toBe(before);
      const box = (await edge.boundingBox())!;
      await app.mouse.move(box.x + 4, 300);
      await app.mouse.down();
      await app.mouse.move(box.x + 44, 300);
      await app.mouse.up();
      await expect.poll(width, { message: `${name}: dragging should widen the pane` }).toBe(before + 40);
    }
  });

  test("the width of a pane is restored after a reload", async ({ app }) => {
    await visit(app, "#/server/harbour/tools");
    const edge = app.getByRole("separator", { name: "Resize the left column" });
    await edge.focus();
    await app.keyboard.press("ArrowRight");
    await expect(edge).toHaveAttribute("aria-valuenow", /\d/);
    const width = await edge.getAttribute("aria-valuenow");
    await app.reload();
    await expect(edge, "the width should be restored after a reload").toHaveAttribute("aria-valuenow", width ?? "");
  });

  test.describe("similar names", () => {
    const stem = "the-database-of-the-whole-company-in-";
    const servers = Object.fromEntries(["utrecht", "gdansk"].map((end) => [stem + end, { command: DEMO, args: [] }]));
    test.use({ setup: { ...MODERN, servers, running: [] } });
    test("are complete in the left column", async ({ app }) => {
      for (const end of ["utrecht", "gdansk"]) {
        const name = app.getByRole("navigation").first().getByText(stem + end);
        const cut = await name.evaluate((element) => element.scrollWidth - element.clientWidth);
        expect(cut, `${end} should be in view`).toBeLessThanOrEqual(0);
        expect((await name.boundingBox())!.height, "the name should be wrapped").toBeGreaterThan(30);
      }
    });
  });

  const many = Array.from({ length: 50 }, (_, i) => `server-${String(i + 1).padStart(2, "0")}`);
  const servers = Object.fromEntries(many.map((name) => [name, { command: DEMO, args: [] }]));
  test.describe("fifty servers", () => {
    test.use({ setup: { ...MODERN, servers, running: [] } });
    test("keep the link to the settings visible, and can be searched", async ({ app }) => {
      const left = app.getByRole("navigation").first();
      await expect(left.getByRole("link", { name: "Settings" })).toBeInViewport();
      await left.getByRole("searchbox", { name: "Search servers" }).fill("server-37");
      await expect(left.getByRole("link", { name: /^server-/ })).toHaveCount(1);
    });
  });
});
