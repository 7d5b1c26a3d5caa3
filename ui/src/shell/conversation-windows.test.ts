import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import App from "../App.svelte";
import type { ConsentRequest } from "$lib/api/generated";
import { resetPageState } from "$lib/page-state";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import {
  REVIEWED_DEFINITION,
  sampleConversation,
  sampleServer,
  startFakeHost,
} from "$lib/testing/fake-host";

import { callActions } from "../tools/call-actions";
import { closing } from "./closing.svelte";

// Preloaded, so that the tests do not wait for them.
await import("../checkup/CheckDialog.svelte");
await import("./Shortcuts.svelte");
await import("../consent/ConsentOverlay.svelte");
await import("../conversation/ConversationView.svelte");

const user = userEvent.setup();
const trip = { id: "c1", title: "Trip plan", updatedAt: 2 };
const bug = { id: "c2", title: "Bug 4711", updatedAt: 1 };

/** Loads the page at this address. */
function start(search: string, hash: string) {
  history.replaceState(null, "", `${location.pathname}${search}${hash}`);
  resetPageState();
  return startFakeHost(
    { read_conversation: ({ conversation }) => sampleConversation({ id: conversation }) },
    { conversations: [trip, bug], servers: [sampleServer()] },
  );
}

const startMain = () => start("", "#/conversation/c1");
const startOwn = () => start("?conversation=c1", "#/conversation/c1");
const message = () => screen.findByRole("textbox", { name: "Message" });

function requestOf(id: string, conversation: string | null): ConsentRequest {
  return {
    ...{ id, hash: `h-${id}`, server: "files", transport: "stdio", commandLine: "files" },
    ...{ askedAt: 0, round: null, reason: "", scopes: ["once"] },
    origin: { by: "user", conversation },
    body: { kind: "roots" },
    marks: REVIEWED_DEFINITION.marks,
  };
}

test("E11: a conversation moves to a window of its own after its draft was stored", async () => {
  const host = await startMain();
  let stored: unknown[] = [];
  host.openConversationWindow = (id) => {
    stored = [id, ...host.requests("set_draft")];
    return Promise.resolve();
  };
  render(App);
  await user.type(await message(), "Dear Ann");
  await user.click(screen.getByRole("button", { name: "More for Trip plan" }));
  await user.click(await screen.findByRole("menuitem", { name: "Open in new window" }));
  await waitFor(() => expect(stored[0], "the window should be opened").toBe("c1"));
  expect(stored.at(-1), "the draft should be stored before").toEqual({
    ...{ conversation: "c1", text: "Dear Ann" },
  });
  expect(await screen.findByRole("heading", { name: "Open in its own window" })).toBeVisible();
  expect(screen.queryByRole("textbox", { name: "Message" }), "one editor only").toBeNull();
  host.shell({ type: "conversation_windows_changed", conversations: [] });
  expect(await message(), "it should be shown here once its window is closed").toBeVisible();
});

test("a conversation stays here if no window can be opened", async () => {
  const host = await startMain();
  host.windowProblem = { problem: "too_many", maximum: 8 };
  render(App);
  await message();
  host.shell({ type: "action_chosen", action: "new-window" });
  expect(
    await screen.findByText(/At most 8 conversations/),
    "the cause should be shown",
  ).toBeVisible();
  expect(await message(), "the conversation should still be shown").toBeVisible();
});

test("windows of the last start are opened again, except of deleted conversations", async () => {
  localStorage.setItem("conversation windows", JSON.stringify(["c2", "deleted"]));
  const host = await startMain();
  render(App);
  host.shell({ type: "conversation_windows_changed", conversations: [] });
  await waitFor(() => expect(host.openedWindows, "one window should be opened").toEqual(["c2"]));
  host.shell({ type: "conversation_windows_changed", conversations: ["c2"] });
  await user.click(screen.getByRole("link", { name: "Bug 4711" }));
  await user.click(await screen.findByRole("button", { name: "Show window" }));
  expect(host.openedWindows, "the window should be brought to the front").toEqual(["c2", "c2"]);
  host.shell({ type: "conversation_windows_changed", conversations: [] });
  expect(localStorage.getItem("conversation windows"), "a closed one is not opened again").toBe(
    "[]",
  );
});

