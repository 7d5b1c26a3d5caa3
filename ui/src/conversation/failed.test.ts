// Failed answers and calls: the actions of their buttons, and the messages of a call.
import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, test } from "vitest";

import type {
  ActivityEntry,
  CallFailureCode,
  ConversationItem,
  ItemBody,
  ModelErrorCode,
  Models,
  ReplyStop,
  Tool,
} from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import {
  NO_EXPIRY,
  REVIEWED_DEFINITION,
  sampleConversation,
  sampleServer,
  sampleSnapshot,
  startFakeHost,
  type FakeHost,
} from "$lib/testing/fake-host";

import { refusedWithoutKey } from "../models/missing-keys.svelte";
import ConversationView from "./ConversationView.svelte";

afterEach(() => cleanup());

const user = userEvent.setup();
const AT = 1_785_000_000_000;
const MODEL = { provider: "lab", model: "small" };
const MODELS: Models = {
  providers: [
    {
      ...{ id: "lab", name: "Lab", kind: "openai", url: "http://127.0.0.1:1/v1" },
      ...{ silenceSeconds: null, losses: [], hasKey: true, local: true, isUnencrypted: false },
      ...{ models: [], listedAt: 1, problem: null },
    },
  ],
  ...{ default: MODEL, found: [], presets: [] },
};
const TOOL: Tool = {
  ...{ name: "read", title: null, description: null, outputSchema: null, icons: [] },
  inputSchema: { type: "object" },
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

const message: ConversationItem = {
  ...{ id: "m1", at: 1 },
  body: { kind: "message", role: "user", content: [{ type: "text", text: "hi" }], prompt: null },
};

function reply(changes: Partial<Extract<ItemBody, { kind: "reply" }>>): ConversationItem {
  return {
    ...{ id: "a1", parent: "m1", at: 2 },
    body: {
      ...{ kind: "reply", model: MODEL, parts: [], stop: null, cost: null, error: null },
      usage: { input: null, output: null, cachedInput: null, thinking: null },
      ...{ firstAfter: null, took: 0 },
      ...changes,
    },
  };
}

function toolCall(changes: Partial<Extract<ItemBody, { kind: "tool_call" }>>): ConversationItem {
  return {
    ...{ id: "t1", at: AT },
    body: {
      ...{ kind: "tool_call", call: "t1", server: "files", tool: "read", took: 100 },
      ...{ arguments: { path: "/x", depth: 2 }, result: null, error: null },
      ...changes,
    },
  };
}

const RESULT = {
  content: [{ type: "text" as const, text: "the whole text" }],
  ...{ structured: null, structuredProblem: null, isError: false, arguments: {} },
};

async function show(
  items: ConversationItem[],
  answers: FakeHost["answers"] = {},
  language: "en" | "zh" = "en",
) {
  const host = await startFakeHost(
    {
      read_conversation: () => sampleConversation({ items }),
      list_models: () => MODELS,
      create_conversation: ({ title }) => sampleConversation({ id: "c2", title }),
      read_catalog: ({ server }) => ({
        ...{ server, prompts: [], resources: [], templates: [], notes: [] },
        ...{ tools: [TOOL], freshUntil: NO_EXPIRY },
      }),
      ...answers,
    },
    {
      servers: [sampleServer({ revision: "2025-11-25" })],
      settings: { ...sampleSnapshot().settings, language },
    },
  );
  render(ConversationView, { id: "c1" });
  return host;
}

describe("a failed answer", () => {
  const failed = (code: ModelErrorCode) =>
    show([message, reply({ error: { code, message: "cause" } })]);
  const press = async (name: string) =>
    user.click(within(await screen.findByRole("alert")).getByRole("button", { name }));

  test("without a key links to its provider", async () => {
    await failed("noKey");
    await press("Open Models");
    expect(router.current).toEqual({ at: "models", provider: "lab" });
    expect(refusedWithoutKey.has("lab"), "the page should mark the provider").toBe(true);
  });

  test("without credit links to the choice of the model", async () => {
    await failed("noCredit");
    const picker = await screen.findByRole("combobox", { name: "Model" });
    await press("Choose another model");
    await waitFor(() => expect(picker, "the model picker should be focused").toHaveFocus());
    picker.blur();
    await press("Choose another model");
    await waitFor(() =>
      expect(picker, "the model picker should be focused each time").toHaveFocus(),
    );
  });

  test("that exceeds the context links to a new conversation", async () => {
    const host = await failed("contextTooLong");
    await press("New conversation");
    await waitFor(() => expect(host.requests("create_conversation")).toHaveLength(1));
    expect(router.current).toEqual({ at: "conversation", id: "c2" });
  });

  test("that ran out of tokens can be continued or requested again", async () => {
    const host = await failed("outOfTokens");
    await press("Continue");
    expect(host.requests("continue_reply")).toEqual([{ conversation: "c1" }]);
    await press("Answer again");
    expect(host.requests("retry_reply")).toEqual([{ conversation: "c1", item: "a1" }]);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("can't be continued from the middle of the conversation", async () => {
    const error = { code: "outOfTokens" as const, message: "cause" };
    await show([message, reply({ error }), { ...message, id: "m2" }]);
    const note = within(await screen.findByRole("alert"));
    expect(note.queryByRole("button", { name: "Continue" })).toBeNull();
    expect(note.getByRole("button", { name: "Answer again" })).toBeVisible();
  });

  test.each<[ReplyStop, string]>([
    [{ is: "max_tokens" }, "Continue"],
    [{ is: "stopped" }, "Continue"],
    [{ is: "refused" }, "Choose another model"],
    [{ is: "other", word: "odd" }, "Answer again"],
  ])("that ended early by %o has a button", async (stop, button) => {
    await show([message, reply({ stop })]);
    const answer = within(await screen.findByRole("article", { name: "Answer of small" }));
    const [first] = answer.getAllByRole("button").filter(({ textContent }) => textContent.trim());
    expect(first).toHaveTextContent(button);
  });
});

describe("a call in a conversation", () => {
  const open = async () =>
    user.click(
      within(await screen.findByRole("article", { name: /^read[:：]/ })).getByRole("button", {
        expanded: false,
      }),
    );

  test.each<[CallFailureCode, string, object]>([
    ["refused", "Open Rules", { at: "rules" }],
    ["not_found", "Show tools", { at: "server", tab: "tools" }],
    ["timeout", "Open the tool", { at: "server", tab: "tools", item: "read" }],
    ["bad_answer", "Show activity", { at: "server", tab: "activity" }],
    ["unsupported", "Show the server", { at: "server", tab: "overview" }],
  ])("that failed with %s links to the remedy", async (failure, button, to) => {
    await show([toolCall({ error: "the host's words", failure })]);
    await open();
    await user.click(screen.getByRole("button", { name: button }));
    expect(router.current).toMatchObject(to);
  });

  test("restarts a server that exited, and shows why a restart failed", async () => {
    const host = await show([toolCall({ error: "gone", failure: "server_gone" })], {
      restart_server: () => Promise.reject({ code: "not_found", message: "no such server" }),
    });
    await open();
    await user.click(screen.getByRole("button", { name: "Restart the server" }));
    expect(host.requests("restart_server")).toEqual([{ server: "files" }]);
    expect(await screen.findByText("no such server")).toBeVisible();
  });

  test("shows the cause in the page's language, and the host's message as details", async () => {
    const failure = "server_gone" as const;
    await show([toolCall({ error: "the server ended", failure })], {}, "zh");
    await open();
    expect(screen.getByText("服务器在操作过程中停止"), "the cause should be shown").toBeVisible();
    expect(
      screen.getByRole("button", { name: "重启服务器" }),
      "the remedy should be shown",
    ).toBeVisible();
    expect(
      screen.getByText("the server ended").closest("[lang=en]"),
      "the message of the host should be marked as English",
    ).not.toBeNull();
  });

  test("of an older version shows the host's message only", async () => {
    await show([toolCall({ error: "refused: by the user" })]);
    expect(await screen.findByRole("article", { name: "read: failed" })).toBeVisible();
    await open();
    expect(screen.getByText("refused: by the user")).toBeVisible();
    expect(screen.queryByText("You denied this call.")).toBeNull();
  });

  test("that the user denied shows the given reason, and neither a rule nor a duration", async () => {
    const failure = "refused" as const;
    const refusal = { is: "denied_by_user", reason: "not today" } as const;
    await show([toolCall({ error: "refused: by the host's words", failure, refusal })]);
    const card = await screen.findByRole("article", { name: "read: denied" });
    expect(card, "the duration should not be shown").not.toHaveTextContent(/\d (ms|s)\b/);
    await open();
    expect(screen.getByText("You denied this call.")).toBeVisible();
    expect(screen.getByText("not today")).toBeVisible();
    expect(screen.queryByText(/[Cc]hange the rule|refused: by/)).toBeNull();
    expect(screen.queryByRole("button", { name: "Open Rules" })).toBeNull();
  });

  test.each([
    [{ is: "denied_by_rule", rule: "rule 3" }, "A rule denied this call", "Open Rules"],
    [{ is: "not_offered" }, /^The tool is not offered/, "Show tools"],
    [{ is: "changed" }, /^The tool or its request changed/, "Open the tool"],
    [{ is: "not_audited" }, /^The call could not be recorded/, "Check this computer"],
    [{ is: "input_refused" }, /^Refused while it ran/, "Open the tool"],
    [{ is: "result_withheld" }, /^The result is withheld: the tool was called/, "Open the tool"],
  ] as const)("that was refused for %o says so, with a button", async (refusal, title, button) => {
    const error = "refused: by the user";
    await show([toolCall({ error, failure: "refused", refusal })]);
    await open();
    expect(screen.getByText(title)).toBeVisible();
    expect(screen.getByText(error), "the host's words should be shown").toBeVisible();
    expect(screen.getByRole("button", { name: button })).toBeVisible();
    expect(screen.queryByText("You denied this call.")).toBeNull();
  });

  test("shows that the tool has an app", async () => {
    const others = { _meta: { ui: { resourceUri: "ui://files/view" } } };
    const catalog = { server: "files", prompts: [], resources: [], templates: [], notes: [] };
    await show([toolCall({ result: RESULT })], {
      read_catalog: () => ({ ...catalog, tools: [{ ...TOOL, others }], freshUntil: NO_EXPIRY }),
    });
    await open();
    expect(await screen.findByText(/This result has an app/)).toBeVisible();
    const panel = screen.getByText("Text of the result:").parentElement;
    expect(panel, "the text should be shown together with the app").toHaveTextContent(
      "the whole text",
    );
  });
});

describe("the messages of a call", () => {
  const entry = (seq: number, id: string, at: number): ActivityEntry => ({
    ...{ seq, id, at, kind: "request", sent: true, method: "tools/call" },
    ...{ bytes: 100, latency: null, preview: "", note: null },
  });
  const response = (seq: number, id: string, at: number): ActivityEntry => ({
    ...entry(seq, id, at),
    ...{ kind: "response", sent: false, latency: 12 },
  });
  const ENTRIES = [
    entry(1, "1", AT - 60_000),
    response(2, "1", AT - 60_000),
    entry(3, "2", AT - 80),
    entry(4, "3", AT - 70),
    response(5, "3", AT - 60),
    response(6, "2", AT - 20),
  ];
  /**
   * Arguments of the logged calls by sequence number. Those of 1 and 3 equal the arguments of the tested call, with
   * their members in another order.
   */
  const SENT = {
    1: { depth: 2, path: "/x" },
    3: { depth: 2, path: "/x" },
    4: { depth: 3, path: "/y" },
  };

  function body(seq: number) {
    const params = { name: "read", arguments: SENT[seq as keyof typeof SENT] };
    const sent = { jsonrpc: "2.0", id: seq, ...(seq in SENT ? { params } : { result: "the end" }) };
    return { text: JSON.stringify(sent), truncated: false, redacted: false };
  }

  async function messagesOf(entries: ActivityEntry[]) {
    await show([toolCall({ result: RESULT })], {
      read_activity: ({ after }) => ({
        entries: entries.filter(({ seq }) => seq > (after ?? 0)),
        dropped: 0,
      }),
      read_activity_message: ({ seq }) => body(seq),
    });
    const card = await screen.findByRole("article", { name: "read: done" });
    await user.click(within(card).getByRole("button", { expanded: false }));
    await user.click(screen.getByText("Show messages"));
    return within(card);
  }

  test("are selected by arguments and time, with the duration", async () => {
    const card = await messagesOf(ENTRIES);
    expect(
      await card.findByRole("heading", { name: "Request" }),
      "the messages of one call should be shown",
    ).toBeVisible();
    expect(card.getByRole("heading", { name: "Response" })).toBeVisible();
    const [line] = card.getAllByRole("listitem");
    expect(line, "the duration should be that of the call at this time").toHaveTextContent("12 ms");
    expect(line, "the protocol revision should be shown").toHaveTextContent("MCP 2025-11-25");
    await waitFor(() =>
      expect(line, "the response should be shown as it was received").toHaveTextContent("the end"),
    );
    expect(line, "the other call should not be shown").not.toHaveTextContent("/y");
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("shows that expired messages are gone", async () => {
    const card = await messagesOf(ENTRIES.slice(0, 2));
    expect(await card.findByText(/no longer has the messages of this call/)).toBeVisible();
  });
});
