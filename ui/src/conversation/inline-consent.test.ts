import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { tick } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { ServerCall, ConversationItem, ConsentRequest } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import {
  sampleConversation,
  sampleServer,
  startFakeHost,
  type FakeHost,
} from "$lib/testing/fake-host";

import { raisedApp } from "../apps/raised-app.svelte";
import { openConsentQueue, dialogController } from "../consent";
import { consentRequest as sample, startServerBody, toolBody } from "../consent/fixtures";
import { NO_REVIEW_MARKS } from "../review/review-labels";
import ConsentDialog from "../consent/ConsentDialog.svelte";
import ConversationView from "./ConversationView.svelte";

let host: FakeHost;
/** Number that makes the request ids of each test unique, because the queue remembers decided requests. */
let run = 0;

const toolRequest = (id: string, changes: Partial<ConsentRequest> = {}): ConsentRequest =>
  sample(toolBody({ path: `/${id}` }), {
    ...{ id: `q-${id}-${run}`, hash: `h-${id}-${run}`, call: id },
    origin: { by: "model", conversation: "c1", untrustedServers: [] },
    ...changes,
  });
const call = (id: string): ServerCall => ({
  ...{ id, server: "files", kind: "tool", name: "write_file", startedAt: 1 },
  ...{ state: "awaiting_approval", progress: null, task: null, conversation: "c1" },
});
const item = (id: string, parent?: string): ConversationItem => ({
  ...{ id, at: 3, state: "streaming", ...(parent === undefined ? {} : { parent }) },
  body: {
    ...{ kind: "tool_call", call: id, server: "files", tool: "write_file", took: 0 },
    ...{ arguments: {}, result: null, error: null },
  },
});

beforeEach(async () => {
  run += 1;
  const items = [item("t1"), item("t2", "t1")];
  host = await startFakeHost(
    { read_conversation: () => sampleConversation({ items, answering: true }) },
    {
      servers: [sampleServer({ name: "files" })],
      conversations: [{ id: "c1", title: "Trip plan", updatedAt: 1 }],
      calls: [call("t1"), call("t2")],
      consentRequests: [toolRequest("t1"), toolRequest("t2")],
    },
  );
});
afterEach(() => {
  dialogController.queue.isListOpen = false;
  cleanup();
});

/** Renders the conversation with all overlays of the window. */
async function shown() {
  render(ConversationView, { id: "c1" });
  render(ConsentDialog, { controller: dialogController });
  const frame = await within(await screen.findByRole("log")).findByTestId("consent-request");
  return within(frame);
}

const armed = (name: string) =>
  waitFor(() =>
    expect(screen.getByRole("button", { name })).toHaveAttribute("aria-disabled", "false"),
  );