test("its window shows nothing else, and opens other views in the main window", async () => {
  const host = await startOwn();
  render(App);
  const field = await message();
  expect(screen.queryByRole("navigation"), "there should be no left column").toBeNull();
  await waitFor(() => expect(document.title).toBe("Trip plan - Drawbridge"));
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  router.go({ at: "settings" });
  expect(host.mainViews, "the view should be opened in the main window").toEqual(["#/settings"]);
  expect(router.current).toEqual({ at: "conversation", id: "c1" });
  await user.click(screen.getByRole("button", { name: "Show main window" }));
  expect(host.mainViews.at(-1)).toBeNull();
  await user.type(field, "By train");
  host.shell({ type: "window_closing" });
  await waitFor(() => expect(host.closedWindows, "the window should close once").toBe(1));
  expect(host.requests("set_draft").at(-1), "the draft should be stored first").toEqual({
    ...{ conversation: "c1", text: "By train" },
  });
});

test("each request is shown in one window: here those of other conversations and servers", async () => {
  const host = await startMain();
  render(App);
  host.shell({ type: "conversation_windows_changed", conversations: ["c1"] });
  host.send({ type: "consent_request_changed", consentRequest: requestOf("q1", "c1") });
  expect(
    await screen.findByText("1 request waits in the window of “Trip plan”."),
    "it should be announced above the view",
  ).toBeVisible();
  await user.click(await screen.findByRole("button", { name: "Approvals (1)" }));
  const queue = within(await screen.findByTestId("queue"));
  expect(queue.getByText("1 request waits in the window of “Trip plan”.")).toBeVisible();
  await user.click(queue.getByRole("button", { name: "Show window" }));
  expect(host.shownElsewhere, "the request should be shown in the other window").toEqual(["q1"]);
  host.send({ type: "consent_request_closed", id: "q1", outcome: "denied" });
  await waitFor(() => expect(queue.queryByText(/waits in the window/)).toBeNull());
  await user.click(queue.getByRole("button", { name: "Close" }));
  host.send({ type: "consent_request_changed", consentRequest: requestOf("q2", "c2") });
  expect(await screen.findByTestId("consent-request"), "another one is shown here").toBeVisible();
});

test("each request is shown in one window: there only those of its conversation", async () => {
  const host = await startOwn();
  render(App);
  await message();
  host.send({ type: "consent_request_changed", consentRequest: requestOf("q1", null) });
  expect(await screen.findByText("1 request waits in the main window.")).toBeVisible();
  expect(screen.queryByTestId("consent-request"), "it should not be decided here").toBeNull();
  await user.click(screen.getByRole("button", { name: "Show window" }));
  expect(host.shownElsewhere, "the request should be shown in the main window").toEqual(["q1"]);
  host.shell({ type: "conversation_windows_changed", conversations: ["c1", "c2"] });
  host.send({ type: "consent_request_changed", consentRequest: requestOf("q3", "c2") });
  const third = await screen.findByText("1 request waits in the window of “Bug 4711”.");
  expect(third, "a third window should be named").toBeVisible();
  expect(host.openedWindows, "only the main window opens others").toEqual([]);
  host.send({ type: "consent_request_closed", id: "q3", outcome: "denied" });
  host.send({ type: "consent_request_closed", id: "q1", outcome: "denied" });
  await waitFor(() => expect(screen.queryByText(/waits in the main window/)).toBeNull());
  host.send({ type: "consent_request_changed", consentRequest: requestOf("q2", "c1") });
  const request = await screen.findByTestId("consent-request");
  expect(request, "the request of the conversation should be shown").toBeVisible();
  host.send({ type: "consent_request_closed", id: "q2", outcome: "denied" });
  await waitFor(() => expect(request, "a decided request should disappear").not.toBeVisible());
});

test("a request that was put aside is opened again from the top of its window", async () => {
  const host = await startOwn();
  render(App);
  // A field that has the focus holds the request back.
  (await message()).blur();
  expect(screen.queryByRole("button", { name: /Approvals/ }), "nothing waits").toBeNull();
  host.send({ type: "consent_request_changed", consentRequest: requestOf("q1", "c1") });
  const request = await screen.findByTestId("consent-request");
  const later = within(request).getByRole("button", { name: "Decide later" });
  await waitFor(() => expect(later).toHaveAttribute("aria-disabled", "false"));
  await user.click(later);
  await waitFor(() => expect(screen.queryByTestId("consent-request")).toBeNull());
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.click(await screen.findByRole("button", { name: "Approvals (1)" }));
  expect(await screen.findByTestId("consent-request"), "it should be shown again").toBeVisible();
  host.send({ type: "consent_request_closed", id: "q1", outcome: "cancelled" });
  await waitFor(() => expect(screen.queryByRole("button", { name: /Approvals/ })).toBeNull());
});

