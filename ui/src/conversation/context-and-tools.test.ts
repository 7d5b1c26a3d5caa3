// A conversation from its start to its first answer: tools, and prompts and resources that are sent with a message.
import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it } from "vitest";

import type {
  ServerCatalog,
  ConversationItem,
  ConversationSettings,
  ModelProvider,
  Models,
  Prompt,
  Resource,
} from "$lib/api/generated";
import { selectOption } from "$lib/testing/select-option";
import {
  REVIEWED_DEFINITION,
  refusedStart,
  sampleConversation,
  sampleServer,
  startFakeHost,
} from "$lib/testing/fake-host";

import { createConversation } from "./create-conversation";
import ConversationView from "./ConversationView.svelte";
import { OpenConversation } from "./open-conversation.svelte";
import {
  ContextItems,
  MAX_CONTEXT_BYTES,
  MAX_CONTEXT_ITEMS,
  type NewContextItem,
} from "./context-items.svelte";

afterEach(cleanup);

const MODEL = { provider: "lab", model: "small" };
const MODELS: Models = {
  ...{ providers: [], found: [], presets: [] },
  default: MODEL,
};
const LAB: ModelProvider = {
  ...{ id: "lab", name: "Lab", kind: "openai", url: "http://127.0.0.1/v1", silenceSeconds: null },
  ...{ losses: [], hasKey: true, local: true, isUnencrypted: false, listedAt: null, problem: null },
  models: [
    {
      ...{ id: "small", name: "Small", context: null, maxOutput: null, price: null },
      ...{ images: false, audio: null, files: null, tools: null, thinking: null },
    },
  ],
};
const PROMPT: Prompt = {
  ...{ name: "greet", title: "Greet a ship", description: null, arguments: [], icons: [] },
  ...REVIEWED_DEFINITION,
};
const RESOURCE: Resource = {
  ...{ uri: "file:///tide.txt", name: "Tide table", title: null, description: null },
  ...{ mimeType: "text/plain", size: 4, annotations: null, icons: [] },
};

function opened(settings = sampleConversation().settings) {
  const catalog = {
    ...{ server: "files", tools: [], prompts: [PROMPT], resources: [RESOURCE], templates: [] },
    ...{ notes: [], freshUntil: { tools: null, prompts: null, resources: null, templates: null } },
  } as unknown as ServerCatalog;
  return startFakeHost(
    {
      read_conversation: () => sampleConversation({ settings }),
      list_models: () => MODELS,
      read_catalog: () => catalog,
      get_prompt: () => ({
        description: null,
        messages: [{ role: "user", content: [{ type: "text", text: "Greet the Borealis." }] }],
      }),
      read_resource: () =>
        ({
          contents: [{ uri: "file:///tide.txt", mimeType: "text/plain", text: "high", blob: null }],
        }) as never,
      list_conversation_tools: () => ({
        tools: [
          { server: "files", tool: "read", key: "files__read", tokens: 90, state: "offered" },
        ],
        ...{ tokens: 90, threshold: 0, instructions: [] },
        usesToolSearch: settings.toolSearch === true,
      }),
      send_message: () => ({ message: "m", reply: "r" }),
    },
    {
      servers: [sampleServer()],
      conversations: [{ id: "c1", title: "Trip plan", updatedAt: 1 }],
    },
  );
}

const composer = () => within(screen.getByTestId("composer"));
const sent = (host: Awaited<ReturnType<typeof opened>>) =>
  host.commands
    .map(({ name }) => name)
    .filter((name) => ["append_items", "send_message", "continue_reply"].includes(name));

async function pickPrompt(user: ReturnType<typeof userEvent.setup>) {
  await user.click(composer().getByRole("button", { name: "Insert a prompt" }));
  await user.click(await screen.findByRole("option", { name: /Greet a ship/ }));
  await user.click(await screen.findByRole("button", { name: "Add to the message" }));
  return await composer().findByRole("list", { name: "Attached to this message" });
}

async function pickResource(user: ReturnType<typeof userEvent.setup>) {
  await user.click(composer().getByRole("button", { name: "Attach a resource or skill" }));
  await user.click(await screen.findByRole("option", { name: /Tide table/ }));
  return await composer().findByText("Tide table");
}

function message(role: "user" | "assistant", text: string): ConversationItem {
  const body = { kind: "message", role, content: [{ type: "text", text }], prompt: null } as const;
  return { id: "m1", at: 1, body: { ...body, content: [...body.content] } };
}

