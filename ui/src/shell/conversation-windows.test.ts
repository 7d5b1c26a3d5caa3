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

// Preloaded, so that the tests do not wait for them.
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
    body: { kind: "roots", folders: [] },
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
  expect(await screen.findByText(/At most 8 conversations/), "the cause should be shown").toBeVisible();
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