describe("a consent request for a call of the model", () => {
  it("is shown only in its card, one at a time", async () => {
    const frame = await shown();
    expect(screen.queryByRole("dialog"), "no dialog should cover the conversation").toBeNull();
    expect(screen.getByRole("log"), "the request should be in the conversation").toContainElement(
      screen.getByTestId("consent-request"),
    );
    expect(
      frame.getByText("1 of 2"),
      "the number of pending requests should be shown",
    ).toBeInTheDocument();
    expect(frame.getByText("/t1"), "the payload should be shown").toBeInTheDocument();
    await armed("Deny");
    await userEvent.keyboard("{F6}");
    expect(frame.getByRole("button", { name: "Deny" }), "Deny should be focused").toHaveFocus();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("is decided once, and the next one follows", async () => {
    const user = userEvent.setup();
    const frame = await shown();
    await armed("Allow once");
    await user.click(frame.getByRole("button", { name: "Allow once" }));
    await waitFor(() =>
      expect(host.requests("decide_consent_request")).toEqual([
        { id: `q-t1-${run}`, hash: `h-t1-${run}`, answer: { action: "allow", scope: "once" } },
      ]),
    );
    await screen.findByText("/t2");
    expect(
      screen.getAllByTestId("consent-request"),
      "one request should be shown at a time",
    ).toHaveLength(1);
    expect(
      screen.getByRole("button", { name: "Allow once" }),
      "the next request should not be allowed by the same click",
    ).toHaveAttribute("aria-disabled", "true");
  });

  it("ignores keys that are pressed outside of it", async () => {
    const user = userEvent.setup();
    await shown();
    await armed("Deny");
    screen.getByRole("log").focus();
    await user.keyboard("a");
    await user.keyboard("d");
    expect(host.requests("decide_consent_request"), "no decision should be sent").toEqual([]);
  });

  it("does not take the focus from the composer", async () => {
    const user = userEvent.setup();
    host.snapshot.consentRequests = [];
    render(ConversationView, { id: "c1" });
    const field = await screen.findByRole("textbox", { name: "Message" });
    await user.type(field, "meanwhile");
    host.send({ type: "consent_request_changed", consentRequest: toolRequest("t1") });
    await screen.findByTestId("consent-request");
    await armed("Deny");
    expect(field, "the field should stay focused").toHaveFocus();
  });

  it("does not take the focus from an empty composer, and F6 goes to it", async () => {
    const user = userEvent.setup();
    host.snapshot.consentRequests = [];
    render(ConversationView, { id: "c1" });
    const field = await screen.findByRole("textbox", { name: "Message" });
    await user.click(field);
    host.send({ type: "consent_request_changed", consentRequest: toolRequest("t1") });
    await screen.findByTestId("consent-request");
    await armed("Deny");
    expect(field, "the next sentence should be typed into the field").toHaveFocus();
    await user.keyboard("and add four");
    expect(field, "no key should be lost").toHaveValue("and add four");
    expect(host.requests("decide_consent_request"), "no decision should be sent").toEqual([]);
    await user.keyboard("{F6}");
    expect(screen.getByRole("button", { name: "Deny" }), "F6 should go to Deny").toHaveFocus();
  });

  it("opens no dialog over the composer, and a line above it shows the request", async () => {
    const user = userEvent.setup();
    host.snapshot.consentRequests = [];
    render(ConversationView, { id: "c1" });
    render(ConsentDialog, { controller: dialogController });
    const field = await screen.findByRole("textbox", { name: "Message" });
    await user.click(field);
    const request = sample(startServerBody, { id: `q9-${run}`, server: "other" });
    host.send({ type: "consent_request_changed", consentRequest: request });
    const line = within(await screen.findByTestId("held-request"));
    expect(line.getByText("other waits for your approval")).toBeVisible();
    const second = sample(startServerBody, { id: `q10-${run}`, server: "third" });
    host.send({ type: "consent_request_changed", consentRequest: second });
    expect(
      await line.findByText("2 requests wait for your approval, the first from other"),
    ).toBeVisible();
    host.send({ type: "consent_request_closed", id: second.id, outcome: "cancelled" });
    await user.keyboard("and four");
    expect(field, "no key should be lost").toHaveValue("and four");
    expect(screen.queryByRole("dialog"), "no dialog should open").toBeNull();
    await user.click(line.getByRole("button", { name: "Show" }));
    expect(await screen.findByRole("dialog")).toHaveTextContent("wants to run on this computer");
    expect(screen.queryByTestId("held-request"), "the line should disappear").toBeNull();
  });

  it("does not get the focus from an F6 that opens a request that was held back", async () => {
    const user = userEvent.setup();
    const frame = await shown();
    await user.click(screen.getByRole("textbox", { name: "Message" }));
    const other = sample(startServerBody, { id: `q9-${run}`, server: "other" });
    host.send({ type: "consent_request_changed", consentRequest: other });
    await screen.findByTestId("held-request");
    const onFocus = vi.fn();
    frame.getByRole("button", { name: "Deny" }).addEventListener("focus", onFocus);
    await user.keyboard("{F6}");
    expect(await screen.findByRole("dialog")).toHaveTextContent("wants to run on this computer");
    expect(onFocus, "one key should do one thing").not.toHaveBeenCalled();
  });

  it("is shown as a dialog if it does not belong to the conversation", async () => {
    await shown();
    screen.getByRole("log").focus();
    host.send({
      type: "consent_request_changed",
      consentRequest: sample(startServerBody, { id: "q9", hash: "h9", server: "other" }),
    });
    const dialog = await screen.findByRole("dialog");
    expect(dialog, "the dialog should show the request of another server").toHaveTextContent(
      "wants to run on this computer",
    );
    const covered = screen.getByRole("log", { hidden: true });
    expect(
      within(covered).getByRole("button", { name: "Allow once", hidden: true }),
      "the request below the dialog should be disabled",
    ).toHaveAttribute("aria-disabled", "true");
  });

  it("stays aside when its conversation is opened and left", async () => {
    const user = userEvent.setup();
    const { queue } = dialogController;
    for (const id of ["t1", "t2"]) queue.putAside(toolRequest(id));
    render(ConsentDialog, { controller: dialogController });
    const conversation = render(ConversationView, { id: "c1" });
    const shows = await screen.findAllByRole("button", { name: "Show the request" });
    expect(shows, "each card should link to its request").toHaveLength(2);
    expect(screen.queryByTestId("consent-request"), "neither should be shown").toBeNull();
    screen.getByRole("log").focus();
    const other = sample(startServerBody, { id: `q9-${run}`, server: "other" });
    host.send({ type: "consent_request_changed", consentRequest: other });
    await screen.findByRole("dialog");
    queue.putAside(other);
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    const [show] = await screen.findAllByRole("button", { name: "Show the request" });
    await user.click(show as HTMLElement);
    expect(await screen.findByText("/t1"), "the opened request should be shown").toBeVisible();
    conversation.unmount();
    await tick();
    expect(screen.queryByRole("dialog"), "none should come up by itself").toBeNull();
    expect(dialogController.pending, "all should be pending").toHaveLength(3);
  });

  describe("and Escape in the composer", () => {
    const close = (id: string) =>
      host.send({ type: "consent_request_closed", id: `q-${id}-${run}`, outcome: "cancelled" });
    const stops = () => host.requests("stop_reply");
    const field = () => screen.getByRole("textbox", { name: "Message" });

    it("does not stop the answer while the call waits", async () => {
      const user = userEvent.setup();
      await shown();
      await user.click(field());
      await user.keyboard("{Escape}");
      expect(stops(), "the calls wait for the user").toEqual([]);
      for (const id of ["t1", "t2"]) close(id);
      await user.keyboard("{Escape}");
      expect(stops(), "nothing waits for a decision").toHaveLength(1);
    });

    it("does not stop it if the key before put a request aside", async () => {
      const user = userEvent.setup();
      for (const id of ["t1", "t2"]) close(id);
      render(ConversationView, { id: "c1" });
      render(ConsentDialog, { controller: dialogController });
      await user.click(await screen.findByRole("textbox", { name: "Message" }));
      const other = sample(startServerBody, { id: `q9-${run}`, server: "other" });
      host.send({ type: "consent_request_changed", consentRequest: other });
      await screen.findByTestId("held-request");
      await user.keyboard("{F6}");
      await screen.findByRole("dialog");
      await armed("Decide later");
      await user.keyboard("{Escape}");
      await waitFor(() => expect(field(), "the focus should return").toHaveFocus());
      await user.keyboard("{Escape}");
      expect(stops(), "the second key may be meant for the dialog").toEqual([]);
      const closed = performance.now();
      vi.spyOn(performance, "now").mockReturnValue(closed + 1_000);
      await user.keyboard("{Escape}");
      expect(stops(), "a later one is meant for the answer").toHaveLength(1);
    });
  });

  it("takes no decision while an app is raised", async () => {
    const user = userEvent.setup();
    const frame = await shown();
    await armed("Deny");
    const app = { lower: () => undefined };
    raisedApp.raise(app);
    await waitFor(() =>
      expect(frame.getByRole("button", { name: "Allow once" })).toHaveAttribute(
        "aria-disabled",
        "true",
      ),
    );
    frame.getByRole("button", { name: "Deny" }).focus();
    await user.keyboard("ad");
    expect(host.requests("decide_consent_request"), "no decision should be sent").toEqual([]);
    raisedApp.release(app);
    await armed("Allow once");
  });

  it("is listed in the queue with a link to its card", async () => {
    const user = userEvent.setup();
    await shown();
    openConsentQueue();
    const list = within(await screen.findByTestId("queue"));
    const rows = list.getAllByRole("button", { name: /tool call/ });
    expect(rows, "both requests should be listed").toHaveLength(2);
    await user.click(rows[1] as HTMLElement);
    await waitFor(() => expect(screen.queryByTestId("queue"), "the list should close").toBeNull());
    expect(
      await screen.findByText("/t2"),
      "the selected request should be shown",
    ).toBeInTheDocument();
  });
});

describe("the tool calls of one turn", () => {
  const reviewed = (id: string) =>
    toolRequest(id, { marks: { ...NO_REVIEW_MARKS, review: "reviewed" } });
  const list = async () => within(await screen.findByTestId("turn-requests"));

  const marked = (id: string) =>
    host.send({ type: "consent_request_changed", consentRequest: reviewed(id) });

  /** Renders the conversation and the consent dialog. */
  function draw() {
    for (const id of ["t1", "t2"]) marked(id);
    render(ConversationView, { id: "c1" });
    render(ConsentDialog, { controller: dialogController });
  }

  it("are listed above the composer and decided with one button", async () => {
    const user = userEvent.setup();
    draw();
    const turn = await list();
    expect(
      screen.queryByTestId("consent-request"),
      "no request should be shown in its card",
    ).toBeNull();
    expect(screen.queryByRole("dialog"), "no dialog should cover the conversation").toBeNull();
    expect(turn.getByText("The model asked in “Trip plan”.")).toBeInTheDocument();
    expect(
      screen.queryByRole("button", { name: "Show the request" }),
      "the cards should not repeat the actions of the list",
    ).toBeNull();
    expect(turn.queryByRole("button", { name: /^Cancel/ })).toBeNull();
    expect(
      screen.getAllByRole("button", { name: "Cancel write_file" }),
      "one call alone can be cancelled",
    ).toHaveLength(2);
    await armed("Allow these 2");
    await user.keyboard("{F6}");
    expect(
      turn.getByRole("button", { name: "Deny all 2" }),
      "the button to deny should be focused",
    ).toHaveFocus();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(turn.getByRole("button", { name: "Allow these 2" }));
    await waitFor(() =>
      expect(host.requests("decide_consent_request")).toEqual(
        ["t1", "t2"].map((id) => ({
          ...{ id: `q-${id}-${run}`, hash: `h-${id}-${run}` },
          answer: { action: "allow", scope: "once" },
        })),
      ),
    );
    await waitFor(() => expect(screen.queryByTestId("turn-requests")).toBeNull());
  });

  it("can be cancelled alone in their cards, which say that the server is muted", async () => {
    const user = userEvent.setup();
    const muted = { muted: true, mutedUntil: Date.now() + 60_000 };
    host.send({ type: "server_changed", server: sampleServer({ name: "files", ...muted }) });
    draw();
    await list();
    expect(screen.getAllByText("muted", { exact: false }).length).toBeGreaterThan(0);
    await user.click(screen.getAllByRole("button", { name: "Cancel write_file" })[1]!);
    expect(host.requests("cancel_call")).toEqual([{ call: "t2" }]);
  });

  it("are reviewed one by one in their cards, and listed again", async () => {
    const user = userEvent.setup();
    draw();
    await user.click(
      (await list()).getByRole("button", { name: "Review call 2: write_file on files" }),
    );
    const frame = within(await screen.findByTestId("consent-request"));
    expect(frame.getByText("/t2"), "the selected call should be shown").toBeInTheDocument();
    expect(screen.queryByTestId("turn-requests"), "the list should be hidden").toBeNull();
    expect(
      screen.getByRole("button", { name: "Show the request" }),
      "the other call should link to its request again",
    ).toBeInTheDocument();
    await user.click(frame.getByRole("button", { name: "Decide together" }));
    await list();
    expect(screen.queryByTestId("consent-request")).toBeNull();
  });

  it("do not replace a request whose reason the user is writing", async () => {
    const user = userEvent.setup();
    const frame = await shown();
    await user.click(frame.getByRole("button", { name: "Deny with a reason…" }));
    await user.type(frame.getByRole("textbox", { name: "Reason" }), "not now");
    for (const id of ["t1", "t2"]) marked(id);
    await tick();
    expect(
      screen.queryByTestId("turn-requests"),
      "the list should not replace the field for the reason",
    ).toBeNull();
    await user.click(frame.getByRole("button", { name: "Back" }));
    await list();
  });

  it("are listed in the queue, and decided there", async () => {
    const user = userEvent.setup();
    draw();
    await list();
    openConsentQueue();
    const queue = within(await screen.findByTestId("queue"));
    const allow = await queue.findByRole("button", { name: "Allow these 2" });
    await waitFor(() => expect(allow).toHaveAttribute("aria-disabled", "false"));
    const covered = screen
      .getAllByRole("button", { name: "Allow these 2", hidden: true })
      .filter((one) => one !== allow);
    expect(covered, "the list below should be hidden").toHaveLength(1);
    expect(covered[0]).toHaveAttribute("aria-disabled", "true");
    await user.click(allow);
    await waitFor(() => expect(host.requests("decide_consent_request")).toHaveLength(2));
    await waitFor(() => expect(screen.queryByTestId("turn-requests")).toBeNull());
  });
});
