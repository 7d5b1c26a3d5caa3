import { render, screen, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { ServerCatalog, Tool, ToolResult } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { catalogs } from "$lib/state/catalogs.svelte";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import {
  NO_EXPIRY,
  REVIEWED_DEFINITION,
  sampleServer,
  startFakeHost,
  type FakeHost,
} from "$lib/testing/fake-host";
import { fastestRunMs } from "$lib/testing/fastest";

import AllTools from "./AllTools.svelte";
import { groupedTools, matchingTools } from "./tool-list";
import ToolResultView from "./ToolResultView.svelte";
import ToolsTab from "./ToolsTab.svelte";

function tool(name: string, changes: Partial<Tool> = {}): Tool {
  return {
    name,
    title: null,
    description: `What ${name} does`,
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    outputSchema: null,
    claims: {
      readOnly: null,
      destructive: null,
      idempotent: null,
      openWorld: null,
      asksEachTime: false,
    },
    icons: [],
    allowed: false,
    ...REVIEWED_DEFINITION,
    ...changes,
  };
}

function catalog(server: string, tools: Tool[]): ServerCatalog {
  return {
    server,
    tools,
    prompts: [],
    resources: [],
    templates: [],
    notes: [],
    freshUntil: NO_EXPIRY,
  };
}

const TOOLS = [
  tool("echo", {
    title: "Echo",
    claims: {
      readOnly: true,
      destructive: null,
      idempotent: null,
      openWorld: false,
      asksEachTime: false,
    },
  }),
  tool("remove", {
    claims: {
      readOnly: false,
      destructive: true,
      idempotent: null,
      openWorld: null,
      asksEachTime: false,
    },
  }),
];
const RESULT: ToolResult = {
  content: [{ type: "text", text: "**bold**" }],
  structured: { n: 1 },
  structuredProblem: "n is no text",
  isError: false,
  arguments: { text: "hi" },
};

let host: FakeHost;
let number = 0;
/** Server name that is unique for each test, because data of servers is retained. */
let name: string;

beforeEach(async () => {
  name = `server${(number += 1)}`;
  host = await startFakeHost(
    { read_catalog: ({ server }) => catalog(server, TOOLS) },
    { servers: [sampleServer({ name })] },
  );
});

function shownTab(item?: string) {
  const server = app.server(name);
  if (server === undefined) throw new Error("no server");
  return render(ToolsTab, { server, item });
}

test("lists the tools of the server, and opens them by keyboard", async () => {
  const user = userEvent.setup();
  shownTab();
  expect(
    await screen.findByRole("option", { name: /Echo/ }),
    "the tool should be listed",
  ).toBeInTheDocument();
  expect(
    screen.getByRole("option", { name: /Destructive/ }),
    "the claim should be shown",
  ).toHaveTextContent("remove");
  await user.type(screen.getByRole("searchbox", { name: "Search tools" }), "rem");
  expect(screen.getAllByRole("option"), "the search should filter the list").toHaveLength(1);
  await user.keyboard("{ArrowDown}{Enter}");
  expect(router.current, "Enter should open the tool").toEqual({
    at: "server",
    name,
    tab: "tools",
    item: "remove",
  });
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("E8: highlights that a tool may be destructive", async () => {
  shownTab("remove");
  const claim = await screen.findByText("Destructive", { selector: "article .badge" });
  expect(claim, "the claim should have the color of a warning").toHaveClass("warn");
});

// [tools-descriptions-untrusted] [base-display-title] [tools-title-precedence]
test("shows the claims of a tool, and is called once its arguments are valid", async () => {
  const user = userEvent.setup();
  let answer: (result: ToolResult) => void = () => undefined;
  host.answers.call_tool = () => new Promise((resolve) => (answer = resolve));
  shownTab("echo");
  expect(
    await screen.findByRole("heading", { name: "Echo" }),
    "the title should be shown",
  ).toBeInTheDocument();
  expect(screen.getByText("Read-only"), "the claim should be shown").toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Call" }));
  expect(
    host.requests("call_tool"),
    "nothing should be called without the required arguments",
  ).toEqual([]);
  await user.type(screen.getByRole("textbox", { name: "text" }), "hi");
  await user.click(screen.getByRole("button", { name: "Call" }));
  const [request] = host.requests("call_tool");
  expect(request, "the tool should be called").toMatchObject({
    server: name,
    tool: "echo",
    arguments: { text: "hi" },
  });

  const call = {
    ...{ id: request?.call ?? "", server: name, kind: "tool" as const, name: "echo", startedAt: 0 },
    conversation: null,
    task: null,
  };
  host.send({
    type: "call_changed",
    call: { ...call, state: "awaiting_approval", progress: null },
  });
  expect(
    await screen.findByText(/Waiting for your approval/),
    "the pending consent should be shown",
  ).toBeInTheDocument();
  const progress = { progress: 1, total: 2, message: "half" };
  host.send({ type: "call_changed", call: { ...call, state: "running", progress } });
  expect(await screen.findByText("half"), "the progress should be shown").toBeInTheDocument();
  expect(screen.getByRole("progressbar"), "the progress should be shown as a bar").toHaveAttribute(
    "value",
    "0.5",
  );
  const task = {
    ...{ id: "t1", status: "working" as const, message: "step 2 of 5" },
    ...{ createdAt: "2026-07-28T10:00:00Z", updatedAt: "not a time" },
  };
  host.send({ type: "call_changed", call: { ...call, state: "running", progress, task } });
  const shown = within(await screen.findByRole("group", { name: "Task" }));
  expect(
    shown.getByText("step 2 of 5"),
    "the message of the server should be shown",
  ).toBeInTheDocument();
  expect(shown.getByText("Running"), "the state should be shown").toBeInTheDocument();
  expect(shown.getByText(/2026/), "the start time should be shown").toBeInTheDocument();
  const waits = { ...task, status: "input_required" as const, createdAt: "yesterday" };
  const asking = { ...call, state: "awaiting_input" as const, progress: null, task: waits };
  host.send({ type: "call_changed", call: asking });
  expect(
    await shown.findByText("Needs your input"),
    "the required input should be mentioned",
  ).toBeInTheDocument();
  expect(shown.queryByText(/Invalid/), "an invalid time should be omitted").toBeNull();
  host.send({ type: "server_changed", server: sampleServer({ name, muted: true }) });
  expect(
    await screen.findByText("Muted: all its requests are denied."),
    "the mute should be mentioned",
  ).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Cancel the call" }));
  expect(host.requests("cancel_call"), "the call should be cancelled").toEqual([{ call: call.id }]);

  answer(RESULT);
  expect(await screen.findByText("bold"), "Markdown should be rendered").toBeInTheDocument();
  expect(
    screen.getByText(/n is no text/),
    "the problem of the structured content should be shown",
  ).toBeInTheDocument();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.click(screen.getByRole("button", { name: "Text" }));
  expect(screen.getByText("**bold**"), "the source should be shown on request").toBeInTheDocument();
});

test("remembers the entered values and the last result", async () => {
  const user = userEvent.setup();
  host.answers.call_tool = () => RESULT;
  const first = shownTab("echo");
  await user.type(await screen.findByRole("textbox", { name: "text" }), "hi");
  await user.click(screen.getByRole("button", { name: "Call" }));
  await screen.findByText("bold");
  first.unmount();
  shownTab("echo");
  expect(
    await screen.findByRole("textbox", { name: "text" }),
    "the arguments should be restored",
  ).toHaveValue("hi");
  expect(screen.getByText("bold"), "the result should be restored").toBeInTheDocument();
});

test.each([
  ["refused", "Refused: the tool was not called", "Try again"],
  ["cancelled", "Cancelled", "Try again"],
  [
    "timeout",
    "The server did not respond in time. Drawbridge cancelled the call.",
    "Show activity",
  ],
  ["server_gone", "The server stopped during this operation", "Restart the server"],
] as const)("the end %s has a message and a next step", async (code, words, step) => {
  const user = userEvent.setup();
  host.answers.call_tool = () => Promise.reject({ code, message: "cause" });
  shownTab("echo");
  await user.type(await screen.findByRole("textbox", { name: "text" }), "hi");
  await user.keyboard("{Control>}{Enter}{/Control}");
  expect(await screen.findByText(words), "the message should be shown").toBeInTheDocument();
  expect(
    screen.getByRole("button", { name: step }),
    "the next step should be offered",
  ).toBeInTheDocument();
});

test.each([
  [{ is: "denied_by_user", reason: null }, true],
  [{ is: "denied_by_rule", rule: "rule 1" }, false],
] as const)("a call that was refused: %o", async (refusal, isByUser) => {
  const user = userEvent.setup();
  // The text alone doesn't tell who refused the call.
  const message = "refused: by the user";
  host.answers.call_tool = () => Promise.reject({ code: "refused", message, refusal });
  shownTab("echo");
  await user.type(await screen.findByRole("textbox", { name: "text" }), "hi");
  await user.keyboard("{Control>}{Enter}{/Control}");
  const title = isByUser ? "You denied this call." : "A rule denied this call";
  expect(await screen.findByText(title), "the outcome should be shown").toBeInTheDocument();
  expect(screen.getByRole("button", { name: "Try again" })).toBeInTheDocument();
  const isShown = (text: RegExp | string) => screen.queryByText(text) !== null;
  expect(
    [isShown(/Change the rule/), isShown(message), isShown("Open Rules"), isShown(/^Took/)],
    "the rule and the duration should be shown only if a rule denied the call",
  ).toEqual(Array<boolean>(4).fill(!isByUser));
});

test("shows that a server does not run, and starts it", async () => {
  const user = userEvent.setup();
  render(ToolsTab, { server: sampleServer({ name, state: { is: "stopped" } }) });
  await user.click(screen.getByRole("button", { name: "Start" }));
  expect(host.requests("start_server"), "the server should be started").toEqual([{ server: name }]);
});

describe("a tool result", () => {
  test("labels an error", () => {
    render(ToolResultView, { result: { ...RESULT, isError: true }, server: name });
    expect(screen.getByRole("alert"), "the error should be labeled").toHaveTextContent(
      "The tool reported an error",
    );
  });

  test("shows every kind of content", async () => {
    const user = userEvent.setup();
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const result: ToolResult = {
      ...RESULT,
      structured: null,
      structuredProblem: null,
      content: [
        { type: "image", data: pixel, mimeType: "image/png" },
        { type: "audio", data: "UklGRiQAAABXQVZFZm10IA==", mimeType: "audio/wav" },
        {
          type: "resource_link",
          uri: "demo://a",
          name: "a",
          title: null,
          description: null,
          mimeType: null,
          size: 5,
        },
        {
          type: "resource",
          contents: { uri: "demo://b", mimeType: "text/plain", text: "inside b", blob: null },
        },
        { type: "unknown", json: { type: "hologram" } },
      ],
    };
    const { container } = render(ToolResultView, { result, server: name });
    expect(screen.getByRole("img"), "a picture should be rendered").toHaveAttribute(
      "src",
      `data:image/png;base64,${pixel}`,
    );
    expect(
      container.querySelector("audio[controls]"),
      "a sound should have a player",
    ).toHaveAttribute("src", "data:audio/wav;base64,UklGRiQAAABXQVZFZm10IA==");
    expect(
      screen.getByText("inside b"),
      "an embedded resource should be shown",
    ).toBeInTheDocument();
    expect(
      screen.getByText(/hologram/),
      "unknown content should be shown as JSON",
    ).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Open" }));
    expect(router.current, "a link should open the resource").toEqual({
      ...{ at: "server", name, tab: "resources", item: "demo://a" },
    });
  });

  test("E28: shows the source of an app on request only", async () => {
    const contents = {
      ...{ uri: "ui://files/view", mimeType: "text/html;profile=mcp-app" },
      ...{ text: "<h1>Tides</h1>", blob: null },
    };
    const result: ToolResult = { ...RESULT, content: [{ type: "resource", contents }] };
    const { container } = render(ToolResultView, { result, server: name });
    expect(screen.getByText("ui://files/view"), "the app should be named").toBeVisible();
    expect(screen.getByText(/is the page of an app/)).toBeVisible();
    expect(container, "the source should be hidden at first").not.toHaveTextContent("Tides");
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await userEvent.click(screen.getByRole("button", { name: "Show the source" }));
    expect(container, "the source should be shown as text").toHaveTextContent("<h1>Tides</h1>");
    expect(screen.queryByRole("heading"), "the source should not be rendered").toBeNull();
  });

  test("shows which arguments were sent", () => {
    render(ToolResultView, { result: RESULT, server: name, sent: { text: "before" } });
    expect(
      screen.getByText(/^Arguments sent/),
      "changed arguments should be shown",
    ).toBeInTheDocument();
  });
});

describe("tools of all servers", () => {
  afterEach(() => vi.restoreAllMocks());

  test("are searched at once and listed by server", async () => {
    const user = userEvent.setup();
    const other = `${name}-other`;
    host.send({ type: "server_changed", server: sampleServer({ name: other }) });
    render(AllTools);
    expect(
      await screen.findAllByRole("option", { name: /Echo/ }),
      "each server should have one result",
    ).toHaveLength(2);
    await user.type(screen.getByRole("searchbox"), "remove");
    await user.click(screen.getByRole("option", { name: new RegExp(`remove.*${other}`) }));
    expect(
      screen.getByText(`on ${other}`),
      "the tool should be shown with the name of its server",
    ).toBeInTheDocument();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    expect(screen.queryByText(/not running/), "all servers run").toBeNull();
    host.send({
      type: "server_changed",
      server: sampleServer({ name: other, state: { is: "stopped" } }),
    });
    expect(await screen.findByText(/of 1 server that is not running/)).toBeInTheDocument();
  });

  test("5,000 tools are searched and rendered without delay", async () => {
    const many = Array.from({ length: 5000 }, (_, i) => tool(`tool_number_${i}`));
    host.answers.read_catalog = ({ server }) => catalog(server, many);
    await catalogs.read(name);
    expect(
      matchingTools("number 49", many).length,
      "the search should have results",
    ).toBeGreaterThan(0);
    expect(
      fastestRunMs(() => matchingTools("number 49", many)),
      "one search should be fast",
    ).toBeLessThan(150);
    const { container } = render(AllTools);
    expect(
      container.querySelectorAll("[role=option]").length,
      "only visible options should be rendered",
    ).toBeLessThan(200);
  });
});

test("a search ranks names before descriptions, and matches whole servers", () => {
  const tools = [
    tool("a", { description: "writes a file" }),
    tool("write_file"),
    tool("b", { description: null }),
  ];
  expect(
    matchingTools("write", tools).map((t) => t.name),
    "matching names should be first",
  ).toEqual(["write_file", "a"]);
  const rows = groupedTools("files", [
    { server: "files", tools },
    { server: "other", tools },
  ]);
  expect(
    rows.map((row) => row.is),
    "the name of a server should match all of its tools",
  ).toEqual(["server", "tool", "tool", "tool"]);
});
