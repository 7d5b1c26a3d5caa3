import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { tick } from "svelte";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { ServerCall, Conversation, ConversationItem } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import {
  NO_EXPIRY,
  REVIEWED_DEFINITION,
  sampleConversation,
  sampleServer,
  startFakeHost,
  type FakeHost,
} from "$lib/testing/fake-host";

import { composerKey, insertAtCaret } from "./composer-keys";
import ConversationView from "./ConversationView.svelte";
import { ScrollFollower } from "./scroll-follower.svelte";

let host: FakeHost;
let server: string;
let number = 0;
let stored: Conversation;

const message = (id: string, text: string): ConversationItem => ({
  id,
  at: 1,
  body: { kind: "message", role: "user", content: [{ type: "text", text }], prompt: null },
});

const toolCall = (id: string, isError = false): ConversationItem => ({
  id,
  at: 2,
  body: {
    ...{ kind: "tool_call", call: id, server: "files", tool: "read_file" },
    ...{ arguments: { path: "/x" }, error: null, took: 320 },
    result: {
      content: [{ type: "text", text: "the whole text" }],
      ...{ structured: null, structuredProblem: null, isError, arguments: { path: "/x" } },
    },
  },
});

const running: ServerCall = {
  ...{ id: "r1", server: "files", kind: "tool", name: "search", startedAt: 1, state: "running" },
  progress: { progress: 3, total: 6, message: "half way" },
  task: null,
  conversation: "c1",
};

function changed() {
  host.send({
    type: "conversations_changed",
    conversations: [{ id: "c1", title: stored.title, updatedAt: 2 }],
    changed: "c1",
  });
}

beforeEach(async () => {
  number += 1;
  server = `files${number}`;
  stored = sampleConversation();
  host = await startFakeHost(
    {
      read_conversation: () => structuredClone(stored),
      append_items: ({ items }) => {
        stored = { ...stored, items: [...stored.items, ...items] };
        changed();
        return {};
      },
      read_catalog: ({ server }) => ({
        ...{ server, prompts: [], templates: [], notes: [], freshUntil: NO_EXPIRY },
        tools: [
          {
            ...{ name: "read_file", title: null, description: "Reads", outputSchema: null },
            inputSchema: { type: "object", properties: { path: { type: "string" } } },
            claims: {
              readOnly: true,
              destructive: null,
              idempotent: null,
              openWorld: null,
              asksEachTime: false,
            },
            ...{ icons: [], allowed: false, ...REVIEWED_DEFINITION },
          },
        ],
        resources: [
          {
            ...{ uri: "file:///a.txt", name: "a.txt", title: null, description: null },
            ...{ mimeType: "text/plain", size: 5, icons: [] },
          },
        ],
      }),
      read_resource: ({ uri }) => ({
        contents: [{ uri, mimeType: "text/plain", text: "hello", blob: null }],
        ...{ cached: false, freshUntil: null },
      }),
      call_tool: ({ arguments: sent, conversation }) => {
        // The host stores the outcome of a call in a conversation.
        if (conversation !== null) {
          stored = { ...stored, items: [...stored.items, toolCall("called")] };
          changed();
        }
        return {
          content: [{ type: "text", text: "read" }],
          ...{ structured: null, structuredProblem: null, isError: false, arguments: sent },
        };
      },
    },
    {
      servers: [sampleServer({ name: server })],
      conversations: [{ id: "c1", title: "Trip plan", updatedAt: 1 }],
    },
  );
});
afterEach(() => cleanup());

const field = () => screen.getByRole("textbox", { name: "Message" });

