import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { tick } from "svelte";
import { afterEach, beforeEach, expect, test } from "vitest";

import type { ConversationItem } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { sampleConversation, startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import ConversationView from "./ConversationView.svelte";

let host: FakeHost;

const items: ConversationItem[] = [
  {
    ...{ id: "m2", at: 1, siblings: ["m1", "m2", "m3"] },
    body: {
      ...{ kind: "message", role: "user", prompt: null },
      content: [{ type: "text", text: "Where to?" }],
    },
  },
  {
    ...{ id: "a1", parent: "m2", at: 2 },
    body: {
      ...{ kind: "reply", model: { provider: "lab", model: "small" }, error: null },
      parts: [{ type: "text", text: "To Bergen." }],
      ...{ stop: { is: "end_turn" }, cost: { amount: 0.0012, currency: "USD" } },
      usage: { input: 1200, output: 30, cachedInput: null, thinking: null },
      ...{ conversions: [], firstAfter: 100, took: 1500 },
    },
  },
];

beforeEach(async () => {
  host = await startFakeHost({
    read_conversation: () => sampleConversation({ items: structuredClone(items) }),
    read_conversation_cost: () => ({
      usage: { input: 2400, output: 60, cachedInput: null, thinking: null },
      costs: [{ amount: 0.5, currency: "USD" }],
      ...{ unpriced: 1, contextUsed: 1230, context: 12_300 },
    }),
    export_conversation: ({ format }) => ({ path: `/home/ann/trip.${format}` }),
  });
  render(ConversationView, { id: "c1" });
  await screen.findByText("To Bergen.");
});
afterEach(() => cleanup());

test("shows the selected version, and switches to the others", async () => {
  const user = userEvent.setup();
  expect(screen.getByRole("group", { name: "Versions" })).toHaveTextContent("2/3");
  await user.click(screen.getByRole("button", { name: "Earlier version" }));
  await user.click(screen.getByRole("button", { name: "Later version" }));
  expect(host.requests("choose_branch"), "each version should be selected by its id").toEqual([
    { conversation: "c1", item: "m1" },
    { conversation: "c1", item: "m3" },
  ]);
});

test("sends an edited message as a separate version", async () => {
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "Edit and send again" }));
  const field = screen.getByRole("textbox", { name: "Edit and send again" });
  expect(field, "the field should contain the message").toHaveValue("Where to?");
  await user.type(field, " Today?");
  const sends = screen.getAllByRole("button", { name: "Send" });
  await user.click(sends[0] ?? field);
  expect(host.requests("edit_message")).toEqual([
    { conversation: "c1", item: "m2", text: "Where to? Today?", attachments: [] },
  ]);
  const message: ConversationItem = {
    ...{ id: "m4", at: 3 },
    body: {
      ...{ kind: "message", role: "user", prompt: null },
      content: [{ type: "text", text: "Where to? Today?" }],
    },
  };
  host.send({ type: "item_changed", conversation: "c1", item: message, answering: true });
  await screen.findByText("Where to? Today?");
  expect(screen.queryByText("To Bergen."), "the answer should be in another branch").toBeNull();
});

test("an edited message without a model asks for one until it is chosen", async () => {
  const user = userEvent.setup();
  host.answers.edit_message = () => {
    throw { code: "no_model", message: "no model is chosen for this conversation" };
  };
  const send = async () => {
    const sends = screen.getAllByRole("button", { name: "Send" });
    await user.click(sends[0] ?? document.body);
    return await screen.findByRole("alert");
  };
  await user.click(screen.getByRole("button", { name: "Edit and send again" }));
  const alert = await send();
  expect(alert).toHaveTextContent("No model is chosen");
  await user.click(within(alert).getByRole("button", { name: "Choose a model" }));
  expect(
    screen.getByRole("button", { name: "Add a model" }),
    "the choice should be focused",
  ).toHaveFocus();
  const settings = { ...sampleConversation().settings, model: { provider: "lab", model: "small" } };
  host.answers.read_conversation = () =>
    sampleConversation({ items: structuredClone(items), settings });
  host.send({ type: "conversations_changed", conversations: [], changed: "c1" });
  await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());

  host.answers.edit_message = () => {
    throw { code: "not_ready", message: "models are answering in 32 other conversations" };
  };
  expect(await send(), "no server is involved").toHaveTextContent("The model was not asked");
  const item = structuredClone(items[0]);
  if (item) host.send({ type: "item_changed", conversation: "c1", item, answering: true });
  await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
});

test("an edit that is refused during an answer of another window shows the error", async () => {
  const user = userEvent.setup();
  const item = structuredClone(items[0]) as ConversationItem;
  const answers = (answering: boolean) =>
    host.send({ type: "item_changed", conversation: "c1", item, answering });
  host.answers.edit_message = async () => {
    answers(true);
    await tick();
    throw { code: "not_ready", message: "a model is answering in this conversation" };
  };
  await user.click(screen.getByRole("button", { name: "Edit and send again" }));
  await user.click(screen.getAllByRole("button", { name: "Send" })[0] as HTMLElement);
  expect(await screen.findByRole("alert")).toHaveTextContent("The model was not asked");
  answers(false);
  await tick();
  expect(screen.getByRole("alert"), "it should stay after that answer").toBeVisible();
  answers(true);
  await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
});

