// Repeating a call that the user approved a moment ago, in the form of a tool.
import { cleanup, fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type {
  ActivityEntry,
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

test.each([
  ["repeats the last call", { text: "hello" }, true],
  ["makes an ordinary call if the last one had other arguments", { text: "edited" }, false],
])("a call in the history %s", async (_, sent, isRepeated) => {
  await show();
  await press();
  await end(Date.now() + PERIOD_MS, sent);
  await waitUntilArmed();
  await fireEvent.click(screen.getByText("Call history"));
  await vi.advanceTimersByTimeAsync(1_000);
  await fireEvent.click(screen.getByRole("button", { name: /^Run again/ }));
  expect(sentCalls()[1]).toMatchObject({ arguments: { text: "hello" } });
  expect(sentCalls()[1]?.repeats).toBe(isRepeated ? sentCalls()[0]?.call : undefined);
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
