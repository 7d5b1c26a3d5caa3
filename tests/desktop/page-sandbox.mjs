// Sandbox of the web process in WebKitGTK. The window opens without the sandbox where it does not work.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { closeWindow } from "./close-window.mjs";
import { kill, waitForNone, processes } from "./processes.mjs";

const SANDBOX_SETTINGS = "section[aria-labelledby=settings-sandbox]";
const WEB_PROCESS = "/WebKitWebProcess ";
/** Timeout in milliseconds for a web process to start, or for the app to restart. */
const START_TIMEOUT_MS = 30_000;
/** Number of threads of a web process that has connected to WebKitGTK but has not painted yet. */
const STARTED_THREADS = 4;
const APP_END_TIMEOUT_MS = 8_000;

/** `true` if this system allows bubblewrap to create the namespaces of the sandbox. */
const allowsSandbox =
  spawnSync("bwrap", [..."--unshare-pid --unshare-net --ro-bind / / --proc /proc".split(" "), "true"]).status === 0 &&
  spawnSync("xdg-dbus-proxy", ["--help"]).status === 0;

/** Returns the ids of the web processes, without their parents outside of the sandbox. */
const webProcesses = (place) =>
  processes(place.home, WEB_PROCESS)
    .filter(({ command }) => !command.includes("bwrap"))
    .map(({ pid }) => pid);
/** Returns `true` if a process is in another namespace than this script, which shares its namespaces with the app. */
const isOwn = (pid, name) => readlinkSync(`/proc/${pid}/ns/${name}`) !== readlinkSync(`/proc/self/ns/${name}`);

/** Returns the id of the only web process, and the namespaces that it does not share with the app. */
async function separated(page, place) {
  const [web] = await page.until("one web process to start", () => {
    const found = webProcesses(place);
    return found.length === 1 && found;
  });
  return { web, names: ["user", "pid", "mnt", "net"].filter((name) => isOwn(web, name)) };
}

export async function pageSandbox(page, place, step) {
  await step("S22 the web process has separate namespaces and can't read the user's files", async () => {
    const { web, names } = await separated(page, place);
    await page.go("#/settings");
    if (!allowsSandbox) {
      console.log("        this system allows no sandbox: only that Settings says so is tried");
      await page.waitForText("Off: a flaw in WebKitGTK could expose your files", SANDBOX_SETTINGS);
      return;
    }
    // Run by root, bubblewrap needs no user namespace.
    const expectedNamespaces = process.getuid() === 0 ? ["pid", "mnt", "net"] : ["user", "pid", "mnt", "net"];
    assert.deepEqual(names, expectedNamespaces, `the web process should have these separate namespaces, not ${names}`);
    for (const file of [place.config, join(place.data, "audit.db"), join(place.data, "secrets.json"), place.running]) {
      assert.ok(!existsSync(join(`/proc/${web}/root`, file)), `${file} should not be visible to the web process`);
    }
    assert.ok(existsSync(place.config), "the file should be visible outside of the sandbox");
    await page.waitForText("On. The process that draws this window can't read your files and has no network.", SANDBOX_SETTINGS);
    await page.scrollTo(SANDBOX_SETTINGS);
    await page.picture("sandbox");
    await page.go("#/");
  });
}

export async function sandboxStartFailure(place, step) {
  if (!allowsSandbox) return;
  await step("S22 a web process does not start in the sandbox: the app exits, and the next start does not use the sandbox", async () => {
    const app = start(place);
    const ended = once(app, "exit");
    // WebKitGTK waits for the report of the process, which it sends once its libraries are loaded.
    const web = await first(() => webProcesses(place));
    kill(web);
    const [status, signal] = await Promise.race([ended, wait(APP_END_TIMEOUT_MS).then(() => [])]);
    if (status === 0) {
      // On a busy machine the process can be killed only after its report. The app then restarts without the sandbox.
      await endRestarted(place, web);
    } else {
      assert.ok(signal, "WebKitGTK should end the app");
    }
  });
}

export async function blankPage(place, step) {
  if (!allowsSandbox) return;
  await step("S22 a web process exits in the sandbox before it draws: the app restarts without the sandbox", async () => {
    const before = start(place);
    const ended = once(before, "exit");
    const web = await first(() => webProcesses(place).filter((pid) => threads(pid) >= STARTED_THREADS));
    assert.ok(isOwn(web, "mnt"), "the web process should be in the sandbox");
    kill(web);
    const [status] = await ended;
    assert.equal(status, 0, "the app should exit successfully");
    await endRestarted(place, web);
  });
}

/** Checks that the app has restarted without the sandbox after the web process `previous`, and ends it. */
async function endRestarted(place, previous) {
  const outside = await first(() => webProcesses(place).filter((pid) => pid !== previous));
  assert.ok(!isOwn(outside, "mnt"), "the web process should be outside of the sandbox");
  process.kill(parent(outside), "SIGTERM");
  assert.deepEqual(await waitForNone(place.home, WEB_PROCESS, APP_END_TIMEOUT_MS), [], "the window should close");
  assert.deepEqual(await waitForNone(place.home, place.app, APP_END_TIMEOUT_MS), [], "the app should exit");
}

function start(place) {
  return spawn(place.app, [], { env: { ...process.env, ...place.env }, stdio: ["ignore", place.output, place.output] });
}

/** Returns the id of the parent process. For a web process, this is the app outside of the sandbox. */
const parent = (pid) => Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ")[1]);

/** Returns the number of threads of a process, or 0 after it has ended. */
function threads(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}

/** Closes the window, and waits until the app and its web processes have ended. */
export async function quitApp(_page, place) {
  await closeWindow("Drawbridge");
  assert.deepEqual(await waitForNone(place.home, place.app, APP_END_TIMEOUT_MS), [], "the app should have ended");
  assert.deepEqual(await waitForNone(place.home, WEB_PROCESS, APP_END_TIMEOUT_MS), [], "no web process should be left");
}

/** Waits until `look` finds a process. Returns the first one. */
async function first(look) {
  const end = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const [found] = look();
    if (found !== undefined) return found;
    assert.ok(Date.now() < end, `a process should start within ${START_TIMEOUT_MS / 1000} s`);
    await wait(5);
  }
}

export async function sandboxDisabled(page, place, step) {
  if (!allowsSandbox) return;
  await step("Settings shows that the page is outside of the sandbox and why, and tries again", async () => {
    assert.deepEqual((await separated(page, place)).names, [], "the web process should share all namespaces");
    await page.go("#/settings");
    await page.waitForText("The window stayed blank in the sandbox, so Drawbridge started without it.", SANDBOX_SETTINGS);
    await page.scrollTo(SANDBOX_SETTINGS);
    await page.picture("no-sandbox");
    await page.click("button", "Try again at the next start", SANDBOX_SETTINGS);
    await page.waitForText("The next start tries the sandbox again.", SANDBOX_SETTINGS);
  });
}

export async function sandboxRestored(page, place, step) {
  if (!allowsSandbox) return;
  await step("after the next start the page is in the sandbox again", async () => {
    assert.ok((await separated(page, place)).names.includes("mnt"), "the web process should have a separate mount namespace");
    const counted = join(place.data, "page-sandbox.json");
    await page.until("the start to be counted as successful", () => !existsSync(counted));
  });
}
