// The calls of a tool that a server's activity still has.
import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, test } from "vitest";

import type { ActivityBody, ActivityEntry, Tool } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { REVIEWED, sampleServer, startFake } from "$lib/testing/fake";

import { callsIn, sentCall } from "./history";
import RunTool from "./RunTool.svelte";

afterEach(() => cleanup());

const TOOL: Tool = {
  ...{ name: "echo", title: null, description: null, outputSchema: null, icons: [] },
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  claims: { readOnly: null, destructive: null, idempotent: null, openWorld: null },
  allowed: false,
  ...REVIEWED,
};

function entry(seq: number, id: string, changes: Partial<ActivityEntry> = {}): ActivityEntry {
  return {
    ...{ seq, id, at: 1_785_000_000_000 + seq, kind: "request", sent: true, method: "tools/call" },
    ...{ bytes: 100, latency: null, preview: "", note: null },
    ...changes,
  };
}
const answer = (seq: number, id: string, changes: Partial<ActivityEntry> = {}) =>
  entry(seq, id, { kind: "response", sent: false, latency: 12, ...changes });

function body(tool: string, sent: unknown, more: object = {}): ActivityBody {
  const params = { name: tool, arguments: sent, ...more };
  return { text: JSON.stringify({ jsonrpc: "2.0", id: 1, params }), truncated: false };
}

describe("the calls in an activity", () => {
  test("E29: each has its own answer, also after the server began to count anew", () => {
    const entries = [
      entry(1, "3"),
      answer(2, "3"),
      entry(3, "4", { method: "resources/read" }),
      answer(4, "4"),
      entry(5, "3"),
      answer(6, "9"),
      entry(7, "5"),
      answer(8, "5", { kind: "error" }),
      // A request of the server's under the same number is no answer.
      entry(9, "3", { sent: false, method: "roots/list" }),
    ];
    const found = callsIn(entries).map(({ request, response }) => [request.seq, response?.seq]);
    expect(found, "the latest first").toEqual([
      [7, 8],
      [5, undefined],
      [1, 2],
    ]);
  });

  test("E29: what the log has not exactly is not run again", () => {
    const revision = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
    expect(sentCall(body("echo", { text: "a" }, revision))).toEqual({
      ...{ tool: "echo", arguments: { text: "a" }, revision: "2026-07-28" },
      ...{ continued: false, exact: true },
    });
    for (const more of [{ inputResponses: {} }, { requestState: "s" }])
      expect(sentCall(body("echo", {}, more))?.continued, "a retry with answers").toBe(true);
    expect(sentCall(body("echo", { n: 2 ** 60 }))?.exact, "a rounded number").toBe(false);
    expect(sentCall(body("echo", { text: "[U+202E]" }))?.exact, "a named character").toBe(false);
    expect(sentCall({ ...body("echo", {}), truncated: true }), "only its beginning").toBeNull();
  });
});

describe("the history of a tool", () => {
  async function show(entries = [entry(1, "1"), answer(2, "1"), entry(3, "2")]) {
    const bodies: Record<number, ActivityBody> = {
      1: body("echo", { text: "first" }),
      2: { text: '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}', truncated: false },
      3: body("other", { text: "not mine" }),
      4: body("echo", { text: "first" }, { inputResponses: { name: { action: "accept" } } }),
    };
    const host = await startFake(
      {
        activity: () => ({ entries, dropped: 0 }),
        activity_body: ({ seq }) => bodies[seq] as ActivityBody,
        call_tool: () => new Promise(() => undefined),
      },
      { servers: [sampleServer({ name: "files" })] },
    );
    render(RunTool, { server: "files", tool: TOOL });
    const user = userEvent.setup();
    await user.click(screen.getByText("History of calls"));
    return { host, user };
  }

  test("E29: shows a call with its request, response and time", async () => {
    const { user } = await show();
    const messages = await screen.findByRole("button", { name: /^Messages/ });
    const row = messages.closest("li") as HTMLElement;
    expect(screen.getAllByRole("button", { name: /^Messages/ }), "of this tool only").toHaveLength(
      1,
    );
    expect(row, "how long it took").toHaveTextContent("12 ms");
    await user.click(messages);
    for (const name of ["Request", "Response"])
      expect(within(row).getByRole("heading", { name }), "as it crossed").toBeVisible();
    await waitFor(() => expect(row).toHaveTextContent("first"));
    expect(await axeProblems(), "axe finds nothing").toEqual([]);
  });

  test("E29: says of a request that it continues a call with answers", async () => {
    await show([entry(1, "1"), answer(2, "1"), entry(4, "2"), answer(5, "2")]);
    await waitFor(() => expect(screen.getAllByRole("listitem")).toHaveLength(2));
    const [last, first] = screen.getAllByRole("listitem");
    expect(last, "the latest first").toHaveTextContent("Sent again with answers");
    expect(first).not.toHaveTextContent("Sent again");
  });

  test("E29: runs a call again as any other, and fills the form to edit it", async () => {
    const { host, user } = await show();
    await user.click(await screen.findByRole("button", { name: /^Edit and run/ }));
    await waitFor(() => expect(screen.getByRole("textbox", { name: "text" })).toHaveValue("first"));
    expect(screen.getByRole("textbox", { name: "text" }), "to be edited at once").toHaveFocus();
    expect(host.requests("call_tool"), "nothing is sent by it").toEqual([]);
    await user.click(screen.getByRole("button", { name: /^Run again/ }));
    expect(host.requests("call_tool"), "what was sent then").toMatchObject([
      { server: "files", tool: "echo", arguments: { text: "first" } },
    ]);
    expect(screen.getByRole("button", { name: /^Run again/ }), "one at a time").toBeDisabled();
  });
});
