// Models: a provider is added with its key, tested, made the default and removed. Uses an independent mock
// provider (aimock).
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Provider } from "../provider.cjs";
import { axeViolations, expect, LEGACY, test as base, visit } from "./fixtures";
import { savePicture } from "./pictures";

/** API key that must never be visible in the page or stored in a file. */
const KEY = "sk-canary-models-4b2e";

const test = base.extend<{ address: string }>({
  address: async ({}, use) => {
    const provider = await Provider.start(KEY);
    await use(provider.url);
    await provider.stop();
  },
});

/** Returns the paths of all files in a folder and its subfolders. */
function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

test("E31: a key is entered while the provider changes", async ({ app, host, address }) => {
  const settings = { id: "fake", kind: "openai", url: `${address}/v1`, conversions: [] };
  await host.call("set_provider", { ...settings, name: "Fake lab" });
  await host.call("set_provider_key", { id: "fake", key: KEY });
  await visit(app, "#/models");
  const card = app.getByRole("article", { name: "Fake lab" });
  await expect(card).toContainText("Key set");
  await card.getByText("New key").click();
  await card.getByLabel("Key").focus();
  await app.keyboard.type("sk-half");
  await host.call("set_provider", { ...settings, name: "Other lab" });
  const changed = app.getByRole("article", { name: "Other lab" });
  await expect(changed, "the change should be shown").toBeVisible();
  await expect(changed.getByLabel("Key"), "the field should stay expanded and focused").toBeFocused();
  await app.keyboard.type("-way");
  await expect(changed.getByLabel("Key"), "the text should be kept").toHaveValue("sk-half-way");
});

test("E23: a provider is added, tested, made the default and removed, with a note on how long keys are kept", async ({ app, host, address }) => {
  await visit(app, "#/models");
  await expect(app.getByText("No providers yet")).toBeVisible();
  await app.getByRole("button", { name: "Add a provider" }).click();
  const dialog = app.getByRole("dialog");
  await dialog.getByLabel("Provider").selectOption({ label: "Other (by address)" });
  await dialog.getByLabel("Name").fill("Fake lab");
  await dialog.getByLabel("Address").fill(`${address}/v1`);
  await dialog.getByLabel("Key, if required").fill("sk-wrong");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  const card = app.getByRole("article", { name: "Fake lab" });
  await expect(card, "the rejected key should be reported at once").toContainText("Enter another key.");
  // Until then the key field may have expanded automatically.
  await expect(card, "the card should show that a key is set").toContainText("Key set");
  await card.getByText("New key").click();
  await card.getByLabel("Key").fill(KEY);
  await card.getByRole("button", { name: "Save the key" }).click();
  await expect(card, "the provider should be tested again with the new key").toContainText(/It responded with \d+ models/);
  await card.getByText(/^\d+ models$/).click();
  const row = card.getByRole("row").nth(1);
  const name = await row.getByRole("rowheader").innerText();
  await row.getByRole("button", { name: /by default$/ }).click();
  await expect(app.getByText(`Default model: ${name} of Fake lab.`)).toBeVisible();
  await row.getByRole("button", { name: /sends a short message/ }).click();
  await expect(card, "the response of the model should be shown").toContainText(/responded after \d+ ms: “Hello!/);
  expect(await app.content(), "the page should not contain the key").not.toContain(KEY);
  // This host uses a file instead of the keychain. The key is in that file only.
  const keychain = join(host.platform, "keychain.json");
  expect(readFileSync(keychain, "utf8"), "the keychain should contain the key").toContain(KEY);
  for (const file of files(host.folder).filter((path) => path !== keychain)) {
    expect(readFileSync(file, "latin1"), `${file} should not contain the key`).not.toContain(KEY);
  }
  await expect(app.getByText(/Keys are encrypted/), "E23: the keychain should be mentioned").toBeVisible();
  const stored = readFileSync(keychain, "utf8");
  writeFileSync(keychain, "damaged");
  await app.evaluate(() => window.dispatchEvent(new Event("focus")));
  await expect(app.getByText(/A key that you enter is lost when Drawbridge closes/)).toBeVisible();
  await expect(app.getByText(/Keys are encrypted/), "E23: nothing should be claimed without a keychain").toHaveCount(0);
  writeFileSync(keychain, stored);
  await card.getByRole("button", { name: "Remove Fake lab" }).click();
  await app.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await expect(app.getByText("No providers yet")).toBeVisible();
});

for (const [language, theme, add] of [
  ["en", "dark", "Add a provider"],
  ["zh", "light", "添加提供商"],
] as const) {
  test.describe(`in ${language}, ${theme}`, () => {
    test.use({ setup: { ...LEGACY, running: [], language, theme }, viewport: { width: 480, height: 700 } });

    test("nothing is cut off in a small window, and axe finds nothing", async ({ app, host, address }) => {
      const settings = { id: "fake", name: "Fake", kind: "openai", url: `${address}/v1`, conversions: [] };
      await host.call("set_provider", settings);
      await host.call("set_provider_key", { id: "fake", key: KEY });
      await host.call("refresh_models", { id: "fake" });
      await visit(app, "#/models");
      const card = app.getByRole("article", { name: "Fake" });
      await expect(card, "the provider should be shown with its models").toContainText("gpt-4o");
      for (const part of await card.locator("summary").all()) await part.click();
      await expect(card.getByRole("row").nth(1)).toBeVisible();
      await savePicture(app, `models-${language}-${theme}`);
      const wider = () => app.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      await expect.poll(wider, "nothing should be wider than the window").toBeLessThanOrEqual(0);
      expect(await axeViolations(app), "axe should find no violations").toEqual([]);
      await app.getByRole("button", { name: add }).press("Enter");
      await expect(app.getByRole("dialog"), "Enter should open the dialog").toBeVisible();
      await savePicture(app, `models-add-${language}-${theme}`);
      expect(await axeViolations(app), "axe should find no violations").toEqual([]);
    });
  });
}
