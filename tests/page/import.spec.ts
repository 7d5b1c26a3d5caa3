// Servers of other apps, from the first start to the first approval.
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { axeViolations, DEMO, expect, FIRST_START, consentRequest, test, visit } from "./fixtures";

const SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const CURSOR = ".cursor/mcp.json";
const servers = (mcpServers: object): string => JSON.stringify({ mcpServers });
const HOME = {
  [CURSOR]: servers({
    notes: { command: DEMO, args: ["--era", "both"], env: { GITHUB_TOKEN: SECRET, LEVEL: "info" } },
    far: { url: "https://far.example/mcp", headers: { Authorization: "Bearer ${env:FAR_TOKEN}" } },
    socket: { type: "ws", url: "wss://far.example/mcp" },
  }),
  ".codeium/windsurf/mcp_config.json": servers({
    notes: { command: DEMO, args: ["--era", "both"], env: { GITHUB_TOKEN: SECRET, LEVEL: "info" } },
    quiet: { command: DEMO, disabled: true, disabledTools: ["add"] },
  }),
  ".codex/config.toml": "[mcp_servers.broken]\ncommand = \n",
};

test.use({ setup: { ...FIRST_START, home: HOME } });

test("servers of other apps are scanned on request, imported as selected, and start only once approved", async ({ app, host }) => {
  const main = app.getByRole("main");
  await main.getByRole("button", { name: "Search for servers" }).click();
  await expect(main.getByRole("heading", { name: "Found 4 servers" }), "equal servers should be one row").toBeFocused();
  const notes = main.getByRole("group", { name: "notes", exact: true });
  await expect(notes, "the row should show the whole command").toContainText(`${DEMO} --era both`);
  await expect(notes, "the row should name both files").toContainText("mcp_config.json");
  await expect(main, "the page should not show the secret").not.toContainText(SECRET);
  await expect(main.getByRole("checkbox", { name: "socket" }), "an unsupported server should be disabled").toBeDisabled();
  const quiet = main.getByRole("group", { name: "quiet" });
  await expect(quiet).toContainText("Off in Windsurf");
  await expect(main.getByRole("region", { name: "Files that could not be read" })).toContainText("Line 2, column");
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  expect((await host.snapshot()).servers.length, "nothing should be imported yet").toBe(1);

  await expect(
    main.getByRole("checkbox", { name: "quiet" }),
    "a server that is disabled in the other app should not be preselected",
  ).not.toBeChecked();
  const take = main.getByRole("checkbox", { name: "Take FAR_TOKEN from my environment" });
  await expect(take, "nothing is taken from the environment by default").not.toBeChecked();
  await take.check();
  await main.getByRole("button", { name: "Import 2 servers" }).click();
  await expect(main.getByRole("heading", { name: "2 servers imported" })).toBeFocused();
  await expect(main, "a variable that is not set is named").toContainText("Not set in the environment of Drawbridge");
  await expect(main.getByRole("region", { name: "Values to enter" })).toContainText("Authorization");
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  const imported = (await host.snapshot()).servers.filter(({ name }) => name !== "demo");
  expect(imported.map(({ name }) => name).sort()).toEqual(["far", "notes"]);
  expect(
    imported.map(({ state }) => state.is),
    "no server should be started",
  ).toEqual(["stopped", "stopped"]);
  expect(readFileSync(host.config, "utf8"), "the settings file should not contain the secret").not.toContain(SECRET);
  expect(readFileSync(join(host.home, CURSOR), "utf8"), "the file of the other app should be unchanged").toBe(HOME[CURSOR]);

  await main.getByRole("button", { name: "notes", exact: true }).click();
  await main.getByRole("button", { name: "Start", exact: true }).click();
  await expect(consentRequest(app), "the first start should require consent").toContainText("GITHUB_TOKEN");
});

test("servers that changed since the scan are not imported, and can be scanned again", async ({ app, host }) => {
  await visit(app, "#/import");
  const main = app.getByRole("main");
  await main.getByRole("button", { name: "Search for servers" }).click();
  await main.getByRole("button", { name: "Select none of Cursor" }).click();
  await main.getByRole("checkbox", { name: "far", exact: true }).check();
  await main.getByRole("checkbox", { name: "quiet" }).uncheck();
  host.writeAtHome(CURSOR, servers({ far: { url: "https://near.example/mcp" } }));
  await main.getByRole("button", { name: "Import 1 server" }).click();
  await expect(main).toContainText("far was not imported");
  expect((await host.snapshot()).servers.length, "nothing should be imported").toBe(1);
  await main.getByRole("button", { name: "Search again" }).click();
  await expect(
    main.getByRole("group", { name: "far" }),
    "the row should show the current settings",
  ).toContainText("https://near.example/mcp");
});

test("incomplete servers are not preselected, and list their missing values", async ({ app, host }) => {
  const args = ["--era", "both", `--token=${SECRET}`];
  host.writeAtHome(CURSOR, servers({ option: { command: DEMO, args, cwd: "/tmp" }, whole: { command: DEMO, args: ["--era", "legacy"] } }));
  await visit(app, "#/import");
  const main = app.getByRole("main");
  await main.getByRole("button", { name: "Search for servers" }).click();
  const option = main.getByRole("group", { name: "option" });
  await expect(option, "the row should show the incomplete argument").toContainText("Argument 3 --token=<token>");
  await expect(option, "the row should show the working folder").toContainText("/tmp");
  await expect(main.getByRole("checkbox", { name: "option" }), "an incomplete server should not be preselected").not.toBeChecked();
  await expect(main.getByRole("checkbox", { name: "whole" })).toBeChecked();
  await main.getByRole("checkbox", { name: "option" }).check();
  await main.getByRole("button", { name: "Import 3 servers" }).click();
  const rest = main.getByRole("region", { name: "Values to enter" });
  await expect(rest, "the incomplete argument should be listed after the import").toContainText("Argument 3 --token=<token>");
  expect(readFileSync(host.config, "utf8"), "the settings file should not contain the secret").not.toContain(SECRET);
  await rest.getByRole("button", { name: "Open settings of option" }).click();
  await expect(main.getByRole("textbox", { name: "Argument 3" })).toHaveValue("--token=<token>");
});

