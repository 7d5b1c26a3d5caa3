// Steps of the user from the result of a tool to its app, and the setup of a server with a scripted app.
import { join } from "node:path";

import type { FrameLocator, Locator, Page } from "@playwright/test";

import { SCRIPT, type Setup } from "./dev-host";
import { allow, callTool, expect } from "./fixtures";

/** Returns the content of the frame that shows the app of a tool. */
export function appFrame(app: Page, tool: string): FrameLocator {
  return app.frameLocator(`iframe[title="App of harbour: ${tool}"]`);
}

/** Returns the card in which the user approves a page. */
export function reviewCard(app: Page): Locator {
  return app.getByRole("group", { name: "Show an app of harbour?" });
}

/** Calls a tool with the default arguments, and waits for its result. */
export async function callToolOnce(app: Page, tool: string): Promise<void> {
  await callTool(app, tool);
  await allow(app, "Allow once");
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
}

/** Opens the review of the app of a displayed result, and approves its page. */
export async function approveApp(app: Page): Promise<void> {
  await app.getByRole("button", { name: "Show app", exact: true }).click();
  await reviewCard(app).getByRole("button", { name: "Show app", exact: true }).click();
}

/** Returns a setup with a server whose tool `show` has an app with this page, whose metadata is `ui`. */
export function scriptedApp(html: string, ui: object = {}): Setup {
  const harbour = { command: process.execPath, args: [join(__dirname, "app-server.mjs"), SCRIPT] };
  return { servers: { harbour }, script: { html, ui }, running: ["harbour"], theme: "light", language: "en" };
}

/**
 * Returns a page that is initialized as an app with these capabilities, and then runs a script. In the script, `post`
 * sends a message to the host, and `capabilities` are those of the host.
 */
export function pageWith(heading: string, script = "", appCapabilities: object = {}): string {
  return `<!doctype html><title>${heading}</title><h1>${heading}</h1><p id="outcome"></p><script>
    const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
    const show = (text) => (document.getElementById("outcome").textContent = text);
    addEventListener("message", ({ source, data }) => {
      if (source !== parent) return;
      if (data.method === "ui/resource-teardown") post({ id: data.id, result: {} });
      if (data.id !== "initialize") return;
      post({ method: "ui/notifications/initialized" });
      post({ method: "ui/notifications/size-changed", params: { height: 200 } });
      start(data.result.hostCapabilities);
    });
    async function start(capabilities) { ${script} }
    post({ id: "initialize", method: "ui/initialize", params: {
      protocolVersion: "2026-01-26", appInfo: { name: "scripted", version: "1" }, appCapabilities: ${JSON.stringify(appCapabilities)},
    } });
  </script>`;
}
