// An app that computes without end blocks the web process, which also draws Drawbridge's page. The process is ended,
// and the page is loaded again and names the app.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { callTool } from "./calls.mjs";
import { processes } from "./processes.mjs";

const RESULT = "[data-testid=tool-result]";
// Excludes the frame of the self-test, which runs before the app.
const FRAME = `${RESULT} iframe:not([src$="self-test"])`;
const SCRIPT = join(import.meta.dirname, "../apps/stalled-server.mjs");
const WEB_PROCESS = "/WebKitWebProcess ";
const STALLED = "stalled";
const CALM = "calm";
/** Line of the app's output about an app that it has closed. */
const CLOSED = /an app was closed.*/g;
const NOTICE = `The app of compute on ${STALLED} stopped responding and was closed.`;
/** Time limit in milliseconds for the process to be ended: the delay of the app, a probe, and its answer. */
const END_MS = 40_000;

/** Returns the ids of the web processes, without their parents outside of the sandbox. */
const webProcesses = (place) =>
  processes(place.home, WEB_PROCESS)
    .filter(({ command }) => !command.includes("bwrap"))
    .map(({ pid }) => pid);

/** Returns the lines of the app's output about closed apps. */
const closedApps = (place) => readFileSync(place.log, "utf8").match(CLOSED) ?? [];

async function startServer(page, name) {
  const { refused } = await page.invoke("add_server", {
    name,
    config: { type: "stdio", command: process.execPath, args: [SCRIPT], env: {} },
  });
  assert.equal(refused, undefined, `the server ${name} should be added`);
  await page.go(`#/server/${name}/overview`);
  await page.click("button", "Start", "main");
  await page.allow("Always allow this command");
  await page.waitForText("ready", "main header");
}

/** Waits until this number of apps was closed. The page is not used, because it would not respond. */
async function closedWithoutPage(place, count) {
  for (const end = Date.now() + END_MS; closedApps(place).length < count; await wait(100)) {
    assert.ok(Date.now() < end, `the process should be ended within ${END_MS / 1000} s`);
  }
}

export async function stalledApp(page, place, step) {
  await step("two servers with an app are started", async () => {
    for (const name of [STALLED, CALM]) await startServer(page, name);
  });

  // The second time shows that the page that was loaded again is watched, too.
  for (const [index, time] of ["first", "second"].entries()) {
    await step(`X61 an app computes without end for the ${time} time: the page is loaded again and names it`, async () => {
      await callTool(page, STALLED, "compute");
      await page.allow("Allow once");
      await page.click("button", "Show app", RESULT);
      if (index === 0) {
        await page.waitForText(`Show an app of ${STALLED}?`, RESULT);
        await page.click("button", "Show app", RESULT);
      }
      const before = webProcesses(place);
      await page.inFrame(FRAME, () => page.click("button", "Compute"));
      await closedWithoutPage(place, index + 1);
      assert.match(closedApps(place).at(-1), /stalled.*compute.*Unresponsive/, "the app should be named");
      await page.until("the notice", async () => (await page.text()).includes(NOTICE), END_MS);
      await page.picture(`stalled-app-${time}`);
      const remaining = webProcesses(place).filter((pid) => before.includes(pid));
      assert.deepEqual(remaining, [], "the blocked process should have ended");
      const frame = await page.run((selector) => document.querySelector(selector), FRAME);
      assert.equal(frame, null, "no app should be shown again");
      const { value } = await page.invoke("read_activity", { server: STALLED, after: null, limit: 2000 });
      const noted = value.entries.filter(({ preview }) => preview.includes("stopped responding and was closed"));
      assert.equal(noted.length, index + 1, "the activity log should have an entry");
    });

    await step(`after the ${time} time, a tool of another server is called and its request decided`, async () => {
      await callTool(page, CALM, "greet");
      await page.allow("Allow once");
      await page.waitForText("Good morning", RESULT);
    });
  }

  await step("the notice is dismissed", async () => {
    await page.click("button", "Close", "main");
    await page.until("the notice to disappear", async () => !(await page.text()).includes(NOTICE));
  });
}
