// Space in the window: resizable panes, and a left column with many servers.
import type { Locator } from "@playwright/test";

import { Provider } from "../provider.cjs";
import { allow, callTool, DEMO, expect, MODERN, test, visit } from "./fixtures";

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

    test.describe("in a small window", () => {
      test.use({ viewport: { width: 800, height: 600 } });
      test("E14: are in groups that stay collapsed, and are found nevertheless", async ({ app }) => {
        const left = app.getByRole("navigation").first();
        const group = left.getByRole("button", { name: /^Stopped/ });
        await expect(group, "the group should show its number of servers").toContainText("50");
        await group.click();
        const links = left.getByRole("link", { name: /^server-/ });
        await expect(links).toHaveCount(0);
        await expect(left.getByRole("link", { name: "Add a server" })).toBeInViewport();
        await app.reload();
        await expect(group).toHaveAttribute("aria-expanded", "false");
        await expect(links, "the group should stay collapsed").toHaveCount(0);
        await left.getByRole("searchbox", { name: "Search servers" }).fill("server-37");
        await expect(links, "a server in a collapsed group should be found").toHaveCount(1);
      });

      test("E14: are searched in the dialog about the tools of a conversation", async ({ app, host }) => {
        const { id } = await host.call<{ id: string }>("create_conversation", { title: "Trip" });
        const model = { provider: "none", model: "none" };
        const settings = { model, systemPrompt: "", servers: [], shareRoots: false, thinking: false };
        await host.call("set_conversation", { conversation: id, settings });
        await visit(app, `#/conversation/${id}`);
        await app.getByRole("button", { name: "No tools" }).click();
        const dialog = app.getByRole("dialog", { name: "Tools for the model" });
        await expect(dialog.getByRole("checkbox", { name: /^server-/ })).toHaveCount(50);
        const search = dialog.getByRole("searchbox", { name: "Search servers" });
        await expect(search, "the search should be focused").toBeFocused();
        await search.fill("server-37");
        const found = dialog.getByRole("checkbox", { name: /^server-/ });
        await found.click();
        await expect(found).toBeChecked();
        await search.fill("nowhere");
        await expect(dialog.getByText("No server matches.")).toBeVisible();
        await search.fill("");
        const checked = dialog.getByRole("checkbox", { name: /^server-/, checked: true });
        await expect(checked, "the chosen server should stay chosen").toHaveAccessibleName("server-37");
      });
    });
  });

  test.describe("tables in a small window", () => {
    test.use({ viewport: { width: 800, height: 600 } });
    /** Expects that a table is wider than its region, and that a button in its last column is in view nevertheless. */
    async function expectActionsInView(region: Locator, button: Locator): Promise<void> {
      await expect(button).toBeVisible();
      const over = await region.evaluate((element) => element.scrollWidth - element.clientWidth);
      expect(over, "the table should be wider than its region").toBeGreaterThan(0);
      await button.scrollIntoViewIfNeeded();
      await region.evaluate((element) => (element.scrollLeft = 0));
      await expect(button, "the button should be in view without scrolling").toBeInViewport({ ratio: 1 });
      await region.focus();
      await region.press("ArrowRight");
      await expect.poll(() => region.evaluate((element) => element.scrollLeft)).toBeGreaterThan(0);
      await expect(button, "the button should stay in view").toBeInViewport({ ratio: 1 });
    }

    test("E14: the buttons of models stay in view", async ({ app, host }) => {
      const provider = await Provider.start("sk-canary-panes-5f1d");
      try {
        await provider.setUpIn(host);
        await host.call("refresh_models", { id: "fake" });
        await visit(app, "#/models");
        const card = app.getByRole("article", { name: "Fake" });
        await card.getByText(/^\d+ models$/).click();
        const button = card.getByRole("button", { name: /^Use .* by default$/ }).first();
        await expectActionsInView(card.getByRole("region", { name: "Models of Fake" }), button);
      } finally {
        await provider.stop();
      }
    });

    test("E14: the buttons that revoke approvals stay in view", async ({ app }) => {
      await callTool(app, "show_everything");
      await allow(app, "Allow until Drawbridge closes");
      await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
      await app.setViewportSize({ width: 480, height: 600 });
      await visit(app, "#/server/harbour/permissions");
      const region = app.getByRole("region", { name: "Approvals of this server" });
      await expectActionsInView(region, region.getByRole("button", { name: /^Revoke.*show_everything/ }));
    });
  });
});
