// An app that uses up what it shares with Drawbridge's page: the time or the memory of the web process. The process is
// ended, and the page is loaded again and names the app.
//
// The session of the driver ends with the process. Afterwards the window is read and operated like by a screen reader.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { accessibleObjects, allTexts, pressButton, PYTHON } from "./accessible.mjs";
import { APP_FRAME, callTool, RESULT } from "./calls.mjs";
import { closeWindow } from "./close-window.mjs";
import { processes, waitForNone } from "./processes.mjs";
import {
  ALLOCATE,
  ALLOCATE_BLOBS,
  approveApp,
  CALM,
  closedApps,
  closedWithoutPage,
  COMPUTE,
  has,
  LOOP_IN_TEARDOWN,
  LOOP_ON_REMOVAL,
  MEMORY_LIMIT,
  MEMORY_NOTICE,
  NOTICE,
  SCRIPT,
  setCloseAction,
  STALLED,
  startServer,
  TOOL,
  UNRESPONSIVE,
  until,
  webProcesses,
} from "./stalled.mjs";

const TRAY_MENU = join(import.meta.dirname, "tray_menu.py");
const MAIN = "Drawbridge";
/** Title of the consent request for another server, and the button that leads back to it from the list of requests. */
const [REQUEST, BACK] = [`Run greet on ${CALM}?`, "Back to the request"];
/** Title of the dialog for closing the window. */
const CLOSING = "Keep 2 servers running?";
/** Time in milliseconds after a click in the app after which it computes. */
const COMPUTES_MS = 3_000;
const ENDS_MS = 8_000;
/** Name of a process of WebKitGTK, as truncated by the kernel, that a child process of the server has, too. */
const NETWORK_PROCESS = "WebKitNetworkPr";
/** Size in kibibytes of the grown child process, and the time in milliseconds in which its growth would be noticed. */
const GROWN_KIB = 1.2 * 2 ** 20;
const NOTICED_MS = 4_000;

const hasButton = async (place, name) => allTexts(await accessibleObjects(place)).split("\n").includes(name);

/** Returns the ids of the child processes of the server that have grown. */
const grownChildren = (place) =>
  processes(place.home, NETWORK_PROCESS)
    .map(({ pid }) => pid)
    .filter((pid) => {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return status.startsWith(`Name:\t${NETWORK_PROCESS}\n`) && Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) > GROWN_KIB;
    });

/** Presses a button until it has the effect, since a press may be ignored while the window changes. */
async function press(place, name, what, effect) {
  await until(what, async () => {
    await pressButton(place, name).catch(() => undefined);
    return effect();
  });
}

/** Calls a tool without waiting for its end. */
const beginCall = (page, server, tool) =>
  page.run(
    (request) => void window.__TAURI_INTERNALS__.invoke("call_tool", { request }).catch(() => undefined),
    { call: `${server} ${tool}`, server, tool, arguments: {} },
  );

/** Calls the tool again in a page that was loaded again, shows its app, and presses this button in it. */
async function showAndPress(place, button) {
  await press(place, "Call", "the app to be offered", () => hasButton(place, "Show app"));
  await press(place, "Show app", "the app", () => hasButton(place, button));
  await pressButton(place, button);
}

/** Waits for the notice about the app, and dismisses it. */
async function dismissNotice(place, notice = NOTICE) {
  await until("the notice", () => has(place, notice));
  await press(place, "Close", "the notice to disappear", async () => !(await has(place, notice)));
}

/** Shows the app, presses a button in it, and waits for its end and the notice. */
async function usesUpPage(place, button, count, cause) {
  await showAndPress(place, button);
  await closedWithoutPage(place, count, cause);
  await dismissNotice(place, cause === MEMORY_LIMIT ? MEMORY_NOTICE : NOTICE);
}

export async function stalledApp(page, place, step) {
  let before = [];
  await step("an app is shown", async () => {
    for (const name of [STALLED, CALM]) await startServer(page, name);
    await callTool(page, STALLED, TOOL);
    await page.allow("Allow until Drawbridge closes");
    await approveApp(page, RESULT);
    await setCloseAction(page, "ask");
  });

  await step("X62 a process of a server has the name of one that all windows share, and grows: no app is closed", async () => {
    const [server] = processes(place.home, SCRIPT);
    process.kill(server.pid, "SIGUSR2");
    await until("the process to grow", () => grownChildren(place).length === 1);
    await wait(NOTICED_MS);
    assert.equal(grownChildren(place).length, 1, "the process should have remained");
    assert.deepEqual(closedApps(place), [], "no app should be closed");
  });

  await step("an app computes, and a call of another server waits for its decision", async () => {
    before = webProcesses(place);
    await page.inFrame(APP_FRAME, () => page.click("button", COMPUTE));
    await beginCall(page, CALM, "greet");
  });

  await step("X61 an app computes without end: a request that was chosen meanwhile can be decided", async () => {
    await wait(COMPUTES_MS);
    execFileSync(PYTHON, [TRAY_MENU, "1 request"]);
    await closeWindow(MAIN);
    await closedWithoutPage(place, 1);
    // The page shows the list only because the tray requested it.
    await until("the list of requests", () => hasButton(place, BACK));
    const remaining = webProcesses(place).filter((pid) => before.includes(pid));
    assert.deepEqual(remaining, [], "the blocked process should have ended");
    await press(place, BACK, "the request", async () => !(await hasButton(place, BACK)));
    await until("the request", () => has(place, REQUEST));
    await press(place, "Deny", "the request to be denied", async () => !(await has(place, REQUEST)));
  });

  await step("X61 the page names the app, and does not show it again", async () => {
    await until("the notice", () => has(place, NOTICE));
    assert.ok(!(await hasButton(place, COMPUTE)), "the app should not be shown");
    await dismissNotice(place);
  });

  await step("X61 closing the window after the blocked page did not respond asks again", async () => {
    await closeWindow(MAIN);
    await until("the dialog", () => has(place, CLOSING));
    await press(place, "Cancel", "the dialog to disappear", async () => !(await has(place, CLOSING)));
    assert.notDeepEqual(processes(place.home, place.app), [], "Drawbridge should not quit");
  });

  await step("X61 an app that computes while it is closed is noticed, also in a page that was loaded again", async () => {
    await usesUpPage(place, LOOP_IN_TEARDOWN, 2, UNRESPONSIVE);
  });

  await step("X61 an app that computes when its frame is removed is noticed, too", async () => {
    await usesUpPage(place, LOOP_ON_REMOVAL, 3, UNRESPONSIVE);
  });

  await step("X62 an app allocates memory without end: its process is ended, and the page names it", async () => {
    await usesUpPage(place, ALLOCATE, 4, MEMORY_LIMIT);
  });

  await step("X62 an app that fills the process for blobs is closed, too", async () => {
    await usesUpPage(place, ALLOCATE_BLOBS, 5, MEMORY_LIMIT);
  });

  await step("the window of a page that was loaded again is closed", async () => {
    await closeWindow(MAIN);
    const closed = async () => processes(place.home, place.app).length === 0 || !(await has(place, CLOSING));
    await until("the dialog", () => has(place, CLOSING));
    await press(place, "Quit", "the window to be closed", closed);
    for (const program of [SCRIPT, place.app]) {
      assert.deepEqual(await waitForNone(place.home, program, ENDS_MS), [], `no process of ${program} should be left`);
    }
  });
}
