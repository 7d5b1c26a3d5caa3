// Resource use of the idle app: memory of its processes and wake-ups, for an empty window and with 0, 10 and 50
// running demo servers. Requires a display and a session bus, root privileges to read the memory of protected
// processes, and WebKitWebDriver:
//   xvfb-run -a -s "-screen 0 1280x860x24" dbus-run-session -- node tests/bench/idle.mjs /usr/bin/drawbridge
// /usr/lib/drawbridge/demo-server
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { startSession } from "../desktop/driver.mjs";
import { Page } from "../desktop/page.mjs";
import { kill, processes } from "../desktop/processes.mjs";

const [app, demo] = process.argv.slice(2);
const SERVER_COUNTS = [0, 10, 50];
/**
 * Delay in milliseconds between the last start and the measurement. Also the duration for which wake-ups are counted.
 */
const SETTLE_TIME_MS = 20_000;
const WAKE_UP_COUNTING_TIME_MS = 30_000;
/** Timeout in milliseconds for the app to start all servers. */
const SERVERS_START_TIMEOUT_MS = 60_000;
const WEB_PROCESS = "/WebKitWebProcess ";

/** Creates a folder for all files of one app. Returns its paths and environment variables. */
function home() {
  const folder = mkdtempSync(join(tmpdir(), "drawbridge-idle-"));
  mkdirSync(join(folder, "config/drawbridge"), { recursive: true });
  const env = {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, "config"),
    XDG_DATA_HOME: join(folder, "data"),
    XDG_CACHE_HOME: join(folder, "cache"),
    GDK_BACKEND: "x11",
    NO_AT_BRIDGE: "1",
  };
  return { folder, env, output: openSync(join(folder, "output.log"), "a") };
}

/**
 * Adds and starts these servers with a permanent approval, so that the next start of the app starts them without
 * consent.
 */
async function approve(place, names) {
  const session = await startSession(app, place.env, place.output);
  try {
    const page = new Page(session.browser, place.folder);
    const state = async () => (await page.invoke("read_snapshot", {})).value;
    for (const server of names) {
      await page.invoke("start_server", { server });
      const first = async () => (await state())?.consentRequests[0];
      const consentRequest = await page.until(`the consent request for ${server}`, first);
      const { id, hash } = consentRequest;
      await page.invoke("decide_consent_request", { id, hash, answer: { action: "allow", scope: "always" } });
      const isReady = ({ name, state: now }) => name === server && now.is === "ready";
      await page.until(`${server} to be ready`, async () => (await state()).servers.some(isReady));
    }
  } finally {
    await session.stop();
  }
}

async function until(what, holds) {
  const end = Date.now() + SERVERS_START_TIMEOUT_MS;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`waited ${SERVERS_START_TIMEOUT_MS / 1000} s for ${what}`);
    await wait(100);
  }
}

const number = (text, name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);

/** Returns the proportional set size of a process in MiB. */
const memory = (pid) => number(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"), "Pss") / 1024;

/** Returns the number of voluntary context switches by thread. Each of them ends with a wake-up of the thread. */
function switches(pid) {
  const counts = {};
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const text = readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8");
      counts[thread] = number(text, "voluntary_ctxt_switches");
    } catch {
      // The thread ended in the meantime.
    }
  }
  return counts;
}

/** Starts the app, waits until it is idle, measures its memory and wake-ups, and ends it. */
async function measure(what, place, servers, env = {}) {
  const running = spawn(app, [], { env: { ...process.env, ...place.env, ...env }, stdio: ["ignore", place.output, place.output] });
  const ended = once(running, "exit");
  try {
    await until("the window to open", () => processes(place.folder, WEB_PROCESS).length > 0);
    await until("the servers to start", () => processes(place.folder, demo).length >= servers);
    await wait(SETTLE_TIME_MS);
    const all = processes(place.folder, "");
    const appProcesses = all.filter(({ command }) => !command.includes(demo));
    const serverProcesses = all.filter(({ command }) => command.includes(demo));
    const sum = (some, of) => some.reduce((total, { pid }) => total + of(pid), 0);
    const counts = () => Object.assign({}, ...appProcesses.map(({ pid }) => switches(pid)));
    const before = counts();
    await wait(WAKE_UP_COUNTING_TIME_MS);
    const after = Object.entries(counts());
    const wakeups = after.reduce((total, [thread, count]) => total + count - (before[thread] ?? 0), 0) / (WAKE_UP_COUNTING_TIME_MS / 1000);
    const [appSum, serverSum] = [sum(appProcesses, memory), sum(serverProcesses, memory)];
    const parts = appProcesses.map(({ pid, command }) => `${command.split(" ")[0].split("/").pop()} ${memory(pid).toFixed(0)}`);
    console.log(`| ${what} | ${appSum.toFixed(0)} | ${serverSum.toFixed(0)} | ${wakeups.toFixed(1)} | ${parts.join(", ")} |`);
  } finally {
    running.kill("SIGTERM");
    await ended;
    for (const { pid } of processes(place.folder, "")) kill(pid);
  }
}

console.log("| | app with its web processes, MiB PSS | servers, MiB PSS | wake-ups a second | of these, MiB |\n|--|--:|--:|--:|--|");
const empty = home();
await measure("an empty window", empty, 0, { DRAWBRIDGE_BENCH: "empty-at-rest" });
rmSync(empty.folder, { recursive: true, force: true });
for (const count of SERVER_COUNTS) {
  const place = home();
  const names = Array.from({ length: count }, (_, index) => `server-${index}`);
  const mcpServers = Object.fromEntries(names.map((name) => [name, { command: demo }]));
  writeFileSync(join(place.env.XDG_CONFIG_HOME, "drawbridge/mcp.json"), JSON.stringify({ mcpServers }));
  await approve(place, names);
  await measure(`${count} servers`, place, count);
  rmSync(place.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
