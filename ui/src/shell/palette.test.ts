import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import App from "../App.svelte";
import type { Models } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleConversation, sampleServer, startFakeHost } from "$lib/testing/fake-host";

import { overlay } from "./overlay.svelte";

// Preloaded, so that the tests do not wait for it.
await import("./CommandPalette.svelte");
await import("./Shortcuts.svelte");
await import("../conversation/ConversationView.svelte");
await import("../other-apps/ImportView.svelte");

const user = userEvent.setup();
const UNKNOWN = { images: null, audio: null, files: null, tools: null, thinking: null };
const named = (id: string, name: string) => ({
  ...{ id, name, context: 1000, maxOutput: null, price: null },
  ...UNKNOWN,
});
const MODELS: Models = {
  providers: [
    {
      ...{ id: "lab", name: "Lab", kind: "openai", url: "http://127.0.0.1:1/v1" },
      ...{ silenceSeconds: null, losses: [], hasKey: true, local: true, isUnencrypted: false },
      ...{ models: [named("small-1", "Small"), named("large-1", "")], listedAt: 1, problem: null },
    },
  ],
  ...{ default: null, found: [], presets: [] },
};
const trip = { id: "c1", title: "Trip plan", updatedAt: 1 };

function start() {
  return startFakeHost(
    {
      list_models: () => MODELS,
      read_conversation: () => sampleConversation(),
      create_conversation: ({ title }) => sampleConversation({ id: "new", title }),
    },
    { servers: [sampleServer({ name: "papers" })], conversations: [trip] },
  );
}

/** Opens the palette and types a query. */
async function searchFor(words: string) {
  await user.keyboard("{Control>}k{/Control}");
  await user.type(await screen.findByRole("combobox", { name: "Search or run" }), words);
}

beforeEach(() => {
  history.replaceState(null, "", "#/add-server");
  router.current = { at: "add-server" };
  overlay.palette = overlay.shortcuts = false;
});

test("loads the models once a query is typed, and starts a conversation with one", async () => {
  const host = await start();
  render(App);
  await user.keyboard("{Control>}k{/Control}");
  await screen.findByRole("combobox", { name: "Search or run" });
  expect(host.requests("list_models"), "models should not be loaded at first").toEqual([]);
  await user.keyboard("small");
  const option = await screen.findByRole("option", { name: /New conversation with Small/ });
  expect(option, "the option should name its provider").toHaveTextContent("Lab");
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.keyboard("{Enter}");
  await waitFor(() =>
    expect(router.current, "the conversation should be opened").toEqual({
      at: "conversation",
      id: "new",
    }),
  );
  const [set] = host.requests("set_conversation");
  expect(set?.settings.model, "the model should be set").toEqual({
    provider: "lab",
    model: "small-1",
  });
});

test("changes the model of a conversation, found by its id, by keyboard alone", async () => {
  const host = await start();
  router.go({ at: "conversation", id: "c1" });
  render(App);
  await waitFor(() =>
    expect(
      screen.getByRole("textbox", { name: "Message" }),
      "the message field should be focused",
    ).toHaveFocus(),
  );
  await searchFor("large-1");
  await screen.findByRole("option", { name: /Answer here with large-1/ });
  await user.keyboard("{Enter}");
  await waitFor(() =>
    expect(host.requests("set_conversation"), "the model should be set once").toHaveLength(1),
  );
  const [set] = host.requests("set_conversation");
  expect(set?.conversation, "the model should be set in this conversation").toBe("c1");
  expect(set?.settings.model, "the selected model should be set").toEqual({
    provider: "lab",
    model: "large-1",
  });
  expect(host.requests("create_conversation"), "no conversation should be created").toEqual([]);
});

test("groups the results, moves through them with the arrow keys, and ranks the best match first", async () => {
  await start();
  render(App);
  await searchFor("papers");
  const list = await screen.findByRole("listbox", { name: "Found" });
  const options = () => within(list).getAllByRole("option");
  await waitFor(() =>
    expect(options().length, "the server and its tools should be listed").toBeGreaterThan(3),
  );
  expect(options()[0], "the server should be first").toHaveTextContent("papers");
  await waitFor(() =>
    expect(options()[0], "the first option should be selected").toHaveAttribute(
      "aria-selected",
      "true",
    ),
  );
  await user.keyboard("{ArrowDown}");
  expect(options()[1], "the next option should be selected").toHaveAttribute(
    "aria-selected",
    "true",
  );
  expect(within(list).getByText("Servers"), "the results should have a heading").toBeVisible();
  await user.keyboard("{Escape}");
  await waitFor(() =>
    expect(screen.queryByRole("dialog"), "Escape should close the palette").toBeNull(),
  );
  expect(router.current, "nothing should be run").toEqual({ at: "add-server" });
});

test("finds Quit, also by another word", async () => {
  const host = await start();
  host.snapshot.servers.length = 0;
  await app.refresh();
  render(App);
  await searchFor("exit");
  await screen.findByRole("option", { name: "Quit Drawbridge" });
  await user.keyboard("{Enter}");
  await waitFor(() => expect(host.closings).toEqual(["quit"]));
});

test("opens the import, which reads nothing automatically", async () => {
  const host = await start();
  render(App);
  await searchFor("other apps");
  await screen.findByRole("option", { name: "Import from other apps…" });
  await user.keyboard("{Enter}");
  await waitFor(() => expect(router.current).toEqual({ at: "import" }));
  const button = await screen.findByRole("button", { name: "Search for servers" });
  await waitFor(() => expect(button, "the button should be focused").toHaveFocus());
  expect(host.requests("find_import_candidates"), "nothing should be read automatically").toEqual(
    [],
  );
});

test("shows that nothing was found", async () => {
  await start();
  render(App);
  await searchFor("xyzzy");
  expect(await screen.findByText("No results."), "the empty result should be shown").toBeVisible();
  await user.keyboard("{Enter}");
  expect(router.current, "Enter should run nothing").toEqual({ at: "add-server" });
});

test.each([
  ["revoke", "Rules"],
  ["permissions", "Rules"],
  ["log", "Audit"],
  ["audit", "Audit"],
])("finds the page for the word %s", async (word, page) => {
  await start();
  render(App);
  await searchFor(word);
  expect(await screen.findByRole("option", { name: page })).toBeVisible();
});
