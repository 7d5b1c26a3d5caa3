import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type {
  AppPageReport,
  ReplyAppend,
  ServerCall,
  Conversation,
  ConversationItem,
  Models,
  OpenedApp,
  ReplyPart,
  Tool,
} from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { selectOption } from "$lib/testing/select-option";
import {
  NO_EXPIRY,
  REVIEWED_DEFINITION,
  sampleConversation,
  sampleServer,
  startFakeHost,
  type FakeHost,
} from "$lib/testing/fake-host";

import ConversationView from "./ConversationView.svelte";

const SMALL = { provider: "lab", model: "small" };
const UNKNOWN = { images: null, audio: null, files: null, tools: null, thinking: null };
const named = (id: string) => ({
  ...{ id, name: id, context: 1000, maxOutput: null, price: null },
  ...UNKNOWN,
});
const MODELS: Models = {
  providers: [
    {
      ...{ id: "lab", name: "Lab", kind: "openai", url: "http://127.0.0.1:1/v1" },
      ...{ silenceSeconds: null, losses: [], hasKey: true, local: true, isUnencrypted: false },
      ...{ models: [named("small"), named("large")], listedAt: 1, problem: null },
    },
  ],
  ...{ default: SMALL, found: [], presets: [] },
};

let host: FakeHost;
let stored: Conversation;

const message = (id: string, text: string, parent?: string): ConversationItem => ({
  ...{ id, at: 1, ...(parent === undefined ? {} : { parent }) },
  body: { kind: "message", role: "user", content: [{ type: "text", text }], prompt: null },
});

function reply(parts: ReplyPart[], changes: Partial<ConversationItem> = {}): ConversationItem {
  return {
    ...{ id: "a1", parent: "m1", at: 2, state: "streaming" },
    body: {
      ...{ kind: "reply", model: SMALL, parts, stop: null, cost: null, error: null },
      usage: { input: null, output: null, cachedInput: null, thinking: null },
      ...{ conversions: [], firstAfter: null, took: 0 },
    },
    ...changes,
  };
}

function emitItem(item: ConversationItem, answering: boolean) {
  host.send({ type: "item_changed", conversation: "c1", item, answering });
}

function more(seq: number, ...append: ReplyAppend[]) {
  host.send({ type: "reply_delta", conversation: "c1", item: "a1", seq, append });
}

const text = (words: string, part = 0): ReplyAppend => ({ type: "text", part, text: words });

beforeEach(async () => {
  stored = sampleConversation({ items: [message("m1", "hello")] });
  host = await startFakeHost(
    { read_conversation: () => structuredClone(stored), list_models: () => MODELS },
    {
      servers: [sampleServer({ name: "files", instructions: "Be careful" })],
      conversations: [{ id: "c1", title: "Trip plan", updatedAt: 1 }],
    },
  );
});
afterEach(() => cleanup());

/** Opens a conversation and starts an answer in it. */
async function openAnswering() {
  render(ConversationView, { id: "c1" });
  await screen.findByText("hello");
  emitItem(reply([]), true);
  return within(await screen.findByRole("article", { name: "Answer of small" }));
}

