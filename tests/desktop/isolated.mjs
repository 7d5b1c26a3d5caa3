// The process that draws the page is in WebKitGTK's sandbox, and the window comes without it where it does not work.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { closeWindow } from "./close-window.mjs";
import { kill, noneLeft, processes } from "./processes.mjs";

const SECTION = "section[aria-labelledby=settings-sandbox]";
const WEB_PROCESS = "/WebKitWebProcess ";
/** A web process, and an app that starts itself anew, come within this time. */
const COMES_MS = 30_000;
/** A web process has so many once it has told WebKitGTK that it runs; it draws nothing for some time after. */
const STARTED_THREADS = 4;
const ENDED_MS = 8_000;

/** Whether this system lets bubblewrap make the namespaces that the sandbox needs. */
const allowsSandbox =
  spawnSync("bwrap", [..."--unshare-pid --unshare-net --ro-bind / / --proc /proc".split(" "), "true"]).status === 0 &&
  spawnSync("xdg-dbus-proxy", ["--help"]).status === 0;

/** The web processes themselves, without what waits for them outside of the sandbox. */
const webProcesses = (place) =>
  processes(place.home, WEB_PROCESS)
    .filter(({ command }) => !command.includes("bwrap"))
    .map(({ pid }) => pid);
/** Whether a process has a namespace that is not the app's, which is ours. */
const isOwn = (pid, name) => readlinkSync(`/proc/${pid}/ns/${name}`) !== readlinkSync(`/proc/self/ns/${name}`);

/** The one web process, and the namespaces that it does not share with us and the app. */
async function separated(page, place) {
  const [web] = await page.until("one web process", () => {
    const found = webProcesses(place);
    return found.length === 1 && found;
  });
  return { web, names: ["user", "pid", "mnt", "net"].filter((name) => isOwn(web, name)) };
}

export async function isolated(page, place, step) {
  await step("S22 the page's process has namespaces of its own and sees none of the user's files", async () => {
    const { web, names } = await separated(page, place);
    await page.go("#/settings");
    if (!allowsSandbox) {
      console.log("        this system allows no sandbox: only that Settings says so is tried");
      await page.reads("Off: a flaw in WebKitGTK could expose your files", SECTION);
      return;
    }
    // Where root runs it bubblewrap needs no user namespace.
    const wanted = process.getuid() === 0 ? ["pid", "mnt", "net"] : ["user", "pid", "mnt", "net"];
    assert.deepEqual(names, wanted, `these are its own: ${names}`);
    for (const file of [place.config, join(place.data, "audit.db"), join(place.data, "secrets.json"), place.running]) {
      assert.ok(!existsSync(join(`/proc/${web}/root`, file)), `${file} is not in its file system`);
    }
    assert.ok(existsSync(place.config), "though it is there");
    await page.reads("On. The process that draws this window can't read your files and has no network.", SECTION);
    await page.scrollTo(SECTION);
    await page.picture("sandbox");
    await page.go("#/");
  });
}

export async function unstartable(place, step) {
  if (!allowsSandbox) return;
  await step("S22 a page's process that does not start in the sandbox: the app ends, and the next start does without", async () => {
    const app = start(place);
    const ended = once(app, "exit");
    // WebKitGTK waits for its word that it runs, which it gives once its libraries are loaded.
    kill(await first(() => webProcesses(place)));
    const [, signal] = await Promise.race([ended, wait(ENDED_MS).then(() => [])]);
    assert.ok(signal, "WebKitGTK ends the app");
  });
}

export async function blank(place, step) {
  if (!allowsSandbox) return;
  await step("S22 a page's process that ends in the sandbox before it drew: the app comes again without it", async () => {
    const before = start(place);
    const ended = once(before, "exit");
    const web = await first(() => webProcesses(place).filter((pid) => threads(pid) >= STARTED_THREADS));
    assert.ok(isOwn(web, "mnt"), "it is in the sandbox");
    kill(web);
    const [status] = await ended;
    assert.equal(status, 0, "the app ends in order");
    const outside = await first(() => webProcesses(place).filter((pid) => pid !== web));
    assert.ok(!isOwn(outside, "mnt"), "the next one is outside");
    process.kill(parent(outside), "SIGTERM");
    assert.deepEqual(await noneLeft(place.home, WEB_PROCESS, ENDED_MS), [], "the window goes");
    assert.deepEqual(await noneLeft(place.home, place.app, ENDED_MS), [], "it ends as ever");
  });
}

function start(place) {
  return spawn(place.app, [], { env: { ...process.env, ...place.env }, stdio: ["ignore", place.output, place.output] });
}

/** The process that started this one: outside of the sandbox, the app. */
const parent = (pid) => Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ")[1]);

/** How many threads a process has; none once it is gone. */
function threads(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}

/** Closes the window, and waits for the end of the app and of all that draws for it. */
export async function quit(_page, place) {
  await closeWindow("Drawbridge");
  assert.deepEqual(await noneLeft(place.home, place.app, ENDED_MS), [], "the app ends");
  assert.deepEqual(await noneLeft(place.home, WEB_PROCESS, ENDED_MS), [], "and its web process");
}

/** The first process that is found. */
async function first(look) {
  const end = Date.now() + COMES_MS;
  for (;;) {
    const [found] = look();
    if (found !== undefined) return found;
    assert.ok(Date.now() < end, `nothing came within ${COMES_MS / 1000} s`);
    await wait(5);
  }
}

export async function unprotected(page, place, step) {
  if (!allowsSandbox) return;
  await step("Settings says that the page is outside of the sandbox and why, and tries again", async () => {
    assert.deepEqual((await separated(page, place)).names, [], "the page's process shares all namespaces");
    await page.go("#/settings");
    await page.reads("The window stayed blank in the sandbox, so Drawbridge started without it.", SECTION);
    await page.scrollTo(SECTION);
    await page.picture("no-sandbox");
    await page.click("button", "Try again at the next start", SECTION);
    await page.reads("The next start tries the sandbox again.", SECTION);
  });
}

export async function again(page, place, step) {
  if (!allowsSandbox) return;
  await step("the next start has the page in the sandbox again", async () => {
    assert.ok((await separated(page, place)).names.includes("mnt"), "it has a file system of its own");
    const counted = join(place.data, "page-sandbox.json");
    await page.until("the start not to count as failed", () => !existsSync(counted));
  });
}
