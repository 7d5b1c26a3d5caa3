// Sandboxed server and its limits, from the form to the running server.
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import { allow, DEMO, expect, LEGACY, consentRequest, test, visit } from "./fixtures";
import { savePicture } from "./pictures";
import { temporaryFolder } from "./temporary";

/** Folder into which npm installs the packages of the tests, among them real servers. */
const PACKAGES = realpathSync(resolve(__dirname, "../node_modules"));

const APPEARANCES = [
  { name: "light", setup: LEGACY, size: { width: 1180, height: 780 } },
  { name: "dark", setup: { ...LEGACY, theme: "dark" as const }, size: { width: 1180, height: 780 } },
  { name: "chinese", setup: { ...LEGACY, language: "zh" as const }, size: { width: 800, height: 600 } },
  { name: "narrow", setup: LEGACY, size: { width: 480, height: 600 } },
];

for (const { name, setup, size } of APPEARANCES) {
  test.describe(name, () => {
    test.use({ setup: { ...setup, running: [] }, viewport: size });

    test("the form, the consent request and the limits of a sandboxed server fit", async ({ app, host }) => {
      const fits = async (view: string) => {
        const wider = () => app.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        await expect.poll(wider, `${view} should not be wider than the window`).toBeLessThanOrEqual(0);
        await savePicture(app, `containment/${name}-${view}`);
      };
      const folder = realpathSync(host.folder);
      const sandbox = { folders: [{ path: folder + "/platform", access: "write" }], network: { preset: "files_only" } };
      const config = { type: "stdio", command: DEMO, args: ["--era", "legacy"], env: {}, cwd: null, sandbox };
      await host.call("update_server", { server: "harbour", name: "harbour", config });
      await visit(app, "#/server/harbour/settings");
      await app.locator("fieldset").last().scrollIntoViewIfNeeded();
      await fits("form");
      await visit(app, "#/server/harbour/limits");
      await expect(app.getByText(folder + "/platform")).toBeVisible();
      await fits("limits");
      void host.call("start_server", { server: "harbour" });
      await expect(consentRequest(app)).toContainText(folder + "/platform");
      await fits("consent-request");
      await app.keyboard.press("Escape");
    });
  });
}

test.describe("by keyboard", () => {
  test.use({ setup: { ...LEGACY, running: [] } });

  test("a server is put into a sandbox, which requires consent and then restricts it", async ({ app, host }) => {
    const folder = realpathSync(host.folder) + "/platform";
    await visit(app, "#/server/harbour/settings");
    const form = app.getByRole("form", { name: "Settings" });
    await form.getByRole("checkbox", { name: "Run it in a sandbox" }).press("Space");
    await form.getByRole("button", { name: "Type a path" }).press("Enter");
    await expect(form.getByRole("textbox", { name: "Folder 1" }), "the field for the path should be focused").toBeFocused();
    await app.keyboard.type(folder);
    await form.getByRole("button", { name: "Save", exact: true }).press("Enter");
    await expect(form.getByText("Saved.")).toBeVisible();
    const { mcpServers } = JSON.parse(readFileSync(host.config, "utf8")) as {
      mcpServers: Record<string, { sandbox: unknown }>;
    };
    expect(mcpServers.harbour?.sandbox, "the settings file should contain the sandbox in readable form").toEqual({
      folders: [{ path: folder, access: "read" }],
      network: false,
    });
    await app.getByRole("main").getByRole("button", { name: "Start", exact: true }).click();
    await expect(consentRequest(app), "the consent request should show the reachable folder").toContainText(folder);
    await allow(app, "Allow once");
    await expect(app.getByRole("main").getByText("ready").first()).toBeVisible();
    await visit(app, "#/server/harbour/limits");
    await expect(
      app.getByText(/^It runs in a sandbox \((bubblewrap|Landlock)\)/),
      "the view should name the type of sandbox",
    ).toBeVisible();
    await expect(app.getByRole("row", { name: /^Calls in progress 0 256/ }), "the view should show the limits").toBeVisible();
  });
});

