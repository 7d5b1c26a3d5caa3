// Auxiliary functions of the window: saving media, log messages, pings, review marks.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { allow, callTool, expect, MODERN, test, visit } from "./fixtures";
import { scenarioSetup, TOOL, text } from "./scenario";

test("E21: a picture of a tool is saved byte for byte under a safe name", async ({ app, host }) => {
  await callTool(app, "show_everything");
  await allow(app, "Allow once");
  const result = app.getByTestId("tool-result");
  await expect(result).toHaveAttribute("data-state", "done");
  const file = join(host.folder, "kept.png");
  host.setDialogAnswer("save-file", file);
  await result.getByRole("button", { name: /^Save show_everything/ }).first().click();
  await expect(result.getByText(`Saved as ${file}`)).toBeVisible();
  expect(readFileSync(file).subarray(0, 4).toString("latin1"), "the file should be a PNG picture").toBe("\x89PNG");
});

test("the window never scrolls as a whole, and its title bar stays in view", async ({ app }) => {
  await app.setViewportSize({ width: 1180, height: 420 });
  for (const view of ["#/rules", "#/audit", "#/settings", "#/server/harbour/tools/plan_trip"]) {
    await visit(app, view);
    await expect(app.getByRole("main").getByRole("heading").first()).toBeVisible();
    await app.getByRole("main").getByRole("button").last().focus();
    const top = await app.evaluate(() => {
      document.scrollingElement?.scrollTo(0, 1_000);
      document.body.scrollTo(0, 1_000);
      return document.getElementById("app")?.getBoundingClientRect().top;
    });
    expect(top, `${view} should not scroll the window`).toBe(0);
  }
});

test("E22: log messages are listed once, on the Activity tab, by severity", async ({ app }) => {
  await visit(app, "#/server/harbour/overview");
  await expect(app.getByRole("button", { name: "Ping" })).toBeVisible();
  await expect(
    app.getByRole("combobox", { name: /level|log messages/ }),
    "the overview should have no filter for log messages",
  ).toHaveCount(0);
  await callTool(app, "log_something");
  await allow(app, "Allow once");
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
  await visit(app, "#/server/harbour/activity");
  const list = app.getByTestId("activity-list");
  await expect(list.getByText(/gull on the mast/).first()).toBeVisible();
  await expect(list.getByText("notifications/message"), "each message should be listed once").toHaveCount(0);
  await app.getByRole("combobox", { name: "Show log messages" }).selectOption("emergency and above");
  await expect(list.getByText(/gull on the mast/), "only messages of this severity should be listed").toHaveCount(1);
  await app.getByRole("combobox", { name: "Minimum level that the server sends" }).selectOption("debug");
  await expect(list.getByText("logging/setLevel").first()).toBeVisible();
});

test("E29: a ping on request shows the round-trip time", async ({ app }) => {
  await visit(app, "#/server/harbour/overview");
  await app.getByRole("button", { name: "Ping" }).click();
  await expect(app.getByText(/^Responded in /)).toBeVisible();
  await visit(app, "#/server/harbour/activity");
  await expect(app.getByRole("option", { name: "ping" }).first(), "the ping should be in the activity log").toBeVisible();
});

test.describe("a server of the newest revision", () => {
  test.use({ setup: MODERN });

  test("E29: is pinged by server/discover, which is shown", async ({ app }) => {
    await visit(app, "#/server/harbour/overview");
    await expect(app.getByText(/has no ping/)).toBeVisible();
    await app.getByRole("button", { name: "Check connection" }).click();
    await expect(app.getByText(/^Responded in /)).toBeVisible();
  });

  test("E13: without sampling a call shows the disabled setting, and links to it", async ({ app }) => {
    await visit(app, "#/server/harbour/permissions");
    await app.getByRole("checkbox", { name: "Let this server use your models" }).uncheck();
    await app.getByRole("button", { name: "Restart now" }).click();
    await callTool(app, "ask_model");
    await allow(app, "Allow once");
    const result = app.getByTestId("tool-result");
    await expect(result).toContainText("Sampling is off for harbour");
    await result.getByRole("button", { name: "Open the setting" }).click();
    await expect(app.getByRole("checkbox", { name: "Let this server use your models" })).not.toBeChecked();
  });
});

test("E30: a server with unreviewed definitions is marked until they are reviewed", async ({ app }) => {
  const row = app.getByRole("navigation").getByRole("link", { name: /harbour/ });
  await expect(row).toHaveAccessibleName(/new tools? (or|and) prompts? you have not reviewed yet/);
  const before = Number(/(\d+) new/.exec(await row.innerText())?.[1]);
  await visit(app, "#/server/harbour/tools");
  await app.getByRole("button", { name: /^Review \d+ new tools?/ }).click();
  await app.getByRole("button", { name: /^Mark \d+ tools? as reviewed/ }).click();
  await expect(async () => {
    expect(Number(/(\d+) new/.exec(await row.innerText())?.[1] ?? 0), "fewer definitions should be unreviewed").toBeLessThan(before);
  }).toPass();
});

test("E31: a checkbox stays as clicked while a slow host reports other changes", async ({ app, host }) => {
  type Settings = { announce: boolean; theme: string };
  const stored = async () => ((await host.snapshot()) as unknown as { settings: Settings }).settings;
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const isHeld = app.waitForRequest("**/api/set_settings");
  await app.route("**/api/set_settings", async (route) => {
    await held;
    await route.continue();
  });
  await visit(app, "#/settings");
  const box = app.getByRole("checkbox", { name: /Notify me about requests/ });
  await expect(box).toBeChecked();
  await box.click();
  await isHeld;
  await host.call("set_settings", { ...(await stored()), theme: "dark" });
  await expect(app.locator("html"), "the other change should be shown").toHaveAttribute("data-theme", "dark");
  await expect(box, "the click should not be undone by another change").not.toBeChecked();
  release();
  await expect.poll(async () => (await stored()).announce, { message: "the click should be stored" }).toBe(false);
  await expect(box, "the response should not undo the click").not.toBeChecked();
});

test.describe("a result with the page of an app", () => {
  const page = { uri: "ui://said/view", mimeType: "text/html;profile=mcp-app", text: "<h1>Tide table</h1>" };
  const content = [text("High at noon."), { type: "resource", resource: page }];
  test.use({ setup: scenarioSetup({ calls: { [TOOL.name]: { content } } }) });

  test("E28: shows its source on request only, and never as a page", async ({ app }) => {
    await callTool(app, TOOL.name);
    await allow(app, "Allow once");
    const result = app.getByTestId("tool-result");
    await expect(result).toContainText("High at noon.");
    await expect(result.getByText("ui://said/view"), "the app should be named").toBeVisible();
    await expect(result, "the source should be hidden at first").not.toContainText("Tide table");
    await result.getByRole("button", { name: "Show the source" }).click();
    await expect(result, "the source should be shown as text").toContainText("<h1>Tide table</h1>");
    await expect(result.getByRole("heading", { name: "Tide table" }), "the source should not be rendered").toHaveCount(0);
    await expect(app.locator("iframe"), "no app should be started").toHaveCount(0);
  });
});
