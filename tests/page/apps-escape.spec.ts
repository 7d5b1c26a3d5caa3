// Hostile apps: nothing outside of their frame is reached, and the page stays usable.
import { request } from "node:http";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { appFrame, approveApp, callToolOnce, pageWith, scriptedApp } from "./apps";
import type { DevHost, Setup } from "./dev-host";
import { allow, expect, test, visit } from "./fixtures";

const ESCAPE: Setup = {
  servers: { harbour: { command: process.execPath, args: [join(__dirname, "../apps/server.mjs")] } },
  running: ["harbour"],
  theme: "light",
  language: "en",
};
/** Number of attempts that the suite is expected to have at least. */
const MIN_ATTEMPTS = 150;

/**
 * Outcomes of attempts inside of a click. The permission policy of a frame governs the function and not the commands,
 * which write to the clipboard on any page.
 */
const CLICK_OUTCOMES = {
  "a text by its function": "closed",
  "a text by the copy command": "written",
  "a text by the cut command": "written",
  "the paste command": "closed",
  "the clipboard's text": "closed",
  "the clipboard's content": "closed",
};

/** Records the dialogs, windows and downloads that a page causes. */
function recordSideEffects(app: Page): string[] {
  const seen: string[] = [];
  app.on("dialog", (dialog) => {
    seen.push(`dialog: ${dialog.message()}`);
    void dialog.accept("given");
  });
  app.on("download", (download) => seen.push(`download: ${download.suggestedFilename()}`));
  app.context().on("page", (other) => seen.push(`window: ${other.url()}`));
  return seen;
}

/** Returns the connections to the listener of the escape server. */
async function connections(host: DevHost): Promise<unknown> {
  const call = { call: "connections", server: "harbour", tool: "connections", arguments: {} };
  const called = host.call<{ structured: { connections: string[] } }>("call_tool", call);
  await host.answerNext("tool", { action: "allow", scope: "once" });
  return (await called).structured.connections;
}

test.describe("the escape suite", () => {
  test.use({ setup: ESCAPE, checksFaults: false });

  // [apps-sandboxed-iframe] [apps-csp-default] [apps-csp-block]
  test("no attempt reaches anything outside of the frame", async ({ app, host }) => {
    test.setTimeout(180_000);
    const seen = recordSideEffects(app);
    await callToolOnce(app, "try_escape");
    await approveApp(app);
    const frame = appFrame(app, "try_escape");
    await frame.getByRole("button", { name: "Start" }).click();
    await expect(frame.locator("#results")).toHaveAttribute("data-state", "done", { timeout: 150_000 });
    const rows = await frame
      .locator("#results tbody tr")
      .evaluateAll((found) => found.map((row) => [...(row as HTMLTableRowElement).cells].map((cell) => cell.innerText)));
    expect(rows.length, "all attempts should run").toBeGreaterThanOrEqual(MIN_ATTEMPTS);
    expect(rows.filter(([, , outcome]) => outcome !== "closed"), "every attempt should be closed").toEqual([]);
    const ofClick = await frame.locator("#results").getAttribute("data-click");
    expect(JSON.parse(ofClick ?? "null"), "a click should permit writing by commands only").toEqual(CLICK_OUTCOMES);
    expect(seen, "no dialog, window or download should appear").toEqual([]);
    expect(await connections(host), "no connection should be made").toEqual([]);
  });

  // Each attempt may replace the page of the app, so that each runs in a new frame.
  test("no attempt to leave the frame reaches another page", async ({ app, host }) => {
    test.setTimeout(300_000);
    const seen = recordSideEffects(app);
    const frame = appFrame(app, "try_escape");
    const ended = app.getByText("The app was closed", { exact: true });
    /** Calls the tool for one attempt, and waits until its app offers to start. */
    const open = async (leaving: number) => {
      await app.getByRole("textbox", { name: /Leaving/ }).fill(String(leaving));
      await app.getByRole("button", { name: "Call", exact: true }).click();
      if (leaving === 0) {
        await allow(app, "Allow until Drawbridge closes");
        await approveApp(app);
      }
      await expect(frame.getByRole("button", { name: "Start" })).toBeVisible();
    };
    await visit(app, "#/server/harbour/tools/try_escape");
    await open(0);
    const url = app.url();
    const count = Number(await frame.locator("#results").getAttribute("data-leaving"));
    expect(count, "all attempts should be listed").toBeGreaterThanOrEqual(20);
    for (let leaving = 0; leaving < count; leaving++) {
      if (leaving > 0) await open(leaving);
      await frame.getByRole("button", { name: "Start" }).click();
      const outcome = async () => {
        if (await ended.isVisible()) return "closed";
        // Fails while the frame is navigating.
        const outcomes = await frame.locator("#results tbody td:nth-child(3)").allInnerTexts().catch(() => []);
        return outcomes[0] ?? "running";
      };
      await expect.poll(outcome, `attempt ${leaving} should end inside of the frame`).toBe("closed");
      expect(app.url(), `attempt ${leaving} should not change the address of the window`).toBe(url);
    }
    await expect(app.getByRole("banner"), "the page should still be shown").toBeVisible();
    expect(seen, "no dialog, window or download should appear").toEqual([]);
    expect(await connections(host), "no connection should be made").toEqual([]);
  });
});

