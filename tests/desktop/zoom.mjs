// Zoom of the web view by the usual keys of browsers, stored across starts.
import assert from "node:assert/strict";

const CONTROL = "\uE009";

/** Returns the width of the page in CSS pixels. At a zoom of 200 %, it is half of the window's width. */
const width = (page) => page.run(() => innerWidth);

/** Width of the page at the last zoom before the first window was closed. */
let storedWidth;

export async function zoomByKeys(page, _place, step) {
  await step("E11: Ctrl and plus zoom the page up to 200 %, and nothing is cut off", async () => {
    await page.go("#/settings");
    const before = await width(page);
    for (let times = 0; times < 7; times++) await page.chord(CONTROL, "+");
    await page.until("the page to be twice as large", async () => Math.abs((await width(page)) - before / 2) <= 1);
    const isChosen = () => [...document.querySelectorAll("select")].some((one) => one.selectedOptions[0]?.text === "200%");
    await page.until("Settings to show the zoom", () => page.run(isChosen));
    for (const [name, view] of [["settings", "#/settings"], ["add-server", "#/add-server"], ["rules", "#/rules"]]) {
      await page.go(view);
      await page.picture(`E11-${name}-at-200`);
      const over = await page.run(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${name} should not be ${over} pixels wider than the window`);
    }
    await page.go("#/settings");
    await page.chord(CONTROL, "-");
    await page.until("the zoom to be reduced by a step", async () => Math.abs((await width(page)) - before / 1.75) <= 1);
    await page.chord(CONTROL, "0");
    await page.until("the zoom to be reset", async () => (await width(page)) === before);
    await page.choose("Zoom", "150%");
    await page.until("the selected zoom", async () => Math.abs((await width(page)) - before / 1.5) <= 1);
    storedWidth = await width(page);
  });
}

export async function zoomRestored(page, _place, step) {
  await step("E11: the next start restores the zoom", async () => {
    await page.go("#/settings");
    // The zoom is restored once the settings are read, which may be after the first drawing.
    await page.until("the stored zoom to be restored", async () => Math.abs((await width(page)) - storedWidth) <= 1);
    await page.chord(CONTROL, "0");
    await page.until("the zoom to be reset", async () => Math.abs((await width(page)) - storedWidth * 1.5) <= 2);
  });
}
