// Runs a user's tasks in the real window: the built app with its page in WebKitGTK and the demo server. Requires a
// display and a session bus, which `cargo xtask test desktop` provides, and so does
//   xvfb-run -a -s "-screen 0 1280x860x24" dbus-run-session -- node tests/desktop/run.mjs
// Arguments select a part: `sandbox` the sandbox of the page, `new` the first use and installs, `apps` apps of servers,
// `stalled` apps that use up the time or memory of the window, `opened` openings from outside of the window, `zoom` the
// zoom, `windows` the menu bar, windows of conversations, and a signal while the user types, `transcript` a request as a
// screen reader receives it. `steps` counts the steps of everyday tasks and writes their table. `examples` shows the
// apps of example servers, which it downloads.
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { Registry } from "../page/registry.mjs";
import { Provider } from "../provider.cjs";

import { serverRequests } from "./server-requests.mjs";
import { apps } from "./apps.mjs";
import { background, startedInBackground } from "./background.mjs";
import { calls } from "./calls.mjs";
import { pageRestrictions } from "./page-restrictions.mjs";
import { restoredAnswer, killWhileAnswering } from "./interrupted-answer.mjs";
import { startSession } from "./driver.mjs";
import { examples } from "./examples.mjs";
import { draftAfterSignal, exitByClosing, exitBySignals, signalWhileTyping } from "./app-exit.mjs";
import { otherApps } from "./other-apps.mjs";
import { installs, LISTED } from "./installs.mjs";
import { sandboxRestored, blankPage, pageSandbox, quitApp, sandboxDisabled, sandboxStartFailure } from "./page-sandbox.mjs";
import { KEY } from "./key-leaks.mjs";
import { startKeychain } from "./keychain.mjs";
import { models } from "./models.mjs";
import { firstCall, endApp, importTenServers } from "./new-user.mjs";
import { createBundle, openedWhileRunning, openedAtStart } from "./openings.mjs";
import { Page } from "./page.mjs";
import { kill, processes } from "./processes.mjs";
import { activityAndConsent } from "./activity-and-consent.mjs";
import { samplingRequest } from "./sampling.mjs";
import { servers } from "./servers.mjs";
import { stalledApp } from "./stalled-app.mjs";
import { stalledWindow } from "./stalled-window.mjs";
import { steps } from "./steps.mjs";
import { approvalTranscript } from "./transcript.mjs";
import { conversationWindow, menuBar } from "./windows.mjs";
import { zoomRestored, zoomByKeys } from "./zoom.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const APP = process.env.DRAWBRIDGE_APP ?? join(ROOT, "target/debug/drawbridge");
const PICTURES = join(ROOT, "target/screenshots/desktop");

