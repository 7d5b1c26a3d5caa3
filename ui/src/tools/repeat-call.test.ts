// Repeating a call that the user approved a moment ago, in the form of a tool.
import { cleanup, fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type {
  ActivityEntry,
  ConsentRequestOutcome,
  Event,
  JsonValue,
  ServerCall,
  Tool,
  ToolResult,
} from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import {
  type FakeHost,
  REVIEWED_DEFINITION,
  sampleServer,
  startFakeHost,
} from "$lib/testing/fake-host";

import { ARMING_DELAY_MS } from "../consent/arming.svelte";
import { DecisionSender } from "../consent/decision-sender.svelte";
import { consentRequest, toolBody } from "../consent/fixtures";

import RunTool from "./RunTool.svelte";

const TOOL: Tool = {
  ...{ name: "echo", title: null, description: null, outputSchema: null, icons: [] },
  inputSchema: {
    ...{ type: "object", required: ["text"] },
    properties: { text: { type: "string", default: "hello" } },
  },
  claims: {
    ...{ readOnly: null, destructive: null, idempotent: null, openWorld: null },
    asksEachTime: false,
  },
  allowed: false,
  ...REVIEWED_DEFINITION,
};
const NOTE = "Sends the same request again without asking.";
/** Time in milliseconds for which a call can be repeated. */
const PERIOD_MS = 15 * 60_000;

let host: FakeHost;
/** Ends the running call with a result. */
let respond: (result: ToolResult) => void;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

/** Activity log with one call of the tool. */
const SENT: ActivityEntry = {
  ...{ seq: 1, id: "1", at: 0, kind: "request", sent: true, method: "tools/call" },
  ...{ bytes: 100, latency: null, preview: "", note: null },
};
const PARAMS = { name: "echo", arguments: { text: "hello" } };

async function show(changes: Partial<Tool> = {}): Promise<void> {
  host = await startFakeHost(
    {
      call_tool: () => new Promise((resolve) => (respond = resolve)),
      read_activity: ({ after }) => ({ entries: after === null ? [SENT] : [], dropped: 0 }),
      read_activity_message: () => ({
        ...{ text: JSON.stringify({ jsonrpc: "2.0", id: 1, params: PARAMS }) },
        ...{ truncated: false, redacted: false },
      }),
    },
    { servers: [sampleServer({ name: "files" })] },
  );
  render(RunTool, { server: "files", tool: { ...TOOL, ...changes } });
  await vi.advanceTimersByTimeAsync(0);
}

const sentCalls = () => host.requests("call_tool");
const callButton = () => screen.getByRole("button", { name: /^Call( again)?$/ });
const waitUntilArmed = () => vi.advanceTimersByTimeAsync(ARMING_DELAY_MS);

async function press(): Promise<void> {
  await fireEvent.click(callButton());
  await vi.advanceTimersByTimeAsync(0);
}

/** Ends the latest call with a result. The host allows repeating the call until `repeatableUntil`. */
async function end(repeatableUntil?: number, sent: JsonValue = { text: "hello" }): Promise<void> {
  const call: ServerCall = {
    ...{ id: sentCalls().at(-1)!.call, server: "files", kind: "tool", name: "echo" },
    ...{ startedAt: Date.now(), state: "done", progress: null, task: null, conversation: null },
    ...(repeatableUntil === undefined ? {} : { repeatableUntil }),
  };
  host.send({ type: "call_changed", call });
  respond({
    ...{ content: [{ type: "text", text: "hello" }], structured: null },
    ...{ structuredProblem: null, isError: false, arguments: sent },
  });
  await vi.advanceTimersByTimeAsync(0);
}

test("the button repeats a call that the host offers to repeat", async () => {
  await show();
  await press();
  expect(sentCalls()[0]?.arguments).toEqual({ text: "hello" });
  expect(sentCalls()[0]?.repeats, "the first call repeats none").toBeUndefined();
  await end(Date.now() + PERIOD_MS);
  expect(callButton()).toHaveAccessibleName("Call again");
  expect(screen.getByText(NOTE)).toBeVisible();
  await waitUntilArmed();
  await press();
  expect(sentCalls()[1], "the same request should be sent").toMatchObject({
    ...{ server: "files", tool: "echo", arguments: { text: "hello" } },
    repeats: sentCalls()[0]!.call,
  });
  await end(Date.now() + PERIOD_MS);
  await waitUntilArmed();
  await press();
  expect(sentCalls()[2]?.repeats, "the latest call should be repeated").toBe(sentCalls()[1]!.call);
  vi.useRealTimers();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("a click right after the result is ignored", async () => {
  await show();
  await press();
  await end(Date.now() + PERIOD_MS);
  expect(callButton()).toHaveAttribute("aria-disabled", "true");
  await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS - 1);
  await press();
  expect(sentCalls(), "the second click of a double click should send nothing").toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(callButton()).not.toHaveAttribute("aria-disabled");
  await press();
  expect(sentCalls()).toHaveLength(2);
});

test.each([
  ["the host does not offer it", undefined, { text: "hello" }, {}],
  ["the user edited the sent arguments", PERIOD_MS, { text: "edited" }, {}],
  ["an approval covers the call", PERIOD_MS, { text: "hello" }, { allowed: true }],
])("the button makes an ordinary call if %s", async (_, period, sent, changes) => {
  await show(changes);
  await press();
  await end(period === undefined ? undefined : Date.now() + period, sent);
  await waitUntilArmed();
  expect(callButton()).toHaveAccessibleName("Call");
  expect(screen.queryByText(NOTE)).toBeNull();
  await press();
  expect(sentCalls()[1]?.repeats, "the call should repeat none").toBeUndefined();
});

test("edited arguments and the end of the period make it an ordinary call", async () => {
  await show();
  await press();
  await end(Date.now() + PERIOD_MS);
  const text = screen.getByRole("textbox", { name: "text" });
  await fireEvent.input(text, { target: { value: "changed" } });
  expect(callButton()).toHaveAccessibleName("Call");
  await fireEvent.input(text, { target: { value: "hello" } });
  expect(callButton()).toHaveAccessibleName("Call again");
  await vi.advanceTimersByTimeAsync(PERIOD_MS);
  expect(callButton()).toHaveAccessibleName("Call");
  await press();
  expect(sentCalls()[1]?.repeats, "the call should repeat none").toBeUndefined();
});

test("keys of the arguments may be in another order", async () => {
  const properties = { b: { type: "string", default: "1" }, a: { type: "string", default: "2" } };
  await show({ inputSchema: { type: "object", properties, required: ["a", "b"] } });
  await press();
  await end(Date.now() + PERIOD_MS, { a: "2", b: "1" });
  expect(callButton()).toHaveAccessibleName("Call again");
});

test("a call in the history is made again as an ordinary call", async () => {
  await show();
  await press();
  await end(Date.now() + PERIOD_MS);
  await waitUntilArmed();
  expect(callButton()).toHaveAccessibleName("Call again");
  await fireEvent.click(screen.getByText("Call history"));
  await vi.advanceTimersByTimeAsync(1_000);
  await fireEvent.click(screen.getByRole("button", { name: /^Run again/ }));
  expect(sentCalls()[1]).toMatchObject({ arguments: { text: "hello" } });
  expect(sentCalls()[1]?.repeats, "the call should repeat none").toBeUndefined();
});

test("the last call of another conversation is not repeated", async () => {
  await show();
  await press();
  await end(Date.now() + PERIOD_MS);
  expect(callButton()).toHaveAccessibleName("Call again");
  cleanup();
  render(RunTool, { server: "files", tool: TOOL, conversation: "c1" });
  await vi.advanceTimersByTimeAsync(0);
  await waitUntilArmed();
  expect(callButton(), "the last call had no conversation").toHaveAccessibleName("Call");
  await press();
  expect(sentCalls()[1]).toMatchObject({ conversation: "c1" });
  expect(sentCalls()[1]?.repeats, "the call should repeat none").toBeUndefined();
  await end(Date.now() + PERIOD_MS);
  expect(callButton(), "this call had the same conversation").toHaveAccessibleName("Call again");
});

/** Ends a call, and waits until the button repeats it. */
async function makeRepeatable(): Promise<void> {
  await press();
  await end(Date.now() + PERIOD_MS);
  await waitUntilArmed();
}

test("a held key repeats nothing", async () => {
  await show();
  await makeRepeatable();
  const held = { key: "Enter", ctrlKey: true, repeat: true };
  const text = screen.getByRole("textbox", { name: "text" });
  await fireEvent.keyDown(text, held);
  expect(sentCalls(), "a held shortcut should send nothing").toHaveLength(1);
  for (const target of [text, callButton()]) {
    const isHandled = await fireEvent.keyDown(target, { key: "Enter", repeat: true });
    expect(isHandled, "a held Enter should not submit the form").toBe(false);
    const isPassed = await fireEvent.keyDown(target, { key: "Enter" });
    expect(isPassed, "a pressed Enter should submit the form").toBe(true);
  }
  await fireEvent.keyDown(text, { ...held, repeat: false });
  expect(sentCalls()[1]?.repeats, "a pressed shortcut should repeat the call").toBe(
    sentCalls()[0]!.call,
  );
});

test("Enter right after the result is ignored", async () => {
  await show();
  await press();
  await end(Date.now() + PERIOD_MS);
  const text = screen.getByRole("textbox", { name: "text" });
  expect(await fireEvent.keyDown(text, { key: "Enter" }), "it is too early").toBe(false);
});

test("a slow double click sends one call", async () => {
  await show();
  await makeRepeatable();
  await fireEvent.click(callButton(), { detail: 1 });
  await end(Date.now() + PERIOD_MS);
  await waitUntilArmed();
  expect(sentCalls()).toHaveLength(2);
  await fireEvent.click(callButton(), { detail: 2 });
  expect(sentCalls(), "the second click should send nothing").toHaveLength(2);
  await fireEvent.click(callButton(), { detail: 1 });
  expect(sentCalls(), "a later click is a decision of its own").toHaveLength(3);
});

test("the button is described by the note that tells whether it asks", async () => {
  await show();
  expect(callButton()).toHaveAccessibleDescription("You approve it before it is sent.");
  await makeRepeatable();
  expect(callButton()).toHaveAccessibleDescription(NOTE);
});

test("only a denied tool request of the server ends the repetition", async () => {
  await show();
  await makeRepeatable();
  const close = async (id: string, server: string, outcome: ConsentRequestOutcome) => {
    const request = consentRequest(toolBody({}), { id, server });
    host.send({ type: "consent_request_changed", consentRequest: request });
    host.send({ type: "consent_request_closed", id, outcome });
    await vi.advanceTimersByTimeAsync(0);
  };
  await close("1", "files", "allowed");
  await close("2", "files", "cancelled");
  await close("3", "other", "denied");
  expect(callButton()).toHaveAccessibleName("Call again");
  await close("4", "files", "denied");
  expect(callButton()).toHaveAccessibleName("Call");
});

test("a denial of all requests of the server ends the repetition, also without a tool request", async () => {
  await show();
  await makeRepeatable();
  host.answers.deny_all_consent_requests = () => Promise.reject({ code: "internal", message: "" });
  await new DecisionSender().denyAll("files", false);
  await vi.advanceTimersByTimeAsync(0);
  expect(callButton(), "nothing was denied").toHaveAccessibleName("Call again");
  host.answers.deny_all_consent_requests = () => ({});
  await new DecisionSender().denyAll("other", false);
  await vi.advanceTimersByTimeAsync(0);
  expect(callButton(), "another server's were denied").toHaveAccessibleName("Call again");
  await new DecisionSender().denyAll("files", false);
  await vi.advanceTimersByTimeAsync(0);
  expect(callButton()).toHaveAccessibleName("Call");
});

test.each<[string, () => Event]>([
  ["the rules change", () => ({ type: "rules_changed" })],
  [
    "its server stops",
    () => ({
      type: "server_changed",
      server: sampleServer({ name: "files", state: { is: "stopped" } }),
    }),
  ],
  [
    "its server is muted",
    () => ({ type: "server_changed", server: sampleServer({ name: "files", muted: true }) }),
  ],
  ["its server is removed", () => ({ type: "server_removed", name: "files" })],
])("the button makes an ordinary call once %s", async (_, event) => {
  await show();
  await press();
  await end(Date.now() + PERIOD_MS);
  host.send({ type: "server_removed", name: "another" });
  await vi.advanceTimersByTimeAsync(0);
  expect(callButton()).toHaveAccessibleName("Call again");
  host.send(event());
  await vi.advanceTimersByTimeAsync(0);
  expect(callButton()).toHaveAccessibleName("Call");
});