describe("context items of a message", () => {
  it("E3: sends a prompt as a chip without text", async () => {
    const host = await opened();
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    const chips = await pickPrompt(user);
    expect(
      within(chips).getByText("Greet a ship"),
      "the chip should name the prompt",
    ).toBeInTheDocument();
    expect(sent(host), "nothing should be in the conversation yet").toEqual([]);
    await user.click(composer().getByRole("button", { name: "Send" }));
    await waitFor(() => expect(sent(host)).toEqual(["append_items", "continue_reply"]));
    const [put] = host.requests("append_items");
    expect(put?.items[0]?.body).toMatchObject({
      ...{ kind: "message", role: "user" },
      content: [{ type: "text", text: "Greet the Borealis." }],
    });
    expect(
      composer().queryByText("Greet a ship"),
      "the prompt should not be sent twice",
    ).toBeNull();
  });

  it("E3: sends the text after the prompt as a separate message", async () => {
    const host = await opened();
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    await pickPrompt(user);
    await user.type(composer().getByRole("textbox", { name: "Message" }), "In Dutch, please");
    await user.click(composer().getByRole("button", { name: "Send" }));
    await waitFor(() => expect(sent(host)).toEqual(["append_items", "send_message"]));
    expect(host.requests("send_message")[0]?.text).toBe("In Dutch, please");
  });

  it("E20: adds a resource as a removable chip", async () => {
    const host = await opened();
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    const chip = await pickResource(user);
    await user.click(composer().getByRole("button", { name: "Remove Tide table" }));
    expect(chip, "the chip should be removed").not.toBeInTheDocument();
    expect(sent(host), "nothing should be added to the conversation").toEqual([]);
  });

  it("E20: previews a chip before it is sent", async () => {
    const host = await opened();
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    await pickResource(user);
    await user.click(composer().getByRole("button", { name: "Show Tide table" }));
    const dialog = within(await screen.findByRole("dialog", { name: "Tide table" }));
    expect(dialog.getByText("high"), "the text should be shown").toBeInTheDocument();
    expect(host.requests("read_resource"), "the resource should not be read again").toHaveLength(1);
    await user.keyboard("{Escape}");
    await user.click(composer().getByRole("button", { name: "Remove Tide table" }));
    await pickPrompt(user);
    await user.click(composer().getByRole("button", { name: "Show Greet a ship" }));
    const prompt = within(await screen.findByRole("dialog", { name: "Greet a ship" }));
    expect(
      prompt.getByText("Greet the Borealis."),
      "the messages of the prompt should be shown",
    ).toBeVisible();
  });

  it("E20: keeps the chips of a conversation while another one is open", async () => {
    await opened();
    const user = userEvent.setup();
    const { unmount } = render(ConversationView, { id: "c1" });
    await pickResource(user);
    unmount();
    const other = render(ConversationView, { id: "c2" });
    expect(
      composer().queryByText("Tide table"),
      "the chip of another conversation should not be shown",
    ).toBeNull();
    other.unmount();
    render(ConversationView, { id: "c1" });
    expect(composer().getByText("Tide table"), "the chip should be restored").toBeInTheDocument();
  });

  it("E20: describes what the model can't receive of a chip", async () => {
    const host = await opened();
    host.answers.list_models = () => ({ ...MODELS, providers: [LAB] });
    host.answers.read_resource = () =>
      ({
        contents: [{ uri: "a:b", mimeType: "image/png", text: null, blob: "AAAA" }],
      }) as never;
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    await pickResource(user);
    expect(await composer().findByText(/Small does not accept images/i)).toBeInTheDocument();
  });

  it("E20: limits the number and size of chips, and explains the limit", () => {
    const contextItems = new ContextItems();
    const text = (text: string): NewContextItem => {
      const content = [{ type: "text", text } as const];
      const body = { kind: "message", role: "user", content, prompt: null } as const;
      const items = [{ id: "m", at: 1, body }];
      return { kind: "prompt", name: "greet", server: "files", items };
    };
    contextItems.add(text("x".repeat(MAX_CONTEXT_BYTES)));
    expect(contextItems.all, "a large item should be rejected").toEqual([]);
    expect(contextItems.problem).toMatch(/greet was not attached\. .* up to 25.2 MB in total/);
    for (let i = 0; i < MAX_CONTEXT_ITEMS; i += 1) contextItems.add(text("x"));
    expect(contextItems.problem, "smaller items should be accepted").toBeNull();
    contextItems.add(text("x"));
    expect(contextItems.all).toHaveLength(MAX_CONTEXT_ITEMS);
    expect(contextItems.problem).toBe(
      "greet was not attached. The limit is 20 prompts and resources per message.",
    );
  });

  it("E3: resends a prompt that ends with an assistant message after a failure", async () => {
    const host = await opened();
    const items = [message("assistant", "Ahoy!")];
    host.answers.read_conversation = () => sampleConversation({ items });
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    await waitFor(() => expect(composer().getByRole("button", { name: "Continue" })).toBeEnabled());
    await user.type(composer().getByRole("textbox", { name: "Message" }), "{Enter}");
    expect(sent(host), "Enter alone should send nothing to the model").toEqual([]);
    await user.click(composer().getByRole("button", { name: "Continue" }));
    await waitFor(() => expect(sent(host)).toEqual(["continue_reply"]));
  });
});

