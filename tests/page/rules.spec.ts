// Rules in the real page: edited, tested, applied, in small windows and in Chinese.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { allow, axeViolations, callTool, expect, consentRequest, test, visit } from "./fixtures";

test("a rule is written, tested, and denies", async ({ app, host }) => {
  await visit(app, "#/rules");
  await app.getByRole("button", { name: "Add a rule" }).click();
  const dialog = app.getByRole("dialog");
  await dialog.getByLabel("Action").selectOption("deny");
  await dialog.getByLabel("Server", { exact: true }).fill("har*");
  await dialog.getByLabel("Tool", { exact: true }).fill("show_everything");
  await dialog.getByLabel("Note").fill("not today");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await expect(app.getByText("tool show_everything of har*")).toBeVisible();
  const stored = JSON.parse(readFileSync(join(host.data, "policy.json"), "utf8")) as { rules: object[] };
  expect(stored.rules, "the file should contain the rule in readable form").toMatchObject([{ effect: "deny", note: "not today" }]);

  await app.getByLabel("Tool", { exact: true }).fill("show_everything");
  await app.getByRole("button", { name: "Test" }).click();
  await expect(app.getByText("It would be denied")).toBeVisible();
  await expect(app.getByText("Decided by: rule 1.")).toBeVisible();

  await callTool(app, "show_everything");
  await expect(app.getByText(/by rule 1/).first(), "the refused call should name the rule").toBeVisible();
  await expect(consentRequest(app), "no consent request should be shown").toHaveCount(0);
});

test("the careful preset requires consent again, and a grant can be revoked", async ({ app }) => {
  await callTool(app, "show_everything");
  await allow(app, "Allow for one hour");
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
  await visit(app, "#/rules");
  const row = app.getByRole("list", { name: "Allowed without asking" }).getByRole("listitem").filter({ hasText: "show_everything" });
  await expect(row.getByText(/^Until /), "the row should show the end of the grant").toBeVisible();
  await expect(row.getByText("Not used since you gave it")).toBeVisible();
  await app.getByRole("radio", { name: /^Careful/ }).check();
  await callTool(app, "show_everything");
  await expect(consentRequest(app), "the call should require consent in spite of the grant").toContainText("the Careful preset");
  await consentRequest(app).getByRole("button", { name: "Deny" }).click();
});

for (const width of [1180, 480]) {
  test(`E24: a grant is revoked at once, and restored by Undo: ${width}`, async ({ app }) => {
    await app.setViewportSize({ width, height: 780 });
    await callTool(app, "show_everything");
    await allow(app, "Allow until Drawbridge closes");
    await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
    await callTool(app, "show_everything");
    await expect(app.getByTestId("tool-result").first()).toHaveAttribute("data-state", "done");
    await visit(app, "#/rules");
    const list = app.getByRole("list", { name: "Allowed without asking" });
    const row = list.getByRole("listitem").filter({ hasText: "show_everything" });
    await expect(row, "the row should show that the grant is not stored").toContainText("Until Drawbridge closes");
    await expect(row, "the row should show that the second call used the grant").toContainText(/Last used .* by you/);
    await row.getByRole("button", { name: /^Revoke/ }).click();
    await expect(row, "E24: it should be revoked without a confirmation").toContainText("Revoked");
    await list.scrollIntoViewIfNeeded();
    await app.screenshot({ path: test.info().outputPath(`allowed-${width}.png`), fullPage: true });
    await row.getByRole("button", { name: /^Undo/ }).click();
    await expect(app.getByText("It is allowed again, as before.")).toBeVisible();
    await callTool(app, "show_everything");
    await expect(consentRequest(app), "the restored grant should allow the call").toHaveCount(0);
    const over = () => app.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    await expect.poll(over, "nothing should be cut off at the side").toBeLessThanOrEqual(0);
  });
}

test("E24: a rule that allows is removed at once, and Undo puts it back under its number and in its place", async ({ app, host }) => {
  const rule = { id: "", source: "user", effect: "allow", server: "harbour", tool: "add", direction: "to_server", arguments: [] };
  const rest = { annotations: null, scope: { kind: "always" }, expiresAt: null, trustedServer: false, identity: null, afterUntrusted: false };
  for (const note of ["first", "second"]) await host.call("set_policy_rule", { ...rule, ...rest, note });
  const stored = () => (JSON.parse(readFileSync(join(host.data, "policy.json"), "utf8")) as { rules: object[] }).rules;
  const before = stored();
  expect(before).toMatchObject([{ note: "first" }, { note: "second" }]);
  await visit(app, "#/rules");
  await app.getByRole("button", { name: /^Remove: Allow/ }).first().click();
  await expect(app.getByText("Rule removed")).toBeVisible();
  expect(stored(), "the rule should be removed at once").toMatchObject([{ note: "second" }]);
  await app.getByRole("button", { name: "Undo", exact: true }).click();
  await expect(app.getByText("Rule removed")).toHaveCount(0);
  expect(stored(), "the file should be as before").toEqual(before);
});

