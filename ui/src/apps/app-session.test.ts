import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { AppContext, AppDisplayMode, AppViewChange, OpenedApp } from "$lib/api/generated";
import { APP_LINK_PAUSE, pendingLink } from "$lib/state/pending-link.svelte";
import { startFakeHost, type FakeHost } from "$lib/testing/fake-host";
import { settle } from "$lib/testing/settle";

import { consentRequest, startServerBody } from "../consent/fixtures";
import { receiveDrafts } from "../conversation/composer-drafts";
import { contextItemsOf } from "../conversation/context-items.svelte";
import { clampHeight } from "./app-context";
import {
  AppSession,
  CLOSE_LIMIT,
  CONTEXT_PAUSE,
  SELF_TEST_LIMIT,
  START_LIMIT,
  START_LIMIT_AFTER_ERROR,
  type AppEnd,
} from "./app-session.svelte";
import {
  DROP_PERIOD,
  MAX_DROPPED_LENGTH,
  MAX_LENGTH,
  MAX_QUEUED,
  MAX_QUEUED_LENGTH,
} from "./message-sender";

const VIEW = "00112233445566778899aabbccddeeff";
const ORIGIN = `drawbridge-app://${VIEW}`;
const OPENED: OpenedApp = {
  ...{ view: VIEW, uri: "ui://files/chart" },
  ...{ sandbox: "allow-scripts allow-same-origin", allow: "", hasBorder: true },
};
const CONTEXT: AppContext = {
  ...{ theme: "light", styles: {}, displayMode: "inline", width: 600, height: 700 },
  ...{ locale: "en", timeZone: "UTC", touch: false, hover: true },
};
const PASSED = { drawbridge: "self-test", reachable: [] };

let host: FakeHost;
let ends: AppEnd[];
let session: AppSession;
let posted: [unknown, string][];
let frame: { contentWindow: Window };

/** Creates a frame that records the messages that are posted to it. */
function fakeFrame() {
  const contentWindow = {
    postMessage: (message: unknown, origin: string) => posted.push([message, origin]),
  };
  return { contentWindow: contentWindow as unknown as Window };
}

function post(data: unknown, source: unknown = frame.contentWindow, origin = ORIGIN) {
  const event = new MessageEvent("message", { data, origin });
  Object.defineProperty(event, "source", { value: source });
  window.dispatchEvent(event);
}

const change = (body: AppViewChange, view = VIEW) =>
  host.send({ type: "app_view_changed", view, change: body });
const sent = () =>
  host.requests("deliver_app_message").map(({ message }) => JSON.parse(message) as unknown);
const answers = () =>
  host.requests("decide_app_request").map(({ request, answer }) => [request, answer]);

/** Creates and starts a session. */
function started(conversation: string | null = "c1"): AppSession {
  const subject = { server: "files", tool: "chart", uri: "ui://files/chart", conversation };
  session = new AppSession(subject, OPENED, CONTEXT, (end) => ends.push(end));
  session.start();
  frame = fakeFrame();
  session.watch(frame);
  return session;
}

/** Starts a session whose self-test succeeded, with the frame of the app. */
function running(conversation: string | null = "c1"): AppSession {
  started(conversation);
  post(PASSED);
  frame = fakeFrame();
  session.watch(frame);
  session.loaded(frame);
  return session;
}

/** Initializes the app. `displayModes` are those that it declares. */
const initialize = (displayModes: AppDisplayMode[] | null = null) =>
  change({ type: "initialized", name: "Chart", version: "1", displayModes });

beforeEach(async () => {
  vi.useFakeTimers();
  host = await startFakeHost({}, { conversations: [{ id: "c1", title: "Trip", updatedAt: 1 }] });
  ends = [];
  posted = [];
});
afterEach(() => session.stop());

