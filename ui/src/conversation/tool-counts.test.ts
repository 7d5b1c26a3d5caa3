// Number of tools that a model receives, and the ways to the review of the others.
import { cleanup, render, screen, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";

import type { ConversationItem } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import {
  sampleConversation,
  sampleServer,
  startFakeHost,
  type FakeHost,
} from "$lib/testing/fake-host";

import ConversationView from "./ConversationView.svelte";

afterEach(cleanup);

function opened() {
  const servers = [{ server: "files", tools: null, instructions: null }];
  const settings = { ...sampleConversation().settings, servers };
  return startFakeHost(
    {
      read_conversation: () => sampleConversation({ settings }),
      list_models: () => ({
        ...{ providers: [], found: [], presets: [] },
        default: { provider: "lab", model: "small" },
      }),
    },
    {
      servers: [sampleServer()],
      conversations: [{ id: "c1", title: "Trip plan", updatedAt: 1 }],
    },
  );
}

const tool = (name: string, state: "offered" | "new") => ({
  ...{ server: "files", tool: name, key: `files__${name}`, tokens: 90, state },
});

function list(host: FakeHost, ...tools: ReturnType<typeof tool>[]) {
  host.answers.list_conversation_tools = () => ({
    ...{ tools, tokens: 90, threshold: 0, usesToolSearch: false, instructions: [] },
  });
}

it("counts what the model receives, and opens the review of the rest", async () => {
  const host = await opened();
  list(host, tool("read", "new"), tool("write", "new"));
  const user = userEvent.setup();
  render(ConversationView, { id: "c1" });
  await screen.findByRole("button", {
    name: /^Tools of files \(not reviewed\) 0 of 2 tools · 2 need your review/,
  });
  list(host, tool("read", "offered"), tool("write", "new"));
  const unreviewed = { new: 1, changed: 0 };
  host.send({ type: "server_changed", server: sampleServer({ unreviewed }) });
  await user.click(
    await screen.findByRole("button", {
      name: /^Tools of files 1 of 2 tools · 1 needs your review/,
    }),
  );
  await user.click(await screen.findByRole("button", { name: "Review tools of files" }));
  expect(router.current).toEqual({ at: "server", name: "files", tab: "tools" });
});

it("counts again after the filter or the list of a server's tools changed", async () => {
  const host = await opened();
  list(host, tool("a", "new"), tool("b", "new"), tool("c", "new"));
  render(ConversationView, { id: "c1" });
  await screen.findByRole("button", { name: /0 of 3 tools · 3 need your review/ });
  list(host, tool("a", "new"), tool("b", "new"));
  const server = sampleServer();
  const config = { ...server.config, tools: { enabled: null, disabled: ["c"] } };
  host.send({ type: "server_changed", server: { ...server, config } });
  await screen.findByRole("button", { name: /0 of 2 tools · 2 need your review/ });
  list(host, tool("a", "offered"), tool("d", "new"), tool("e", "new"));
  host.send({ type: "catalog_changed", server: "files" });
  await screen.findByRole("button", { name: /1 of 3 tools · 2 need your review/ });
  const reads = host.requests("list_conversation_tools").length;
  host.send({ type: "catalog_changed", server: "another" });
  expect(host.requests("list_conversation_tools"), "other servers do not matter").toHaveLength(
    reads,
  );
});

it("a requested tool that was not reviewed names its server and opens the review", async () => {
  const host = await opened();
  host.answers.list_conversation_tools = () => ({
    tools: [{ server: "files", tool: "rm", key: "files__rm", tokens: 90, state: "new" }],
    ...{ tokens: 0, threshold: 0, usesToolSearch: false, instructions: [] },
  });
  const user = userEvent.setup();
  render(ConversationView, { id: "c1" });
  await screen.findByRole("button", { name: /1 needs your review/ });
  const used = { reply: "a1", id: "u1", key: "files__rm" };
  const body: ConversationItem["body"] = {
    kind: "own_tool",
    ...{ used, arguments: {}, text: "not made", isError: true },
  };
  const item: ConversationItem = { id: "t1", at: 3, body };
  host.send({ type: "item_changed", conversation: "c1", item, answering: false });
  const name = "Requested rm of files, which you have not reviewed";
  const card = within(await screen.findByRole("article", { name }));
  await user.click(card.getByRole("button", { name }));
  await user.click(card.getByRole("button", { name: "Review tools" }));
  expect(router.current).toEqual({ at: "server", name: "files", tab: "tools" });
});
