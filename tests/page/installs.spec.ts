// Servers of a registry and of bundles, previewed and added stopped through one sheet.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { archive } from "../bundle.cjs";
import { axeViolations, expect, LEGACY, test as base, visit } from "./fixtures";
import { type Entry, entry, Registry } from "./registry.mjs";
import { installOld, NEWER_AND_OLD } from "./visit-installs";

const SECRET = "s3cret-0123456789";
const NOTES = "io.github.alice/notes";

function notes(version: string, listing: Record<string, unknown> = {}): Entry {
  const server = {
    ...{ name: NOTES, version, title: "Notes <b>bold</b>", description: "Keeps notes" },
    repository: { url: "https://github.com/alice/notes", source: "github" },
    packages: [
      {
        ...{ registryType: "npm", identifier: "@alice/notes", version, transport: { type: "stdio" } },
        environmentVariables: [{ name: "NOTES_KEY", description: "From your account", isRequired: true, isSecret: true }],
      },
    ],
    remotes: [
      {
        ...{ type: "streamable-http", url: "https://notes.example/mcp" },
        headers: [{ name: "X-Team", description: "Your team", isRequired: true }],
      },
    ],
  };
  return entry(server, listing);
}

const others = ["com.example/a", "com.example/b", "com.example/c"].map((name) => entry({ name, version: "1.0.0" }));
const old = { name: "io.github.bob/old", version: "0.1.0" };

const test = base.extend<{ registry: Registry }>({
  registry: async ({}, use) => {
    const registry = await Registry.start([
      ...[notes("1.2.0"), notes("1.1.0", { status: "deprecated", statusMessage: "Use 1.2", isLatest: false })],
      ...[...others, entry(old, { status: "deprecated", statusMessage: "Nobody looks after it" })],
    ]);
    await use(registry);
    await registry.stop();
  },
  setup: async ({ registry }, use) => {
    await use({ ...LEGACY, servers: {}, running: [], registry: registry.url });
  },
});

test("a server of a registry is added stopped with the previewed setup", async ({ app, host }) => {
  await visit(app, "#/add-server");
  const main = app.getByRole("main");
  await main.getByRole("button", { name: "From a registry…" }).click();
  const list = main.getByRole("list", { name: "Servers in the registry" });
  await expect(list.getByRole("article")).toHaveCount(3);
  await main.getByRole("button", { name: "Show more" }).click();
  await expect(list.getByRole("article"), "the next page should be appended").toHaveCount(5);
  await expect(list.getByText("deprecated")).toBeVisible();
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  await main.getByRole("searchbox", { name: "Search servers" }).fill("notes");
  await expect(list.getByRole("article")).toHaveCount(1);
  await app.keyboard.press("ArrowDown");
  await app.keyboard.press("Enter");

  await expect(main.getByRole("heading", { level: 1 })).toHaveText(NOTES);
  await expect(main).toContainText("the GitHub account alice");
  await expect(main, "markup of the publisher should be shown as text").toContainText("Notes <b>bold</b>");
  await expect(main.getByRole("group", { name: "https://notes.example/mcp" })).toBeVisible();
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  await main.getByRole("button", { name: "Install @alice/notes 1.2.0" }).click();

  const sheet = app.getByRole("dialog", { name: `Install ${NOTES}` });
  const exactly = sheet.getByTestId("exactly");
  await expect(exactly).toContainText("npx -y @alice/notes@1.2.0");
  await sheet.getByLabel("NOTES_KEY").fill(SECRET);
  await expect(exactly).toContainText("secret, in the keychain");
  await expect(sheet, "the sheet should not show the secret").not.toContainText(SECRET);
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  expect((await host.snapshot()).servers, "no server should be added yet").toEqual([]);
  await sheet.getByRole("button", { name: "Add server" }).click();

  await expect(main.getByRole("heading", { level: 1 })).toHaveText("notes");
  const [server] = (await host.snapshot()).servers;
  expect(server?.state.is, "the server should be stopped").toBe("stopped");
  const file = readFileSync(host.config, "utf8");
  expect(file, "the settings file should contain the previewed command").toContain("@alice/notes@1.2.0");
  expect(file, "the settings file should not contain the secret").not.toContain(SECRET);
});

test("search results stay available offline, with their age", async ({ app, registry }) => {
  await visit(app, "#/registry");
  const main = app.getByRole("main");
  await expect(main.getByRole("article")).toHaveCount(3);
  await registry.stop();
  await main.getByRole("button", { name: "Reload from the registry" }).click();
  await expect(main.getByRole("group", { name: "The registry can't be reached" })).toBeVisible();
  await expect(main.getByRole("article"), "the stored results should be shown").toHaveCount(3);
});

