// Computer check, from the help menu and from a server that did not start.
import { userInfo } from "node:os";

import { axeViolations, expect, LEGACY, test, visit } from "./fixtures";

const SECRET = "canary-0123456789";
const MISSING = "canary-program";

test.use({
  setup: {
    ...LEGACY,
    servers: { canary: { command: MISSING, args: [`--token=${SECRET}`], env: { TOKEN: SECRET } } },
    running: [],
  },
  permissions: ["clipboard-read", "clipboard-write"],
});

test("finds problems, and its report contains no private data", async ({ app, host }) => {
  await app.getByRole("button", { name: "Help" }).click();
  await app.getByRole("menuitem", { name: "Check this computer" }).click();
  const dialog = app.getByRole("dialog", { name: "Check this computer" });
  const programs = dialog.getByRole("group", { name: "Programs of other servers" });
  await expect(programs, "the finding should name the missing program").toContainText(MISSING, { timeout: 60_000 });
  await expect(programs.getByRole("button", { name: "canary" }), "the finding should link to the server").toBeVisible();
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);

  await dialog.getByRole("button", { name: "Copy report" }).click();
  await expect(dialog.getByText("Report copied")).toBeAttached();
  const report = await app.evaluate(() => navigator.clipboard.readText());
  expect(report, "the report should be in the clipboard").toContain("## Drawbridge: report on this computer");
  expect(report, "the report should count servers by type").toContain("1 × local");
  const { username, homedir } = userInfo();
  const home = process.env.HOME ?? homedir;
  for (const one of [SECRET, MISSING, "canary", host.folder, `${home}/`, `/${username}/`]) {
    expect(report, `the report should not contain ${one}`).not.toContain(one);
  }
  await app.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
});

test("a server with a missing program links to the matching checks", async ({ app, host }) => {
  await visit(app, "#/server/canary");
  await app.getByRole("button", { name: "Start", exact: true }).click();
  const failure = app.getByRole("group", { name: "Why this server is not running" });
  await failure.getByRole("button", { name: "Check this computer" }).click();
  const dialog = app.getByRole("dialog", { name: "Check this computer" });
  await expect(dialog.getByRole("heading", { name: "About canary" })).toBeVisible({ timeout: 60_000 });
  await expect(dialog.getByRole("group").first(), "the finding should name the missing program").toContainText(MISSING);
  expect((await host.snapshot()).servers[0]?.state.is, "the start of the server should have failed").toBe("failed");
});
