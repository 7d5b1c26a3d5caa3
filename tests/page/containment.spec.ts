// Sandboxed server and its limits, from the form to the running server.
import { readFileSync, realpathSync } from "node:fs";

import { allow, DEMO, expect, LEGACY, consentRequest, test, visit } from "./fixtures";
import { savePicture } from "./pictures";

const LOOKS = [
  { name: "light", setup: LEGACY, size: { width: 1180, height: 780 } },
  { name: "dark", setup: { ...LEGACY, theme: "dark" as const }, size: { width: 1180, height: 780 } },
  { name: "chinese", setup: { ...LEGACY, language: "zh" as const }, size: { width: 800, height: 600 } },
  { name: "narrow", setup: LEGACY, size: { width: 480, height: 600 } },
];

for (const { name, setup, size } of LOOKS) {
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
    await form.getByRole("button", { name: "Save" }).press("Enter");
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
      await offer.scrollIntoViewIfNeeded();
      await savePicture(app, `containment/offer-${width}`);
      await use.click();
      await expect(consentRequest(app)).toContainText("Runs in a sandbox on this computer");
      await expect(offer, "a sandboxed start should offer no sandbox").toHaveCount(0);
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
