// First start, adding servers, and the life cycle of a server (items 1 to 3).
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";

import { CHILD, processes } from "./processes.mjs";

export async function servers(page, place, step) {
  const running = () => processes(place.home, place.demo);
  const settings = () => JSON.parse(readFileSync(place.config, "utf8")).mcpServers;

  await step("1 the first start shows the welcome and the demo server, and runs nothing", async () => {
    await page.waitForText("Your tools, behind a bridge you control");
    await page.waitForElement("button", "Start the demo server");
    assert.deepEqual(running(), [], "no server should run before an approval");
    await page.picture("welcome");
  });

  await step("1 the exact command requires consent, and nothing runs until it is approved", async () => {
    await page.click("button", "Start the demo server");
    await page.waitForConsentRequest("wants to run on this computer");
    await page.waitForConsentRequest(place.demo);
    assert.deepEqual(running(), [], "no server should run while the consent request is pending");
    await page.picture("consent-request-start");
    await page.allow("Always allow this command");
    await page.waitForText("ready", "nav");
    assert.equal(running().length, 1, "the demo server should run");
  });

  await step("2 a server is added by form with separate arguments", async () => {
    await page.go("#/add-server");
    await page.click("tab", "Fill in");
    await page.fill(/^Name/, "legacy");
    await page.fill(/^Command/, place.demo);
    for (const [index, argument] of ["--era", "legacy"].entries()) {
      await page.click("button", "Add argument");
      await page.fill(`Argument ${index + 1}`, argument);
    }
    await page.picture("add-by-form");
    await page.click("button", "Add server");
    await page.waitForElement("heading", "legacy");
    assert.deepEqual(settings().legacy, { command: place.demo, args: ["--era", "legacy"] }, "mcp.json should contain the server");
    assert.equal(statSync(place.config).mode & 0o077, 0, "mcp.json should be accessible to its owner only");
  });

  await step("2 a server is added from a README's JSON", async () => {
    await page.go("#/add-server");
    await page.click("tab", "Paste");
    const text = JSON.stringify({ mcpServers: { modern: { command: place.demo, args: ["--era", "modern"] } } });
    await page.fill("URL, command, or the configuration from the server's README", text);
    await page.waitForText("Found 1 server");
    await page.picture("add-by-paste");
    await page.click("button", "Add 1 server");
    await page.waitForElement("heading", "modern");
  });

  for (const name of ["legacy", "modern"]) {
    await step(`2 ${name}: the exact command is approved`, async () => {
      await page.go(`#/server/${name}/overview`);
      await page.waitForElement("heading", name);
      await page.click("button", "Start", "main");
      await page.waitForConsentRequest(`--era ${name}`);
      await page.allow("Always allow this command");
      await page.waitForText(name === "legacy" ? "2025-11-25" : "2026-07-28", "main");
    });
  }

  await step("2 a changed command requires consent again", async () => {
    await page.go("#/server/modern/settings");
    await page.click("button", "Add argument");
    await page.fill("Argument 3", "--revision=2026-07-28");
    await page.click("button", "Save");
    await page.click("button", "Start", "main");
    await page.waitForConsentRequest("This is not the command you approved. Changes are marked.");
    await page.picture("consent-request-changed-command");
    await page.allow("Always allow this command");
    await page.waitForText("ready", "main header");
  });

  await step("3 the overview shows state, revision, capabilities, instructions, and unverified claims", async () => {
    await page.go("#/server/legacy/overview");
    for (const text of ["ready", "2025-11-25", "tools.listChanged", "Provided by the server.", "Instructions for a model"]) {
      await page.waitForText(text, "main");
    }
    await page.picture("overview");
  });

  await step("3 a server is stopped, started and restarted", async () => {
    const before = running().length;
    await page.click("button", "Stop", "main");
    await page.waitForText("stopped", "main");
    assert.equal(running().length, before - 1, "the process should have ended");
    await page.click("button", "Start", "main");
    await page.waitForText("ready", "main header");
    const pids = running().map(({ pid }) => pid);
    await page.click("button", "Restart", "main");
    await page.until("the server to run as another process", () => {
      const now = running().map(({ pid }) => pid);
      return now.length === pids.length && now.some((pid) => !pids.includes(pid));
    });
    await page.waitForText("ready", "main header");
  });

  await step("3 a server that can't start shows why, and the searched folders", async () => {
    const failing = {
      missing: { command: "no-such-program-7461", args: [] },
      ending: { command: "/bin/sh", args: ["-c", "echo the harbour is closed >&2; exit 3"] },
    };
    for (const [name, config] of Object.entries(failing)) {
      const whole = { type: "stdio", ...config, env: {}, cwd: null, revision: null };
      await page.invoke("add_server", { name, config: whole });
    }
    await page.go("#/server/missing/overview");
    await page.click("button", "Start", "main");
    await page.waitForText("The program was not found", "main");
    await page.waitForText(/Searched \d+ folders/, "main");
    await page.go("#/server/ending/overview");
    await page.click("button", "Start", "main");
    await page.allow("Allow once");
    await page.waitForText("It stopped before it was ready", "main");
    await page.waitForText("the harbour is closed", "main");
    await page.picture("failed");
  });

  await step("3 a server with a child process runs like any other", async () => {
    const args = ["-c", `${CHILD} & exec "$0"`, place.demo];
    const config = { type: "stdio", command: "/bin/sh", args, env: {}, cwd: null, revision: null };
    await page.invoke("add_server", { name: "family", config });
    await page.go("#/server/family/overview");
    await page.waitForElement("heading", "family");
    await page.click("button", "Start", "main");
    await page.allow("Always allow this command");
    await page.waitForText("ready", "main header");
    assert.equal(processes(place.home, CHILD).filter(({ command }) => command === CHILD).length, 1, "the child process should run");
  });

  await step("3 servers are removed", async () => {
    for (const name of ["missing", "ending"]) {
      await page.go(`#/server/${name}/overview`);
      await page.waitForElement("heading", name);
      await page.click("button", "More", "main");
      await page.click("menuitem", "Remove server");
      await page.click("button", "Remove server", "[role=alertdialog], [role=dialog]");
      await page.until(`${name} to be removed from mcp.json`, () => settings()[name] === undefined);
      await page.until("the page of the server to be closed", async () => !(await page.has("heading", name)));
    }
  });
}
