// An app that computes without end blocks the web process, which also draws Drawbridge's page. The process is ended,
// and the page is loaded again and names the app.
//
// The session of the driver ends with the process. Afterwards the window is read and operated like by a screen reader.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { accessibleObjects, allTexts, pressButton } from "./accessible.mjs";
import { APP_FRAME, callTool, RESULT } from "./calls.mjs";
import { closeWindow } from "./close-window.mjs";
import { processes, waitForNone } from "./processes.mjs";

const SCRIPT = join(import.meta.dirname, "../apps/stalled-server.mjs");
const WEB_PROCESS = "/WebKitWebProcess ";
const STALLED_SERVER = "stalled";
const CALM_SERVER = "calm";
/** Line of the app's output about an app that it has closed. */
const CLOSED_APP_LINE = /an app was closed.*/g;
const NOTICE = `The app of compute on ${STALLED_SERVER} stopped responding and was closed.`;
/** Title of the consent request for another server, and the buttons in the app. */
const [REQUEST_TITLE, COMPUTE_LABEL] = [`Run greet on ${CALM_SERVER}?`, "Compute"];
const [LOOP_IN_TEARDOWN_LABEL, LOOP_ON_REMOVAL_LABEL] = ["Loop in teardown", "Loop on removal"];
/** Time limit in milliseconds for the process to be ended: the delay of the app, a probe, and its answer. */
const PROCESS_END_TIMEOUT_MS = 40_000;
const SHOWN_TIMEOUT_MS = 30_000;
const APP_END_TIMEOUT_MS = 8_000;

/** Returns the ids of the web processes, without their parents outside of the sandbox. */
const webProcesses = (place) =>
  processes(place.home, WEB_PROCESS)
    .filter(({ command }) => !command.includes("bwrap"))
    .map(({ pid }) => pid);

/** Returns the lines of the app's output about closed apps. */
const closedApps = (place) => readFileSync(place.log, "utf8").match(CLOSED_APP_LINE) ?? [];

/** Repeats `look` until it returns `true`. What it throws counts as `false`, since the page is being loaded. */
async function until(what, look, limit = SHOWN_TIMEOUT_MS) {
  let cause;
  for (const end = Date.now() + limit; Date.now() < end; await wait(200)) {
    try {
      if (await look()) return;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
  }
  throw new Error(`waited ${limit / 1000} s for ${what}${cause ? `: ${cause.message}` : ""}`);
}

const has = async (place, text) => allTexts(await accessibleObjects(place)).includes(text);
const hasButton = async (place, name) => allTexts(await accessibleObjects(place)).split("\n").includes(name);

/** Presses a button until it has the effect, since a press may be ignored while the window changes. */
async function press(place, name, what, effect) {
  await until(what, async () => {
    await pressButton(place, name).catch(() => undefined);
    return effect();
  });
}

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

/** Calls a tool without waiting for its end. */
const beginCall = (page, server, tool) =>
  page.run(
    (request) => void window.__TAURI_INTERNALS__.invoke("call_tool", { request }).catch(() => undefined),
    { call: `${server} ${tool}`, server, tool, arguments: {} },
  );

/** Waits until this number of apps was closed, without using the page, which would not respond. */
async function closedWithoutPage(place, count) {
  await until(`the blocked process to be ended ${count} times`, () => closedApps(place).length >= count, PROCESS_END_TIMEOUT_MS);
  assert.match(closedApps(place).at(-1), /stalled.*compute.*Unresponsive/, "the app should be named");
}

/** Calls the tool again in a page that was loaded again, shows its app, and presses this button in it. */
async function showAndPress(place, button) {
  await press(place, "Call", "the app to be offered", () => hasButton(place, "Show app"));
  await press(place, "Show app", "the app", () => hasButton(place, button));
  await pressButton(place, button);
}

/** Waits for the notice about the app, and dismisses it. */
async function dismissNotice(place) {
  await until("the notice", () => has(place, NOTICE));
  await press(place, "Close", "the notice to disappear", async () => !(await has(place, NOTICE)));
}

export async function stalledApp(page, place, step) {
  let before = [];
  await step("an app is shown, and a call of another server waits for its decision", async () => {
    for (const name of [STALLED_SERVER, CALM_SERVER]) await startServer(page, name);
    await callTool(page, STALLED_SERVER, "compute");
    await page.allow("Allow until Drawbridge closes");
    await page.click("button", "Show app", RESULT);
    await page.waitForText(`Show an app of ${STALLED_SERVER}?`, RESULT);
    await page.click("button", "Show app", RESULT);
    const { value } = await page.invoke("read_snapshot", {});
    await page.invoke("set_settings", { ...value.settings, onClose: "quit" });
    before = webProcesses(place);
    await page.inFrame(APP_FRAME, () => page.click("button", COMPUTE_LABEL));
    await beginCall(page, CALM_SERVER, "greet");
  });

  await step("X61 an app computes without end: a request of another server can be decided again", async () => {
    await closedWithoutPage(place, 1);
    await until("the request", () => has(place, REQUEST_TITLE));
    const remaining = webProcesses(place).filter((pid) => before.includes(pid));
    assert.deepEqual(remaining, [], "the blocked process should have ended");
    await press(place, "Deny", "the request to be denied", async () => !(await has(place, REQUEST_TITLE)));
  });

  await step("X61 the page names the app, and does not show it again", async () => {
    await until("the notice", () => has(place, NOTICE));
    assert.ok(!(await hasButton(place, COMPUTE_LABEL)), "the app should not be shown");
    await dismissNotice(place);
  });

  await step("X61 the page that was loaded again is watched, too", async () => {
    await showAndPress(place, COMPUTE_LABEL);
    await closedWithoutPage(place, 2);
    await dismissNotice(place);
  });

  await step("X61 an app that computes while it is closed is noticed, too", async () => {
    await showAndPress(place, LOOP_IN_TEARDOWN_LABEL);
    await closedWithoutPage(place, 3);
    await dismissNotice(place);
  });

  await step("X61 an app that computes when its frame is removed is noticed, too", async () => {
    await showAndPress(place, LOOP_ON_REMOVAL_LABEL);
    await closedWithoutPage(place, 4);
    await until("the notice", () => has(place, NOTICE));
  });

  await step("the window of a page that was loaded again is closed", async () => {
    await closeWindow("Drawbridge");
    for (const program of [SCRIPT, place.app]) {
      assert.deepEqual(await waitForNone(place.home, program, APP_END_TIMEOUT_MS), [], `no process of ${program} should be left`);
    }
  });
}