test("a rule is written from a request, and allows similar calls", async ({ app, host }) => {
  const arguments_ = { a: 1, b: 2 };
  const reviewing = host.call("call_tool", { call: "seen", server: "harbour", tool: "add", arguments: arguments_ });
  await host.answerNext("tool", { action: "allow", scope: "once" });
  await reviewing;
  const result = app.getByTestId("tool-result");
  const call = async (a: string, b: string) => {
    await app.getByRole("textbox", { name: /First number/ }).fill(a);
    await app.getByRole("textbox", { name: /Second number/ }).fill(b);
    await app.getByRole("button", { name: "Call", exact: true }).click();
  };
  await visit(app, "#/server/harbour/tools/add");
  await call("20", "22");
  await consentRequest(app).getByRole("button", { name: "More ways to allow" }).click();
  await app.getByRole("menuitem", { name: "Always when…" }).click();
  const editor = app.getByRole("dialog", { name: "New rule" });
  await expect(editor.getByLabel("Pattern (condition 1)"), "the rule should have conditions from the call").toHaveValue("20");
  await expect(editor.getByLabel("Pattern (condition 2)")).toHaveValue("22");
  await expect(consentRequest(app), "the editor should hide the request").toHaveCount(0);
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  for (const width of [1180, 480]) {
    await app.setViewportSize({ width, height: 800 });
    const over = () => app.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    await expect.poll(over, "nothing should be cut off at the side").toBeLessThanOrEqual(0);
    await app.screenshot({ path: test.info().outputPath(`always-when-${width}.png`) });
  }
  await editor.getByLabel("Pattern (condition 2)").fill("..100");
  await editor.getByRole("button", { name: "Save", exact: true }).click();
  await expect(editor).toHaveCount(0);
  await expect(consentRequest(app), "the request should still be pending").toBeVisible();
  await allow(app, "Allow once");
  await expect(result).toHaveAttribute("data-state", "done");
  await expect(consentRequest(app)).toHaveCount(0);

  await call("20", "50");
  await expect(result, "a similar call should be allowed").toContainText("70");
  await expect(consentRequest(app), "no consent request should be shown").toHaveCount(0);
  await call("20", "200");
  await expect(consentRequest(app), "a different call should require consent").toContainText("200");
  await consentRequest(app).getByRole("button", { name: "Deny" }).click();
});

test("a rule can't be written from the request of a tool that was not reviewed", async ({ app }) => {
  await callTool(app, "show_everything");
  await consentRequest(app).getByRole("button", { name: "More ways to allow" }).click();
  const item = app.getByRole("menuitem", { name: /^Always when…/ });
  await expect(item).toBeDisabled();
  await expect(item, "the entry should show the reason").toContainText("Rules allow reviewed tools only");
  for (const width of [1180, 480]) {
    await app.setViewportSize({ width, height: 800 });
    await expect(item, "the entry should stay in the window").toBeInViewport({ ratio: 1 });
    await app.screenshot({ path: test.info().outputPath(`always-when-disabled-${width}.png`) });
  }
});

test("a server whose start a rule denies names the rule, and opens the rules", async ({ app, host }) => {
  const rule = { id: "", source: "user", effect: "deny", server: "harbour", tool: null, direction: "both", arguments: [] };
  const rest = { annotations: null, scope: { kind: "always" }, expiresAt: null, trustedServer: false, identity: null, afterUntrusted: false };
  await host.call("set_policy_rule", { ...rule, ...rest, note: "closed for now" });
  await visit(app, "#/server/harbour/overview");
  const main = app.getByRole("main");
  await expect(main.getByText("A rule denied its start")).toBeVisible();
  await expect(main.getByText(/refused by rule \d+/i)).toBeVisible();
  await expect(main.getByText("You denied the start."), "the user denied nothing").toHaveCount(0);
  await main.getByRole("button", { name: "Open Rules" }).click();
  await expect(app).toHaveURL(/#\/rules/);
});

test("an invalid file is reported at once, and everything requires consent", async ({ app, host }) => {
  await visit(app, "#/rules");
  await expect(app.getByText("No rules.", { exact: false })).toBeVisible();
  writeFileSync(join(host.data, "policy.json"), '{"version": 1, "rules": [{"effect": "maybe"}]}');
  await expect(app.getByText("Your rules can't be used, so everything asks")).toBeVisible();
  await expect(app.getByText(/rules\[0\]\.effect/)).toBeVisible();
});

for (const [name, width, height, language, theme] of [
  ["small", 420, 640, "en", "light"],
  ["chinese-dark", 1000, 800, "zh", "dark"],
] as const) {
  test(`the rules fit into the window: ${name}`, async ({ app, host }) => {
    const rules = [
      { effect: "deny", server: "harbour", tool: "delete_*", arguments: [{ at: "/path", folder: "/etc" }] },
      { effect: "ask", annotations: { destructiveHint: true }, note: "x".repeat(300) },
      { effect: "allow", server: "harbour", tool: "add", expires_at: "2100-01-01T00:00:00Z" },
    ];
    writeFileSync(join(host.data, "policy.json"), JSON.stringify({ version: 1, rules }));
    await app.setViewportSize({ width, height });
    await visit(app, "#/settings");
    const chosen = { light: 1, dark: 2 }[theme];
    await app.getByRole("radio").nth(chosen).check();
    if (language === "zh") await app.getByRole("radio", { name: "简体中文" }).check();
    await visit(app, "#/rules");
    await expect(app.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(app.locator("li").filter({ hasText: "delete_*" })).toBeVisible();
    const over = () => app.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    await expect.poll(over, "nothing should be cut off at the side").toBeLessThanOrEqual(0);
    await app.screenshot({ path: test.info().outputPath(`rules-${name}.png`), fullPage: true });
  });
}
