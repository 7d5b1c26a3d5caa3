// A crash, and an app that computes with short pauses, in the windows of conversations while the main window is hidden.
// The end of their process must not count as the user's closing of the last window, which quits Drawbridge.
//
// The session of the driver ends with the first process.
import assert from "node:assert/strict";

import { callTool, RESULT } from "./calls.mjs";
import { closeWindow, isShown } from "./close-window.mjs";
import { kill, processes, waitForNone } from "./processes.mjs";
import {
  approveApp,
  closedWithoutPage,
  COMPUTE_WITH_PAUSES,
  has,
  NOTICE,
  setCloseAction,
  STALLED,
  startServer,
  TOOL,
  UNRESPONSIVE,
  until,
  webProcesses,
} from "./stalled.mjs";

const MAIN = "Drawbridge";
/** Titles of the conversation with the app, and of one without. */
const [TITLE, OTHER_TITLE] = ["Tide tables", "Sea charts"];
const MESSAGE = "compute without end";
const FRAME = 'main iframe:not([src$="self-test"])';
/** Time limit in milliseconds for an app to be closed that responds for moments. */
const END_MS = 80_000;
const ENDS_MS = 8_000;

/** Creates a conversation in which a model has called the tool of the app. */
async function callByModel(page, provider) {
  await provider.setUpIn({ call: (command, request) => page.invoke(command, request) });
  const { value } = await page.invoke("create_conversation", { title: TITLE });
  const settings = {
    model: { provider: "fake", model: "gpt-4o" },
    servers: [{ server: STALLED, tools: null, instructions: null }],
    ...{ systemPrompt: "", shareRoots: false, thinking: false },
  };
  const { refused } = await page.invoke("set_conversation", { conversation: value.id, settings });
  assert.equal(refused, undefined, "the conversation should use the model and the server");
  await page.go(`#/conversation/${value.id}`);
  await page.fill("Message", MESSAGE);
  await page.click("button", "Send", "[data-testid=composer]");
  await page.waitForText("The app can compute.", "main");
}

/** Opens the conversation in a window of its own, shows the app there, and lets it compute. */
async function computeInWindow(page) {
  await page.click("button", `More for ${TITLE}`);
  await page.click("menuitem", "Open in new window");
  await page.until("the second window", async () => (await page.windows()) === 2);
  await page.inOtherWindow(async () => {
    await approveApp(page, "main");
    await page.inFrame(FRAME, () => page.click("button", COMPUTE_WITH_PAUSES));
  });
}

/** Hides the main window. The driver's session may have ended. */
async function hideMainWindow() {
  await closeWindow(MAIN);
  await until("the main window to be hidden", async () => !(await isShown(MAIN)));
}

/** Waits until the main window is shown, and asserts that the app still runs. */
async function mainWindowIsShown(place) {
  await until("the main window to be shown", () => isShown(MAIN));
  assert.notDeepEqual(processes(place.home, place.app), [], "Drawbridge should not quit");
}

export async function stalledWindow(page, place, step) {
  await step("a model calls the tool of an app", async () => {
    await startServer(page, STALLED);
    // A model is offered only tools that the user has seen.
    await callTool(page, STALLED, TOOL);
    await page.allow("Allow until Drawbridge closes");
    await page.waitForText("This result has an app", RESULT);
    await setCloseAction(page, "quit");
    await callByModel(page, place.provider);
  });

  await step("the process of a conversation's window ends while the main window is hidden, which is shown again", async () => {
    await computeInWindow(page);
    const before = webProcesses(place);
    const { value } = await page.invoke("create_conversation", { title: OTHER_TITLE });
    const { refused } = await page.call("open_conversation_window", { conversation: value.id });
    assert.equal(refused, undefined, "the other conversation should have a window");
    await until("the other window", () => isShown(`${OTHER_TITLE} - Drawbridge`));
    await hideMainWindow();
    const added = webProcesses(place).filter((pid) => !before.includes(pid));
    assert.equal(added.length, 1, "the window should have a process of its own");
    kill(added[0]);
    await mainWindowIsShown(place);
  });

  await step("X61 an app blocks the only visible window, with short pauses: the main window is shown, and Drawbridge does not quit", async () => {
    await hideMainWindow();
    assert.ok(await isShown(`${TITLE} - Drawbridge`), "the window with the app should be open");
    await closedWithoutPage(place, 1, UNRESPONSIVE, END_MS);
    await mainWindowIsShown(place);
    await until("the window with the app to be closed", async () => !(await isShown(`${TITLE} - Drawbridge`)));
    await until("the notice in the main window", () => has(place, NOTICE));
  });

  await step("closing the main window then quits, as chosen", async () => {
    await closeWindow(MAIN);
    assert.deepEqual(await waitForNone(place.home, place.app, ENDS_MS), [], "no process of the app should be left");
  });
}