test("a request that remains after its call ended is shown in the window of the conversation", async () => {
  const ofEndedCall = (id: string, conversation: string): ConsentRequest => ({
    ...requestOf(id, null),
    origin: { by: "call", call: "ended", kind: "tool", name: "read", conversation },
  });
  const host = await startMain();
  const { unmount } = render(App);
  host.shell({ type: "conversation_windows_changed", conversations: ["c1"] });
  host.send({ type: "consent_request_changed", consentRequest: ofEndedCall("q1", "c1") });
  expect(await screen.findByText("1 request waits in the window of “Trip plan”.")).toBeVisible();
  expect(screen.queryByTestId("consent-request"), "it should not be decided here").toBeNull();
  unmount();

  const own = await startOwn();
  render(App);
  await message();
  own.send({ type: "consent_request_changed", consentRequest: ofEndedCall("q1", "c1") });
  const line = await screen.findByTestId("held-request");
  expect(line, "it should be shown here, above the focused field").toBeVisible();
  await user.click(within(line).getByRole("button", { name: "Show" }));
  expect(await screen.findByTestId("consent-request"), "it is decided here").toBeVisible();
});

test("quitting stores the drafts of each window at once, and closes none before", async () => {
  for (const open of [startMain, startOwn]) {
    const host = await open();
    const { unmount } = render(App);
    await user.type(await message(), "By bus");
    host.shell({ type: "quitting" });
    await waitFor(() => expect(host.closedWindows, "the page should report once").toBe(1));
    expect(host.requests("set_draft").at(-1), "the draft should be stored first").toEqual({
      ...{ conversation: "c1", text: "By bus" },
    });
    expect(await message(), "the conversation should remain visible").toBeVisible();
    unmount();
  }
});

const storingFails = () => Promise.reject({ code: "system", message: "disk full" });

async function moveTrip() {
  await user.click(screen.getByRole("button", { name: "More for Trip plan" }));
  await user.click(await screen.findByRole("menuitem", { name: "Open in new window" }));
}

test("a conversation stays here with its text if its draft can't be stored", async () => {
  const host = await startMain();
  host.answers.set_draft = storingFails;
  render(App);
  await user.type(await message(), "Dear Ann");
  await moveTrip();
  const failure = await screen.findByText(/disk full/, { selector: ".failure *" });
  expect(failure, "the cause should be shown").toBeVisible();
  expect(host.openedWindows, "no window should be opened").toEqual([]);
  await waitFor(async () => expect(await message(), "no text is lost").toHaveValue("Dear Ann"));
  host.answers.set_draft = () => ({});
  await moveTrip();
  await waitFor(() => expect(host.openedWindows, "the text was stored again").toEqual(["c1"]));
  expect(host.requests("set_draft").at(-1)).toEqual({ conversation: "c1", text: "Dear Ann" });
});

test("a window stays open with its text if its draft can't be stored", async () => {
  const host = await startOwn();
  host.answers.set_draft = storingFails;
  render(App);
  await user.type(await message(), "By train");
  host.shell({ type: "window_closing" });
  expect(await screen.findByText(/disk full/, { selector: ".failure *" })).toBeVisible();
  expect(host.closedWindows, "the window should stay open").toBe(0);
  expect(host.closingsShown, "the next request to close it should wait for the page").toBe(1);
  await waitFor(async () => expect(await message(), "no text is lost").toHaveValue("By train"));
});

test("attached files are not discarded by moving or closing without a confirmation", async () => {
  const host = await startMain();
  const { unmount } = render(App);
  await message();
  const note = new File(["hello"], "note.txt", { type: "text/plain" });
  await user.upload(screen.getByLabelText("Attach files", { selector: "input" }), note);
  await screen.findByText("note.txt");
  await moveTrip();
  const dialog = await screen.findByRole("dialog", { name: "Discard files and context?" });
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.click(within(dialog).getByRole("button", { name: "Cancel" }));
  expect(host.openedWindows, "the conversation should stay").toEqual([]);
  expect(screen.getByText("note.txt"), "and so should the file").toBeVisible();
  await moveTrip();
  await user.click(await screen.findByRole("button", { name: "Open in new window" }));
  await waitFor(() => expect(host.openedWindows, "it should move now").toEqual(["c1"]));
  unmount();

  const own = await startOwn();
  render(App);
  await message();
  await user.upload(screen.getByLabelText("Attach files", { selector: "input" }), note);
  await screen.findByText("note.txt");
  own.shell({ type: "window_closing" });
  const close = await screen.findByRole("button", { name: "Close window" });
  expect(own.closingsShown, "the next request to close it should ask again").toBe(1);
  await user.click(close);
  await waitFor(() => expect(own.closedWindows, "it should close now").toBe(1));
});