test("a bundle is installed from its file", async ({ app, host }) => {
  const manifest = {
    ...{ manifest_version: "0.3", name: "words", version: "1.0.0", description: "Counts words", author: { name: "Alice" } },
    server: {
      ...{ type: "node", entry_point: "server/index.js" },
      mcp_config: { command: "node", args: ["${__dirname}/server/index.js", "${user_config.folder}"] },
    },
    user_config: { folder: { type: "directory", title: "Folder", description: "With the texts", required: true } },
  };
  const path = join(host.folder, "words.mcpb");
  writeFileSync(path, archive({ "manifest.json": JSON.stringify(manifest), "server/index.js": "process.exit(1)\n" }));
  await visit(app, "#/add-server");
  const main = app.getByRole("main");
  await main.getByRole("button", { name: "From a bundle file…" }).click();
  await app.getByRole("textbox", { name: "File" }).fill(path);
  await app.keyboard.press("Enter");
  const sheet = app.getByRole("dialog", { name: "Install words" });
  await expect(sheet, "the sheet should show the pinned hash").toContainText(/[0-9a-f]{64}/);
  await sheet.getByRole("textbox", { name: "Folder", exact: true }).fill("/srv/texts");
  await expect(sheet.getByTestId("exactly")).toContainText("/srv/texts");
  expect(await axeViolations(app), "axe should find no violations").toEqual([]);
  await sheet.getByRole("button", { name: "Add server" }).click();
  await expect(main.getByRole("heading", { level: 1 })).toHaveText("words");
  expect((await host.snapshot()).servers[0]?.state.is).toBe("stopped");
});

base.describe("a newer version", () => {
  const upgrades = test.extend({
    registry: async ({}, use) => {
      const registry = await Registry.start([...NEWER_AND_OLD]);
      await use(registry);
      await registry.stop();
    },
  });

  upgrades("replaces an installed server as the sheet shows", async ({ app, host }) => {
    await installOld(host, SECRET);
    await visit(app, "#/server/notes/overview");
    const main = app.getByRole("main");
    await expect(main, "the page should show the message of the publisher").toContainText("Use 1.3, which keeps them in order");
    await expect(
      app.getByRole("navigation").getByText("deprecated").first(),
      "the left column should mark the deprecated server",
    ).toBeVisible();
    expect(await axeViolations(app), "axe should find no violations").toEqual([]);
    await main.getByRole("button", { name: "Show changes…" }).click();
    const sheet = app.getByRole("dialog", { name: "Change notes to version 1.3.0" });
    const changes = sheet.getByTestId("changes");
    await expect(changes).toContainText("@alice/notes@1.2.0");
    await expect(changes).toContainText("@alice/notes@1.3.0");
    await expect(changes, "the secret should be unchanged").not.toContainText("NOTES_KEY");
    expect(await axeViolations(app), "axe should find no violations").toEqual([]);
    expect(
      readFileSync(host.config, "utf8"),
      "the settings file should be unchanged before the confirmation",
    ).toContain("@alice/notes@1.2.0");
    await sheet.getByRole("button", { name: "Change version" }).click();
    await expect(sheet).toHaveCount(0);
    await expect(main.getByText("1.3.0", { exact: true })).toBeVisible();
    await expect(main.getByRole("button", { name: "Show changes…" })).toHaveCount(0);
    const file = readFileSync(host.config, "utf8");
    expect(file).toContain("@alice/notes@1.3.0");
    expect(file, "the settings file should not contain the secret").not.toContain(SECRET);
  });
});

test("a bundle of the registry is downloaded and installed", async ({ app, host, registry }) => {
  const manifest = {
    ...{ manifest_version: "0.3", name: "words", version: "1.0.0", description: "Counts words", author: { name: "Alice" } },
    server: {
      ...{ type: "node", entry_point: "server/index.js" },
      mcp_config: { command: "node", args: ["${__dirname}/server/index.js"] },
    },
  };
  const file = archive({ "manifest.json": JSON.stringify(manifest), "server/index.js": "process.exit(1)\n" });
  const fileSha256 = createHash("sha256").update(file).digest("hex");
  registry.files.set("/words.mcpb", file);
  const identifier = `${registry.url}/words.mcpb`;
  const packages = [{ registryType: "mcpb", identifier, fileSha256, transport: { type: "stdio" } }];
  registry.entries.push(entry({ name: "io.github.alice/words", version: "1.0.0", packages }));
  await visit(app, "#/registry");
  const main = app.getByRole("main");
  await main.getByRole("searchbox", { name: "Search servers" }).fill("words");
  await main.getByRole("link", { name: "io.github.alice/words" }).click();
  await main.getByRole("button", { name: /^Install http/ }).click();
  const sheet = app.getByRole("dialog", { name: "Install io.github.alice/words" });
  await expect(sheet, "the sheet should show the pinned hash").toContainText(fileSha256);
  await expect(sheet.getByTestId("exactly")).toContainText("server/index.js");
  await sheet.getByRole("button", { name: "Add server" }).click();
  await expect(main.getByRole("heading", { level: 1 })).toHaveText("words");
  await expect(main).toContainText("io.github.alice/words");
  expect((await host.snapshot()).servers[0]?.state.is).toBe("stopped");
});
