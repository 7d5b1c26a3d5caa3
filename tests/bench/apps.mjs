// Figures of shown apps in Chromium, written into `tests/apps/FIGURES.md`: the time from a call to the first drawn
// pixel of its app, the memory of open apps, and the frames of the page while an app floods it with messages. Takes the
// development host, the folder of the built page, and the script of the example server `basic-vanillajs`, which
// `tests/page/apps-matrix.spec.ts` downloads:
//   node tests/bench/apps.mjs target/release/dev-host ui/dist
//     target/app-servers/basic-vanillajs-2.0.3/package/dist/index.js
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, release, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { AppWindow, memory, processTree, startProvider, until } from "./apps-window.mjs";
import { floodPage, KINDS, recordFrames } from "./flood.mjs";

const [devHost, page, example] = process.argv.slice(2).map((path) => resolve(path));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MEASURED_CALLS = 30;
const OPEN_APPS = [1, 5, 20];
/** Delay in milliseconds between the last change and a measurement of memory. */
const SETTLE_TIME_MS = 5_000;
const FLOOD_DURATION_MS = 10_000;
const FLOOD_MESSAGES_PER_SECOND = 1_000;
/** Load by other programs up to which a machine counts as quiet, in percent of one core. */
const MAX_QUIET_LOAD_PERCENT = 20;
/** Unit of processor times in `/proc/stat`. */
const TICKS_PER_SECOND = 100;
/** Address of the document of an app. */
const APP_ADDRESS = /^http:\/\/[0-9a-f]{32}\.localhost:\d+\/$/;

const lines = [];
const write = (text = "") => (console.log(text), lines.push(text));

/** Returns the processor time in seconds that all programs have used so far. */
function busySeconds() {
  const [all] = readFileSync("/proc/stat", "utf8").split("\n");
  const [user, nice, system, , , irq, softirq] = all.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) / TICKS_PER_SECOND;
}

const before = busySeconds();
await wait(5_000);
const load = ((busySeconds() - before) / 5) * 100;
const git = (...args) => execFileSync("git", ["-C", ROOT, ...args], { encoding: "utf8" }).trim();
const changed = git("status", "--porcelain", "--untracked-files=no") === "" ? "" : ", with changes";
const profile = /\/(debug|release)\//.exec(devHost)?.[1] ?? "unknown";
const profileNote = profile === "release" ? "" : ", **not what is released**";

write("# Figures of shown apps");
write();
write("Written by `tests/bench/apps.mjs`, in headless Chromium with the development host, which passes messages over");
write("HTTP and a WebSocket. The window uses another engine and Tauri's channels.");
write();
write(`- commit ${git("rev-parse", "--short", "HEAD")}${changed}`);
write(`- cargo profile of the host: \`${profile}\`${profileNote}`);
write(`- ${cpus()[0].model}, ${cpus().length} cores, Linux ${release()}`);
const loadNote = load > MAX_QUIET_LOAD_PERCENT ? ": **the machine was not quiet, times are too long**" : "";
write(`- other programs used ${load.toFixed(0)} % of one core in the five seconds before${loadNote}`);

await measureTimes();
await measureMemory();
await measureFrames();
writeFileSync(join(ROOT, "tests/apps/FIGURES.md"), lines.map((line) => `${line}\n`).join(""));

/** Opens a window with the example server. */
function openExample() {
  return AppWindow.open({ devHost, page, command: process.execPath, args: [example, "--stdio"], tool: "get-time" });
}

/** Measures the time from a click on "Call" to the first drawn pixel of the app, and to its result. */
async function measureTimes() {
  const window = await openExample();
  try {
    await window.page.addInitScript(() => {
      const epoch = () => performance.timeOrigin + performance.now();
      if (globalThis === top) addEventListener("click", () => (globalThis.clickedAt = epoch()), { capture: true });
      else
        addEventListener("message", ({ data }) => {
          if (data?.method !== "ui/notifications/tool-result") return;
          // The app changes its page now, and the second frame begins after that was painted.
          requestAnimationFrame(() => requestAnimationFrame(() => (globalThis.resultAt = epoch())));
        });
    });
    await window.page.reload();
    await window.visit("#/server/harbour/tools/get-time");
    const [drawn, results] = [[], []];
    const seen = new Set();
    // The first call opens everything for the first time.
    for (let turn = 0; turn <= MEASURED_CALLS; turn++) {
      await window.page.getByRole("button", { name: "Call", exact: true }).click();
      const isNew = (frame) => APP_ADDRESS.test(frame.url()) && !seen.has(frame.url());
      const frame = await until("the app", () => window.page.frames().find(isNew));
      seen.add(frame.url());
      const times = await until("the app to be drawn", () =>
        frame.evaluate(() => {
          const [paint] = performance.getEntriesByName("first-contentful-paint");
          const { resultAt } = globalThis;
          return paint && resultAt ? { paintAt: performance.timeOrigin + paint.startTime, resultAt } : null;
        }),
      );
      const clickedAt = await window.page.evaluate(() => globalThis.clickedAt);
      if (turn === 0) continue;
      drawn.push(times.paintAt - clickedAt);
      results.push(times.resultAt - clickedAt);
    }
    write();
    write("## From a call to its app");
    write();
    write("The app of `basic-vanillajs` is approved, and its tool allowed. Times from the click,");
    write(`for ${MEASURED_CALLS} calls after a first one.`);
    write();
    write("| | median, ms | 9 in 10 within, ms | longest, ms |");
    write("|--|--:|--:|--:|");
    for (const [what, times] of [["first pixel of the app", drawn], ["the result in the app", results]]) {
      const sorted = times.toSorted((a, b) => a - b);
      const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))].toFixed(0);
      write(`| ${what} | ${at(0.5)} | ${at(0.9)} | ${at(1)} |`);
    }
  } finally {
    await window.close();
  }
}

