// Servers, texts and waits that are shared by the tests of apps that use up a window.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { accessibleObjects, allTexts } from "./accessible.mjs";
import { processes } from "./processes.mjs";

export const SCRIPT = join(import.meta.dirname, "../apps/stalled-server.mjs");
export const STALLED = "stalled";
/** Server whose request has to be decided meanwhile. */
export const CALM = "calm";
export const TOOL = "compute";
/** Notices about an app that did not respond, and one that used too much memory. */
export const NOTICE = `The app of ${TOOL} on ${STALLED} stopped responding and was closed.`;
export const MEMORY_NOTICE = `The app of ${TOOL} on ${STALLED} used too much memory and was closed.`;
/** Buttons in the app. */
export const COMPUTE = "Compute";
export const [LOOP_IN_TEARDOWN, LOOP_ON_REMOVAL] = ["Loop in teardown", "Loop on removal"];
export const COMPUTE_WITH_PAUSES = "Compute with pauses";
export const [ALLOCATE, ALLOCATE_BLOBS] = ["Allocate", "Allocate blobs"];
/** Causes in the output of Drawbridge. */
export const [UNRESPONSIVE, MEMORY_LIMIT] = ["Unresponsive", "MemoryLimit"];
const WEB_PROCESS = "/WebKitWebProcess ";
/** Line of Drawbridge's output about an app that it has closed. */
const CLOSED = /an app was closed.*/g;
/** Time limit in milliseconds for the process to be ended: the delay of the app, a probe, and its answer. */
const END_MS = 40_000;
const SHOWN_MS = 30_000;

/** Returns the ids of the web processes, without their parents outside of the sandbox. */
export const webProcesses = (place) =>
  processes(place.home, WEB_PROCESS)
    .filter(({ command }) => !command.includes("bwrap"))
    .map(({ pid }) => pid);

/** Returns the lines of Drawbridge's output about closed apps. */
export const closedApps = (place) => readFileSync(place.log, "utf8").match(CLOSED) ?? [];

/** Returns `true` if a window shows this text, as assistive technology receives it. */
export const has = async (place, text) => allTexts(await accessibleObjects(place)).includes(text);

/** Repeats `look` until it returns `true`. What it throws counts as `false`, since the page is being loaded. */
export async function until(what, look, limit = SHOWN_MS) {
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

/** Waits until this number of apps was closed, without using the page, which would not respond. */
export async function closedWithoutPage(place, count, cause = UNRESPONSIVE, limit = END_MS) {
  await until(`the process of an app to be ended ${count} times`, () => closedApps(place).length >= count, limit);
  assert.match(closedApps(place).at(-1), new RegExp(`${STALLED}.*${TOOL}.*${cause}`), "the app and the cause should be named");
}

/** Adds a server and starts it. */
export async function startServer(page, name) {
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

/** Shows the app of a result in this element, and approves it. */
export async function approveApp(page, within) {
  await page.click("button", "Show app", within);
  await page.waitForText(`Show an app of ${STALLED}?`, within);
  await page.click("button", "Show app", within);
}

/** Selects what happens when the last window is closed. */
export async function setCloseAction(page, onClose) {
  const { value } = await page.invoke("read_snapshot", {});
  await page.invoke("set_settings", { ...value.settings, onClose });
}
