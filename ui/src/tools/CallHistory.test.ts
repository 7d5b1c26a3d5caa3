// Calls of a tool in the activity log of its server.
import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, test } from "vitest";

import { ApiError } from "$lib/api/client";
import type { ActivityBody, ActivityEntry, Tool } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { REVIEWED_DEFINITION, sampleServer, startFakeHost } from "$lib/testing/fake-host";

import { toolCallsIn, parseSentCall } from "./call-history";
import RunTool from "./RunTool.svelte";
import { MAX_CALLS } from "./tool-calls.svelte";

afterEach(() => cleanup());

const TOOL: Tool = {
  ...{ name: "echo", title: null, description: null, outputSchema: null, icons: [] },
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  claims: {
    readOnly: null,
    destructive: null,
    idempotent: null,
    openWorld: null,
    asksEachTime: false,
  },
  allowed: false,
  ...REVIEWED_DEFINITION,
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
  return {
    text: JSON.stringify({ jsonrpc: "2.0", id: 1, params }),
    truncated: false,
    redacted: false,
  };
}

describe("calls in an activity log", () => {
  test("E29: are matched to their responses, even if the server restarted its ids", () => {
    const entries = [
      entry(1, "3"),
      answer(2, "3"),
      entry(3, "4", { method: "resources/read" }),
      answer(4, "4"),
      entry(5, "3"),
      answer(6, "9"),
      entry(7, "5"),
      answer(8, "5", { kind: "error" }),
      // A request of the server with the same id is not a response.
      entry(9, "3", { sent: false, method: "roots/list" }),
    ];
    const found = toolCallsIn(entries).map(({ request, response }) => [request.seq, response?.seq]);
    expect(found, "the latest call should be first").toEqual([
      [7, 8],
      [5, undefined],
      [1, 2],
    ]);
  });

  test("E29: can't be repeated if the log is not exact", () => {
    const revision = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
    expect(parseSentCall(body("echo", { text: "a" }, revision))).toEqual({
      ...{ tool: "echo", arguments: { text: "a" }, revision: "2026-07-28" },
      ...{ continued: false, exact: true },
    });
    for (const more of [{ inputResponses: {} }, { requestState: "s" }])
      expect(
        parseSentCall(body("echo", {}, more))?.continued,
        "a retry with responses should be detected",
      ).toBe(true);
    expect(
      parseSentCall(body("echo", { n: 2 ** 60 }))?.exact,
      "a rounded number should not be exact",
    ).toBe(false);
    const secret = { ...body("echo", { text: "[redacted]" }), redacted: true };
    expect(parseSentCall(secret)?.exact, "a redacted secret should not be exact").toBe(false);
    for (const text of ["[U+202E]", "[redacted]"])
      expect(
        parseSentCall(body("echo", { text }))?.exact,
        "literal text that looks redacted should be exact",
      ).toBe(true);
    expect(
      parseSentCall({ ...body("echo", {}), truncated: true }),
      "a truncated call should not be repeatable",
    ).toBeNull();
  });
});

