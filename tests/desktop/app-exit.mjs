// Tests of every way in which the app ends. No server may survive.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

import { assertNoKeyInFiles } from "./key-leaks.mjs";
import { closeWindow } from "./close-window.mjs";
import { CHILD, waitForExit, waitForNone, processes } from "./processes.mjs";

/** Timeout in milliseconds for servers to end after the app was closed. They are killed after it. */
const CLOSED_APP_TIMEOUT_MS = 8_000;
/** Timeout in milliseconds for servers to end after the app was killed. */
const KILLED_APP_TIMEOUT_MS = 3_000;

/** Text in the composer that was stored before a signal. */
const STORED_DRAFT = "By ferry, or by trai";
/** Key that the user presses just before the signal. The page has not stored it yet. */
const LAST_KEY = "n";
/** Id of the conversation in which the user typed when the app received a signal. */
let interrupted;

/** Returns the processes of all servers and of their children that remain after the timeout. */
const remainingProcesses = async (place, limit) => [
  ...(await waitForNone(place.home, place.demo, limit)),
  ...(await waitForNone(place.home, CHILD, limit)),
  ...(await waitForNone(place.home, place.everything, limit)),
];

export async function exitByClosing(place, step) {
  await step("closing the window with the choice to quit ends the servers and the app", async () => {
    assert.ok(processes(place.home, place.demo).length >= 4, "the servers should run before the window is closed");
    await closeWindow("Drawbridge");
    assert.deepEqual(await remainingProcesses(place, CLOSED_APP_TIMEOUT_MS), [], "no server should be left");
    assert.deepEqual(await waitForNone(place.home, place.app, CLOSED_APP_TIMEOUT_MS), [], "the app should have ended");
    assert.deepEqual(JSON.parse(readFileSync(place.running, "utf8")), [], "the app should have ended its servers in order");
  });

  await step("the provider's key is in no file and in no output", () => assertNoKeyInFiles(place.home));
}

export async function exitBySignals(place, step) {
  await step("after a restart, approved servers run, and SIGTERM ends them", async () => {
    const app = await startApp(place);
    await end(app, "SIGTERM");
    assert.deepEqual(await remainingProcesses(place, CLOSED_APP_TIMEOUT_MS), [], "no server should be left");
  });

  await step("servers end with a killed app, and the next start ends orphans", async () => {
    const app = await startApp(place);
    await end(app, "SIGKILL");
    assert.deepEqual(await waitForNone(place.home, place.demo, KILLED_APP_TIMEOUT_MS), [], "no server should be left");
    const orphans = processes(place.home, CHILD).map(({ pid }) => pid);
    const next = await startApp(place);
    const remaining = processes(place.home, CHILD).filter(({ pid }) => orphans.includes(pid));
    assert.deepEqual(remaining, [], "the next start should end the child processes of servers");
    await end(next, "SIGTERM");
    assert.deepEqual(await remainingProcesses(place, CLOSED_APP_TIMEOUT_MS), [], "no process should be left");
  });
}

export async function signalWhileTyping(page, place, step) {
  await step("SIGTERM while the user types ends the app", async () => {
    const { value } = await page.invoke("create_conversation", { title: "Way home" });
    interrupted = value.id;
    await page.go(`#/conversation/${interrupted}`);
    await page.fill("Message", STORED_DRAFT);
    await page.until("the draft to be stored", async () => {
      const { value } = await page.invoke("read_conversation", { conversation: interrupted });
      return value.draft === STORED_DRAFT;
    });
    const apps = processes(place.home, place.app).map(({ pid }) => pid);
    assert.equal(apps.length, 1, "the app should be one process");
    await page.press(LAST_KEY);
    process.kill(apps[0], "SIGTERM");
    assert.ok(await waitForExit(apps[0], CLOSED_APP_TIMEOUT_MS), "the app should have ended");
  });
}

export async function draftAfterSignal(page, _place, step) {
  await step("after the next start, the draft has the key that was pressed just before SIGTERM", async () => {
    await page.waitForElement("button", "New conversation", "nav");
    await page.go(`#/conversation/${interrupted}`);
    const composed = () => page.run(() => document.querySelector("[data-testid=composer] textarea")?.value);
    await page.until("the whole draft", async () => (await composed()) === STORED_DRAFT + LAST_KEY);
  });
}

/** Starts the app and waits until all of its servers are running and recorded for the next start. */
async function startApp(place) {
  const app = start(place);
  const isRunning = () => processes(place.home, place.demo).length >= 4 && recorded(place, app) >= 4;
  for (let tries = 0; !isRunning(); tries++) {
    assert.ok(tries < 150, "approved servers should start with the app");
    await wait(100);
  }
  return app;
}

/** Returns the number of servers of this app that the next start would end. The app writes them in the background. */
function recorded(place, app) {
  if (!existsSync(place.running)) return 0;
  const owners = JSON.parse(readFileSync(place.running, "utf8")).map((record) => record.split(" ")[3]);
  return owners.filter((owner) => owner === String(app.pid)).length;
}

async function end(app, signal) {
  const ended = once(app, "exit");
  app.kill(signal);
  await ended;
}

function start(place) {
  return spawn(place.app, [], { env: { ...process.env, ...place.env }, stdio: ["ignore", place.output, place.output] });
}