describe("the self-test", () => {
  test("is loaded before the app", () => {
    started();
    expect(session.src, "the frame should load the self-test").toBe(`${ORIGIN}/self-test`);
    post({ jsonrpc: "2.0", id: 1, method: "ui/initialize" });
    expect(session.phase, "another message should not end the test").toBe("self_test");
    post(PASSED);
    expect(session.src, "the frame should load the app").toBe(`${ORIGIN}/`);
    expect(sent(), "messages before the app should not be sent").toEqual([]);
  });

  test("closes an app that is not isolated", () => {
    started();
    post({ drawbridge: "self-test", reachable: ["window.top", "ipc"] });
    expect(ends).toEqual([{ is: "reachable", names: ["window.top", "ipc"] }]);
    expect(host.requests("close_app"), "the app should be closed").toEqual([{ view: VIEW }]);
    expect(session.src, "the app should not be loaded").toBe(`${ORIGIN}/self-test`);
  });

  test("closes an app without a report", async () => {
    started();
    await vi.advanceTimersByTimeAsync(SELF_TEST_LIMIT - 1);
    expect(ends, "the app should be open within the limit").toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toEqual([{ is: "silent" }]);
    post(PASSED);
    expect(session.phase, "a late report should have no effect").toBe("closed");
  });

  test("ignores reports of other frames and origins", () => {
    started();
    post(PASSED, window);
    post(PASSED, null);
    post(PASSED, frame.contentWindow, "null");
    post(PASSED, frame.contentWindow, `${ORIGIN}.evil.example`);
    expect(session.phase).toBe("self_test");
    post(PASSED);
    expect(session.phase, "the report of the frame should be accepted").toBe("running");
  });
});