test("shows the usage of each answer and the total", async () => {
  expect(
    screen.getByText("1.2K tokens in, 30 out"),
    "the usage of the answer should be shown",
  ).toBeInTheDocument();
  expect(screen.getByText("$0.0012")).toBeInTheDocument();
  expect(
    await screen.findByText("2.4K tokens in, 60 out"),
    "the total usage should be shown",
  ).toBeInTheDocument();
  expect(screen.getByText("at least $0.50"), "the known cost should be shown").toBeInTheDocument();
  expect(
    screen.getByText("the price of 1 answer is unknown"),
    "unknown prices should be mentioned",
  ).toBeInTheDocument();
  expect(screen.getByText("10% of the context in use")).toBeInTheDocument();
});

test("says that the size of the context is unknown if only its use is known", async () => {
  host.answers.read_conversation_cost = () => ({
    usage: { input: 2400, output: 60, cachedInput: null, thinking: null },
    ...{ costs: [], unpriced: 0, contextUsed: 1230, context: null },
  });
  const answer = structuredClone(items.at(-1));
  if (answer?.body.kind !== "reply") throw new Error("no answer");
  const item = { ...answer, id: "a2", parent: "a1" };
  expect(screen.queryByText("context size unknown")).toBeNull();
  host.send({ type: "item_changed", conversation: "c1", item, answering: false });
  expect(await screen.findByText("context size unknown")).toBeVisible();
  expect(screen.queryByText(/of the context in use/)).toBeNull();
});

test("shows that the cost of an answer with unknown prices is unknown", async () => {
  const answer = structuredClone(items.at(-1));
  if (answer?.body.kind !== "reply") throw new Error("no answer");
  answer.body.cost = null;
  host.send({ type: "item_changed", conversation: "c1", item: answer, answering: false });
  expect(
    await screen.findByText("price unknown"),
    "the unknown price should be next to the tokens",
  ).toBeInTheDocument();
  expect(screen.queryByText("$0.0012"), "no price should be shown").toBeNull();
});

test("stores a system prompt, and exports the conversation to a file", async () => {
  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "More for this conversation" }));
  await user.click(await screen.findByRole("menuitem", { name: "Save as JSON" }));
  expect(
    await screen.findByText("Saved to /home/ann/trip.json"),
    "the path should be shown",
  ).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "More for this conversation" }));
  await user.click(await screen.findByRole("menuitem", { name: "System prompt" }));
  await user.type(await screen.findByRole("textbox", { name: "System prompt" }), "Be brief.");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() =>
    expect(host.requests("set_conversation")[0]?.settings.systemPrompt).toBe("Be brief."),
  );
});

test("is renamed and deleted, and moves to its own window, from the menu in its header", async () => {
  const user = userEvent.setup();
  const choose = async (name: string) => {
    await user.click(screen.getByRole("button", { name: "More for this conversation" }));
    await user.click(await screen.findByRole("menuitem", { name }));
  };
  await choose("Rename");
  const title = await screen.findByRole("textbox", { name: "Title" });
  expect(title).toHaveValue("Trip plan");
  await user.clear(title);
  await user.type(title, "Holiday{Enter}");
  expect(host.requests("rename_conversation")).toEqual([{ conversation: "c1", title: "Holiday" }]);
  await waitFor(() => expect(screen.queryByRole("dialog"), "the dialog should close").toBeNull());
  await choose("Open in new window");
  await waitFor(() => expect(host.openedWindows).toEqual(["c1"]));
  router.go({ at: "conversation", id: "c1" });
  await choose("Delete");
  const dialog = within(await screen.findByRole("dialog"));
  expect(host.requests("delete_conversation"), "a deletion should need confirmation").toEqual([]);
  await user.click(dialog.getByRole("button", { name: "Delete" }));
  expect(host.requests("delete_conversation")).toEqual([{ conversation: "c1" }]);
  await waitFor(() =>
    expect(router.current.at, "the deleted conversation should not stay open").not.toBe(
      "conversation",
    ),
  );
});

test("opens the last message with the up arrow, and ends the edit with Escape", async () => {
  const user = userEvent.setup();
  const composer = screen.getByRole("textbox", { name: "Message" });
  await user.click(composer);
  await user.keyboard("x{ArrowUp}");
  expect(
    screen.queryByRole("textbox", { name: "Edit and send again" }),
    "the last message should only be opened from an empty field",
  ).toBeNull();
  await user.keyboard("{Backspace}{ArrowUp}");
  const edited = await screen.findByRole("textbox", { name: "Edit and send again" });
  expect(edited).toHaveFocus();
  expect(edited).toHaveValue("Where to?");
  await user.keyboard("{Escape}");
  expect(screen.queryByRole("textbox", { name: "Edit and send again" })).toBeNull();
  expect(composer).toHaveFocus();
});