test.describe("an app that reaches for the page", () => {
  const script = `
    const reached = [];
    const attempt = async (name, act) => {
      try { if (await act()) reached.push(name); } catch {}
    };
    await attempt("the parent", () => parent.document);
    await attempt("the top window", () => { top.location.href = "https://evil.example/"; });
    await attempt("the API", () => fetch(location.ancestorOrigins[0] + "/api/read_snapshot", { method: "POST", body: "{}" }));
    post({ method: "ui/notifications/sandbox-proxy-ready", params: {} });
    show(reached.length === 0 ? "nothing reached" : reached.join());`;
  test.use({ setup: scriptedApp(pageWith("Hostile", script)) });

  // [apps-validate-messages]
  test("reaches nothing, and its forged message is listed as a problem", async ({ app }) => {
    await callToolOnce(app, "show");
    const url = app.url();
    await approveApp(app);
    await expect(appFrame(app, "show").locator("#outcome")).toHaveText("nothing reached");
    expect(app.url(), "the window should show the same view").toBe(url);
    await app.getByRole("button", { name: "Actions for the app of harbour" }).click();
    await app.getByRole("menuitem", { name: "Messages" }).click();
    const messages = app.getByRole("dialog", { name: "Messages of the app of harbour" });
    await expect(messages.getByText("1 problem", { exact: true }), "the forged message should be counted").toBeVisible();
    await expect(messages.getByRole("listitem").filter({ hasText: "Problem" })).toContainText("sandbox-proxy-ready");
  });
});

test.describe("an app that floods the host", () => {
  const COUNT = 2_000;
  const script = `
    for (let i = 0; i < ${COUNT}; i++) post({ id: i, method: "ui/open-link", params: { url: "https://evil.example/" + i } });
    show("sent");`;
  test.use({ setup: scriptedApp(pageWith("Flood", script)) });

  test("shows one dialog at most, and the page and the host respond", async ({ app, host }) => {
    await callToolOnce(app, "show");
    await approveApp(app);
    await expect(appFrame(app, "show").locator("#outcome")).toHaveText("sent");
    const dialog = app.getByRole("dialog", { name: "Open this link?" });
    await expect(dialog, "the first link should be shown").toHaveCount(1);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await host.call("refresh_list", { server: "harbour", list: "tools" });
    // The flood may have left further requests, which the app may repeat a few times only.
    await expect(async () => {
      if (await dialog.isVisible()) await dialog.getByRole("button", { name: "Cancel" }).click({ timeout: 1_000 });
      await visit(app, "#/settings");
      await expect(app.getByRole("heading", { name: "Settings" }).first()).toBeVisible({ timeout: 500 });
      await expect(dialog).toBeHidden({ timeout: 500 });
    }).toPass({ timeout: 20_000 });
    expect(host.opened(), "no link should be opened").toEqual([]);
  });
});

test.describe("an app that opens another page in its frame", () => {
  test.use({ setup: scriptedApp(pageWith("Leaving", `location.href = "https://evil.example/";`)) });

  test("is closed with the reason", async ({ app }) => {
    await callToolOnce(app, "show");
    await approveApp(app);
    await expect(app.getByText("The app tried to open another page in its frame, which is not allowed.")).toBeVisible();
    await expect(app.locator("iframe"), "the frame should be removed").toHaveCount(0);
    await expect(app.getByRole("button", { name: "Show app again" })).toBeVisible();
  });
});

test("the host name of an app serves documents only", async ({ host }) => {
  const port = new URL(host.url).port;
  /** Returns the status of a request to the development host with these headers. */
  const status = (method: string, path: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, method, path, headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on("error", reject);
      sent.end(method === "POST" ? "{}" : undefined);
    });
  const name = `${"0123456789abcdef".repeat(2)}.localhost:${port}`;
  const json = { "content-type": "application/json" };
  expect(await status("GET", "/", { host: name }), "an app that is not shown has no document").toBe(404);
  expect(await status("POST", "/api/read_snapshot", { host: name, ...json }), "the API is not there").toBe(405);
  expect(await status("GET", "/events", { host: name }), "the events are not there").toBe(404);
  const origin = `http://${name}`;
  const own = { host: `127.0.0.1:${port}`, origin, ...json };
  expect(await status("POST", "/api/read_snapshot", own), "an app can't use the API").toBe(403);
  expect(await status("GET", "/", { host: `127.0.0.1:${port}`, "sec-fetch-site": "same-site" })).toBe(403);
  expect(await status("POST", "/api/read_snapshot", { host: `127.0.0.1:${port}`, ...json }), "the page can").toBe(200);
});
