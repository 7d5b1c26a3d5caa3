// Stored data: activity, decisions, grants, settings.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { allow, callTool, expect, consentRequest, test, visit } from "./fixtures";

test("the activity log is searched, opened and exported", async ({ app, host }) => {
  await callTool(app, "log_something");
  await allow(app, "Allow once");
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
  await visit(app, "#/server/harbour/activity");
  const list = app.getByTestId("activity-list");
  await expect(list.getByText("tools/call").first()).toBeVisible();
  await expect(list.getByText(/gull on the mast/).first(), "log messages should be listed together with other messages").toBeVisible();
  await app.getByRole("searchbox", { name: "Search activity" }).fill("tools/call");
  await expect(list.getByText("tools/list"), "the search should exclude other messages").toHaveCount(0);
  await list.getByText("tools/call").first().click();
  const details = app.getByRole("complementary");
  await expect(details.getByText('"log_something"').first(), "the details should show the whole message").toBeVisible();

  const file = join(host.folder, "activity.jsonl");
  host.setDialogAnswer("save-file", file);
  await app.getByRole("button", { name: "Export…" }).click();
  await expect(app.getByText(`Saved as ${file}`)).toBeVisible();
  const lines = readFileSync(file, "utf8").trim().split("\n");
  expect(lines.length, "every message should be one line").toBeGreaterThan(8);
  for (const line of lines) expect(() => JSON.parse(line), `${line.slice(0, 80)} should be JSON`).not.toThrow();
});

test("every decision is in the audit log, and a grant can be revoked", async ({ app }) => {
  await callTool(app, "fail");
  await consentRequest(app).getByRole("button", { name: "Deny" }).click();
  await callTool(app, "show_everything");
  await allow(app, "Always allow this tool");
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");

  await visit(app, "#/audit");
  const rows = app.getByRole("row");
  await expect(rows.filter({ hasText: "fail" }).getByText("Denied")).toBeVisible();
  const allowed = rows.filter({ hasText: "show_everything" });
  await expect(allowed.getByText("Allowed")).toBeVisible();
  await expect(allowed.getByText("you")).toBeVisible();

  await visit(app, "#/rules");
  await app.getByRole("button", { name: /Revoke: .*show_everything/ }).click();
  await expect(app.getByRole("button", { name: /Revoke: .*show_everything/ })).toHaveCount(0);
  await callTool(app, "show_everything");
  await expect(consentRequest(app), "the call should require consent again").toContainText("Run show_everything on harbour?");
  await consentRequest(app).getByRole("button", { name: "Deny" }).click();
});

test("E26: the hash in a request finds its decision in the audit log", async ({ app, host }) => {
  await callTool(app, "fail");
  const { hash } = await host.consentRequest("tool");
  const short = consentRequest(app).getByText(`Hash: ${hash.slice(0, 8)}`);
  await expect(short, "the request should show the beginning of its hash").toBeVisible();
  await short.click();
  await expect(consentRequest(app).getByText(hash), "the whole hash should be one click away").toBeVisible();
  await consentRequest(app).getByRole("button", { name: "Deny", exact: true }).click();
  await visit(app, "#/audit");
  await app.getByRole("searchbox", { name: "Search decisions" }).fill(hash);
  await expect(app.getByRole("row").filter({ hasText: "fail" }).getByText("Denied")).toBeVisible();
  await expect(app.getByRole("row"), "no other decision should have this hash").toHaveCount(2);
});

test("the audit log is searched, expanded, verified and exported, also by keyboard", async ({ app, host }) => {
  await callTool(app, "fail");
  await consentRequest(app).getByRole("button", { name: "Deny" }).click();
  await callTool(app, "show_everything");
  await allow(app, "Allow once");
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
  await visit(app, "#/audit");
  const rows = app.getByRole("row");
  await expect(rows.filter({ hasText: "show_everything" })).toBeVisible();
  await app.getByRole("searchbox", { name: "Search decisions" }).fill("FAIL denied");
  await expect(rows.filter({ hasText: "show_everything" }), "the search should exclude other decisions").toHaveCount(0);
  await expect(rows).toHaveCount(2);

  const details = app.getByRole("button", { name: /^Details of decision/ });
  await details.focus();
  await app.keyboard.press("Enter");
  await expect(details).toHaveAttribute("aria-expanded", "true");
  await expect(app.getByText("Content not sent"), "the details should show that the payload was not sent").toBeVisible();
  await app.getByRole("searchbox").fill("nothing like this");
  await app.getByRole("button", { name: "Clear the filters" }).click();
  await expect(rows.filter({ hasText: "show_everything" })).toBeVisible();
  await app.getByRole("combobox", { name: "Type" }).selectOption("start-server");
  await expect(rows.filter({ hasText: "show_everything" })).toHaveCount(0);

  await app.getByRole("button", { name: "Check the log" }).click();
  await expect(app.getByTestId("audit-verdict")).toContainText("Nothing was changed or removed");
  await expect(
    app.getByTestId("audit-verdict"),
    "the end of the log should be sealed with the key in the keychain",
  ).toContainText("The end is sealed");

  const file = join(host.folder, "audit.jsonl");
  host.setDialogAnswer("save-file", file);
  await app.getByRole("button", { name: "Export…" }).click();
  await expect(app.getByText(`Saved as ${file}`)).toBeVisible();
  const lines = readFileSync(file, "utf8").trim().split("\n");
  expect(JSON.parse(lines[0] ?? ""), "the first line should describe the file").toMatchObject({ format: "drawbridge audit log" });
  const decisions = lines.slice(1, -1).map((line) => JSON.parse(line).entry.decision as string);
  expect(decisions, "the file should contain every decision").toEqual(expect.arrayContaining(["allowed", "denied"]));
});

test("theme and language are stored", async ({ app, host }) => {
  await visit(app, "#/settings");
  await app.getByRole("radio", { name: "Dark" }).or(app.getByRole("button", { name: "Dark" })).first().click();
  await expect(app.locator("html")).toHaveAttribute("data-theme", "dark");
  await app.getByRole("radio", { name: "简体中文" }).or(app.getByRole("button", { name: "简体中文" })).first().click();
  await expect(app.locator("html")).toHaveAttribute("lang", /zh/);
  // A choice is shown before it is saved.
  const saved = () => JSON.parse(readFileSync(join(host.data, "settings.json"), "utf8")) as object;
  await expect.poll(saved, "the settings file should contain both choices").toMatchObject({ theme: "dark", language: "zh" });
  await app.reload();
  await expect(app.locator("html"), "the theme should be restored after a reload").toHaveAttribute("data-theme", "dark");
  await expect(app.locator("html")).toHaveAttribute("lang", /zh/);
});
