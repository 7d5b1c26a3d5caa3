// User guide: from the help menu, by its key and from the palette, all pages, in both languages and in a narrow
// window.
import { axeViolations, expect, LEGACY, test, visit } from "./fixtures";

const GUIDE_PAGE_COUNT = 11;

test("the guide opens from Help, by F1 and from the palette", async ({ app }) => {
  await app.getByRole("button", { name: "Help" }).click();
  await app.getByRole("menuitem", { name: "User guide" }).click();
  await expect(app.getByRole("heading", { name: "Connect a server", level: 1 })).toBeVisible();
  await visit(app, "#/tools");
  await app.keyboard.press("F1");
  await expect(app, "F1 should open the guide").toHaveURL(/#\/guide$/);
  await visit(app, "#/tools");
  await app.keyboard.press("Control+k");
  await app.keyboard.type("user guide");
  await expect(app.getByRole("dialog").getByRole("option", { name: "User guide" })).toBeVisible();
  await app.keyboard.press("Enter");
  await expect(app.getByRole("heading", { name: "Connect a server", level: 1 }), "the palette should open the guide").toBeVisible();
});

for (const [language, theme] of [
  ["en", "light"],
  ["en", "dark"],
  ["zh", "light"],
] as const) {
  test.describe(`${language}, ${theme}`, () => {
    test.use({ setup: { ...LEGACY, running: [], language, theme } });

    test("every page is rendered", async ({ app }, info) => {
      await visit(app, "#/guide");
      const links = app.getByRole("main").getByRole("navigation").getByRole("link");
      await expect(links).toHaveCount(GUIDE_PAGE_COUNT);
      for (const link of await links.all()) {
        await link.click();
        const title = (await link.textContent()) ?? "";
        await expect(app.getByRole("article").getByRole("heading", { name: title, level: 1 }), `${title} should be shown`).toBeVisible();
        expect(await axeViolations(app), `axe should find no violations: ${title}`).toEqual([]);
        await app.screenshot({ path: info.outputPath(`${await link.getAttribute("href")}.png`.replace(/[#/]+/g, "-")) });
      }
    });
  });
}

test("a link opens another page at its start, and back restores the position", async ({ app }) => {
  await visit(app, "#/guide/sign-in");
  const link = app.getByRole("article").getByRole("link", { name: "Troubleshooting" });
  await link.scrollIntoViewIfNeeded();
  await link.focus();
  await app.keyboard.press("Enter");
  await expect(app).toHaveURL(/#\/guide\/troubleshooting$/);
  await expect(app.getByRole("heading", { name: "Troubleshooting", level: 1 }), "the page should be shown from its start").toBeInViewport();
  await expect(app.getByRole("article"), "the article should be focused").toBeFocused();
  await app.goBack();
  await expect(app.getByRole("heading", { name: "Sign in to a server", level: 1 })).toBeVisible();
});

test.describe("in a narrow window", () => {
  test.use({ viewport: { width: 480, height: 720 } });

  test("the page replaces the list, and nothing is wider than the window", async ({ app }, info) => {
    await visit(app, "#/guide");
    await app.getByRole("main").getByRole("link", { name: "Rules" }).click();
    await expect(app.getByRole("heading", { name: "Rules", level: 1 })).toBeVisible();
    await expect(app.getByRole("navigation", { name: "Pages of the user guide" })).toBeHidden();
    const wide = await app.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wide, "the window should not scroll horizontally").toBe(0);
    const article = await app.getByRole("article").evaluate((page) => page.scrollWidth - page.clientWidth);
    expect(article, "the article should not scroll horizontally").toBe(0);
    await app.screenshot({ path: info.outputPath("narrow.png") });
    await app.getByRole("button", { name: "All pages" }).click();
    await expect(app.getByRole("navigation", { name: "Pages of the user guide" })).toBeVisible();
  });
});
