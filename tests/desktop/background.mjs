// At home on the desktop: the choice of a closing window, the background, the way back, and the start at login.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { closeWindow, isShown } from "./close-window.mjs";
import { noneLeft, processes } from "./processes.mjs";

const TITLE = "Drawbridge";
const DIALOG = "[role=dialog]";
const SECTION = "section[aria-labelledby=settings-desktop]";
const LOGIN = "Start Drawbridge when you log in";
const KEEP = "Keep running in the background";
/** A window comes and goes within this time. */
const COMES_MS = 30_000;
/** A second start hands over and ends within this time. */
const HANDS_OVER_MS = 10_000;
const ENDED_MS = 8_000;

export async function background(page, place, step) {
  await step("Settings starts the app at login, and not any more", async () => {
    const file = join(place.env.XDG_CONFIG_HOME, "autostart/drawbridge.desktop");
    assert.ok(!existsSync(file), "off at first");
    await page.go("#/settings");
    await page.reads("This desktop has no tray", SECTION);
    await page.click("checkbox", LOGIN, SECTION);
    await page.until("the file", () => existsSync(file));
    await page.until("the switch to be on", () => isOn(page));
    assert.match(readFileSync(file, "utf8"), new RegExp(`^Exec="${place.app}" --background$`, "m"), "in the background");
    await page.scrollTo(SECTION);
    await page.picture("desktop-settings");
    await page.click("checkbox", LOGIN, SECTION);
    await page.until("the file to be gone", () => !existsSync(file));
  });

  await step("the window is closed while servers run: the user is asked, and Cancel leaves all as it is", async () => {
    const running = processes(place.home, place.demo).length;
    assert.ok(running >= 4, "servers run");
    await closing(page);
    await page.picture("closing");
    await page.click("button", "Cancel", DIALOG);
    await page.until("the dialog to be gone", () => page.run(() => document.querySelector("[role=dialog]") === null));
    assert.ok(await isShown(TITLE), "the window stays");
    assert.equal(processes(place.home, place.demo).length, running, "and so do the servers");
  });

  await step("kept in the background: the window is hidden, its servers run, and a start at login leaves it so", async () => {
    const running = processes(place.home, place.demo).length;
    await closing(page);
    await keep(page);
    await shows(false);
    assert.equal(processes(place.home, place.demo).length, running, "the servers run on");
    assert.equal(await handedOver(place, ["--background"]), 0, "a start at login hands over");
    assert.ok(!(await isShown(TITLE)), "and opens nothing");
  });

  await step("a second start hands over to the first, which shows its window, and ends", async () => {
    assert.equal(await handedOver(place), 0, "it ends by itself, successfully");
    await shows(true);
    await page.until("the page to be seen", () => page.run(() => document.visibilityState === "visible"));
    await page.sees("button", "New conversation", "nav");
  });

  await step("the choice is remembered when the user says so", async () => {
    await closing(page);
    await page.click("checkbox", "Remember my choice", DIALOG);
    await keep(page);
    await shows(false);
    assert.equal(await handedOver(place), 0, "it is opened again");
    await shows(true);
    await closeWindow(TITLE);
    await shows(false);
    assert.equal(await handedOver(place), 0, "and once more");
    await shows(true);
    await page.go("#/settings");
    await page.click("radio", "Quit and stop all servers", SECTION);
    await page.until("the setting", () => JSON.parse(readFileSync(join(place.data, "settings.json"), "utf8")).onClose === "quit");
  });
}

export async function startedInBackground(place, step) {
  await step("started in the background: servers run without a window, and another start opens it", async () => {
    const app = start(place, ["--background"]);
    await until("the servers", () => processes(place.home, place.demo).length >= 4);
    assert.deepEqual(processes(place.home, "/WebKitWebProcess "), [], "nothing is drawn");
    assert.equal(await handedOver(place), 0, "another start hands over");
    await shows(true);
    const ended = once(app, "exit");
    app.kill("SIGTERM");
    await ended;
    assert.deepEqual(await noneLeft(place.home, place.demo, ENDED_MS), [], "told to end, it ends its servers");
  });
}

/** Closes the window and waits for the question. */
async function closing(page) {
  await closeWindow(TITLE);
  await page.reads(/Keep \d+ servers running\?/, DIALOG);
}

/** Clicks the button that hides the window. The driver's own click would wait until a hidden window is drawn. */
async function keep(page) {
  const click = (dialog, name) => {
    const button = [...document.querySelectorAll(`${dialog} button`)].find((one) => one.textContent.trim() === name);
    setTimeout(() => button.click());
  };
  await page.run(click, DIALOG, KEEP);
}

const isOn = (page) => page.run((section) => document.querySelector(`${section} input[type=checkbox]`)?.checked === true, SECTION);

const shows = (wanted) => until(`the window to be ${wanted ? "shown" : "hidden"}`, async () => (await isShown(TITLE)) === wanted);

async function until(what, look) {
  const end = Date.now() + COMES_MS;
  while (!(await look())) {
    assert.ok(Date.now() < end, `waited ${COMES_MS / 1000} s for ${what}`);
    await wait(50);
  }
}

/** Starts the app a second time; the status that it ends with. */
export async function handedOver(place, args = []) {
  const second = start(place, args);
  const [status] = await Promise.race([once(second, "exit"), wait(HANDS_OVER_MS).then(() => ["none"])]);
  if (status === "none") second.kill("SIGKILL");
  return status;
}

function start(place, args = []) {
  return spawn(place.app, args, { env: { ...process.env, ...place.env }, stdio: ["ignore", place.output, place.output] });
}