test("a window of a deleted conversation closes", async () => {
  const host = await startOwn();
  render(App);
  await message();
  host.send({ type: "conversations_changed", conversations: [bug], changed: "c1" });
  await waitFor(() => expect(host.closedWindows, "its window should close").toBe(1));
  expect(screen.queryByRole("textbox", { name: "Message" }), "its text should be gone").toBeNull();
});

test("windows of the last start are opened one after another, and not forgotten meanwhile", async () => {
  const plan = { id: "c3", title: "Plan", updatedAt: 0 };
  localStorage.setItem("conversation windows", JSON.stringify(["c1", "c2", "c3"]));
  const host = await startMain();
  host.snapshot.conversations = [trip, bug, plan];
  host.send({ type: "conversations_changed", conversations: [trip, bug, plan], changed: null });
  const done: (() => void)[] = [];
  host.openConversationWindow = (id) => {
    host.openedWindows.push(id);
    return new Promise((resolve) => done.push(resolve));
  };
  render(App);
  for (const count of [1, 2, 3]) {
    await waitFor(() => expect(host.openedWindows.length, "one should be opened").toBe(count));
    const conversations = host.openedWindows.slice();
    host.shell({ type: "conversation_windows_changed", conversations });
    expect(screen.queryByRole("textbox", { name: "Message" }), "c1 is not shown here").toBeNull();
    expect(localStorage.getItem("conversation windows"), "none should be forgotten").toBe(
      JSON.stringify(["c1", "c2", "c3"]),
    );
    done.at(-1)?.();
  }
  expect(host.openedWindows, "the positions should be the same").toEqual(["c1", "c2", "c3"]);
  localStorage.removeItem("conversation windows");
});

test("no conversation is shown before it is known where it is open", async () => {
  const host = await startMain();
  host.otherWindows = null;
  render(App);
  await screen.findByRole("navigation");
  await new Promise((next) => requestAnimationFrame(next));
  expect(host.requests("read_conversation"), "it should not be read").toEqual([]);
  host.shell({ type: "conversation_windows_changed", conversations: ["c1"] });
  expect(await screen.findByRole("heading", { name: "Open in its own window" })).toBeVisible();
  host.shell({ type: "conversation_windows_changed", conversations: [] });
  expect(await message(), "it should be shown once it is open nowhere else").toBeVisible();
});

test("a view that is chosen in another window waits until no dialog is open", async () => {
  const host = await startMain();
  render(App);
  await message();
  host.shell({ type: "action_chosen", action: "shortcuts" });
  const dialog = await screen.findByRole("dialog", { name: "Keyboard shortcuts" });
  host.shell({ type: "view_chosen", view: "#/tools" });
  await new Promise((next) => requestAnimationFrame(next));
  expect(router.current.at, "the view below should not change").toBe("conversation");
  await user.click(within(dialog).getByRole("button", { name: "Close" }));
  await waitFor(() => expect(router.current, "it should be opened then").toEqual({ at: "tools" }));
});

test("a request to quit from another window is dropped while a dialog is open", async () => {
  const host = await startMain();
  render(App);
  await message();
  host.shell({ type: "action_chosen", action: "shortcuts" });
  const dialog = await screen.findByRole("dialog", { name: "Keyboard shortcuts" });
  host.shell({ type: "view_chosen", view: "#/action/quit" });
  await user.click(within(dialog).getByRole("button", { name: "Close" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await new Promise((next) => requestAnimationFrame(next));
  expect([closing.servers, host.closings], "it should not quit later").toEqual([0, []]);
  host.shell({ type: "view_chosen", view: "#/action/quit" });
  await waitFor(() => expect(closing.servers, "it should ask now").toBe(1));
});

test("its window lets the main window run what only that one may", async () => {
  const own = await startOwn();
  const { unmount } = render(App);
  await message();
  own.shell({ type: "action_chosen", action: "new-conversation" });
  callActions("files", "read").check();
  const requested = ["#/action/new-conversation", "#/action/checkup"];
  expect(own.mainViews, "both should be requested").toEqual(requested);
  expect(own.requests("create_conversation"), "none should be created there").toEqual([]);
  own.shell({ type: "action_chosen", action: "zoom-in" });
  await waitFor(() =>
    expect(own.requests("set_window_settings"), "only the zoom should change").toEqual([
      { zoom: 110, menuBar: false },
    ]),
  );
  expect(own.requests("set_settings"), "all settings are not replaced").toEqual([]);
  unmount();

  const main = await startMain();
  render(App);
  main.shell({ type: "view_chosen", view: "#/action/checkup" });
  expect(await screen.findByRole("dialog"), "the check should be opened").toBeVisible();
});
