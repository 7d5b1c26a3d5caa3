// A conversation from its beginning to its first answer: its tools, and prompts and resources that go with a message.
import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it } from "vitest";

import type { Catalog, Models, Prompt, Resource } from "$lib/api/generated";
import { choose } from "$lib/testing/choose";
import { REVIEWED, sampleConversation, sampleServer, startFake } from "$lib/testing/fake";

import { beginConversation } from "./begin";
import ConversationView from "./ConversationView.svelte";

afterEach(cleanup);

const MODEL = { provider: "lab", model: "small" };
const MODELS: Models = {
  ...{ providers: [], found: [], presets: [] },
  default: MODEL,
};
const PROMPT: Prompt = {
  ...{ name: "greet", title: "Greet a ship", description: null, arguments: [], icons: [] },
  ...REVIEWED,
};
const RESOURCE: Resource = {
  ...{ uri: "file:///tide.txt", name: "Tide table", title: null, description: null },
  ...{ mimeType: "text/plain", size: 4, annotations: null, icons: [] },
};

function opened(settings = sampleConversation().settings) {
  const catalog = {
    ...{ server: "files", tools: [], prompts: [PROMPT], resources: [RESOURCE], templates: [] },
    ...{ notes: [], freshUntil: { tools: null, prompts: null, resources: null, templates: null } },
  } as unknown as Catalog;
  return startFake(
    {
      conversation: () => sampleConversation({ settings }),
      models: () => MODELS,
      catalog: () => catalog,
      get_prompt: () => ({
        description: null,
        messages: [{ role: "user", content: [{ type: "text", text: "Greet the Borealis." }] }],
      }),
      read_resource: () =>
        ({
          contents: [{ uri: "file:///tide.txt", mimeType: "text/plain", text: "high", blob: null }],
        }) as never,
      conversation_tools: () => ({
        tools: [
          { server: "files", tool: "read", key: "files__read", tokens: 90, state: "offered" },
        ],
        ...{ tokens: 90, threshold: 0, bySearch: settings.toolSearch === true, instructions: [] },
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
  host.asked
    .map(({ name }) => name)
    .filter((name) => ["append_items", "send_message", "continue_reply"].includes(name));

async function pickPrompt(user: ReturnType<typeof userEvent.setup>) {
  await user.click(composer().getByRole("button", { name: "Insert a prompt" }));
  await user.click(await screen.findByRole("option", { name: /Greet a ship/ }));
  await user.click(await screen.findByRole("button", { name: "Add to the message" }));
  return await composer().findByRole("list", { name: "Goes with the message" });
}

describe("what goes with a message", () => {
  it("E3: a prompt is a chip, and is sent without a word", async () => {
    const host = await opened();
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    const chips = await pickPrompt(user);
    expect(within(chips).getByText("Greet a ship"), "named").toBeInTheDocument();
    expect(sent(host), "nothing is in the conversation yet").toEqual([]);
    await user.click(composer().getByRole("button", { name: "Send" }));
    await waitFor(() => expect(sent(host)).toEqual(["append_items", "continue_reply"]));
    const [put] = host.requests("append_items");
    expect(put?.items[0]?.body).toMatchObject({
      ...{ kind: "message", role: "user" },
      content: [{ type: "text", text: "Greet the Borealis." }],
    });
    expect(composer().queryByText("Greet a ship"), "it is not sent twice").toBeNull();
  });

  it("E3: what is written goes after the prompt, as a message of its own", async () => {
    const host = await opened();
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    await pickPrompt(user);
    await user.type(composer().getByRole("textbox", { name: "Message" }), "In Dutch, please");
    await user.click(composer().getByRole("button", { name: "Send" }));
    await waitFor(() => expect(sent(host)).toEqual(["append_items", "send_message"]));
    expect(host.requests("send_message")[0]?.text).toBe("In Dutch, please");
  });

  it("E20: a resource is a chip that can be taken away again", async () => {
    const host = await opened();
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    await user.click(composer().getByRole("button", { name: "Attach a resource or skill" }));
    await user.click(await screen.findByRole("option", { name: /Tide table/ }));
    const chip = await composer().findByText("Tide table");
    await user.click(composer().getByRole("button", { name: "Remove Tide table" }));
    expect(chip, "it is gone").not.toBeInTheDocument();
    expect(sent(host), "and was never in the conversation").toEqual([]);
  });
});

describe("the tools of a conversation", () => {
  it("E4: a first conversation begins with those of the servers that run", async () => {
    const running = sampleServer({ counts: { tools: 2, prompts: 0, resources: 0, templates: 0 } });
    const stopped = sampleServer({ name: "git", state: { is: "stopped" } });
    const host = await startFake(
      { create_conversation: () => sampleConversation({ id: "new" }) },
      { servers: [running, stopped] },
    );
    expect(await beginConversation("Trip")).toBe("new");
    expect(host.requests("set_conversation")[0]?.settings.servers, "what was reviewed").toEqual([
      { server: "files", tools: null, instructions: null },
    ]);
  });

  it("E4: the next one begins with those of the one before", async () => {
    const servers = [{ server: "files", tools: ["read"], instructions: null }];
    const before = sampleConversation({ settings: { ...sampleConversation().settings, servers } });
    const host = await startFake(
      {
        conversation: () => before,
        create_conversation: () => sampleConversation({ id: "new" }),
      },
      {
        servers: [sampleServer(), sampleServer({ name: "git" })],
        conversations: [{ id: "c1", title: "Trip plan", updatedAt: 1 }],
      },
    );
    await beginConversation("Another");
    expect(host.requests("set_conversation")[0]?.settings.servers).toEqual(servers);
  });

  it("E5: the user chooses between all tools and a search, and the button tells which it is", async () => {
    const servers = [{ server: "files", tools: null, instructions: null }];
    const host = await opened({ ...sampleConversation().settings, servers, toolSearch: true });
    const user = userEvent.setup();
    render(ConversationView, { id: "c1" });
    const button = await composer().findByRole("button", { name: /Tools of files.*by search/ });
    await user.click(button);
    const mode = await screen.findByRole("combobox", { name: "How the model gets its tools" });
    await choose(mode, "direct");
    await waitFor(() =>
      expect(host.requests("set_conversation").at(-1)?.settings.toolSearch).toBe(false),
    );
  });
});

it("E17: an empty conversation says once how to begin", async () => {
  await opened();
  render(ConversationView, { id: "c1" });
  await screen.findByText("Start here");
  expect(screen.getAllByText(/press \/ for a prompt/), "once").toHaveLength(1);
});