describe("a streamed answer", () => {
  it("is rendered while it arrives", async () => {
    const answer = await openAnswering();
    more(0, text("# Plan\n\nFirst we go on"));
    await answer.findByText("Plan");
    more(1, text(" to **Bergen**.\n\nThen"), text(" home"));
    expect(
      (await answer.findByText("Bergen")).tagName,
      "the answer should be rendered as Markdown",
    ).toBe("STRONG");
    expect(
      await answer.findByText("Then home"),
      "all pieces should be rendered in order",
    ).toBeInTheDocument();
    emitItem(
      reply([{ type: "text", text: "# Plan\n\nFirst we go on to **Bergen**.\n\nThen home" }], {
        state: "whole",
      }),
      false,
    );
    await waitFor(() =>
      expect(answer.queryByText("answering…"), "the answer should have ended").toBeNull(),
    );
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("ignores known pieces, and reads again after a gap", async () => {
    const answer = await openAnswering();
    more(0, text("one "));
    more(0, text("one "));
    await answer.findByText("one");
    const reads = host.requests("read_conversation").length;
    stored.items = [
      message("m1", "hello"),
      reply([{ type: "text", text: "one two three" }], { seq: 3 }),
    ];
    more(2, text("three"));
    expect(
      await answer.findByText("one two three"),
      "the answer should be that of the host",
    ).toBeInTheDocument();
    expect(
      host.requests("read_conversation").length,
      "the conversation should be read once more",
    ).toBe(reads + 1);
    more(3, text(" four"));
    expect(
      await answer.findByText("one two three four"),
      "further pieces should be appended",
    ).toBeInTheDocument();
  });

  it("collapses the thinking of the model", async () => {
    const user = userEvent.setup();
    const answer = await openAnswering();
    more(0, { type: "thinking", part: 0, text: "The user greets." }, text("Hi", 1));
    await answer.findByText("Hi");
    expect(answer.queryByText("The user greets."), "the thinking should be collapsed").toBeNull();
    await user.click(answer.getByRole("button", { name: "Thinking" }));
    expect(
      answer.getByText("The user greets."),
      "the thinking should be expandable",
    ).toBeInTheDocument();
  });

  it("is stopped by Escape in the composer, unless a menu or dialog is open", async () => {
    const user = userEvent.setup();
    await openAnswering();
    const field = screen.getByRole("textbox", { name: "Message" });
    await user.type(field, "next");
    for (const role of ["menu", "dialog", "alertdialog"]) {
      const above = document.body.appendChild(document.createElement("div"));
      above.setAttribute("role", role);
      await user.keyboard("{Escape}");
      expect(host.requests("stop_reply"), `the key should close the ${role}`).toEqual([]);
      above.remove();
    }
    await user.keyboard("{Escape}");
    expect(host.requests("stop_reply")).toEqual([{ conversation: "c1" }]);
    expect(field, "the text should be preserved").toHaveValue("next");
    emitItem(reply([], { state: "cut" }), false);
    await screen.findByRole("button", { name: "Send" });
    await user.keyboard("{Escape}");
    expect(host.requests("stop_reply"), "nothing is left to stop").toHaveLength(1);
  });

  it("can be stopped, and nothing can be sent before", async () => {
    const user = userEvent.setup();
    await openAnswering();
    const field = screen.getByRole("textbox", { name: "Message" });
    await user.type(field, "next{Enter}");
    expect(
      host.requests("send_message"),
      "nothing should be sent while an answer is running",
    ).toEqual([]);
    expect(field, "the text should be preserved").toHaveValue("next");
    await user.click(screen.getByRole("button", { name: "Stop" }));
    expect(host.requests("stop_reply")).toEqual([{ conversation: "c1" }]);
    emitItem(
      reply([], { state: "cut", body: { ...reply([]).body, stop: { is: "stopped" } } as never }),
      false,
    );
    expect(
      await screen.findByText("You stopped the answer."),
      "the end should be explained",
    ).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Send" })).toBeEnabled();
  });

  it("explains a failure, and can be requested again", async () => {
    const user = userEvent.setup();
    const problem = { code: "rateLimited", message: "lab: wait 20 s" };
    const failed = reply([], { state: "whole" });
    stored.items = [
      message("m1", "hello"),
      { ...failed, body: { ...failed.body, error: problem } as typeof failed.body },
    ];
    render(ConversationView, { id: "c1" });
    const note = await screen.findByRole("alert");
    expect(note, "the note should show the cause and the remedy").toHaveTextContent(
      /Try again later.*wait 20 s/s,
    );
    await user.click(within(note).getByRole("button", { name: "Answer again" }));
    expect(host.requests("retry_reply")).toEqual([{ conversation: "c1", item: "a1" }]);
  });
});

describe("sending to a model", () => {
  it("sends to the selected model", async () => {
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    const picker = await screen.findByRole("combobox", { name: "Model" });
    await waitFor(() =>
      expect(picker, "the default model should be selected").toHaveDisplayValue("small (Lab)"),
    );
    await user.type(screen.getByRole("textbox", { name: "Message" }), "Where to?{Enter}");
    await waitFor(() =>
      expect(host.requests("send_message")).toEqual([
        { conversation: "c1", text: "Where to?", attachments: [], model: SMALL },
      ]),
    );
    expect(
      host.requests("append_items"),
      "the message should not be stored without the model",
    ).toEqual([]);
  });

  it("changes the model of the conversation", async () => {
    render(ConversationView, { id: "c1" });
    const picker = await screen.findByRole("combobox", { name: "Model" });
    await screen.findByRole("option", { name: "large (Lab)" });
    await selectOption(picker, JSON.stringify(["lab", "large"]));
    await waitFor(() =>
      expect(host.requests("set_conversation")[0]?.settings.model).toEqual({
        ...{ provider: "lab", model: "large" },
      }),
    );
  });

  it("enables a server's tools, and its instructions only on request", async () => {
    const user = userEvent.setup();
    const tool = { server: "files", tool: "read", key: "files__read", tokens: 90 };
    host.answers.list_conversation_tools = () => ({
      tools: [
        { ...tool, state: "offered" as const },
        { ...tool, tool: "rm", state: "new" as const },
      ],
      ...{ tokens: 90, threshold: 50, usesToolSearch: true },
      instructions: [{ server: "files", text: "Be careful", hash: "h1" }],
    });
    render(ConversationView, { id: "c1" });
    await user.click(await screen.findByRole("button", { name: "No tools" }));
    await user.click(await screen.findByRole("checkbox", { name: "files" }));
    await waitFor(() =>
      expect(host.requests("set_conversation")[0]?.settings.servers).toEqual([
        { server: "files", tools: null, instructions: null },
      ]),
    );
    expect(await screen.findByText(/1 tool offered.*1 needs your review/)).toBeInTheDocument();
    expect(
      screen.getByText(/searches for tools/),
      "the tool search should be explained",
    ).toBeInTheDocument();
    expect(
      screen.getByText("Be careful"),
      "the instructions should be shown before they are enabled",
    ).toBeInTheDocument();
    await user.click(screen.getByRole("checkbox", { name: /instructions/ }));
    await waitFor(() =>
      expect(host.requests("set_conversation")[1]?.settings.servers[0]?.instructions).toBe("h1"),
    );
    expect(
      screen.getByRole("button", { name: /^Tools of files/, hidden: true }),
      "the enabled server should be shown in the composer",
    ).toBeInTheDocument();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });
});

describe("a call requested by a model", () => {
  const used = { reply: "a1", id: "u1", key: "files__read" };
  const call = (changes: object): ConversationItem => ({
    ...{ id: "t1", parent: "a1", at: 3, state: "streaming" },
    body: {
      ...{ kind: "tool_call", call: "t1", server: "files", tool: "read", took: 0, used },
      ...{ arguments: { path: "/x" }, result: null, error: null },
      ...changes,
    },
  });

  it("is a card from the consent request to the result", async () => {
    const user = userEvent.setup();
    await openAnswering();
    emitItem(call({}), true);
    const waits: ServerCall = {
      ...{ id: "t1", server: "files", kind: "tool", name: "read", startedAt: 1 },
      ...{ state: "awaiting_approval", progress: null, task: null, conversation: "c1" },
    };
    host.send({ type: "call_changed", call: waits });
    const waiting = await screen.findByRole("article", { name: "read: waits for your approval" });
    expect(waiting, "the card should name the server").toHaveTextContent("files");
    expect(screen.getByRole("button", { name: "Show the request" })).toBeInTheDocument();
    host.send({ type: "call_changed", call: { ...waits, state: "running" } });
    await screen.findByRole("article", { name: "read: running" });
    const toolResult = { content: [{ type: "text", text: "the whole text" }], isError: false };
    const result = { ...toolResult, structured: null, structuredProblem: null, arguments: {} };
    emitItem(
      { ...call({ result, took: 31_200, waited: 30_000, leftOut: 2048 }), state: "whole" },
      true,
    );
    const card = within(await screen.findByRole("article", { name: "read: done" }));
    expect(
      card.getByText(/^1\.2 s/),
      "the duration without the wait should be shown",
    ).toBeInTheDocument();
    await user.click(card.getByRole("button", { expanded: false }));
    expect(card.getByText("the whole text"), "the result should be shown").toBeInTheDocument();
    expect(card.getByText(/"\/x"/), "the arguments should be shown").toBeInTheDocument();
    expect(
      card.getByText(/too long for the model/),
      "the shortening for the model should be mentioned",
    ).toBeInTheDocument();
  });

  it("shows no duration of a call that was denied", async () => {
    await openAnswering();
    const denied = { error: "refused: no", failure: "refused", took: 30_000, waited: 30_000 };
    emitItem({ ...call(denied), state: "whole" }, true);
    const card = await screen.findByRole("article", { name: "read: denied" });
    expect(card).not.toHaveTextContent(/30 s|0 ms/);
  });

  describe("with an app", () => {
    const VIEW = "00112233445566778899aabbccddeeff";
    const frames = () => screen.queryAllByTitle("App of files: read");
    const asked = (state: "streaming" | "whole") => {
      const { id, key } = used;
      const tool = { server: "files", tool: "read" };
      const part: ReplyPart = { type: "tool_use", id, key, ...tool, arguments: "{}" };
      return reply([part], { state });
    };
    const done = (): ConversationItem => {
      const toolResult = { content: [{ type: "text", text: "the whole text" }], isError: false };
      const result = { ...toolResult, structured: null, structuredProblem: null, arguments: {} };
      return { ...call({ result, took: 1200 }), state: "whole" };
    };
    const opened: OpenedApp = {
      ...{ view: VIEW, uri: "ui://files/read", sandbox: "allow-scripts", allow: "" },
      hasBorder: true,
    };
    const approvedPage: AppPageReport = {
      ...{ uri: "ui://files/read", hash: "0".repeat(64), bytes: 9, review: "approved" },
      grants: { declaredOrigins: false, loopback: false, everyHost: false, permissions: [] },
      ...{ sources: [], permissions: [], notes: [] },
    };

    beforeEach(() => {
      const tool: Tool = {
        ...{ name: "read", title: null, description: null, outputSchema: null, icons: [] },
        inputSchema: { type: "object" },
        claims: {
          ...{ readOnly: null, destructive: null, idempotent: null, openWorld: null },
          asksEachTime: false,
        },
        allowed: false,
        ...REVIEWED_DEFINITION,
        others: { _meta: { ui: { resourceUri: "ui://files/read" } } },
      };
      const lists = { server: "files", prompts: [], resources: [], templates: [], notes: [] };
      host.answers.read_catalog = () => ({ ...lists, tools: [tool], freshUntil: NO_EXPIRY });
      host.answers.open_app = () => opened;
    });

    it("shows one app from the first arguments to the result", async () => {
      await openAnswering();
      emitItem(asked("streaming"), true);
      await waitFor(() => expect(frames().length).toBe(1));
      const [frame] = frames();
      expect(host.requests("open_app")[0]?.call).toEqual({
        ...{ type: "streamed", conversation: "c1", reply: "a1", toolUse: "u1" },
      });
      emitItem(asked("whole"), true);
      emitItem(call({}), true);
      await screen.findByRole("article", { name: "read: running" });
      emitItem(done(), true);
      await screen.findByRole("article", { name: "read: done" });
      expect(frames().length, "the app should not be shown twice").toBe(1);
      expect(frames()[0], "a frame that moves would load the app again").toBe(frame);
      expect(host.requests("open_app").length).toBe(1);
      expect(screen.queryByRole("button", { name: "Show app" })).toBeNull();
    });

    it("offers an app that was reloaded during the call with the result", async () => {
      const user = userEvent.setup();
      host.answers.read_app_page = () => approvedPage;
      await openAnswering();
      emitItem(asked("streaming"), true);
      await waitFor(() => expect(frames().length).toBe(1));
      emitItem(asked("whole"), true);
      emitItem(call({}), true);
      await screen.findByRole("article", { name: "read: running" });
      host.answers.open_app = () => Promise.reject({ code: "stale", message: "no such call" });
      await user.click(screen.getByRole("button", { name: "Actions for the app of files" }));
      await user.click(await screen.findByRole("menuitem", { name: "Reload the app" }));
      await waitFor(() => expect(host.requests("open_app").length).toBe(2));
      await waitFor(() => expect(frames()).toEqual([]));
      expect(screen.queryByText("no such call")).toBeNull();
      host.answers.open_app = () => opened;
      emitItem(done(), true);
      await user.click(await screen.findByRole("button", { name: "Show app" }));
      await waitFor(() => expect(frames().length).toBe(1));
      expect(host.requests("open_app")[2]?.call).toEqual({
        ...{ type: "item", conversation: "c1", item: "t1" },
      });
    });

    it("shows the app with the result if it may not be shown before", async () => {
      host.answers.open_app = () => Promise.reject({ code: "refused", message: "not decided" });
      host.answers.read_app_page = () => approvedPage;
      await openAnswering();
      emitItem(asked("streaming"), true);
      await waitFor(() => expect(host.requests("open_app").length).toBe(1));
      emitItem(asked("whole"), true);
      emitItem(call({}), true);
      await screen.findByRole("article", { name: "read: running" });
      expect(frames()).toEqual([]);
      host.answers.open_app = () => opened;
      emitItem(done(), true);
      await waitFor(() => expect(frames().length).toBe(1));
      expect(host.requests("open_app")[1]?.call).toEqual({
        ...{ type: "item", conversation: "c1", item: "t1" },
      });
    });

    it("shows the app of a call that ended before it was displayed, and only once", async () => {
      host.answers.open_app = () => Promise.reject({ code: "stale", message: "no such call" });
      host.answers.read_app_page = () => approvedPage;
      await openAnswering();
      // The model writes the call in one piece, so that the reply has ended when its app could be opened.
      emitItem(asked("whole"), true);
      await waitFor(() => expect(host.requests("open_app").length).toBe(1));
      host.answers.open_app = () => opened;
      emitItem(call({}), true);
      emitItem(done(), true);
      await screen.findByRole("article", { name: "read: done" });
      await waitFor(() => expect(frames().length).toBe(1));
      expect(host.requests("open_app")[1]?.call).toEqual({
        ...{ type: "item", conversation: "c1", item: "t1" },
      });
      expect(screen.queryByRole("button", { name: "Show app" })).toBeNull();

      cleanup();
      stored.items = [message("m1", "hello"), asked("whole"), done()];
      render(ConversationView, { id: "c1" });
      await screen.findByRole("button", { name: "Show app" });
      expect(host.requests("open_app").length, "an old call opens no app").toBe(2);
    });
  });

  it("waits for the user after many rounds", async () => {
    const user = userEvent.setup();
    const notice = { kind: "notice", notice: { is: "rounds", rounds: 25 } } as const;
    stored.items = [message("m1", "hello"), { id: "n1", parent: "m1", at: 4, body: notice }];
    render(ConversationView, { id: "c1" });
    await screen.findByText(/called tools 25 times in a row/);
    await user.click(screen.getByRole("button", { name: "Continue" }));
    expect(host.requests("continue_reply")).toEqual([{ conversation: "c1" }]);
  });
});