describe("messages", () => {
  test("of the frame are sent in order, one after another", async () => {
    const replies: (() => void)[] = [];
    host.answers.deliver_app_message = () =>
      new Promise<Record<symbol, never>>((resolve) => replies.push(() => resolve({})));
    running();
    for (const id of [1, 2, 3]) post({ id });
    await settle();
    expect(sent(), "later messages should wait").toEqual([{ id: 1 }]);
    for (let next = replies.shift(); next; next = replies.shift()) {
      next();
      await settle();
    }
    expect(sent()).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  test("of other sources and origins, and other values than objects, are not sent", async () => {
    running();
    post({ id: 1 }, window);
    post({ id: 2 }, frame.contentWindow, "https://evil.example");
    for (const value of ["text", 5, null, [1], new Date(0)]) post(value);
    post({ id: 3 });
    await settle();
    expect(sent()).toEqual([{ id: 3 }]);
    expect(session.log.faults, "other values should be recorded").toBe(5);
  });

  test("beyond the maximum are dropped and recorded", async () => {
    host.answers.deliver_app_message = () => new Promise(() => undefined);
    running();
    for (let id = 0; id < MAX_QUEUED + 5; id += 1) post({ id });
    await settle();
    expect(session.log.faults, "the first is under way, so four do not fit").toBe(4);
  });

  test("beyond the total length are dropped and recorded", async () => {
    host.answers.deliver_app_message = () => new Promise(() => undefined);
    running();
    const text = "x".repeat(MAX_QUEUED_LENGTH / 2 - 100);
    for (let id = 0; id < 4; id += 1) post({ text });
    await settle();
    expect(session.log.faults, "the first is under way, so one does not fit").toBe(1);
    post({ id: 5 });
    expect(session.log.faults, "a short one still fits").toBe(1);
  });

  test("beyond the maximum are not written as JSON", async () => {
    host.answers.deliver_app_message = () => new Promise(() => undefined);
    running();
    for (let id = 0; id < MAX_QUEUED + 1; id += 1) post({ id });
    await settle();
    const write = vi.spyOn(JSON, "stringify");
    const late = { id: "late" };
    post(late);
    expect(write, "a flood should cost little").not.toHaveBeenCalledWith(late);
    expect(session.log.faults, "the message should be recorded").toBe(1);
    expect(session.log.entries.at(-1)?.text).toBe("too many messages are queued");
  });

  test("that are too large are dropped, and a flood of them is not read", async () => {
    running();
    let doubled: object = {};
    for (let level = 0; level < 100; level += 1) doubled = { a: doubled, b: doubled };
    const large = MAX_DROPPED_LENGTH / MAX_LENGTH;
    for (let at = 0; at < large; at += 1) post(doubled);
    expect(session.log.entries.at(-1)?.text).toBe("the message is too large");
    post({ id: 1 });
    expect(session.log.entries.at(-1)?.text).toBe("too many large messages were dropped");
    expect(session.log.faults).toBe(large + 1);
    await vi.advanceTimersByTimeAsync(DROP_PERIOD);
    post({ id: 2 });
    await settle();
    expect(sent(), "the next period should admit messages").toEqual([{ id: 2 }]);
  });

  test("of the host are posted to the origin of the app only", () => {
    running();
    change({ type: "message", message: { id: 1, result: {} } });
    change({ type: "message", message: { id: 2, result: {} } }, "another view");
    expect(posted).toEqual([[{ id: 1, result: {} }, ORIGIN]]);
    expect(
      session.log.entries.map(({ direction }) => direction),
      "the message should be in the log",
    ).toEqual(["to_page"]);
  });
});

test("a frame that loads another document is closed", () => {
  running();
  expect(ends, "the first load is the app").toEqual([]);
  session.loaded(fakeFrame());
  expect(ends, "a load of another frame should have no effect").toEqual([]);
  session.loaded(frame);
  expect(ends).toEqual([{ is: "navigated" }]);
  expect(host.requests("close_app")).toEqual([{ view: VIEW }]);
  post({ id: 1 });
  expect(sent(), "messages of the other document should not be sent").toEqual([]);
});

test("the height follows the app within the limits", () => {
  running();
  expect(session.requestedHeight, "an app without a size should have a height").toBe(240);
  change({ type: "resized", width: null, height: 500 });
  change({ type: "resized", width: 300, height: null });
  expect(session.requestedHeight, "the last height should be kept").toBe(500);
  expect(clampHeight(500, 1000), "a height within the limits").toBe(500);
  expect(clampHeight(5000, 1000), "80 percent of the window").toBe(800);
  expect(clampHeight(0, 1000), "the minimum").toBe(40);
});

test("the height of the call's last frame is the first one of the next", () => {
  const subject = { ...running().subject, item: "i1" };
  const opened = () => new AppSession(subject, OPENED, CONTEXT, () => undefined);
  session.stop();
  session = opened();
  session.start();
  change({ type: "resized", width: null, height: 500 });
  expect(opened().requestedHeight).toBe(500);
});

test("the context is reported after a pause, and only if it changes", async () => {
  running();
  session.setContext({ ...CONTEXT });
  await vi.advanceTimersByTimeAsync(CONTEXT_PAUSE);
  expect(host.requests("set_app_context"), "the same context should not be reported").toEqual([]);
  session.setContext({ ...CONTEXT, width: 500 });
  session.setContext({ ...CONTEXT, width: 400 });
  expect(host.requests("set_app_context"), "changes should be collected").toEqual([]);
  await vi.advanceTimersByTimeAsync(CONTEXT_PAUSE);
  expect(host.requests("set_app_context")).toEqual([
    { view: VIEW, context: { ...CONTEXT, width: 400 } },
  ]);
});

test("the context is reported again after the host changed the display mode", async () => {
  running();
  session.setContext({ ...CONTEXT });
  change({ type: "display_mode_changed", mode: "fullscreen" });
  await vi.advanceTimersByTimeAsync(CONTEXT_PAUSE);
  expect(host.requests("set_app_context"), "the user left the mode before the event").toEqual([
    { view: VIEW, context: { ...CONTEXT } },
  ]);
});

describe("an app that does not start", () => {
  test("is reported", async () => {
    running();
    await vi.advanceTimersByTimeAsync(START_LIMIT);
    expect(session.isLate).toBe(true);
    initialize();
    expect(session.isLate, "a late start should end the report").toBe(false);
  });

  test("in time is not reported", async () => {
    running();
    initialize();
    await vi.advanceTimersByTimeAsync(START_LIMIT);
    expect(session.isLate).toBe(false);
  });

  test("is reported earlier after an uncaught error", async () => {
    const report = () =>
      change({ type: "diagnosed", diagnostic: { type: "failed", text: "Error: a" }, dropped: 0 });
    running();
    report();
    await vi.advanceTimersByTimeAsync(START_LIMIT_AFTER_ERROR - 1);
    expect(session.isLate, "the app may still start").toBe(false);
    report();
    await vi.advanceTimersByTimeAsync(1);
    expect(session.isLate, "another error should not delay the report").toBe(true);
    initialize();
    expect(session.isLate, "a late start should end the report").toBe(false);
  });

  test("in time is not reported after an uncaught error", async () => {
    running();
    change({ type: "diagnosed", diagnostic: { type: "failed", text: "Error: a" }, dropped: 0 });
    initialize();
    await vi.advanceTimersByTimeAsync(START_LIMIT);
    expect(session.isLate).toBe(false);
  });
});

describe("an end", () => {
  test("by the user waits until the app has saved its state", async () => {
    running();
    initialize();
    session.close();
    expect(host.requests("close_app")).toEqual([{ view: VIEW }]);
    change({ type: "message", message: { method: "ui/resource-teardown" } });
    expect(posted.length, "the app should receive the request").toBe(1);
    expect(ends, "the frame should stay").toEqual([]);
    change({ type: "closed", cause: "confirmed" });
    expect(ends).toEqual([{ is: "closed" }]);
    await vi.advanceTimersByTimeAsync(CLOSE_LIMIT);
    expect(ends.length, "the limit should have no effect").toBe(1);
  });

  // [apps-draft-request-teardown]
  test("by the user is limited in time", async () => {
    running();
    initialize();
    change({ type: "teardown_requested" });
    await vi.advanceTimersByTimeAsync(CLOSE_LIMIT);
    expect(ends).toEqual([{ is: "closed" }]);
    expect(host.requests("close_app").length, "the app should be closed once").toBe(1);
  });

  test("by the host is reported without another request", () => {
    running();
    change({ type: "closed", cause: "page_gone" });
    expect(ends).toEqual([{ is: "removed" }]);
    expect(host.requests("close_app")).toEqual([]);
  });

  test("by the removal of the view closes the app silently", () => {
    running();
    session.stop();
    expect(ends).toEqual([]);
    expect(host.requests("close_app")).toEqual([{ view: VIEW }]);
  });
});

describe("a requested link", () => {
  const request = (id: number) =>
    change({
      type: "requested",
      request: id,
      userRequest: { type: "open_link", url: `https://example.com/${id}` },
    });

  test("is answered with the decision of the user", async () => {
    running();
    request(1);
    expect(pendingLink.url, "the dialog should show the link").toBe("https://example.com/1");
    expect(pendingLink.serverOfApp, "the dialog should name the server").toBe("files");
    pendingLink.close(true);
    await vi.advanceTimersByTimeAsync(APP_LINK_PAUSE);
    request(2);
    pendingLink.close();
    await settle();
    expect(answers()).toEqual([
      [1, { type: "done" }],
      [2, { type: "refused" }],
    ]);
  });

  test("does not replace a link that the user clicked", async () => {
    running();
    pendingLink.show("https://user.example/");
    request(1);
    await settle();
    expect(pendingLink.url).toBe("https://user.example/");
    expect(answers(), "the user should not have refused it").toEqual([[1, { type: "not_shown" }]]);
  });

  test("closes its dialog if it is withdrawn", async () => {
    running();
    request(1);
    change({ type: "withdrawn", request: 1 });
    await settle();
    expect(pendingLink.url).toBeNull();
    expect(answers(), "a withdrawn request should not be answered").toEqual([]);
  });

  test("never replaces another one in the dialog", async () => {
    running();
    request(1);
    request(2);
    expect(pendingLink.url, "the first link should stay").toBe("https://example.com/1");
    change({ type: "withdrawn", request: 1 });
    request(3);
    await vi.advanceTimersByTimeAsync(APP_LINK_PAUSE - 1);
    request(4);
    expect(pendingLink.url, "no link should follow at once").toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    request(5);
    expect(pendingLink.url, "a later one should be shown").toBe("https://example.com/5");
    expect(answers()).toEqual([2, 3, 4].map((id) => [id, { type: "not_shown" }]));
  });
});

describe("requested files", () => {
  const file = (name: string) => ({ name, mimeType: "", bytes: 3 });
  const request = (...names: string[]) =>
    change({
      type: "requested",
      request: 5,
      userRequest: { type: "save_files", files: names.map(file) },
    });

  test("are done after the last one was saved", async () => {
    host.answers.save_app_file = ({ file }) => ({ path: `/home/ann/${file}` });
    running();
    request("a", "b");
    await session.requests.save(VIEW, 1);
    expect(session.requests.files[0]?.saved, "the saved file should be known").toEqual([1]);
    expect(answers(), "the request should stay open").toEqual([]);
    await session.requests.save(VIEW, 0);
    await settle();
    expect(answers()).toEqual([[5, { type: "done" }]]);
    expect(session.requests.files, "the request should be gone").toEqual([]);
  });

  test("are refused if none was saved", async () => {
    host.answers.save_app_file = () => ({ path: null });
    running();
    request("a");
    await session.requests.save(VIEW, 0);
    session.requests.finishFiles(5);
    await settle();
    expect(answers()).toEqual([[5, { type: "refused" }]]);
  });

  test("disappear if the request is withdrawn", () => {
    running();
    request("a");
    expect(session.requests.files.length).toBe(1);
    change({ type: "withdrawn", request: 5 });
    expect(session.requests.files).toEqual([]);
  });
});

describe("a requested message", () => {
  const request = () =>
    change({
      type: "requested",
      request: 3,
      userRequest: { type: "send_message", text: "Explain \u202ethis" },
    });

  test("becomes a draft with visible characters", async () => {
    const drafts: string[][] = [];
    receiveDrafts("c1", (text, server) => drafts.push([text, server]) > 0);
    running();
    request();
    await settle();
    expect(drafts).toEqual([["Explain [U+202E]this", "files"]]);
    expect(answers()).toEqual([[3, { type: "done" }]]);
  });

  test.each([null, "c1"])("is refused without a composer, in conversation %j", async (id) => {
    running(id);
    request();
    await settle();
    expect(answers()).toEqual([[3, { type: "refused" }]]);
  });
});

test("a requested display mode is applied and answered", async () => {
  running();
  initialize(["inline", "fullscreen"]);
  const userRequest = { type: "display_mode", mode: "fullscreen" } as const;
  change({ type: "requested", request: 4, userRequest });
  await settle();
  expect(session.mode).toBe("fullscreen");
  expect(answers()).toEqual([[4, { type: "display_mode", mode: "fullscreen" }]]);
});

test("an app is not raised while a consent request is pending", async () => {
  running();
  initialize();
  const request = consentRequest(startServerBody, { origin: { by: "ended", cause: "exit" } });
  host.send({ type: "consent_request_changed", consentRequest: request });
  const userRequest = { type: "display_mode", mode: "fullscreen" } as const;
  change({ type: "requested", request: 4, userRequest });
  await settle();
  expect(session.mode).toBe("inline");
  expect(answers(), "the answer should be the mode in force").toEqual([
    [4, { type: "display_mode", mode: "inline" }],
  ]);
  host.send({ type: "consent_request_closed", id: request.id, outcome: "denied" });
  session.setMode("pip");
  expect(session.mode, "it can be raised after the decision").toBe("pip");
});

describe("an app is displayed only", () => {
  /** Tries all modes, and returns those in force after each. */
  const tryModes = () =>
    (["fullscreen", "pip", "inline"] as const).map((to) => session.setMode(to));

  test.each([
    ["in modes that it declares", ["inline", "pip"], ["inline", "pip", "inline"]],
    ["inline if it declares no known mode", [], ["inline", "inline", "inline"]],
    [
      "inline if it does not declare the mode to which it would return",
      ["fullscreen", "pip"],
      ["inline", "inline", "inline"],
    ],
    ["in modes that the user chooses if it declares none", null, ["fullscreen", "pip", "inline"]],
  ] as [string, AppDisplayMode[] | null, AppDisplayMode[]][])("%s", (_, declared, shown) => {
    running();
    expect(tryModes(), "the modes are unknown before").toEqual(["inline", "inline", "inline"]);
    initialize(declared);
    expect(tryModes()).toEqual(shown);
  });

  test("in declared modes also at its request", async () => {
    running();
    initialize(["inline", "fullscreen"]);
    session.setMode("fullscreen");
    const userRequest = { type: "display_mode", mode: "pip" } as const;
    change({ type: "requested", request: 4, userRequest });
    await settle();
    expect(session.mode, "the mode should not change").toBe("fullscreen");
    expect(answers()).toEqual([[4, { type: "display_mode", mode: "fullscreen" }]]);
  });
});

test("only one app is raised at a time", () => {
  const first = running();
  initialize();
  first.setMode("fullscreen");
  const second = running();
  initialize();
  second.setMode("pip");
  expect(first.mode, "the first app should return to its place").toBe("inline");
  expect(second.mode).toBe("pip");
  first.stop();
});

describe("context for the model", () => {
  const offer = (text: string) => change({ type: "model_context_changed", text });

  test("is one item of the composer, replaced by newer context and removed by an empty text", () => {
    running();
    offer("old");
    offer("new");
    const items = contextItemsOf("c1").all;
    expect(items.length, "there should be one item").toBe(1);
    expect(items[0]?.items[0]?.body).toEqual({
      ...{ kind: "attachment", server: "files", uri: "ui://files/chart" },
      name: "Context from the app of chart",
      contents: [{ uri: "ui://files/chart", mimeType: "text/plain", text: "new", blob: null }],
    });
    offer("");
    expect(contextItemsOf("c1").all).toEqual([]);
  });

  test("is ignored outside of conversations", () => {
    running(null);
    offer("new");
    expect(contextItemsOf("c1").all).toEqual([]);
  });
});

test("reports of the document are sent to the host, and are no messages in the log", async () => {
  running();
  post({ mcpAppDiagnostic: { type: "webgl_missing" }, dropped: 0 });
  post({ id: 1, mcpAppDiagnostic: { type: "webgl_missing" } });
  await settle();
  expect(sent().length, "the host decides on both").toBe(2);
  expect(session.log.entries.length, "the second is a message").toBe(1);
  expect(session.diagnostics.isWebglMissing, "only the host's event counts").toBe(false);
  change({ type: "diagnosed", diagnostic: { type: "webgl_missing" }, dropped: 2 });
  expect(session.diagnostics.isWebglMissing).toBe(true);
  expect(session.diagnostics.dropped).toBe(2);
});

test("faults and log messages are in the log", () => {
  running();
  change({ type: "fault", direction: "from_page", kind: "forgery", detail: "no proxy" });
  change({ type: "logged", level: "info", text: "drawn" });
  expect(session.log.entries.map(({ kind, name, text }) => [kind, name, text])).toEqual([
    ["fault", "forgery", "no proxy"],
    ["logged", "info", "drawn"],
  ]);
  expect(session.log.faults).toBe(1);
});