/** Parent folder of the home folders of all tests. */
const all = realpathSync(mkdtempSync(join(tmpdir(), "drawbridge-desktop-")));
const homes = [];
// After a failure or an interruption, processes may keep running. Like in the tests, they are found by their home.
process.once("exit", () => {
  for (const { pid } of homes.flatMap((home) => processes(home, ""))) kill(pid);
  rmSync(all, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
const provider = await Provider.start(KEY);
const registry = await Registry.start(LISTED);
/** Returns the path of the script that starts a server package from npm. */
const script = (name) => join(ROOT, "tests/node_modules/@modelcontextprotocol", name, "dist/index.js");

/** Creates a home folder for a test. Returns its paths. `env` has further environment variables of the app. */
function placeOf(name, env = {}) {
  const home = join(all, name);
  homes.push(home);
  const place = {
    app: APP,
    demo: join(dirname(APP), "demo-server"),
    script,
    everything: script("server-everything"),
    home,
    /** Output of the app. Stored next to the app's files, which are all searched for the key. */
    log: join(home, "output.log"),
    provider,
    data: join(home, "data/drawbridge"),
    config: join(home, "config/drawbridge/mcp.json"),
    /** File in which the app records its running processes. */
    running: join(home, "data/drawbridge/running.json"),
    /** Folder with the answers of the system dialogs, and with the URLs and files that the app has opened. */
    platform: join(home, "platform"),
    env: {
      HOME: home,
      XDG_CONFIG_HOME: join(home, "config"),
      XDG_DATA_HOME: join(home, "data"),
      XDG_CACHE_HOME: join(home, "cache"),
      DRAWBRIDGE_REGISTRY: registry.url,
      DRAWBRIDGE_TEST_PLATFORM: join(home, "platform"),
      LANG: "C.UTF-8",
      LC_ALL: "C.UTF-8",
      GDK_BACKEND: "x11",
      NO_AT_BRIDGE: "1",
      ...env,
    },
  };
  for (const folder of [place.platform, place.data]) mkdirSync(folder, { recursive: true });
  return { ...place, output: openSync(place.log, "a") };
}
const place = placeOf("home");
let newest = place;

let passed = 0;
const failures = [];
/** Runs one step. The first failure ends the run, because later steps depend on earlier ones. */
async function step(name, act, page) {
  const start = Date.now();
  try {
    await act();
    passed += 1;
    note(name, true);
    console.log(`ok      ${name} (${Date.now() - start} ms)`);
  } catch (error) {
    const requestText = page ? await page.consentRequestText().catch(() => "") : "";
    failures.push(`${name}: ${error.message}${requestText ? `\n  consent request: ${requestText.slice(0, 300)}` : ""}`);
    note(name, false);
    console.log(`FAILED  ${name}: ${error.message}`);
    await page?.picture("failure").catch(() => undefined);
    if (page) console.log((await page.text().catch(() => "")).slice(0, 3000));
    if (page) console.log(`Consent request: ${requestText}`);
    throw new StepFailed();
  }
}
class StepFailed extends Error {}

/** Prints a row for the table of `cargo xtask hostile` if the step covers one of its cases. */
function note(name, withstood) {
  const [, id, tried] = /^([SEX]\d\d) (.*)$/.exec(name) ?? [];
  if (id === undefined || !process.env.HOSTILE_TABLE) return;
  appendFileSync(process.env.HOSTILE_TABLE, `${JSON.stringify({ case: id, tried, withstood })}\n`);
}

/** Starts the app for the default user, and runs these parts in its window. */
const window = (...parts) => windowOf(place, [], ...parts);

/** Starts the app for this user with these arguments, and runs the parts in its window. */
async function windowOf(place, args, ...parts) {
  newest = place;
  const session = await startSession(APP, place.env, place.output, args);
  const page = new Page(session.browser, PICTURES);
  try {
    await session.browser.setTimeouts(undefined, 30_000, 30_000);
    for (const part of parts) await part(page, place, (name, act) => step(name, act, page));
  } finally {
    await session.stop();
  }
}

const scripts = ["server-everything", "server-filesystem", "server-memory"].map(script);
for (const program of [APP, place.demo, ...scripts]) {
  if (!existsSync(program)) throw new Error(`${program} is missing; run cargo xtask test desktop`);
}
rmSync(PICTURES, { recursive: true, force: true });
mkdirSync(PICTURES, { recursive: true });
// Sampling is disabled by default. This part enables it with consent for each request.
const sampling = { legacy: { on: true }, modern: { on: true } };
writeFileSync(join(place.data, "sampling.json"), JSON.stringify(sampling));
try {
  await startKeychain(place.env);
  const only = process.argv[2];
  if (only === undefined || only === "new") {
    await windowOf(placeOf("first"), [], firstCall, endApp);
    await windowOf(placeOf("ten"), [], importTenServers, endApp);
  }
  if (only === undefined || only === "zoom") {
    const large = placeOf("large");
    await windowOf(large, [], zoomByKeys, endApp);
    await windowOf(large, [], zoomRestored, endApp);
  }
  if (only === undefined || only === "stalled") {
    // The session of the driver ends with the blocked process, so that the window is operated by accessible objects.
    await windowOf(placeOf("stalled", { NO_AT_BRIDGE: undefined }), [], stalledApp);
    await windowOf(placeOf("stalled-window", { NO_AT_BRIDGE: undefined }), [], stalledWindow);
  }
  if (only === undefined || only === "windows") {
    const windows = placeOf("windows");
    await windowOf(windows, [], menuBar, conversationWindow, signalWhileTyping);
    await windowOf(windows, [], draftAfterSignal, endApp);
  }
  if (only === undefined || only === "transcript") {
    // The app exports its accessible objects to the separate session bus of the test.
    await windowOf(placeOf("read", { NO_AT_BRIDGE: undefined }), [], approvalTranscript, endApp);
  }
  if (["zoom", "stalled", "windows", "transcript"].includes(only)) {
    // Covered above.
  } else if (only === "steps") {
    await windowOf(placeOf("steps"), [], steps, endApp);
  } else if (only === "examples") {
    await windowOf(placeOf("examples"), [], examples, endApp);
  } else if (only === "apps") {
    await window(servers, apps, endApp);
  } else if (only === "sandbox") {
    await window(pageSandbox, quitApp);
  } else if (only === "new") {
    await window(installs, quitApp);
  } else if (only === "opened") {
    await windowOf(place, [createBundle(place, "first")], openedAtStart, openedWhileRunning, quitApp);
  } else {
    await window(pageSandbox, pageRestrictions, servers, otherApps, installs, calls, apps, serverRequests, activityAndConsent, models, samplingRequest, killWhileAnswering);
    await window(restoredAnswer, background, (_page, ...rest) => exitByClosing(...rest));
    await startedInBackground(place, step);
    await exitBySignals(place, step);
    await windowOf(place, [createBundle(place, "first")], openedAtStart, openedWhileRunning, quitApp);
  }
  if (only === undefined || only === "sandbox") {
    await sandboxStartFailure(place, step);
    await window(sandboxDisabled, quitApp);
    await window(sandboxRestored, quitApp);
    await blankPage(place, step);
  }
} catch (error) {
  if (!(error instanceof StepFailed)) {
    failures.push(`the run itself: ${error.message}`);
    console.log(`FAILED  ${error.stack}`);
  }
  console.log(readFileSync(newest.log, "utf8").split("\n").slice(-100).join("\n"));
} finally {
  await provider.stop();
  await registry.stop();
}
for (const failure of failures) console.log(`FAILED  ${failure}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);