describe("the history of a tool", () => {
  const BODIES: Record<number, ActivityBody> = {
    1: body("echo", { text: "first" }),
    2: {
      ...{ text: '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}' },
      ...{ truncated: false, redacted: false },
    },
    3: body("other", { text: "not mine" }),
    4: body("echo", { text: "first" }, { inputResponses: { name: { action: "accept" } } }),
  };
  const ENTRIES = [entry(1, "1"), answer(2, "1"), entry(3, "2")];

  async function show(
    entries = ENTRIES,
    bodyOf: (seq: number) => ActivityBody | Promise<ActivityBody> = (seq) => BODIES[seq]!,
  ) {
    const host = await startFakeHost(
      {
        read_activity: ({ after }) => ({
          entries: entries.filter(({ seq }) => seq > (after ?? 0)),
          dropped: 0,
        }),
        read_activity_message: ({ seq }) => bodyOf(seq),
        call_tool: () => new Promise(() => undefined),
      },
      { servers: [sampleServer({ name: "files" })] },
    );
    render(RunTool, { server: "files", tool: TOOL });
    const user = userEvent.setup();
    await user.click(screen.getByText("Call history"));
    return { host, user };
  }

  test("E29: shows a call with its arguments, request, response and time", async () => {
    const { user } = await show();
    const messages = await screen.findByRole("button", { name: /^Messages/ });
    const row = messages.closest("li") as HTMLElement;
    expect(
      screen.getAllByRole("button", { name: /^Messages/ }),
      "only calls of this tool should be listed",
    ).toHaveLength(1);
    expect(row, "the duration should be shown").toHaveTextContent("12 ms");
    expect(row, "the arguments to send again should be shown").toHaveTextContent(
      '{"text":"first"}',
    );
    await user.click(messages);
    for (const name of ["Request", "Response"])
      expect(
        within(row).getByRole("heading", { name }),
        "the message should be shown as it was sent",
      ).toBeVisible();
    await waitFor(() => expect(row).toHaveTextContent('"first"'));
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("E29: folds long arguments", async () => {
    const text = `${"x".repeat(5_000)}end`;
    const { user } = await show(ENTRIES, (seq) =>
      seq === 1 ? body("echo", { text }) : BODIES[3]!,
    );
    const row = (await screen.findByRole("button", { name: /^Run again/ })).closest("li");
    expect(row?.textContent.length, "long arguments should be collapsed").toBeLessThan(500);
    await user.click(within(row as HTMLElement).getByRole("button", { name: /^Show all/ }));
    expect(row, "the rest should be shown on request").toHaveTextContent("xend");
  });

  test("E29: shows progress until everything is read, and only then an empty state", async () => {
    let resolve: (read: ActivityBody) => void = () => undefined;
    const reading = new Promise<ActivityBody>((done) => (resolve = done));
    await show([entry(1, "1")], () => reading);
    expect(await screen.findByText("Reading the log…")).toBeVisible();
    expect(
      screen.queryByText(/no calls of this tool/),
      "the empty state should not be shown while reading",
    ).toBeNull();
    resolve(body("other", {}));
    expect(await screen.findByText(/no calls of this tool/)).toBeVisible();
    expect(screen.queryByText("Reading the log…")).toBeNull();
  });

  test("E29: finds its calls behind many of other tools", async () => {
    const entries = Array.from({ length: MAX_CALLS + 20 }, (_, i) => entry(i + 1, `${i}`));
    await show(entries, (seq) => body(seq === 1 ? "echo" : "other", { text: "first" }));
    expect(await screen.findByRole("button", { name: /^Run again/ })).toBeVisible();
  });

  test("E29: lists a bounded number of the latest calls", async () => {
    const entries = Array.from({ length: MAX_CALLS + 20 }, (_, i) => entry(i + 1, `${i}`));
    const { host } = await show(entries, (seq) => body("echo", { text: `${seq}` }));
    await waitFor(() =>
      expect(screen.getAllByRole("button", { name: /^Run again/ })).toHaveLength(MAX_CALLS),
    );
    expect(screen.queryByText("Reading the log…"), "no further messages should be read").toBeNull();
    expect(host.requests("read_activity_message")).toHaveLength(MAX_CALLS);
  });

  test("E29: lists a call with a truncated message, which can't be repeated", async () => {
    const cut = { text: '{"jsonrpc":"2.0","id', truncated: true, redacted: false };
    await show([entry(1, "1")], () => cut);
    expect(await screen.findByText(/only the beginning of this call/)).toBeVisible();
    expect(screen.getByRole("button", { name: /^Messages/ })).toBeVisible();
    expect(screen.queryByRole("button", { name: /^Run again/ })).toBeNull();
  });

  test("E29: skips expired messages, and reads failed ones again", async () => {
    let broken = true;
    const { user } = await show([entry(1, "1"), entry(2, "2")], (seq) => {
      if (seq === 2) throw new ApiError({ code: "not_found", message: "let go", data: null });
      if (broken) throw new ApiError({ code: "internal", message: "broken", data: null });
      return body("echo", { text: "first" });
    });
    expect(await screen.findByText(/broken/), "the error should be shown").toBeVisible();
    expect(
      screen.queryByText(/was dropped|were dropped/),
      "expired messages should not be reported",
    ).toBeNull();
    broken = false;
    await user.click(screen.getByText("Call history"));
    await user.click(screen.getByText("Call history"));
    expect(await screen.findAllByRole("button", { name: /^Run again/ })).toHaveLength(1);
    expect(screen.queryByText(/broken/), "the error should be cleared").toBeNull();
  });

  test("E29: marks a request that continues a call with input", async () => {
    await show([entry(1, "1"), answer(2, "1"), entry(4, "2"), answer(5, "2")]);
    await waitFor(() => expect(screen.getAllByRole("listitem")).toHaveLength(2));
    const [last, first] = screen.getAllByRole("listitem");
    expect(last, "the latest call should be first").toHaveTextContent("Sent again with answers");
    expect(first).not.toHaveTextContent("Sent again");
  });

  test("E29: repeats a call with consent, or fills in the form to edit it", async () => {
    const { host, user } = await show();
    await user.click(await screen.findByRole("button", { name: /^Edit:/ }));
    await waitFor(() => expect(screen.getByRole("textbox", { name: "text" })).toHaveValue("first"));
    expect(
      screen.getByRole("textbox", { name: "text" }),
      "the form should be focused",
    ).toHaveFocus();
    expect(host.requests("call_tool"), "nothing should be sent for editing").toEqual([]);
    await user.click(screen.getByRole("button", { name: /^Run again/ }));
    expect(host.requests("call_tool"), "the previous arguments should be sent").toMatchObject([
      { server: "files", tool: "echo", arguments: { text: "first" } },
    ]);
    expect(
      screen.getByRole("button", { name: /^Run again/ }),
      "one call should run at a time",
    ).toBeDisabled();
  });

  test("E29: confirms before replacing the filled-in values", async () => {
    const { host, user } = await show();
    const edit = await screen.findByRole("button", { name: /^Edit:/ });
    const text = () => screen.getByRole("textbox", { name: "text" });
    await user.type(text(), "half");
    await user.click(edit);
    await user.click(await screen.findByRole("button", { name: "Cancel" }));
    expect(text(), "the edited value should be kept").toHaveValue("half");
    await user.click(edit);
    await user.click(await screen.findByRole("button", { name: "Replace" }));
    await waitFor(() => expect(text()).toHaveValue("first"));
    await user.type(text(), "!");
    await user.click(screen.getByRole("button", { name: /^Run again/ }));
    expect(host.requests("call_tool"), "the shown arguments should be sent").toMatchObject([
      { arguments: { text: "first" } },
    ]);
    expect(text(), "the form should be unchanged").toHaveValue("first!");
  });
});
