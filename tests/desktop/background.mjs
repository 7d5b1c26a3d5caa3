// Desktop integration: closing the window, running in the background, reopening, and the start at login.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { closeWindow, isShown } from "./close-window.mjs";
import { waitForNone, processes } from "./processes.mjs";

const TITLE = "Drawbridge";
const DIALOG = "[role=dialog]";
const DESKTOP_SETTINGS = "section[aria-labelledby=settings-desktop]";
const LOGIN_START_LABEL = "Start Drawbridge when you log in";
const KEEP_RUNNING_LABEL = "Keep running in the background";
/** Timeout in milliseconds for a window to appear or disappear. */
const WINDOW_TIMEOUT_MS = 30_000;
/** Timeout in milliseconds for a second start, which notifies the first instance and exits. */
const SECOND_START_TIMEOUT_MS = 10_000;
const SERVERS_END_TIMEOUT_MS = 8_000;

export async function background(page, place, step) {
  await step("Settings enables and disables the start at login", async () => {
    const file = join(place.env.XDG_CONFIG_HOME, "autostart/drawbridge.desktop");
    assert.ok(!existsSync(file), "the start at login should be disabled by default");
    await page.go("#/settings");
    await page.waitForText("This desktop has no tray", DESKTOP_SETTINGS);
    await page.click("checkbox", LOGIN_START_LABEL, DESKTOP_SETTINGS);
    await page.until("the file to be created", () => existsSync(file));
    await page.until("the checkbox to be checked", () => isOn(page));
    assert.match(
      readFileSync(file, "utf8"),
      new RegExp(`^Exec="${place.app}" --background$`, "m"),
      "the entry should start the app in the background",
    );
    await page.scrollTo(DESKTOP_SETTINGS);
    await page.picture("desktop-settings");
    await page.click("checkbox", LOGIN_START_LABEL, DESKTOP_SETTINGS);
    await page.until("the file to be removed", () => !existsSync(file));
  });

  await step("closing the window while servers run shows a dialog, and Cancel changes nothing", async () => {
    const running = processes(place.home, place.demo).length;
    assert.ok(running >= 4, "the servers should be running");
    await requestClose(page);
    await page.picture("closing");
    await page.click("button", "Cancel", DIALOG);
    await page.until("the dialog to be closed", () => page.run(() => document.querySelector("[role=dialog]") === null));
    assert.ok(await isShown(TITLE), "the window should stay open");
    assert.equal(processes(place.home, place.demo).length, running, "the servers should still be running");
  });

  await step("in the background: the window is hidden, its servers run, and a start at login does not show it", async () => {
    const running = processes(place.home, place.demo).length;
    await requestClose(page);
    await hideWindow(page);
    await waitForWindow(false);
    assert.equal(processes(place.home, place.demo).length, running, "the servers should still be running");
    assert.equal(await startSecondInstance(place, ["--background"]), 0, "the second instance should exit successfully");
    assert.ok(!(await isShown(TITLE)), "the window should stay hidden");
  });

  await step("a second start shows the window of the first instance, and exits", async () => {
    assert.equal(await startSecondInstance(place), 0, "the second instance should exit successfully");
    await waitForWindow(true);
    await page.until("the page to be visible", () => page.run(() => document.visibilityState === "visible"));
    await page.waitForElement("button", "New conversation", "nav");
  });

  await step("the choice is remembered on request", async () => {
    await requestClose(page);
    await page.click("checkbox", "Remember my choice", DIALOG);
    await hideWindow(page);
    await waitForWindow(false);
    assert.equal(await startSecondInstance(place), 0, "the second instance should exit successfully");
    await waitForWindow(true);
    await closeWindow(TITLE);
    await waitForWindow(false);
    assert.equal(await startSecondInstance(place), 0, "the second instance should exit successfully");
    await waitForWindow(true);
    await page.go("#/settings");
    await page.click("radio", "Quit and stop all servers", DESKTOP_SETTINGS);
    await page.until("the setting to be stored", () => {
      const settings = JSON.parse(readFileSync(join(place.data, "settings.json"), "utf8"));
      return settings.onClose === "quit";
    });
  });
}

export async function startedInBackground(place, step) {
  await step("started in the background: servers run without a window, and another start opens it", async () => {
    const app = start(place, ["--background"]);
    await until("the servers to start", () => processes(place.home, place.demo).length >= 4);
    assert.deepEqual(processes(place.home, "/WebKitWebProcess "), [], "no web process should be started");
    assert.equal(await startSecondInstance(place), 0, "the second instance should exit successfully");
    await waitForWindow(true);
    const ended = once(app, "exit");
    app.kill("SIGTERM");
    await ended;
    assert.deepEqual(await waitForNone(place.home, place.demo, SERVERS_END_TIMEOUT_MS), [], "the app should end its servers after SIGTERM");
  });
}

/** Closes the window, and waits for the dialog in which the user chooses what to do. */
async function requestClose(page) {
  await closeWindow(TITLE);
  await page.waitForText(/Keep \d+ servers running\?/, DIALOG);
}

/** Clicks the button that hides the window. The click of the driver would wait for the hidden window to be painted. */
async function hideWindow(page) {
  const click = (dialog, name) => {
    const button = [...document.querySelectorAll(`${dialog} button`)].find((one) => one.textContent.trim() === name);
    setTimeout(() => button.click());
  };
  await page.run(click, DIALOG, KEEP_RUNNING_LABEL);
}

const isOn = (page) => page.run((section) => document.querySelector(`${section} input[type=checkbox]`)?.checked === true, DESKTOP_SETTINGS);

const waitForWindow = (visible) =>
  until(`the window to be ${visible ? "shown" : "hidden"}`, async () => (await isShown(TITLE)) === visible);

async function until(what, look) {
  const end = Date.now() + WINDOW_TIMEOUT_MS;
  while (!(await look())) {
    assert.ok(Date.now() < end, `waited ${WINDOW_TIMEOUT_MS / 1000} s for ${what}`);
    await wait(50);
  }
}

/** Starts the app a second time. Resolves to the exit status of the second process. */
export async function startSecondInstance(place, args = []) {
  const second = start(place, args);
  const [status] = await Promise.race([once(second, "exit"), wait(SECOND_START_TIMEOUT_MS).then(() => ["none"])]);
  if (status === "none") second.kill("SIGKILL");
  return status;
}

function start(place, args = []) {
  return spawn(place.app, args, { env: { ...process.env, ...place.env }, stdio: ["ignore", place.output, place.output] });
}
