// Space in the window: resizable panes, and a left column with many servers.
import { DEMO, expect, MODERN, test, visit } from "./fixtures";

test.describe("panes", () => {
  test("E14: the left column and a list are resized by keyboard and by pointer", async ({ app }) => {
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

  test("E14: the width of a pane is restored after a reload", async ({ app }) => {
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
    test("E14: are complete in the left column", async ({ app }) => {
      for (const end of ["utrecht", "gdansk"]) {
        const name = app.getByRole("navigation").first().getByText(stem + end);
        const cut = await name.evaluate((element) => element.scrollWidth - element.clientWidth);
        expect(cut, `${end} should be in view`).toBeLessThanOrEqual(0);
        expect((await name.boundingBox())!.height, "the name should be wrapped").toBeGreaterThan(30);
      }
    });
  });

  test.describe("a narrow window", () => {
    test.use({ viewport: { width: 640, height: 600 } });
    test("E14: the composer keeps its buttons in one row", async ({ app, host }) => {
      const { id } = await host.call<{ id: string }>("create_conversation", { title: "Trip" });
      await visit(app, `#/conversation/${id}`);
      const composer = app.getByTestId("composer");
      const top = async (name: RegExp) => Math.round((await composer.getByRole("button", { name }).boundingBox())!.y);
      await expect(composer.getByRole("button", { name: /^Send/ })).toBeVisible();
      expect(await top(/^Send/), "Send should be next to the other buttons").toBe(await top(/^Attach a resource/));
    });
  });

  test("E14: a tool shows its whole title above its whole name", async ({ app, host }) => {
    const { tools } = await host.call<{ tools: { name: string; title: string | null }[] }>("read_catalog", { server: "harbour" });
    await visit(app, "#/server/harbour/tools");
    const titled = tools.flatMap(({ name, title }) => (title === null ? [] : [{ name, title }]));
    expect(titled.length, "the demo server should have titled tools").toBeGreaterThan(5);
    for (const { name, title } of titled) {
      const option = app.getByRole("option").filter({ has: app.getByText(name, { exact: true }) });
      const parts = [option.getByText(title, { exact: true }), option.getByText(name, { exact: true })];
      const tops: number[] = [];
      for (const part of parts) {
        const cut = await part.first().evaluate((element) => element.scrollWidth - element.clientWidth);
        expect(cut, `${title} should not be cut off`).toBeLessThanOrEqual(1);
        tops.push((await part.first().boundingBox())!.y);
      }
      expect(tops[1], `${name} should be below ${title}`).toBeGreaterThan(tops[0]!);
    }
  });

  test("E14: the keys of a message are not wrapped", async ({ app }) => {
    await visit(app, "#/server/harbour/activity");
    await app.getByTestId("activity-list").getByText("initialize", { exact: true }).first().click();
    const key = app.getByRole("complementary").getByText(/^"?protocolVersion"?:?$/).first();
    await expect(key).toBeVisible();
    expect((await key.boundingBox())!.height, "a key should be on one line").toBeLessThan(30);
  });

  const many = Array.from({ length: 50 }, (_, i) => `server-${String(i + 1).padStart(2, "0")}`);
  const servers = Object.fromEntries(many.map((name) => [name, { command: DEMO, args: [] }]));
  test.describe("fifty servers", () => {
    test.use({ setup: { ...MODERN, servers, running: [] } });
    test("E14: keep the link to the settings visible, and can be searched", async ({ app }) => {
      const left = app.getByRole("navigation").first();
      await expect(left.getByRole("link", { name: "Settings" })).toBeInViewport();
      await left.getByRole("searchbox", { name: "Search servers" }).fill("server-37");
      await expect(left.getByRole("link", { name: /^server-/ })).toHaveCount(1);
    });
  });
});