for (const width of [1180, 480]) {
  test.describe(`offered at ${width}`, () => {
    test.use({ setup: { ...LEGACY, running: [] }, viewport: { width, height: 780 } });

    test("E6: a start request offers a sandbox, and another request shows it before anything starts", async ({ app, host }) => {
      await visit(app, "#/server/harbour");
      await app.getByRole("main").getByRole("button", { name: "Start", exact: true }).click();
      const offer = consentRequest(app).getByRole("region", { name: "Run it in a sandbox instead" });
      await expect(offer, "the offer should show the reachable folders").toContainText("Its own home folder");
      const use = offer.getByRole("button", { name: "Use this sandbox" });
      await expect(use, "the offer should be folded at first").toBeHidden();
      await offer.getByText("Run it in a sandbox instead").click();
      const before = await host.consentRequest("start_server");
      const folder = consentRequest(app).locator("dt", { hasText: /^\s*Folder\s*$/ }).locator("+ dd");
      await expect(folder, "the folder should be shown as a path").toContainText(homedir());
      await offer.scrollIntoViewIfNeeded();
      await savePicture(app, `containment/offer-${width}`);
      await use.click();
      await expect(consentRequest(app)).toContainText("Runs in a sandbox on this computer");
      await expect(offer, "a sandboxed start should offer no sandbox").toHaveCount(0);
      await expect(folder, "the folder should be the home of the sandbox").toContainText(join(realpathSync(host.data), "sandbox"));
      const after = await host.consentRequest("start_server");
      expect([after.id, after.hash], "the new request should have another id and hash").not.toEqual([before.id, before.hash]);
      await expect(host.answer(before, { action: "allow", scope: "once" }), "the replaced request should be closed").rejects.toThrow();
      expect((await host.snapshot()).servers[0]?.pid, "no process should be started").toBeNull();
      await allow(app, "Allow once");
      await expect(app.getByRole("main").getByText("ready").first()).toBeVisible();
      await visit(app, "#/server/harbour/limits");
      await expect(app.getByText(/^It runs in a sandbox/)).toBeVisible();
    });
  });
}

test.describe("a server that npm installed", () => {
  const command = join(PACKAGES, ".bin/mcp-server-everything");
  test.use({ setup: { ...LEGACY, servers: { harbour: { command } }, running: [] } });

  test("E6: runs in the offered sandbox, with its packages and without other folders", async ({ app, host }) => {
    await visit(app, "#/server/harbour");
    await app.getByRole("main").getByRole("button", { name: "Start", exact: true }).click();
    const offer = consentRequest(app).getByRole("region", { name: "Run it in a sandbox instead" });
    await offer.getByText("Run it in a sandbox instead").click();
    await expect(offer, "the packages beside the program should be reachable").toContainText(PACKAGES);
    await offer.getByRole("button", { name: "Use this sandbox" }).click();
    await expect(consentRequest(app)).toContainText("Runs in a sandbox on this computer");
    await allow(app, "Allow once");
    await expect(app.getByRole("main").getByText("ready").first()).toBeVisible();
    const { mcpServers } = JSON.parse(readFileSync(host.config, "utf8")) as {
      mcpServers: Record<string, { sandbox: { folders: unknown[] } }>;
    };
    expect(mcpServers.harbour?.sandbox.folders, "the user should have to add no folder").toEqual([]);
    await visit(app, "#/server/harbour/tools/echo");
    await app.getByRole("textbox", { name: /message/i }).fill("ahoy");
    await app.getByRole("button", { name: "Call", exact: true }).click();
    await allow(app, "Allow once");
    await expect(app.getByTestId("tool-result")).toContainText("Echo: ahoy");
  });

  test("E6: a module that the sandbox hides is named, and its folder is added with consent", async ({ app, host }) => {
    // The folder of the host is Drawbridge's own, which no server can access.
    const folder = realpathSync(temporaryFolder("drawbridge-work-"));
    const [script, shared] = [join(folder, "app/server.mjs"), join(folder, "shared/lib")];
    for (const path of [join(folder, "app"), shared]) mkdirSync(path, { recursive: true });
    writeFileSync(join(shared, "greeting.mjs"), "export const greeting = 'ahoy';\n");
    const server = JSON.stringify(join(PACKAGES, "@modelcontextprotocol/server-everything/dist/index.js"));
    writeFileSync(script, `await import("../shared/lib/greeting.mjs");\nawait import(${server});\n`);
    const sandbox = { folders: [{ path: PACKAGES, access: "read" }], network: { preset: "files_only" } };
    const config = { type: "stdio", command: process.execPath, args: [script], env: {}, cwd: null, sandbox };
    await host.call("update_server", { server: "harbour", name: "harbour", config });
    await visit(app, "#/server/harbour/overview");
    await app.getByRole("main").getByRole("button", { name: "Start", exact: true }).click();
    await allow(app, "Allow once");
    const cause = app.getByRole("region", { name: "The sandbox may be the cause" });
    await expect(cause, "the path should be named").toContainText(join(shared, "greeting.mjs"));
    await expect(cause.getByText(shared, { exact: true }), "its folder should be proposed").toBeVisible();
    await cause.getByRole("button", { name: "Add this folder" }).click();
    await expect(consentRequest(app), "the folder should require consent").toContainText(shared);
    expect((await host.snapshot()).servers[0]?.pid, "no process should be started").toBeNull();
    await allow(app, "Allow once");
    await expect(app.getByRole("main").getByText("ready").first()).toBeVisible();
  });
});