test("servers of a project are untrusted and never preselected", async ({ app, host }) => {
  const project = join(realpathSync(host.home), "work");
  host.writeAtHome("work/.mcp.json", servers({ brought: { command: DEMO, args: ["--era", "legacy"] } }));
  await visit(app, "#/server/demo/roots");
  const main = app.getByRole("main");
  await main.getByRole("textbox", { name: "Or type a path" }).fill(project);
  await main.getByRole("button", { name: "Add path" }).click();
  await expect(main, "the page should name the file").toContainText("has its own servers: .mcp.json");
  expect((await host.snapshot()).servers.length, "the page should add no server").toBe(1);
  await main.getByRole("button", { name: `Review the servers of ${project}` }).click();
  await expect(main.getByRole("heading", { name: "Found 1 server" })).toBeFocused();
  await expect(main.getByRole("checkbox", { name: "brought" }), "the server should not be preselected").not.toBeChecked();
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  await main.getByRole("checkbox", { name: "brought" }).check();
  await main.getByRole("button", { name: "Import 1 server" }).click();
  await expect(main.getByRole("heading", { name: "1 server imported" })).toBeFocused();
  expect((await host.snapshot()).servers.map(({ state }) => state.is)).not.toContain("running");
});

test("a shared folder with servers is announced once for each content of its files", async ({ app, host }) => {
  const project = join(realpathSync(host.home), "work");
  const file = "work/.vscode/mcp.json";
  const brought = (...args: string[]) => JSON.stringify({ servers: { brought: { command: DEMO, args } } });
  host.writeAtHome(file, brought("--era", "legacy"));
  await host.call("set_roots", { server: "demo", folders: [project] });
  const main = app.getByRole("main");
  const notice = main.getByRole("status").filter({ hasText: "This folder sets up 1 server" });
  await expect(notice, "the notice should name the folder").toContainText(project);
  await expect(notice, "the notice should name the file").toContainText(".vscode/mcp.json");
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  expect((await host.snapshot()).servers.length, "nothing should be imported").toBe(1);
  await notice.getByRole("button", { name: `Review the servers of ${project}` }).click();
  await expect(main.getByRole("heading", { name: "Found 1 server" })).toBeFocused();
  await expect(main.getByRole("checkbox", { name: "brought" }), "the server should not be preselected").not.toBeChecked();
  await expect.poll(() => host.call("list_unseen_projects", {}), "the folder should count as seen").toEqual({ projects: [] });

  const reload = async () => {
    const read = app.waitForResponse(/\/api\/list_unseen_projects$/);
    await app.reload();
    await (await read).finished();
  };
  await visit(app, "#/settings");
  await reload();
  await expect(notice, "the notice should not return").toHaveCount(0);
  host.writeAtHome(file, brought("--era", "both"));
  await reload();
  await expect(notice, "a changed file should be announced again").toContainText(project);
  await notice.getByRole("button", { name: `Dismiss the note on ${project}` }).click();
  await expect(notice).toHaveCount(0);
  await expect.poll(() => host.call("list_unseen_projects", {}), "the dismissal should be stored").toEqual({ projects: [] });
});

test("a server is copied as JSON and as a link, and its secret is named but not copied", async ({ app, host, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const config = { type: "stdio", command: DEMO, args: ["--era", "both"], env: { GITHUB_TOKEN: SECRET }, cwd: "/tmp", revision: null };
  await host.call("add_server", { name: "notes", config });
  await visit(app, "#/server/notes");
  const main = app.getByRole("main");
  const copied = () => app.evaluate(() => navigator.clipboard.readText());
  const choose = async (item: string) => {
    await main.getByRole("button", { name: "More", exact: true }).click();
    await app.getByRole("menuitem", { name: item, exact: true }).click();
  };
  await choose("Copy settings as JSON");
  const note = main.getByRole("status").filter({ hasText: "because they are secrets: GITHUB_TOKEN." });
  await expect(note).toContainText("Settings copied as JSON");
  const env = { GITHUB_TOKEN: "${NOTES_GITHUB_TOKEN}" };
  const entry = { command: DEMO, args: ["--era", "both"], env, cwd: "/tmp" };
  expect(JSON.parse(await copied()), "the clipboard should have a reference").toEqual({ mcpServers: { notes: entry } });
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);

  await choose("Copy “Add to Drawbridge” link");
  await expect(note, "the note should name the omitted setting").toContainText("no place for it in the copy: working folder.");
  const link = await copied();
  expect(link).toMatch(/^drawbridge:\/\/mcp\/install\?name=notes&config=/);
  expect(Buffer.from(link.split("config=")[1]!, "base64url").toString(), "the link should have no secret").not.toContain(SECRET);

  await choose("Copy “Add to Drawbridge” badge (Markdown)");
  await expect(note).toContainText("Badge copied as Markdown");
  const badge = await copied();
  expect(badge, "the badge should have the link, and the link as text").toBe(
    `[Add to Drawbridge](${link}), or copy this and paste it under *Add server*:\n\n\`\`\`text\n${link}\n\`\`\``,
  );
  await visit(app, "#/add-server");
  await main.getByRole("textbox", { name: "URL, command, or the configuration from the server's README" }).fill(badge);
  await expect(main, "Drawbridge should read its own link").toContainText(`${DEMO} --era both`);
});