describe("a conversation", () => {
  it("shows that there is no model", async () => {
    render(ConversationView, { id: "c1" });
    expect(
      await screen.findByText(/No model is set up/),
      "the empty state should be shown",
    ).toBeInTheDocument();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("adds the message on Enter", async () => {
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    await user.type(field(), "Remember **this**{Enter}");
    const log = within(screen.getByRole("log"));
    expect(
      (await log.findByText("this")).tagName,
      "the message should be rendered as Markdown",
    ).toBe("STRONG");
    expect(field(), "the field should be empty again").toHaveValue("");
  });

  it("keeps the text and asks for a model if one can be chosen", async () => {
    const user = userEvent.setup();
    const known = { context: null, maxOutput: null, price: null, images: null, audio: null };
    const model = {
      ...known,
      id: "small",
      name: "small",
      files: null,
      tools: null,
      thinking: null,
    };
    const provider = {
      ...{ id: "lab", name: "Lab", kind: "openai" as const, url: "http://127.0.0.1:1/v1" },
      ...{ silenceSeconds: null, hasKey: true, local: true, isUnencrypted: false },
      ...{ listedAt: 1, problem: null, losses: [], models: [model] },
    };
    host.answers.list_models = () => ({
      ...{ providers: [provider], default: null, found: [], presets: [] },
    });
    render(ConversationView, { id: "c1" });
    await screen.findByText(/Choose a model below/);
    let openings = 0;
    HTMLSelectElement.prototype.showPicker = () => (openings += 1);
    await user.type(field(), "Say hello{Enter}");
    expect((await screen.findByRole("alert")).textContent).toContain("Choose a model first");
    expect(openings, "the models should be listed").toBe(1);
    expect(field(), "the text should be preserved").toHaveValue("Say hello");
    expect(screen.getByRole("combobox", { name: "Model" })).toHaveFocus();
    expect(host.requests("append_items"), "nothing should be stored").toEqual([]);
  });

  it("keeps the text if a provider has not listed its models", async () => {
    const user = userEvent.setup();
    const provider = {
      ...{ id: "lab", name: "Lab", kind: "openai" as const, url: "http://127.0.0.1:1/v1" },
      ...{ silenceSeconds: null, hasKey: true, local: true, isUnencrypted: false },
      ...{ listedAt: null, problem: null, losses: [], models: [] },
    };
    host.answers.list_models = () => ({
      ...{ providers: [provider], default: null, found: [], presets: [] },
    });
    render(ConversationView, { id: "c1" });
    await screen.findByText(/has not listed its models/);
    await user.type(field(), "Say hello{Enter}");
    expect((await screen.findByRole("alert")).textContent).toContain("Choose a model first");
    expect(screen.getByRole("button", { name: "Open Models" })).toHaveFocus();
    expect(field(), "the text should be preserved").toHaveValue("Say hello");
  });

  it("preserves the text when sending fails", async () => {
    const user = userEvent.setup();
    host.answers.append_items = () => {
      throw { code: "system", message: "disk full" };
    };
    render(ConversationView, { id: "c1" });
    await user.type(field(), "Remember this{Enter}");
    expect((await screen.findByRole("alert")).textContent, "the cause should be shown").toContain(
      "disk full",
    );
    expect(field(), "the text should be preserved").toHaveValue("Remember this");
  });

  it("shows a tool call as one expandable line", async () => {
    const user = userEvent.setup();
    stored.items = [message("m1", "hello"), toolCall("t1")];
    render(ConversationView, { id: "c1" });
    const card = await screen.findByRole("article", { name: "read_file: done" });
    expect(
      within(card).queryByText("the whole text"),
      "the call should be collapsed at first",
    ).toBeNull();
    await user.click(within(card).getByRole("button", { expanded: false }));
    expect(
      within(card).getByText("the whole text"),
      "the result should be shown",
    ).toBeInTheDocument();
    expect(within(card).getByText(/"\/x"/), "the arguments should be shown").toBeInTheDocument();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("labels failed and successful calls differently", async () => {
    stored.items = [toolCall("t1", true)];
    render(ConversationView, { id: "c1" });
    expect(
      await screen.findByText("the tool reported an error"),
      "the failure should be labeled with a text",
    ).toBeInTheDocument();
  });

  it("shows a running call in place with its progress, and cancels it", async () => {
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    host.send({ type: "call_changed", call: running });
    expect(
      await screen.findByText("half way"),
      "the message of the server should be shown",
    ).toBeInTheDocument();
    expect(screen.getByRole("progressbar"), "the progress should be shown").toHaveAttribute(
      "value",
      "0.5",
    );
    const mutedUntil = Date.now() + 60_000;
    host.send({ type: "server_changed", server: sampleServer({ muted: true, mutedUntil }) });
    const mark = await screen.findByText("muted");
    expect(mark, "the muted server should be marked").toHaveAttribute(
      "title",
      expect.stringMatching(/^Muted until/),
    );
    await user.click(screen.getByRole("button", { name: "Cancel search" }));
    expect(host.requests("cancel_call"), "this call should be cancelled").toEqual([{ call: "r1" }]);
    host.send({ type: "call_changed", call: { ...running, state: "cancelled" } });
    await waitFor(() =>
      expect(
        screen.queryByText("half way"),
        "the progress should be removed after the end",
      ).toBeNull(),
    );
  });

  it("attaches a resource by @", async () => {
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    await user.type(field(), "@");
    await user.click(await screen.findByRole("option", { name: /a\.txt/ }));
    await user.click(await screen.findByRole("button", { name: "Send" }));
    const card = await screen.findByRole("article", { name: "Attached a.txt" });
    await user.click(within(card).getByRole("button"));
    expect(
      within(card).getByText("hello"),
      "the content should be as it was when it was attached",
    ).toBeInTheDocument();
    await waitFor(() => expect(field(), "the character @ should be removed").toHaveValue(""));
  });

  it("attaches a skill by @, and names its server", async () => {
    const user = userEvent.setup();
    const uri = "skill://files/tidy/SKILL.md";
    const skill = {
      uri,
      name: "tidy",
      description: "Tidies up",
      files: null,
      others: null,
      hash: "e3b0",
    };
    const capabilities = ["extensions.io.modelcontextprotocol/skills"];
    host.send({
      type: "server_changed",
      server: sampleServer({ name: server, capabilities }),
    });
    host.answers.list_skills = () => ({ server, skills: [skill], notes: [] });
    host.answers.read_skill = () => ({
      skill,
      contents: { uri, mimeType: "text/markdown", text: "Put it away.", blob: null },
    });
    render(ConversationView, { id: "c1" });
    await user.type(field(), "@");
    await user.click(await screen.findByRole("option", { name: /tidy.*Skill/ }));
    await user.click(await screen.findByRole("button", { name: "Send" }));
    const card = await screen.findByRole("article", { name: "Attached tidy" });
    expect(
      within(card).getByText(`skill from ${server}`),
      "the attachment should name its server",
    ).toBeInTheDocument();
    await user.click(within(card).getByRole("button"));
    expect(
      within(card).getByText("Put it away."),
      "the content should be as it was when it was attached",
    ).toBeInTheDocument();
  });

  it("inserts the slash when no prompt is picked", async () => {
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    await user.type(field(), "/");
    await screen.findByRole("dialog", { name: "Insert a prompt" });
    await user.keyboard("{Escape}");
    await waitFor(() => expect(field(), "the slash should be in the field").toHaveValue("/"));
  });

  it("runs a tool, and adds the call as an item", async () => {
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    await user.click(screen.getByRole("button", { name: "Run a tool" }));
    await user.click(await screen.findByRole("option", { name: /read_file/ }));
    await user.click(await screen.findByRole("button", { name: /Call/ }));
    expect(
      await screen.findByRole("article", { name: "read_file: done", hidden: true }),
      "the call should be in the conversation",
    ).toBeInTheDocument();
    expect(host.requests("call_tool"), "the call should belong to the conversation").toMatchObject([
      { server, tool: "read_file", conversation: "c1" },
    ]);
  });

  it("shows that the conversation was deleted", async () => {
    host.answers.read_conversation = () => {
      throw { code: "not_found", message: "no such conversation" };
    };
    render(ConversationView, { id: "c1" });
    expect(
      await screen.findByText("This conversation no longer exists"),
      "the deletion should be shown",
    ).toBeInTheDocument();
  });
});

describe("scrolling to the end", () => {
  function box(top: number) {
    return { scrollHeight: 1000, clientHeight: 400, scrollTop: top } as HTMLElement;
  }

  it("shows new items while the reader is at the end", () => {
    const follow = new ScrollFollower();
    const end = box(600);
    follow.watch(end);
    follow.grew(3);
    follow.grew(4);
    expect(end.scrollTop, "the log should be at its end").toBe(1000);
    expect(follow.unseen, "all items should be seen").toBe(0);
  });

  it("does not move the visible items, and counts new ones", async () => {
    const follow = new ScrollFollower();
    const middle = box(600);
    follow.watch(middle);
    follow.grew(3);
    middle.scrollTop = 100;
    follow.scrolled();
    follow.grew(5);
    await tick();
    expect(middle.scrollTop, "the scroll position should be unchanged").toBe(100);
    expect(follow.unseen, "two new items should be counted").toBe(2);
    follow.toEnd();
    expect(follow.unseen, "the items should be seen at the end").toBe(0);
  });
});

describe("keys of the composer", () => {
  const key = (name: string, more = {}) => ({
    ...{ key: name, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false },
    ...{ isComposing: false, keyCode: 0, ...more },
  });

  it("opens prompts only at the start of a line, resources at the start of a word", () => {
    expect(composerKey(key("/"), "", 0), "a slash in an empty field should open prompts").toBe(
      "prompt",
    );
    expect(composerKey(key("/"), "a\n", 2), "a slash in a new line should open prompts").toBe(
      "prompt",
    );
    expect(composerKey(key("/"), "and", 3), "a slash in a word should be typed").toBeNull();
    expect(
      composerKey(key("@"), "see ", 4),
      "an @ at the start of a word should open resources",
    ).toBe("resource");
    expect(composerKey(key("@"), "ann", 3), "an @ in an address should be typed").toBeNull();
  });

  it("sends on Enter, except during IME composition", () => {
    expect(composerKey(key("Enter"), "x", 1), "Enter should send").toBe("send");
    expect(
      composerKey(key("Enter", { shiftKey: true }), "x", 1),
      "Shift+Enter should insert a line break",
    ).toBeNull();
    expect(
      composerKey(key("Enter", { isComposing: true }), "x", 1),
      "Enter should end the IME composition",
    ).toBeNull();
    expect(
      composerKey(key("Escape", { keyCode: 229 }), "x", 1),
      "Escape should discard the composition, after whose end WebKit sends the key",
    ).toBeNull();
    expect(composerKey(key("Escape"), "x", 1), "another Escape should stop the answer").toBe(
      "stop",
    );
    expect(insertAtCaret("ab", 1, "/"), "the text should be inserted at the caret").toBe("a/b");
  });
});