it("the picker counts the resources and skills of all servers", async () => {
  const host = await opened();
  const skill = { uri: "skill://port/plan/SKILL.md", name: "plan", description: "Plans a trip" };
  host.answers.list_skills = ({ server }) => ({
    ...{ server, notes: [] },
    skills: [{ ...skill, files: null, others: null, hash: "e3b0" }],
  });
  const capabilities = ["resources", "extensions", "extensions.io.modelcontextprotocol/skills"];
  host.send({ type: "server_changed", server: sampleServer({ name: "port", capabilities }) });
  const user = userEvent.setup();
  render(ConversationView, { id: "c1" });
  await user.click(composer().getByRole("button", { name: "Attach a resource or skill" }));
  const dialog = within(await screen.findByRole("dialog"));
  await dialog.findByText("2 resources, 1 skill from 2 servers");
  await user.type(dialog.getByRole("combobox"), "plan");
  await dialog.findByText("1 skill from 1 server");
});

describe("the tools of a conversation", () => {
  it("E4: the first conversation enables the running servers", async () => {
    const running = sampleServer({ counts: { tools: 2, prompts: 0, resources: 0, templates: 0 } });
    const stopped = sampleServer({ name: "git", state: { is: "stopped" } });
    const host = await startFakeHost(
      { create_conversation: () => sampleConversation({ id: "new" }) },
      { servers: [running, stopped] },
    );
    expect(await createConversation("Trip")).toBe("new");
    expect(
      host.requests("set_conversation")[0]?.settings.servers,
      "only reviewed servers should be enabled",
    ).toEqual([{ server: "files", tools: null, instructions: null }]);
  });

  it("E4: the next conversation copies the servers of the previous one", async () => {
    const servers = [{ server: "files", tools: ["read"], instructions: null }];
    const previous = sampleConversation({
      settings: { ...sampleConversation().settings, servers },
    });
    const host = await startFakeHost(
      {
        read_conversation: () => previous,
        create_conversation: () => sampleConversation({ id: "new" }),
      },
      {
        servers: [sampleServer(), sampleServer({ name: "git" })],
        conversations: [{ id: "c1", title: "Trip plan", updatedAt: 1 }],
      },
    );
    await createConversation("Another");
    expect(host.requests("set_conversation")[0]?.settings.servers).toEqual(servers);
  });

  it("E4: disabled tools stay disabled in the next conversation", async () => {
    const stored = sampleConversation();
    const model = { provider: "local", model: "small" };
    const host = await startFakeHost(
      {
        read_conversation: () => ({ ...stored, settings: { ...stored.settings, model } }),
        create_conversation: () => sampleConversation({ id: "new" }),
      },
      {
        servers: [sampleServer({ counts: { tools: 2, prompts: 0, resources: 0, templates: 0 } })],
        conversations: [{ id: "c1", title: "Trip plan", updatedAt: 1 }],
      },
    );
    await createConversation("Another");
    expect(host.requests("set_conversation"), "no server should be enabled").toEqual([]);
    host.answers.read_conversation = () => stored;
    await createConversation("After notes, which had no model to use tools");
    expect(host.requests("set_conversation")[0]?.settings.servers).toHaveLength(1);
  });

  describe("the model of the next conversation", () => {
    const listed = { ...MODELS, providers: [LAB], default: null };

    /** Starts a host whose conversations have these models, the latest first. */
    const hostWith = (...used: ConversationSettings["model"][]) =>
      startFakeHost(
        {
          list_models: () => listed,
          read_conversation: ({ conversation: id }) => {
            const settings = { ...sampleConversation().settings, model: used[Number(id)] ?? null };
            return sampleConversation({ id, settings });
          },
          create_conversation: () => sampleConversation({ id: "new" }),
        },
        {
          conversations: used.map((_, index) => ({
            ...{ id: String(index), title: "Trip", updatedAt: used.length - index },
          })),
        },
      );
    const setModels = (host: Awaited<ReturnType<typeof hostWith>>) =>
      host.requests("set_conversation").map(({ settings }) => settings.model?.model);

    it("is the one that was used last, without reading all conversations", async () => {
      const host = await hostWith(null, { provider: "lab", model: "older" });
      await createConversation("Before a model was used");
      expect(setModels(host)).toEqual([]);
      await createConversation("With a model", { model: MODEL });
      await createConversation("Another");
      expect(setModels(host)).toEqual(["small", "small"]);
      const read = host.requests("read_conversation").map(({ conversation }) => conversation);
      expect(new Set(read), "only the latest conversation should be read").toEqual(new Set(["0"]));
      host.answers.list_models = () => ({ ...MODELS, providers: [LAB] });
      await createConversation("With the default model");
      expect(setModels(host), "the host uses the default model").toEqual(["small", "small"]);
    });

    it("is the one to which the last message was sent", async () => {
      const host = await hostWith(null);
      host.answers.send_message = () => ({ message: "m", reply: "r" });
      await new OpenConversation("0").say("Hello", [], MODEL);
      await createConversation("Another");
      expect(setModels(host)).toEqual(["small"]);
    });

    it("is that of the previous conversation if no other is known", async () => {
      const host = await hostWith(MODEL);
      await createConversation("Another");
      expect(setModels(host)).toEqual(["small"]);
    });

    it("is not one that its provider no longer lists", async () => {
      const retired = { provider: "lab", model: "retired" };
      const host = await hostWith(retired);
      await createConversation("With a model", { model: retired });
      await createConversation("Another");
      expect(setModels(host), "none should be set").toEqual(["retired"]);
      host.answers.list_models = () => ({ ...listed, providers: [{ ...LAB, models: [] }] });
      await createConversation("While the provider lists none");
      expect(setModels(host)).toEqual(["retired", "retired"]);
      host.answers.list_models = () => ({ ...listed, providers: [] });
      await createConversation("Without the provider");
      expect(setModels(host)).toHaveLength(2);
    });
  });

  it("E5: mentions the number of tools only where it affects the choice", async () => {
    const servers = [{ server: "files", tools: null, instructions: null }];
    for (const [toolSearch, isSaid] of [
      [true, false],
      [undefined, true],
    ] as const) {
      const settings = { ...sampleConversation().settings, servers, toolSearch };
      const host = await opened(settings);
      const tools = await host.answers.list_conversation_tools?.({ conversation: "c1" });
      host.answers.list_conversation_tools = () => ({ ...tools, usesToolSearch: true }) as never;
      const user = userEvent.setup();
      const { unmount } = render(ConversationView, { id: "c1" });
      await user.click(await composer().findByRole("button", { name: /Tools of files/ }));
      await screen.findByText(/about 90 tokens/i);
      expect(screen.queryByText(/Too many for this model/) !== null).toBe(isSaid);
      unmount();
    }
  });

  it("marks servers that are not running", async () => {
    const servers = ["files", "git", "mail", "removed"].map((server) => ({
      ...{ server, tools: null, instructions: null },
    }));
    const host = await opened({ ...sampleConversation().settings, servers });
    render(ConversationView, { id: "c1" });
    for (const [name, is] of [
      ["git", "stopped"],
      ["mail", "starting"],
    ] as const) {
      host.send({ type: "server_changed", server: sampleServer({ name, state: { is } }) });
    }
    await composer().findByRole("button", {
      name: "Tools of files, git (stopped), mail (not ready), removed (not ready)",
    });
    host.send({ type: "server_changed", server: sampleServer({ name: "git" }) });
    await composer().findByRole("button", { name: /Tools of files, git, mail/ });
    const denied = refusedStart("denied_by_user");
    host.send({ type: "server_changed", server: sampleServer({ name: "git", state: denied }) });
    await composer().findByRole("button", { name: /Tools of files, git \(stopped\), mail/ });
  });

  it("E5: the user chooses between all tools and a search, and the button shows the choice", async () => {
    const servers = [{ server: "files", tools: null, instructions: null }];
    const host = await opened({ ...sampleConversation().settings, servers, toolSearch: true });
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    const button = await composer().findByRole("button", { name: /Tools of files.*by search/ });
    await user.click(button);
    const mode = await screen.findByRole("combobox", { name: "Tools for the model" });
    await selectOption(mode, "direct");
    await waitFor(() =>
      expect(host.requests("set_conversation").at(-1)?.settings.toolSearch).toBe(false),
    );
  });
});

it("E17: an empty conversation explains once how to start", async () => {
  await opened();
  render(ConversationView, { id: "c1" });
  await screen.findByText("Start here");
  expect(
    screen.getAllByText(/press \/ for a prompt/),
    "the explanation should be shown once",
  ).toHaveLength(1);
});