/** Measures the memory of all processes with a growing number of open apps in one conversation. */
async function measureMemory() {
  const provider = await startProvider("get-time");
  const window = await openExample();
  try {
    const caller = { id: "caller", conversions: [], name: "Caller", kind: "openai", url: provider.url };
    await window.call("set_provider", caller);
    const { id } = await window.call("create_conversation", { title: "Times" });
    const settings = {
      model: { provider: "caller", model: "caller" },
      servers: [{ server: "harbour", tools: null, instructions: null }],
      ...{ systemPrompt: "", shareRoots: false, thinking: false },
    };
    await window.call("set_conversation", { conversation: id, settings });
    await window.visit(`#/conversation/${id}`);
    const message = window.page.getByRole("textbox", { name: "Message" });
    await message.waitFor();
    const apps = () => window.page.frames().filter((frame) => APP_ADDRESS.test(frame.url()));
    const measure = async () => {
      await wait(SETTLE_TIME_MS);
      const [browser, host] = [processTree(window.browserPid), [window.hostPid]];
      const servers = processTree(window.hostPid).filter((pid) => pid !== window.hostPid);
      return { processes: browser.length, browser: memory(browser), host: memory(host), servers: memory(servers) };
    };
    write();
    write("## Memory of open apps");
    write();
    write("PSS of all processes, in MiB, with apps of `basic-vanillajs` in one conversation. All are of one server.");
    write();
    write("| open apps | processes of the browser | browser | … for each app | host | server |");
    write("|--:|--:|--:|--:|--:|--:|");
    const empty = await measure();
    const row = (count, { processes, browser, host, servers }) => {
      const each = count === 0 ? "" : ((browser - empty.browser) / count).toFixed(1);
      const [all, ofHost, ofServers] = [browser, host, servers].map((size) => size.toFixed(0));
      write(`| ${count} | ${processes} | ${all} | ${each} | ${ofHost} | ${ofServers} |`);
    };
    row(0, empty);
    for (const count of OPEN_APPS) {
      for (let open = apps().length; open < count; open = apps().length) {
        await message.fill("What time is it?");
        await window.page.getByRole("button", { name: "Send", exact: true }).click();
        await until(`${open + 1} open apps`, () => apps().length > open);
        await window.page.getByText("Done.", { exact: true }).nth(open).waitFor({ state: "attached" });
      }
      row(count, await measure());
    }
  } finally {
    await window.close();
    provider.stop();
  }
}

/** Measures the frames of the page while an app sends messages. */
async function measureFrames() {
  const folder = mkdtempSync(join(tmpdir(), "drawbridge-flood-"));
  const script = join(folder, "script.json");
  writeFileSync(script, JSON.stringify({ html: floodPage() }));
  const args = [join(ROOT, "tests/page/app-server.mjs"), script];
  const window = await AppWindow.open({ devHost, page, command: process.execPath, args, tool: "show" });
  try {
    await window.visit("#/server/harbour/tools/show");
    await window.page.getByRole("button", { name: "Call", exact: true }).click();
    const app = await until("the app", () => window.page.frames().find((one) => APP_ADDRESS.test(one.url())));
    await app.getByText("ready", { exact: true }).waitFor();
    write();
    write("## Frames of the page during a flood");
    write();
    const seconds = FLOOD_DURATION_MS / 1000;
    write(`Animation frames of Drawbridge's page while an app sends ${FLOOD_MESSAGES_PER_SECOND} messages a second for ${seconds} s.`);
    write("One is dropped if the next begins more than one and a half intervals of 60 Hz later. What is dropped");
    write("without messages is due to other programs.");
    write();
    write("| messages | sent in a second | frames | dropped | 99 in 100 within, ms | longest interval, ms |");
    write("|--|--:|--:|--:|--:|--:|");
    for (const kind of KINDS) {
      await wait(SETTLE_TIME_MS);
      let sent = 0;
      const { count, dropped, p99, longest } = await recordFrames(window.page, async () => {
        sent = await app.evaluate((options) => globalThis.flood(...options), [kind, FLOOD_MESSAGES_PER_SECOND, FLOOD_DURATION_MS]);
      });
      const rate = (sent / seconds).toFixed(0);
      write(`| ${kind} | ${rate} | ${count} | ${dropped} | ${p99.toFixed(1)} | ${longest.toFixed(1)} |`);
    }
  } finally {
    await window.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
